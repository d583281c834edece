import { decideAndWrite, type Decision, unlimited, type Writer } from '../session/writer.ts';
import { assert } from '../base/assert.ts';
import { type Caller, systemCaller } from '../base/caller.ts';
import { ByteMeter } from '../base/byte-meter.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import { type Decayed, type DecayInput, decayInputSchema } from '../contract/memory.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import { Evictions, type Fate } from './evictions.ts';
import type { FactRow, FactStore, ScopeChoice } from '../store/fact-store.ts';
import { isPinned, factNumberOf } from './patterns.ts';
import { renderIdentity } from '../language/print.ts';
import type { Decay } from '../state/operation.ts';
import type { TenantState } from '../state/state.ts';
import { EngineError } from '../base/errors.ts';
import { type JsonText, TextList } from '../base/json-text.ts';
import type { Clock } from '../base/clock.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { SalienceReader } from '../store/salience-reader.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/**
 * Decay: evicts expired and faded facts.
 *
 * The long scan runs before the write takes its turn; the exclusive commit checks only the facts found. So other writes
 * wait only in proportion to what is evicted, and facts used, changed or pinned meanwhile stay.
 */

/**
 * What becomes of an evicted fact: it is retracted if it faded. One whose validity has ended leaves the present, and the past
 * keeps it: by a `ttl` for as long as the history, else until it is retracted by its id.
 */

/** Which facts to evict. */
interface Wanted {
  readonly view: ScopeChoice;
  readonly threshold: number;
  /** Bytes of the atoms that the answer lists. */
  readonly listedBytes: number;
}

/** The scanned tenant and the numbers of its facts to evict. */
interface Found {
  readonly tenant: TenantState;
  readonly facts: readonly number[];
}

type Answer = Omit<Decayed, 'generation' | 'atoms'> & {
  /** A long list is written already. */
  readonly atoms: readonly string[] | TextList;
};

/** Rows between two looks at the clock. */
const rowsInSlice = 512;
/** Bytes of the atoms that an answer lists, and of each beside its text. */
const maxListedBytes = 64 * 1024 * 1024;
/** The same of an answer that is stored for repeated requests: it is part of the record, and of what is remembered for a day. */
const maxStoredBytes = 4 * 1024 * 1024;
const bytesOfListed = 32;
/** Constant use of the facts by questions can delay the write only this often. */
const maxAttempts = 3;

/**
 * Evicts expired and faded facts; a long answer is text. A caller that disconnects cancels the scan and with it the write. Lists
 * atoms of so many bytes.
 */
export async function decay(
  writer: Writer,
  caller: Caller,
  input: DecayInput,
  listedBytes: number = caller.idempotency === null ? maxListedBytes : maxStoredBytes,
): Promise<Decayed | JsonText> {
  const wanted = { view: scopeChoice(input), threshold: input.threshold, listedBytes };
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      context.pacer.memory.refuseNothing();
      const evictions = await evictionsIn(context, wanted);
      const order = await evictions.inOrder(context.tenant.facts, context.pacer);
      const answer = await answerOf(context, wanted, evictions, order, { time });
      return decayed(answer, { generation, dryRun: true });
    });
  const found = await live.reading(caller, unlimited, async (context) => {
    const evictions = await evictionsIn(context, wanted);
    // By number: rows may move before the commit.
    return { tenant: context.tenant, facts: await evictions.numbers(context.pacer) };
  });
  const { generation, ...answer } = await decideAndWrite(writer, caller, 'decayed', (context, logical) =>
    decide(context, caller, wanted, found, logical, writer.historyMs),
  );
  return decayed(answer, { generation });
}

