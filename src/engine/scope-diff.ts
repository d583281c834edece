import { present } from './base/assert.ts';
import { compareText } from './base/text-order.ts';
import type { MergeConflict, ScopeDiff, ScopeFact } from './contract/scopes.ts';
import type { FactRow, FactStore } from './facts/fact-store.ts';
import { compareSides, type Difference, fieldsThatDiffer, type JoinedAtoms } from './scope-join.ts';
import type { Pacer } from './solve/evaluation.ts';
import { leastRows, sortedOrder } from './solve/sorted.ts';
import { workedOff } from './base/slices.ts';

/**
 * What differs between two scopes, written out: by predicate and arguments by code point, what is stored as true before
 * what is stored as false. Texts are read of what is wanted alone, or once of each constant where all is. `mergeOf` adds to
 * each what a merge does with it.
 */
export async function diffOf(
  facts: FactStore,
  joined: readonly JoinedAtoms[],
  limit: number | null,
  pacer: Pacer,
  mergeOf: (difference: Difference) => MergeTakes = () => ({}),
): Promise<Omit<ScopeDiff, 'source' | 'target'>> {
  const lists = { added: [] as Difference[], removed: [] as Difference[], modified: [] as Difference[] };
  const steps = compareSides(facts, joined, (difference) => {
    if (difference.source === null) lists.removed.push(difference);
    else if (difference.target === null) lists.added.push(difference);
    else lists.modified.push(difference);
  });
  const unchanged = await workedOff(steps, () => pacer.breathe());
  const first = async <Item>(list: readonly Difference[], written: (of: Difference) => Item) =>
    mapped(await inOrder(facts, list, limit, pacer), written, pacer);
  return {
    added: await first(lists.added, (difference) => {
      return { ...scopeFact(facts, side(difference.source)), ...mergeOf(difference) };
    }),
    removed: await first(lists.removed, (difference) => {
      return { ...scopeFact(facts, side(difference.target)), ...mergeOf(difference) };
    }),
    modified: await first(lists.modified, (difference) => ({
      source: scopeFact(facts, side(difference.source)),
      target: scopeFact(facts, side(difference.target)),
      fields: fieldsThatDiffer(facts, difference),
      ...mergeOf(difference),
    })),
    unchanged,
    truncated: limit !== null && Object.values(lists).some((list) => list.length > limit),
  };
}

/** What a merge does with a difference, where that is asked for. */
type MergeTakes = Pick<ScopeDiff['added'][number], 'merge' | 'opposite'>;

/** Conflicts as answers show them, in order. */
export async function conflictsOf(
  facts: FactStore,
  conflicts: readonly Difference[],
  pacer: Pacer,
): Promise<MergeConflict[]> {
  const inTurn = await inOrder(facts, conflicts, null, pacer);
  return mapped(inTurn, (difference) => conflict(facts, difference), pacer);
}

/** The same in one turn. */
export function conflictsNow(facts: FactStore, conflicts: readonly Difference[]): MergeConflict[] {
  const compareIds = byText(facts);
  return [...conflicts]
    .sort((left, right) => compareDifferences(left, right, compareIds))
    .map((difference) => conflict(facts, difference));
}

function conflict(facts: FactStore, difference: Difference): MergeConflict {
  const { atoms, atom, source, target } = difference;
  return {
    predicate: atoms.predicate,
    args: argsOf(facts, atoms, atom),
    source: source === null ? null : scopeFact(facts, source),
    target: target === null ? null : scopeFact(facts, target),
    fields: fieldsThatDiffer(facts, difference),
  };
}

export function scopeFact(facts: FactStore, fact: FactRow): ScopeFact {
  const { from, until, metadata } = facts.versionAt(fact);
  return {
    id: facts.idOf(fact),
    ...facts.identityOf(fact),
    args: facts.argsOf(fact),
    validFrom: Number.isFinite(from) ? from : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: metadata ?? {},
  };
}

