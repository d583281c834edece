import { decideAndWrite, type Decision, unlimited, type Writer } from '../session/writer.ts';
import { type Caller, systemCaller } from '../base/caller.ts';
import { ByteMeter } from '../base/byte-meter.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import { type Decayed, type DecayInput, decayInputSchema } from '../contract/memory.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import { RenderedOrder } from '../store/rendered-order.ts';
import type { FactRow, FactStore, ScopeChoice } from '../store/fact-store.ts';
import { isPinned, factNumberOf } from './patterns.ts';
import { renderIdentity } from '../language/print.ts';
import type { Decay } from '../state/operation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { TenantState } from '../state/state.ts';
import { EngineError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';

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

/** A fact to evict, and why. */
interface Eviction {
  readonly fact: FactRow;
  readonly fate: Fate;
  readonly salience: number;
}

/** Which facts to evict. */
interface Wanted {
  readonly view: ScopeChoice;
  readonly threshold: number;
}

/** The scanned tenant and the numbers of its facts to evict. */
interface Found {
  readonly tenant: TenantState;
  readonly facts: readonly number[];
}

type Answer = Omit<Decayed, 'generation'>;

/** Rows between two looks at the clock. */
const rowsInSlice = 512;
/** Bytes of the atoms that an answer lists, and of each beside its text. */
const maxListedBytes = 64 * 1024 * 1024;
/** The same of an answer that is stored for repeated requests: it is part of the record, and of what is remembered for a day. */
const maxStoredBytes = 4 * 1024 * 1024;
const bytesOfListed = 32;
/** Constant use of the facts by questions can delay the write only this often. */
const maxAttempts = 3;

/** Evicts expired and faded facts. A caller that disconnects cancels the scan and with it the write. */
export async function decay(writer: Writer, caller: Caller, input: DecayInput): Promise<Decayed> {
  const wanted = { view: scopeChoice(input), threshold: input.threshold };
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      context.pacer.memory.refuseNothing();
      const evictions = await inOrder(context, await evictionsIn(context, wanted, evictionWith));
      const answer = await answerOf(context, wanted, evictions, time, listedBytesOf(caller));
      return { ...answer, generation, dryRun: true };
    });
  const found = await live.reading(caller, unlimited, async (context) => {
    // The numbers alone: there may be millions.
    const facts = await evictionsIn(context, wanted, (_, fact) => factNumberOf(fact));
    return { tenant: context.tenant, facts };
  });
  return decideAndWrite(writer, caller, 'decayed', (context, logical) =>
    decide(context, caller, wanted, found, logical, writer.historyMs),
  );
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
  pacer.memory.refuseNothing();
  const again = (facts: readonly number[]): Promise<Eviction[]> => stillEvicted(context, wanted, facts, time);
  // A tenant that was deleted and created again in the meantime has other facts under these numbers.
  let evictions = await (tenant === found.tenant
    ? again(found.facts)
    : evictionsIn(context, wanted, evictionWith));
  for (let attempt = 1; ; attempt++) {
    const { version } = tenant.uses;
    evictions = await inOrder(context, evictions);
    const storesAnswer = caller.idempotency !== null;
    const answer = await answerOf(context, wanted, evictions, time, listedBytesOf(caller));
    if (evictions.length === 0 && !tenant.facts.hasEnds(wanted.view) && !storesAnswer)
      return { answer, write: null };
    const { kept, retracted } = await numbersOf(evictions, endedKept(tenant.facts, time - historyMs), pacer);
    const operation: Decay = {
      kind: 'decay',
      tenant: caller.tenant,
      scope: wanted.view,
      facts: retracted,
      ...(kept.length === 0 ? {} : { ended: kept }),
      answer: storesAnswer ? answer : null,
    };
    const write = await encodeWrite(operation, pacer);
    if (tenant.uses.version === version || attempt === maxAttempts) return { answer, write };
    evictions = await again([...kept, ...retracted]);
  }
}

/** The numbers of the evicted facts, those that the past keeps apart, each in order; in slices. */
async function numbersOf(
  evictions: readonly Eviction[],
  isKept: (eviction: Eviction) => boolean,
  pacer: ReadContext['pacer'],
): Promise<{ kept: number[]; retracted: number[] }> {
  const [kept, retracted]: [number[], number[]] = [[], []];
  for (const [at, eviction] of evictions.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) await pacer.breathe();
    (isKept(eviction) ? kept : retracted).push(factNumberOf(eviction.fact));
  }
  return { kept, retracted };
}