/** Decides what to write, null for nothing; runs in the exclusive commit, at the logical time. */
async function decide(
  context: ReadContext,
  caller: Caller,
  wanted: Wanted,
  found: Found,
  logical: number,
  historyMs: number,
): Promise<Decision<Answer>> {
  const { tenant, pacer } = context;
  const time = Math.max(logical, context.reader.time);
  const storesAnswer = caller.idempotency !== null;
  pacer.memory.refuseNothing();
  // A tenant that was deleted and created again in the meantime has other facts under these numbers.
  let evictions = await (tenant === found.tenant
    ? stillEvicted(context, wanted, found.facts, time)
    : evictionsIn(context, wanted));
  for (let attempt = 1; ; attempt++) {
    const { version } = tenant.uses;
    const order = await evictions.inOrder(tenant.facts, pacer);
    const answer = await answerOf(context, wanted, evictions, order, { time, staysTexts: storesAnswer });
    if (evictions.count === 0 && !tenant.facts.hasEnds(wanted.view) && !storesAnswer)
      return { answer, write: null };
    const isKept = endedKept(tenant.facts, time - historyMs);
    const { kept, retracted } = await numbersOf(evictions, order, isKept, pacer);
    const operation: Decay = {
      kind: 'decay',
      tenant: caller.tenant,
      scope: wanted.view,
      facts: retracted,
      ...(kept.length === 0 ? {} : { ended: kept }),
      answer: storesAnswer ? stored(answer) : null,
    };
    const write = await encodeWrite(operation, pacer);
    if (tenant.uses.version === version || attempt === maxAttempts) return { answer, write };
    evictions = await stillEvicted(context, wanted, [...kept, ...retracted], time);
  }
}

/** The numbers of the evicted facts, those that the past keeps apart, each in order; in slices. */
async function numbersOf(
  evictions: Evictions,
  order: Int32Array,
  isKept: (fact: FactRow) => boolean,
  pacer: Pacer,
): Promise<{ kept: number[]; retracted: number[] }> {
  const [kept, retracted]: [number[], number[]] = [[], []];
  for (let at = 0; at < order.length; at++) {
    if (at % rowsInSlice === rowsInSlice - 1) await pacer.breathe();
    const index = order[at] as number;
    const keeps = evictions.isExpiredAt(index) && isKept(evictions.factAt(index));
    (keeps ? kept : retracted).push(evictions.numberAt(index));
  }
  return { kept, retracted };
}

/** Whether the past keeps an expired fact. Ended by a `ttl` up to `through`, it is kept no longer. */
function endedKept(facts: FactStore, through: number): (fact: FactRow) => boolean {
  return (fact) => untilOf(fact) > through || !facts.past.endsByTtl(factNumberOf(fact));
}

function untilOf({ relation, row }: FactRow): number {
  return relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
}

/**
 * Retracts the facts whose validity ended by a `ttl` longer ago than the history goes back, in every tenant. Nobody sees
 * them any more but at instants before that.
 */
export async function dropEnded(host: ScheduledDecayHost, signal: AbortSignal): Promise<void> {
  const { writer } = host;
  await everywhere(decaying(host), signal, async (caller) => {
    const facts = writer.live.storeOf(caller);
    if (facts === null || oldByTtl(facts, writer.live.showTime() - writer.historyMs).length === 0) return;
    await decideAndWrite(writer, caller, 'decayed', async ({ tenant, reader, pacer }, logical) => {
      const dropped = oldByTtl(tenant.facts, Math.max(logical, reader.time) - writer.historyMs);
      const answer = { evicted: 0, expired: 0, lowSalience: 0, remaining: 0, atoms: [] };
      if (dropped.length === 0) return { answer, write: null };
      const scope = { kind: 'all' } as const;
      const operation: Decay = {
        kind: 'decay',
        tenant: caller.tenant,
        scope,
        facts: [],
        dropped,
        answer: null,
      };
      return { answer, write: await encodeWrite(operation, pacer) };
    });
  });
}

/** The numbers of the facts that a `ttl` ended up to this time. */
function oldByTtl(facts: FactStore, through: number): number[] {
  const found: number[] = [];
  for (const number of facts.past.allByTtl()) {
    const fact = facts.versionOf(number);
    if (fact.row >= 0 && fact.relation.isAlive(fact.row) && untilOf(fact) <= through) found.push(number);
  }
  return found;
}

/** The facts to evict in the view as the reader sees it. */
async function evictionsIn(context: ReadContext, { view, threshold }: Wanted): Promise<Evictions> {
  const { tenant, reader, pacer } = context;
  const scope = tenant.facts.chosenScope(view);
  const saliences = saliencesAt(context, reader.time);
  const evictions = new Evictions();
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if (row % rowsInSlice === 0) await pacer.breathe();
      if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
      if (!relation.wasAlive(row, reader.generation)) continue;
      if (tenant.facts.past.has(relation.number[row] as number)) continue;
      const salience = saliences.of(relation, row);
      const fate = fateOf(relation, row, { time: reader.time, threshold, salience });
      if (fate !== null) evictions.add(relation, row, fate, salience);
    }
  }
  return evictions;
}

