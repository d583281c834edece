import { inExclusiveCommit, unlimited, type Writer } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { Decayed, DecayInput } from '../contract/memory.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { isPinned, factNumberOf } from './patterns.ts';
import { renderAtom } from '../language/print.ts';
import type { Decay } from '../state/operation.ts';
import { outcomeAs } from '../state/outcome.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { TenantState } from '../state/state.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';

/**
 * Decay: evicts expired and faded facts.
 *
 * The long scan runs before the write takes its turn; the exclusive commit checks only the facts found. So other writes
 * wait only in proportion to what is evicted, and facts used, changed or pinned meanwhile stay.
 */

/** A fact to evict, and why. */
interface Eviction {
  readonly fact: FactRow;
  readonly fate: Fate;
  readonly salience: number;
  readonly atom: string;
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
/** Constant use of the facts by questions can delay the write only this often. */
const maxAttempts = 3;

/** Evicts expired and faded facts. A caller that disconnects cancels the scan and with it the write. */
export async function decay(writer: Writer, caller: Caller, input: DecayInput): Promise<Decayed> {
  const wanted = { view: scopeChoice(input), threshold: input.threshold };
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      const evictions = await inOrder(context, await evictionsIn(context, wanted));
      return { ...(await answerOf(context, wanted, evictions, time)), generation, dryRun: true };
    });
  const found = await live.reading(caller, unlimited, async (context) => {
    const evictions = await evictionsIn(context, wanted);
    return { tenant: context.tenant, facts: evictions.map(({ fact }) => factNumberOf(fact)) };
  });
  const decided: { answer: Answer | null } = { answer: null };
  const operation = (logical: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const { answer, write } = await decide(context, caller, wanted, found, logical);
      decided.answer = answer;
      return write;
    });
  const { outcome, isRepeated } = await writer.write({ caller, database: caller.database, operation });
  const { generation } = outcome.kind === 'nothing' ? outcome : outcomeAs(outcome, 'decayed');
  const answer = isRepeated ? outcomeAs(outcome, 'decayed').answer : decided.answer;
  return { ...present(answer, 'the decision has an answer'), generation };
}

/** Decides what to write, null for nothing; runs in the exclusive commit, at the logical time. */
async function decide(
  context: ReadContext,
  caller: Caller,
  wanted: Wanted,
  found: Found,
  logical: number,
): Promise<{ answer: Answer; write: DecidedWrite | null }> {
  const { tenant, pacer } = context;
  const time = Math.max(logical, context.reader.time);
  const again = (facts: readonly number[]): Promise<Eviction[]> => stillEvicted(context, wanted, facts, time);
  // A tenant that was deleted and created again in the meantime has other facts under these numbers.
  let evictions = await (tenant === found.tenant ? again(found.facts) : evictionsIn(context, wanted));
  for (let attempt = 1; ; attempt++) {
    const { version } = tenant.uses;
    evictions = await inOrder(context, evictions);
    const answer = await answerOf(context, wanted, evictions, time);
    const storesAnswer = caller.idempotency !== null;
    if (evictions.length === 0 && !tenant.facts.hasEnds(wanted.view) && !storesAnswer)
      return { answer, write: null };
    const facts = evictions.map(({ fact }) => factNumberOf(fact));
    const operation: Decay = {
      kind: 'decay',
      tenant: caller.tenant,
      scope: wanted.view,
      facts,
      answer: storesAnswer ? answer : null,
    };
    const encoded = await encodedOperation(operation, pacer);
    if (tenant.uses.version === version || attempt === maxAttempts)
      return { answer, write: encoded === null ? { operation } : { operation, encoded } };
    evictions = await again(facts);
  }
}

/** The facts to evict in the view as the reader sees it. */
async function evictionsIn(context: ReadContext, { view, threshold }: Wanted): Promise<Eviction[]> {
  const { tenant, reader, pacer } = context;
  const scope = tenant.facts.chosenScope(view);
  const evictions: Eviction[] = [];
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if (row % rowsInSlice === 0) await pacer.breathe();
      if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
      if (!relation.wasAlive(row, reader.generation)) continue;
      const found = evictionOf(context, { relation, row }, threshold, reader.time);
      if (found !== null) evictions.push(found);
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
    const found = evictionOf(context, fact, threshold, time);
    if (found !== null) evictions.push(found);
  }
  return evictions;
}

function evictionOf(
  { database, tenant: { facts, uses } }: ReadContext,
  fact: FactRow,
  threshold: number,
  time: number,
): Eviction | null {
  const salience = (): number => uses.salience(fact, database.createdAtOf(facts, fact), time).salience;
  const fate = fateOf(fact, time, threshold, salience);
  if (fate === null) return null;
  const { predicate, negated } = fact.relation;
  const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
  return { fact, fate, salience: salience(), atom };
}

/** Expired first, then by salience, by rendered atom, and by scope, unscoped first. */
async function inOrder({ tenant, pacer }: ReadContext, evictions: readonly Eviction[]): Promise<Eviction[]> {
  const at = (index: number): Eviction => evictions[index] as Eviction;
  const scopeOf = ({ fact }: Eviction): string => tenant.facts.scopeOf(fact) ?? '';
  const compare = (one: number, other: number): number => {
    const [left, right] = [at(one), at(other)];
    if (left.fate !== right.fate) return left.fate === 'expired' ? -1 : 1;
    return (
      left.salience - right.salience ||
      compareText(left.atom, right.atom) ||
      compareText(scopeOf(left), scopeOf(right))
    );
  };
  return Array.from(await sortedOrder(evictions.length, compare, pacer), at);
}

async function answerOf(
  context: ReadContext,
  { view }: Wanted,
  evictions: readonly Eviction[],
  time: number,
): Promise<Answer> {
  let expired = 0;
  for (const { fate } of evictions) if (fate === 'expired') expired++;
  const lowSalience = evictions.length - expired;
  return {
    evicted: evictions.length,
    expired,
    lowSalience,
    // Expired facts count as not stored.
    remaining: (await countStored(context, view, time)) - lowSalience,
    atoms: evictions.map(({ atom }) => atom),
  };
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
export type Fate = 'expired' | 'faded';

/**
 * What decay does at this time to a live version; null: it stays. An expired fact goes even if pinned. A fact that is
 * not yet valid does not fade.
 */
export function fateOf(
  { relation, row }: FactRow,
  time: number,
  threshold: number,
  salience: () => number,
): Fate | null {
  if ((relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) <= time) return 'expired';
  if ((relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY) > time) return null;
  if (isPinned(relation.metadata.get(row))) return null;
  return salience() < threshold ? 'faded' : null;
}