/** Whether the past keeps an evicted fact. Ended by a `ttl` up to `through`, it is kept no longer. */
function endedKept(facts: FactStore, through: number): (eviction: Eviction) => boolean {
  return ({ fact, fate }) =>
    fate === 'expired' && (untilOf(fact) > through || !facts.past.endsByTtl(factNumberOf(fact)));
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

/** The facts to evict in the view as the reader sees it, each in the form that `of` gives it. */
async function evictionsIn<Form>(
  context: ReadContext,
  { view, threshold }: Wanted,
  of: (context: ReadContext, fact: FactRow, fate: Fate, salience: () => number) => Form,
): Promise<Form[]> {
  const { tenant, reader, pacer } = context;
  const scope = tenant.facts.chosenScope(view);
  const evictions: Form[] = [];
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if (row % rowsInSlice === 0) await pacer.breathe();
      if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
      if (!relation.wasAlive(row, reader.generation)) continue;
      const fact = { relation, row };
      if (tenant.facts.past.has(factNumberOf(fact))) continue;
      const salience = salienceOf(context, fact, reader.time);
      const fate = fateOf(fact, reader.time, threshold, salience);
      if (fate !== null) evictions.push(of(context, fact, fate, salience));
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
): Promise<Eviction[]> {
  const evictions: Eviction[] = [];
  for (const [at, number] of facts.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) await context.pacer.breathe();
    const fact = context.tenant.facts.versionOf(number);
    if (fact.row < 0 || !fact.relation.isAlive(fact.row)) continue;
    if (context.tenant.facts.past.has(number)) continue;
    const salience = salienceOf(context, fact, time);
    const fate = fateOf(fact, time, threshold, salience);
    if (fate !== null) evictions.push(evictionWith(context, fact, fate, salience));
  }
  return evictions;
}

function salienceOf(
  { database, tenant: { facts, uses } }: ReadContext,
  fact: FactRow,
  time: number,
): () => number {
  return () => uses.salience(fact, database.createdAtOf(facts, fact), time).salience;
}

function evictionWith(_: ReadContext, fact: FactRow, fate: Fate, salience: () => number): Eviction {
  return { fact, fate, salience: salience() };
}

/** Expired first, then by salience, by rendered atom, and by scope, unscoped first. */
async function inOrder({ tenant, pacer }: ReadContext, evictions: readonly Eviction[]): Promise<Eviction[]> {
  const at = (index: number): Eviction => evictions[index] as Eviction;
  const order = new RenderedOrder(tenant.facts);
  const compare = (one: number, other: number): number => {
    const [left, right] = [at(one), at(other)];
    if (left.fate !== right.fate) return left.fate === 'expired' ? -1 : 1;
    const { relation, row } = right.fact;
    return left.salience - right.salience || order.compare(left.fact.relation, left.fact.row, relation, row);
  };
  const ordered: Eviction[] = [];
  for (const index of await sortedOrder(evictions.length, compare, pacer, order)) {
    if (ordered.push(at(index)) % rowsInSlice === 0) await pacer.breathe();
  }
  return ordered;
}

async function answerOf(
  context: ReadContext,
  { view }: Wanted,
  evictions: readonly Eviction[],
  time: number,
  listedBytes: number,
): Promise<Answer> {
  let expired = 0;
  for (const { fate } of evictions) if (fate === 'expired') expired++;
  const lowSalience = evictions.length - expired;
  const atoms = await listed(context, evictions, listedBytes);
  const atomsOmitted = evictions.length - atoms.length;
  return {
    evicted: evictions.length,
    expired,
    lowSalience,
    // Expired facts count as not stored.
    remaining: (await countStored(context, view, time)) - lowSalience,
    atoms,
    ...(atomsOmitted === 0 ? {} : { atomsOmitted }),
  };
}

function listedBytesOf({ idempotency }: Caller): number {
  return idempotency === null ? maxListedBytes : maxStoredBytes;
}

/** The atoms of the first evictions, up to so many bytes. */
async function listed(
  { tenant: { facts }, pacer }: ReadContext,
  evictions: readonly Eviction[],
  listedBytes: number,
): Promise<string[]> {
  const atoms: string[] = [];
  const meter = new ByteMeter();
  let left = listedBytes;
  for (const { fact } of evictions) {
    const atom = renderIdentity(facts.identityOf(fact));
    left -= bytesOfListed + atom.length;
    if (left < 0) break;
    atoms.push(atom);
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

/** Why decay evicts a stored fact: its validity has ended, or its salience is below the threshold. */
type Fate = 'expired' | 'faded';

/**
 * What decay does at this time to a live version; null: it stays. An expired fact goes even if pinned. A fact that is
 * not yet valid does not fade.
 */
function fateOf(
  { relation, row }: FactRow,
  time: number,
  threshold: number,
  salience: () => number,
): Fate | null {
  if (untilOf({ relation, row }) <= time) return 'expired';
  if ((relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY) > time) return null;
  if (isPinned(relation.metadata.get(row))) return null;
  return salience() < threshold ? 'faded' : null;
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
    await decay(host.writer, caller, decayInputSchema.parse({}));
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