/** Of these facts, those that still qualify. */
async function stillEvicted(
  context: ReadContext,
  { threshold }: Wanted,
  facts: readonly number[],
  time: number,
): Promise<Evictions> {
  const saliences = saliencesAt(context, time);
  const evictions = new Evictions();
  for (const [at, number] of facts.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) await context.pacer.breathe();
    const { relation, row } = context.tenant.facts.versionOf(number);
    if (row < 0 || !relation.isAlive(row) || context.tenant.facts.past.has(number)) continue;
    const salience = saliences.of(relation, row);
    const fate = fateOf(relation, row, { time, threshold, salience });
    if (fate !== null) evictions.add(relation, row, fate, salience);
  }
  return evictions;
}

function saliencesAt({ database, tenant }: ReadContext, time: number): SalienceReader {
  const timeOf = (generation: number): number => database.timeOf(generation);
  return new SalienceReader(tenant.facts, tenant.uses, timeOf, time);
}

async function answerOf(
  context: ReadContext,
  { view, listedBytes }: Wanted,
  evictions: Evictions,
  order: Int32Array,
  { time, staysTexts = false }: { readonly time: number; readonly staysTexts?: boolean },
): Promise<Answer> {
  const lowSalience = evictions.count - evictions.expired;
  const atoms = await listed(context, evictions, order, { listedBytes, staysTexts });
  const atomsOmitted = evictions.count - atoms.length;
  return {
    evicted: evictions.count,
    expired: evictions.expired,
    lowSalience,
    // Expired facts count as not stored.
    remaining: (await countStored(context, view, time)) - lowSalience,
    atoms: atoms.texts ?? atoms,
    ...(atomsOmitted === 0 ? {} : { atomsOmitted }),
  };
}

/** The answer as a record has it. */
function stored({ atoms, ...answer }: Answer): Decay['answer'] {
  assert(!(atoms instanceof TextList), 'it stays texts');
  const { atomsOmitted, ...counts } = answer;
  return { ...counts, atoms: [...atoms], ...(atomsOmitted === undefined ? {} : { atomsOmitted }) };
}

/** The answer as it is sent, with what belongs to its end. */
function decayed(
  answer: Answer,
  end: { readonly generation: number; readonly dryRun?: true },
): Decayed | JsonText {
  const { atoms, atomsOmitted, evicted, expired, lowSalience, remaining } = answer;
  if (!(atoms instanceof TextList)) return { ...answer, atoms: [...atoms], ...end };
  const omitted = atomsOmitted === undefined ? {} : { atomsOmitted };
  return atoms.within({ evicted, expired, lowSalience, remaining }, 'atoms', { ...omitted, ...end });
}

/** The atoms of the first evictions, up to so many bytes. */
async function listed(
  { tenant: { facts }, pacer }: ReadContext,
  evictions: Evictions,
  order: Int32Array,
  { listedBytes, staysTexts }: { readonly listedBytes: number; readonly staysTexts: boolean },
): Promise<TextList> {
  const atoms = new TextList(staysTexts);
  const meter = new ByteMeter();
  let left = listedBytes;
  for (const index of order) {
    const atom = renderIdentity(facts.identityOf(evictions.factAt(index)));
    left -= bytesOfListed + atom.length;
    if (left < 0) break;
    atoms.add(atom);
    if (meter.counts(atom.length)) await pacer.breathe();
  }
  return atoms;
}

async function countStored(context: ReadContext, view: ScopeChoice, time: number): Promise<number> {
  const { tenant, reader, pacer } = context;
  const scope = tenant.facts.chosenScope(view);
  let stored = 0;
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if (row % rowsInSlice === 0) await pacer.breathe();
      if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
      if (relation.isHeld(row, reader.generation, time)) stored++;
    }
  }
  return stored;
}

/**
 * What decay does at this time to a live version; null: it stays. An expired fact goes even if pinned. A fact that is
 * not yet valid does not fade.
 */
function fateOf(
  { validFrom, validUntil, metadata }: StoredRelation,
  row: number,
  at: { readonly time: number; readonly threshold: number; readonly salience: number },
): Fate | null {
  if ((validUntil?.[row] ?? Number.POSITIVE_INFINITY) <= at.time) return 'expired';
  if ((validFrom?.[row] ?? Number.NEGATIVE_INFINITY) > at.time) return null;
  return at.salience < at.threshold && !isPinned(metadata.get(row)) ? 'faded' : null;
}

