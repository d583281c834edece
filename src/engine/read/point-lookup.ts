import type { FactPattern, FactRow } from '../store/fact-store.ts';
import type { Reader } from '../datalog/model/reader.ts';

/**
 * Atoms of stored facts that an index finds, few of them: read in one turn, so that nothing has to be kept from changing
 * and nothing is made for what they do not need.
 */
export interface StoredAtom {
  readonly args: string[];
  readonly negated: boolean;
  /** The stored facts that say it: one, or one of each scope. */
  readonly facts: readonly FactRow[];
}

/** A page of them; `isTruncated`: others come after it; `total`: of all pages. */
export interface PointLookup {
  readonly atoms: readonly StoredAtom[];
  readonly isTruncated: boolean;
  readonly total: number;
}

/** So many facts are put in order by going over those before each. */
const few = 32;

/**
 * The atoms that match and the reader sees, each once, ordered by their arguments, the true one before the false one. null
 * where no index finds them among few others, or there are many. Not for a reader with an overlay.
 */
export function pointLookup(
  reader: Reader,
  pattern: FactPattern,
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
): PointLookup | null {
  const { facts, generation, time } = reader;
  const found = facts.fewMatches(pattern, generation, time, few);
  if (found === null) return null;
  if (found.length > 1) sortByText(reader, found);
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  const atoms: StoredAtom[] = [];
  let count = 0;
  for (let at = 0; at < found.length; count++) {
    const first = found[at] as FactRow;
    const same = [first];
    while (++at < found.length && order(reader, first, found[at] as FactRow) === 0)
      same.push(found[at] as FactRow);
    if (count < offset || count >= end) continue;
    atoms.push({ args: argsOf(reader, first, pattern), negated: first.relation.negated, facts: same });
  }
  return { atoms, isTruncated: count > end, total: count };
}

function argsOf({ facts }: Reader, { relation, row }: FactRow, { args: asked }: FactPattern): string[] {
  const args: string[] = [];
  for (let position = 0; position < asked.length; position++) {
    // What was asked for is what stands there.
    const term = asked[position] as string;
    const column = relation.columns[position] as Int32Array;
    args.push(term.startsWith('?') ? facts.dictionary.text(column[row] as number) : term);
  }
  return args;
}

/** In place; equal ones stay in their order. */
function sortByText(reader: Reader, found: FactRow[]): void {
  for (let next = 1; next < found.length; next++) {
    const fact = found[next] as FactRow;
    let at = next;
    for (; at > 0 && order(reader, found[at - 1] as FactRow, fact) > 0; at--)
      found[at] = found[at - 1] as FactRow;
    found[at] = fact;
  }
}

/** 0 for facts of one atom. */
function order({ facts }: Reader, left: FactRow, right: FactRow): number {
  for (let position = 0; position < left.relation.arity; position++) {
    const a = (left.relation.columns[position] as Int32Array)[left.row] as number;
    const b = (right.relation.columns[position] as Int32Array)[right.row] as number;
    if (a !== b) return facts.dictionary.compare(a, b);
  }
  return Number(left.relation.negated) - Number(right.relation.negated);
}