function argsOf(facts: FactStore, { atoms, arity }: JoinedAtoms, atom: number): string[] {
  return Array.from({ length: arity }, (_, position) =>
    facts.dictionary.text((atoms.columns[position] as Int32Array)[atom] as number),
  );
}

async function mapped<Item>(
  list: readonly Difference[],
  written: (of: Difference) => Item,
  pacer: Pacer,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const difference of list) if (items.push(written(difference)) % 256 === 0) await pacer.breathe();
  return items;
}

/** The differences in order, the first `limit` of them. */
async function inOrder(
  facts: FactStore,
  list: readonly Difference[],
  limit: number | null,
  pacer: Pacer,
): Promise<Difference[]> {
  const wanted = Math.min(limit ?? list.length, list.length);
  if (wanted === 0) return [];
  // Few of many: the texts of most are read once, to be turned down.
  const isFew = wanted < list.length / 8;
  const compareIds = isFew ? byText(facts) : await byRank(facts, list, pacer);
  const compare = (left: number, right: number): number =>
    compareDifferences(list[left] as Difference, list[right] as Difference, compareIds);
  const order = isFew
    ? await leastRows(list.length, wanted, compare, pacer)
    : await sortedOrder(list.length, compare, pacer);
  return Array.from(order.subarray(0, wanted), (index) => list[index] as Difference);
}

function compareDifferences(
  left: Difference,
  right: Difference,
  compareIds: (left: number, right: number) => number,
): number {
  const byPredicate =
    left.atoms === right.atoms ? 0 : compareText(left.atoms.predicate, right.atoms.predicate);
  if (byPredicate !== 0) return byPredicate;
  const length = Math.min(left.atoms.arity, right.atoms.arity);
  for (let position = 0; position < length; position++) {
    const one = (left.atoms.atoms.columns[position] as Int32Array)[left.atom] as number;
    const other = (right.atoms.atoms.columns[position] as Int32Array)[right.atom] as number;
    const order = one === other ? 0 : compareIds(one, other);
    if (order !== 0) return order;
  }
  return left.atoms.arity - right.atoms.arity || signOf(left) - signOf(right);
}

/** The truth value on source's side where it has one; what is true comes first. */
function signOf({ source, target }: Difference): number {
  return (source ?? target)?.relation.negated === true ? 1 : 0;
}

function byText({ dictionary }: FactStore): (left: number, right: number) => number {
  const texts = new Map<number, string>();
  const textOf = (id: number): string => {
    let text = texts.get(id);
    if (text === undefined) texts.set(id, (text = dictionary.text(id)));
    return text;
  };
  return (left, right) => compareText(textOf(left), textOf(right));
}

/** Compares by the place of the text among all texts of the list. */
async function byRank(
  { dictionary }: FactStore,
  list: readonly Difference[],
  pacer: Pacer,
): Promise<(left: number, right: number) => number> {
  const places = new Map<number, number>();
  const texts: string[] = [];
  for (const [index, { atoms, atom }] of list.entries()) {
    for (let position = 0; position < atoms.arity; position++) {
      const id = (atoms.atoms.columns[position] as Int32Array)[atom] as number;
      if (places.has(id)) continue;
      places.set(id, texts.length);
      texts.push(dictionary.text(id));
    }
    if ((index & 0x3ff) === 0x3ff) await pacer.breathe();
  }
  const order = await sortedOrder(
    texts.length,
    (left, right) => compareText(texts[left] as string, texts[right] as string),
    pacer,
  );
  const ranks = new Int32Array(texts.length);
  for (let at = 0; at < order.length; at++) ranks[order[at] as number] = at;
  const rankOf = (id: number): number => ranks[places.get(id) as number] as number;
  return (left, right) => rankOf(left) - rankOf(right);
}

function side(fact: FactRow | null): FactRow {
  return present(fact, 'what stands in the list has that side');
}