interface ScheduledDecayHost {
  readonly writer: Writer;
  /** Receives messages for the operator. */
  readonly onWarn: (message: string) => void;
  readonly onBug: (error: unknown) => void;
}

/**
 * Runs decay with default settings in every database and tenant, one after the other, until the signal. If the log
 * cannot be written, it warns and ends the run; the next run tries again.
 */
export async function decayEverywhere(host: ScheduledDecayHost, signal: AbortSignal): Promise<void> {
  await everywhere(decaying(host), signal, async (caller) => {
    // Nobody reads its answer.
    await decay(host.writer, caller, decayInputSchema.parse({}), 0);
  });
}

function decaying(host: ScheduledDecayHost): BackgroundWriting {
  return { ...host, actor: 'scheduled-decay', work: 'Scheduled decay evicted nothing more' };
}

/** What writes in every tenant by itself. */
interface BackgroundWriting extends ScheduledDecayHost {
  /** Actor and request id in the records. */
  readonly actor: string;
  /** What a warning says if nothing can be stored. */
  readonly work: string;
}

/**
 * Runs the work in every database and tenant, one after the other; false if the signal came or nothing can be stored
 * before the end.
 */
export async function everywhere(
  { writer, onWarn, onBug, actor, work }: BackgroundWriting,
  signal: AbortSignal,
  run: (caller: Caller) => Promise<void>,
): Promise<boolean> {
  const places = Array.from(
    writer.live.everyTenant(),
    ({ database, name }) => [database.name, name] as const,
  );
  for (const [database, tenant] of places) {
    if (signal.aborted) return false;
    try {
      await run(systemCaller(actor, database, tenant, signal));
    } catch (error) {
      // The service is shutting down.
      if (signal.aborted) return false;
      const code = error instanceof EngineError ? error.code : null;
      // Deleted since the run began.
      if (code === 'DatabaseNotFound') continue;
      if (code === 'StorageUnavailable') {
        onWarn(`${work}: ${(error as EngineError).message}`);
        return false;
      }
      onBug(error);
    }
  }
  return true;
}

/** What the schedule needs of its host. */
interface DecayScheduleHost {
  readonly clock: Clock;
  /** Milliseconds between the starts of two runs. */
  readonly intervalMs: number;
  /** False while the clock is not to be trusted: a run that is due waits. */
  readonly mayRun: () => boolean;
  /** Never rejects. Ends soon after the signal. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Maximum time between looks at the clock, in milliseconds, since clocks are set and machines sleep. */
const maxWaitMs = 30_000;

/**
 * Runs decay periodically: one run when the interval has passed since the last one began, never two at once.
 *
 * The clock decides: a timer that fires early is set again, and after a machine's sleep there is one run, not several.
 * The host reports failures; the next run comes as usual. After a long run the pause is at least as long. The timer
 * does not keep the process alive.
 */
export class DecaySchedule {
  readonly #host: DecayScheduleHost;
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next run begins, and the delay with which it was scheduled, in milliseconds. */
  #due = 0;
  #delay = 0;
  #running: Promise<void> | null = null;

  constructor(host: DecayScheduleHost) {
    this.#host = host;
    this.#schedule(host.intervalMs);
  }

  /** Starts no further run; resolves when the current one has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Schedules the next run after this many milliseconds. */
  #schedule(ms: number): void {
    this.#delay = ms;
    this.#due = this.#host.clock.now() + ms;
    this.#wait();
  }

  #wait(): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#host.clock.now();
    // If the clock was set back, the delay is at most the scheduled one.
    this.#due = Math.min(this.#due, now + this.#delay);
    this.#timer = setTimeout(() => this.#check(), Math.min(maxWaitMs, Math.max(1, this.#due - now)));
    this.#timer.unref();
  }

  #check(): void {
    this.#timer = null;
    const { clock, intervalMs, run } = this.#host;
    const start = clock.now();
    if (start < this.#due) {
      this.#wait();
      return;
    }
    if (!this.#host.mayRun()) {
      this.#schedule(Math.min(maxWaitMs, intervalMs));
      return;
    }
    this.#running = run(this.#closing.signal).finally(() => {
      this.#running = null;
      const took = clock.now() - start;
      this.#schedule(Math.max(intervalMs - took, took, 0));
    });
  }
}
