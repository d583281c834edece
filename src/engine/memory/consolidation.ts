import { compareText } from '../base/text-order.ts';
import type { Metadata } from '../contract/facts.ts';
import { predicateProblem } from '../contract/language.ts';
import type { ConsolidatedValue, SkipReason } from '../contract/memory.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import { isPinned } from './fate.ts';
import { type Looked, type Pattern, patterns, valueAt, type Wanted } from './patterns.ts';
import { ownMetadata, summaryIdentity } from './summary.ts';

/** A summary to assert, and the facts it replaces. */
export interface PlannedSummary {
  readonly identity: FactIdentity;
  /** Its metadata without `consolidated`. */
  readonly metadata: Metadata;
  /** The predicate of the facts. */
  readonly from: string;
  readonly position: number;
  /** By createdAt, then by value. Not empty. */
  readonly values: readonly ConsolidatedValue[];
  /** The summary that it replaces, or null. */
  readonly former: FactRow | null;
  /** The facts to retract. */
  readonly replaced: readonly FactRow[];
}

export interface Skipped {
  readonly identity: FactIdentity;
  readonly support: number;
  readonly reason: SkipReason;
}

/** A plan of summaries. The order of the lists is deterministic but has no meaning. */
export interface ConsolidationPlan {
  readonly summaries: readonly PlannedSummary[];
  readonly skipped: readonly Skipped[];
}

/** Maximum size of all summaries of one write, in characters of JSON. */
const maxCharacters = 64 * 1024 * 1024;
const entriesInSlice = 256;

/**
 * Plans a consolidation. A summary never replaces an unrelated fact: if its atom is already stored, its facts stay. The
 * size of summaries is bounded by that of a log record. `createdAt`: when a stored fact was asserted.
 */
export async function planConsolidation(
  looked: Looked,
  wanted: Wanted,
  createdAt: (fact: FactRow) => number,
  pacer: Pacer,
): Promise<ConsolidationPlan> {
  const found: PlannedSummary[] = [];
  const skipped: Skipped[] = [];
  let left = maxCharacters;
  for await (const pattern of patterns(looked, wanted, pacer)) {
    const made = await valuesOf(looked.facts, pattern, createdAt, pacer);
    const planned = await plannedSummary(looked.facts, pattern, made.values, pacer);
    const { identity } = planned;
    const skip = (reason: SkipReason): void =>
      void skipped.push({ identity, support: made.values.length, reason });
    if (predicateProblem(identity.predicate) !== null) skip('name_too_long');
    else if (made.characters > maxCharacters) skip('too_large');
    else if (made.characters > left) skip('next_time');
    else {
      left -= made.characters;
      found.push(planned);
    }
  }
  const summaries = await withRoom(looked, found, pacer);
  const kept = new Set(summaries);
  for (const planned of found)
    if (!kept.has(planned))
      skipped.push({ identity: planned.identity, support: planned.values.length, reason: 'atom_taken' });
  return { summaries, skipped };
}

/** The values of the summary and their size in characters; stops once they exceed the limit. */
async function valuesOf(
  facts: FactStore,
  { former, position, rows }: Pattern,
  createdAt: (fact: FactRow) => number,
  pacer: Pacer,
): Promise<{ readonly values: ConsolidatedValue[]; readonly characters: number }> {
  const byValue = new Map<string, ConsolidatedValue>();
  let characters = 0;
  let looked = 0;
  const add = async (entry: ConsolidatedValue): Promise<void> => {
    byValue.set(entry.value, entry);
    characters += JSON.stringify(entry).length + 1;
    if (++looked % entriesInSlice === 0) await pacer.breathe();
  };
  for (const entry of former?.consolidation.values ?? []) await add(entry);
  // A fact that was stored again replaces its earlier value.
  for (const fact of rows) {
    const { from, until, metadata } = facts.versionAt(fact);
    await add({
      value: valueAt(facts, fact, position),
      createdAt: createdAt(fact),
      ...(Number.isFinite(from) ? { validFrom: from } : {}),
      ...(Number.isFinite(until) ? { validUntil: until } : {}),
      ...(metadata === null ? {} : { metadata }),
    });
    if (characters > maxCharacters) return { values: [...byValue.values()], characters };
  }
  const entries = [...byValue.values()];
  const order = await sortedOrder(
    entries.length,
    (one, other) => {
      const [left, right] = [entries[one] as ConsolidatedValue, entries[other] as ConsolidatedValue];
      return left.createdAt - right.createdAt || compareText(left.value, right.value);
    },
    pacer,
  );
  return { values: Array.from(order, (at) => entries[at] as ConsolidatedValue), characters };
}

async function plannedSummary(
  facts: FactStore,
  { former, position, rows }: Pattern,
  values: readonly ConsolidatedValue[],
  pacer: Pacer,
): Promise<PlannedSummary> {
  const [first] = rows;
  if (first === undefined) throw new Error('assertion failed: a pattern has facts');
  const { predicate, args, truthVal, scope } = facts.identityOf(first);
  const constants = args.filter((_, at) => at !== position);
  const replaced: FactRow[] = [];
  for (const [at, fact] of rows.entries()) {
    if (at % entriesInSlice === 0) await pacer.breathe();
    if (!isPinned(fact.relation.metadata.get(fact.row))) replaced.push(fact);
  }
  return {
    identity: summaryIdentity({ predicate, truthVal, scope }, constants, values.length),
    metadata: ownMetadata(former === null ? null : facts.metadataOf(former.fact), values),
    from: predicate,
    position,
    values,
    former: former?.fact ?? null,
    replaced,
  };
}

/** The summaries whose atoms are free: not stored, or freed by a summary that goes. */
async function withRoom(
  { facts, time }: Looked,
  found: readonly PlannedSummary[],
  pacer: Pacer,
): Promise<PlannedSummary[]> {
  const taken = new Set<string>();
  const freed = new Set<string>();
  const summaries: PlannedSummary[] = [];
  let waiting = [...found];
  for (let before = -1; before !== summaries.length; ) {
    before = summaries.length;
    const still: PlannedSummary[] = [];
    for (const [at, planned] of waiting.entries()) {
      if (at % entriesInSlice === 0) await pacer.breathe();
      const { identity, former } = planned;
      const key = keyOf(identity);
      const formerKey = former === null ? null : keyOf(facts.identityOf(former));
      const { predicate, args, truthVal, scope } = identity;
      const known = facts.find(predicate, args, truthVal, scope);
      const isStored = known !== null && facts.isStored(known, time);
      if (taken.has(key) || (isStored && !freed.has(key) && key !== formerKey)) still.push(planned);
      else {
        taken.add(key);
        if (formerKey !== null) freed.add(formerKey);
        summaries.push(planned);
      }
    }
    waiting = still;
  }
  return summaries;
}

function keyOf({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([scope, truthVal, predicate, ...args]);
}
