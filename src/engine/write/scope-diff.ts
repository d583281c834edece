import { present } from '../base/assert.ts';
import { TextComparisons } from '../base/text-order.ts';
import type { MergeConflict, ScopeDiff } from '../contract/scopes.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import {
  byText,
  compareDifferences,
  compareSides,
  conflict,
  type Difference,
  fieldsThatDiffer,
  type JoinedAtoms,
  scopeFact,
} from '../state/scope-join.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { leastRows, sortedOrder } from '../datalog/tables/sorted.ts';
import { runInSlices } from '../base/slices.ts';

/**
 * The differences between two scopes, rendered: ordered by predicate and arguments by code point, positive facts before
 * negative ones. It reads only the texts it needs, or each constant's text once if all are needed. `mergeOf` adds what
 * a merge does with each difference.
 */
export async function diffOf(
  facts: FactStore,
  joined: readonly JoinedAtoms[],
  limit: number | null,
  { pacer, reader: { names } }: Pick<ReadContext, 'pacer' | 'reader'>,
  mergeOf: (difference: Difference) => MergeTakes = () => ({}),
): Promise<Omit<ScopeDiff, 'source' | 'target'>> {
  const lists = { added: [] as Difference[], removed: [] as Difference[], modified: [] as Difference[] };
  const steps = compareSides(facts, joined, (difference) => {
    if (difference.source === null) lists.removed.push(difference);
    else if (difference.target === null) lists.added.push(difference);
    else lists.modified.push(difference);
  });
  const unchanged = await runInSlices(steps, () => pacer.breathe());
  const first = async <Item>(list: readonly Difference[], render: (of: Difference) => Item) =>
    mapped(await inOrder(facts, list, limit, pacer), render, pacer);
  return {
    added: await first(lists.added, (difference) => {
      return { ...scopeFact(facts, side(difference.source), names), ...mergeOf(difference) };
    }),
    removed: await first(lists.removed, (difference) => {
      return { ...scopeFact(facts, side(difference.target), names), ...mergeOf(difference) };
    }),
    modified: await first(lists.modified, (difference) => ({
      source: scopeFact(facts, side(difference.source), names),
      target: scopeFact(facts, side(difference.target), names),
      fields: fieldsThatDiffer(facts, difference),
      ...mergeOf(difference),
    })),
    unchanged,
    truncated: limit !== null && Object.values(lists).some((list) => list.length > limit),
  };
}

/** What a merge does with a difference, if requested. */
type MergeTakes = Pick<ScopeDiff['added'][number], 'merge' | 'opposite'>;

/** Conflicts as answers show them, in order. */
export async function conflictsOf(
  facts: FactStore,
  conflicts: readonly Difference[],
  { pacer, reader: { names } }: Pick<ReadContext, 'pacer' | 'reader'>,
): Promise<MergeConflict[]> {
  const inTurn = await inOrder(facts, conflicts, null, pacer);
  return mapped(inTurn, (difference) => conflict(facts, difference, names), pacer);
}

async function mapped<Item>(
  list: readonly Difference[],
  render: (of: Difference) => Item,
  pacer: Pacer,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const difference of list) if (items.push(render(difference)) % 256 === 0) await pacer.breathe();
  return items;
}

/** The first `limit` differences in order. */
async function inOrder(
  facts: FactStore,
  list: readonly Difference[],
  limit: number | null,
  pacer: Pacer,
): Promise<Difference[]> {
  const wanted = Math.min(limit ?? list.length, list.length);
  if (wanted === 0) return [];
  // For a small part of a long list, selection reads fewer texts than sorting.
  const isSmallPart = wanted < list.length / 8;
  const compareIds = isSmallPart ? byText(facts) : await byRank(facts, list, pacer);
  const compare = (left: number, right: number): number =>
    compareDifferences(list[left] as Difference, list[right] as Difference, compareIds);
  const order = isSmallPart
    ? await leastRows(list.length, wanted, compare, pacer)
    : await sortedOrder(list.length, compare, pacer);
  return Array.from(order.subarray(0, wanted), (index) => list[index] as Difference);
}

/** Compares ids by the rank of their texts among all texts of the list. */
async function byRank(
  { dictionary }: FactStore,
  list: readonly Difference[],
  pacer: Pacer,
): Promise<(left: number, right: number) => number> {
  const indexes = new Map<number, number>();
  const texts: string[] = [];
  const comparisons = new TextComparisons();
  for (const [index, { atoms, atom }] of list.entries()) {
    for (let position = 0; position < atoms.arity; position++) {
      const id = (atoms.atoms.columns[position] as Int32Array)[atom] as number;
      if (indexes.has(id)) continue;
      indexes.set(id, texts.length);
      texts.push(comparisons.see(dictionary.text(id)));
    }
    if ((index & 0x3ff) === 0x3ff) await pacer.breathe();
  }
  const order = await sortedOrder(
    texts.length,
    (left, right) => comparisons.compare(texts[left] as string, texts[right] as string),
    pacer,
    comparisons,
  );
  const ranks = new Int32Array(texts.length);
  for (let at = 0; at < order.length; at++) ranks[order[at] as number] = at;
  const rankOf = (id: number): number => ranks[indexes.get(id) as number] as number;
  return (left, right) => rankOf(left) - rankOf(right);
}

function side(fact: FactRow | null): FactRow {
  return present(fact, 'a difference in this list has that side');
}
