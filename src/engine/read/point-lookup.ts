import type { FactPattern, FactRow } from '../store/fact-store.ts';
import { lookUpFew } from '../store/fact-matching.ts';
import type { Reader } from '../datalog/model/reader.ts';

/** An atom found by a point look-up. */
export interface StoredAtom {
  readonly args: string[];
  readonly negated: boolean;
  /** Its stored facts: one, or one per scope. */
  readonly facts: readonly FactRow[];
}

/** A page of atoms; `isTruncated`: more follow; `total`: on all pages. */
export interface PointLookup {
  readonly atoms: readonly StoredAtom[];
  readonly isTruncated: boolean;
  readonly total: number;
}

/** Maximum number of facts; they are sorted by insertion. */
const maxFacts = 32;

/**
 * Point look-up: the visible atoms that match, each once, ordered by arguments, true before false. Synchronous and
 * without temporary structures. null if no index finds them, or if there are too many. Not for a reader with an
 * overlay.
 */
export function pointLookup(
  reader: Reader,
  pattern: FactPattern,
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
): PointLookup | null {
  const { facts, generation, time } = reader;
  const found = lookUpFew(facts, pattern, generation, time, maxFacts);
  if (found === null) return null;
  if (found.length > 1) sortByText(reader, found);
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  const atoms: StoredAtom[] = [];
  let count = 0;
  for (let at = 0; at < found.length; count++) {
    const from = at;
    const first = found[from] as FactRow;
    do at++;
    while (at < found.length && order(reader, first, found[at] as FactRow) === 0);
    if (count < offset || count >= end) continue;
    atoms.push({
      args: matchedArgs(facts.dictionary, first, pattern.args),
      negated: first.relation.negated,
      facts: found.length === 1 ? found : found.slice(from, at),
    });
  }
  return { atoms, isTruncated: count > end, total: count };
}

/** The stored facts behind the page. */
export function factsOf({ atoms: [first, ...others] }: PointLookup): readonly FactRow[] {
  if (first === undefined) return [];
  return others.length === 0 ? first.facts : [first, ...others].flatMap(({ facts }) => facts);
}

/** The arguments of a fact that matches the asked ones. A constant in the pattern is the constant of the fact. */
export function matchedArgs(
  constants: { text(id: number): string },
  { relation, row }: FactRow,
  asked: readonly string[],
): string[] {
  const args: string[] = [];
  for (let position = 0; position < asked.length; position++) {
    const term = asked[position] as string;
    const column = relation.columns[position] as Int32Array;
    args.push(term.startsWith('?') ? constants.text(column[row] as number) : term);
  }
  return args;
}

/** Stable insertion sort, in place. */
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
