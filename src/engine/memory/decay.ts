import { inExclusiveCommit, unlimited, type Writer } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { Decayed, DecayInput } from '../contract/memory.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { type Fate, fateOf } from './fate.ts';
import { numberOfTerm } from './patterns.ts';
import { renderAtom } from '../language/print.ts';
import type { Decay } from '../state/operation.ts';
import { outcomeAs } from '../state/outcome.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { TenantState } from '../state/state.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';

/**
 * Decay: what has ended and what has faded is evicted.
 *
 * Everything is looked at before the write takes its turn, since that takes long; in the barrier those that were found
 * are looked at again. So others wait only for as long as there is to evict, and what was used, changed or pinned
 * meanwhile stays.
 */

/** What is evicted, and why. */
interface Doomed {
  readonly fact: FactRow;
  readonly fate: Fate;
  readonly salience: number;
  readonly atom: string;
}

/** What is evicted of what, when. */
interface Wanted {
  readonly view: ScopeChoice;
  readonly threshold: number;
}

/** The tenant that was looked at, and the numbers of those of its facts that are to go. */
interface Found {
  readonly tenant: TenantState;
  readonly facts: readonly number[];
}

type Answer = Omit<Decayed, 'generation'>;

/** Rows looked at between two looks at the clock. */
const rowsInSlice = 512;
/** Questions that use the facts all the time put the write off no longer. */
const mostLooks = 3;

/** A caller that goes away ends the look, and with it what is written only after it. */
export async function decay(writer: Writer, caller: Caller, input: DecayInput): Promise<Decayed> {
  const wanted = { view: scopeChoice(input), threshold: input.threshold };
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      const doomed = await inOrder(context, await doomedIn(context, wanted));
      return { ...(await answerOf(context, wanted, doomed, time)), generation, dryRun: true };
    });
  const found = await live.reading(caller, unlimited, async (context) => {
    const doomed = await doomedIn(context, wanted);
    return { tenant: context.tenant, facts: doomed.map(({ fact }) => numberOfTerm(fact)) };
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
  return { ...present(answer, 'what was decided has an answer'), generation };
}

/** What is written, null where that is nothing, in the barrier, at the logical time. */
async function decide(
  context: ReadContext,
  caller: Caller,
  wanted: Wanted,
  found: Found,
  logical: number,
): Promise<{ answer: Answer; write: DecidedWrite | null }> {
  const { tenant, pacer } = context;
  const time = Math.max(logical, context.reader.time);
  const again = (facts: readonly number[]): Promise<Doomed[]> => stillDoomed(context, wanted, facts, time);
  // A tenant that was deleted and made again meanwhile has other facts under the numbers.
  let doomed = await (tenant === found.tenant ? again(found.facts) : doomedIn(context, wanted));
  for (let looks = 1; ; looks++) {
    const { version } = tenant.uses;
    doomed = await inOrder(context, doomed);
    const answer = await answerOf(context, wanted, doomed, time);
    const isMaintained = caller.idempotency !== null;
    if (doomed.length === 0 && !tenant.facts.hasEnds(wanted.view) && !isMaintained)
      return { answer, write: null };
    const facts = doomed.map(({ fact }) => numberOfTerm(fact));
    const operation: Decay = {
      kind: 'decay',
      tenant: caller.tenant,
      scope: wanted.view,
      facts,
      answer: isMaintained ? answer : null,
    };
    const encoded = await encodedOperation(operation, pacer);
    if (tenant.uses.version === version || looks === mostLooks)
      return { answer, write: encoded === null ? { operation } : { operation, encoded } };
    doomed = await again(facts);
  }
}

/** What is evicted of the view as the reader sees it. */
async function doomedIn(context: ReadContext, { view, threshold }: Wanted): Promise<Doomed[]> {
  const { tenant, reader, pacer } = context;
  const scope = scopeNumberOf(context, view);
  const doomed: Doomed[] = [];
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if (row % rowsInSlice === 0) await pacer.breathe();
      if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
      if (!relation.wasAlive(row, reader.generation)) continue;
      const found = doom(context, { relation, row }, threshold, reader.time);
      if (found !== null) doomed.push(found);
    }
  }
  return doomed;
}

/** Of these facts, those that are still evicted. */
async function stillDoomed(
  context: ReadContext,
  { threshold }: Wanted,
  facts: readonly number[],
  time: number,
): Promise<Doomed[]> {
  const doomed: Doomed[] = [];
  for (const [at, number] of facts.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) await context.pacer.breathe();
    const fact = context.tenant.facts.versionOf(number);
    if (fact.row < 0 || !fact.relation.isAlive(fact.row)) continue;
    const found = doom(context, fact, threshold, time);
    if (found !== null) doomed.push(found);
  }
  return doomed;
}

function doom(
  { database, tenant: { facts, uses } }: ReadContext,
  fact: FactRow,
  threshold: number,
  time: number,
): Doomed | null {
  const salience = (): number => uses.salience(fact, database.createdAtOf(facts, fact), time).salience;
  const fate = fateOf(fact, time, threshold, salience);
  if (fate === null) return null;
  const { predicate, negated } = fact.relation;
  const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
  return { fact, fate, salience: salience(), atom };
}

/** The expired first, each by salience, by rendered atom, and by scope, that without scope first. */
async function inOrder({ tenant, pacer }: ReadContext, doomed: readonly Doomed[]): Promise<Doomed[]> {
  const at = (index: number): Doomed => doomed[index] as Doomed;
  const scopeOf = ({ fact }: Doomed): string => tenant.facts.scopeOf(fact) ?? '';
  const compare = (one: number, other: number): number => {
    const [left, right] = [at(one), at(other)];
    if (left.fate !== right.fate) return left.fate === 'expired' ? -1 : 1;
    return (
      left.salience - right.salience ||
      compareText(left.atom, right.atom) ||
      compareText(scopeOf(left), scopeOf(right))
    );
  };
  return Array.from(await sortedOrder(doomed.length, compare, pacer), at);
}

async function answerOf(
  context: ReadContext,
  { view }: Wanted,
  doomed: readonly Doomed[],
  time: number,
): Promise<Answer> {
  let expired = 0;
  for (const { fate } of doomed) if (fate === 'expired') expired++;
  const lowSalience = doomed.length - expired;
  return {
    evicted: doomed.length,
    expired,
    lowSalience,
    // What has ended counts as not stored.
    remaining: (await countStored(context, view, time)) - lowSalience,
    atoms: doomed.map(({ atom }) => atom),
  };
}

async function countStored(context: ReadContext, view: ScopeChoice, time: number): Promise<number> {
  const { tenant, reader, pacer } = context;
  const scope = scopeNumberOf(context, view);
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

/** null: every scope; -1: one that no fact was ever in. */
function scopeNumberOf({ tenant: { facts } }: ReadContext, view: ScopeChoice): number | null {
  if (view.kind === 'all') return null;
  return facts.scopeNumber(view.kind === 'unscoped' ? null : view.scope);
}
