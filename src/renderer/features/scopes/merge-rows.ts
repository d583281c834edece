/**
 * The facts in which two scopes differ, one row each, and what a merge does to them unless somebody chooses.
 *
 * The service says with each difference what a merge takes of it: without a base every fact that both scopes have in
 * different versions is a conflict; with one, only what both changed since. What comes of it is worked out here.
 */
import type { ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import type { MergeRowFilter } from './scopes-search.ts';

export type DifferingFactField = ScopeDiff['modified'][number]['fields'][number];

export interface MergeRow {
  /** The fact as it is rendered; of a pair that differs in truth, source's. Every row has another. */
  readonly key: string;
  /** Predicate and arguments: what a choice is made for. A fact and its negation share it. */
  readonly place: string;
  /** added: only in source; removed: only in target; modified: in both, in different versions. */
  readonly kind: 'added' | 'removed' | 'modified';
  readonly source: ScopeFact | null;
  readonly target: ScopeFact | null;
  readonly fields: readonly DifferingFactField[];
  /** Of a fact that source alone has: target's, which says the opposite and makes it a conflict; else null. */
  readonly opposite: ScopeFact | null;
  /** True where the strategy decides. */
  readonly conflicts: boolean;
  /** Whose version stands in target afterwards where there is no conflict. */
  readonly unasked: 'source' | 'target';
}

type Atom = Pick<ScopeFact, 'predicate' | 'args'>;

export function mergeKeyOf({ predicate, args }: Atom): string {
  return JSON.stringify([predicate, ...args]);
}

export function renderScopeFact({ predicate, args, truthVal }: ScopeFact): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}

/** The order of texts by code point, where the plain comparison goes by UTF-16 units. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length - right.length;
  return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

/** Surrogates, of which the characters past 0xFFFF are made, after all other units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function compareRows(left: MergeRow, right: MergeRow): number {
  const [one, other] = [left.source ?? left.target, right.source ?? right.target];
  if (one === null || other === null) return 0;
  const byPredicate = compareText(one.predicate, other.predicate);
  if (byPredicate !== 0) return byPredicate;
  for (const [index, arg] of one.args.entries()) {
    const otherArg = other.args[index];
    if (otherArg === undefined) return 1;
    const byArg = compareText(arg, otherArg);
    if (byArg !== 0) return byArg;
  }
  return one.args.length - other.args.length || Number(other.truthVal) - Number(one.truthVal);
}

type Taken = Pick<ScopeDiff['added'][number], 'merge' | 'opposite'>;

/** All rows, ordered by predicate and arguments by code point, what is true first. */
export function mergeRowsOf(diff: ScopeDiff): MergeRow[] {
  const rowOf = (
    kind: MergeRow['kind'],
    source: ScopeFact | null,
    target: ScopeFact | null,
    fact: ScopeFact,
    { merge = 'conflict', opposite }: Taken,
    fields: readonly DifferingFactField[] = [],
  ): MergeRow => ({
    key: renderScopeFact(fact),
    place: mergeKeyOf(fact),
    kind,
    source,
    target,
    fields,
    opposite: opposite ?? null,
    conflicts: merge === 'conflict',
    unasked: merge === 'source' ? 'source' : 'target',
  });
  return [
    ...diff.added.map((fact) => rowOf('added', fact, null, fact, fact)),
    ...diff.removed.map((fact) => rowOf('removed', null, fact, fact, fact)),
    ...diff.modified.map((both) =>
      rowOf('modified', both.source, both.target, both.source, both, both.fields),
    ),
  ].sort(compareRows);
}

export type RowCounts = Readonly<Record<MergeRowFilter | 'resolved', number>>;

/** How many rows there are of each kind. `isChosen`: whether a choice was made for a place. */
export function mergeRowCountsOf(rows: readonly MergeRow[], isChosen: (place: string) => boolean): RowCounts {
  const counts = { added: 0, removed: 0, modified: 0, conflicting: 0, unresolved: 0, resolved: 0 };
  for (const { kind, conflicts, place } of rows) {
    counts[kind] += 1;
    if (!conflicts) continue;
    counts.conflicting += 1;
    counts[isChosen(place) ? 'resolved' : 'unresolved'] += 1;
  }
  return counts;
}

/** The rows of a kind in which `q` stands, whatever the case. */
export function filterRows(
  rows: readonly MergeRow[],
  filter: { readonly kind: MergeRowFilter | undefined; readonly q: string },
  isChosen: (place: string) => boolean,
): readonly MergeRow[] {
  const { kind } = filter;
  const wanted = filter.q.toLowerCase();
  if (kind === undefined && wanted === '') return rows;
  return rows.filter((row) => {
    const fits =
      kind === undefined ||
      (kind === 'conflicting' || kind === 'unresolved'
        ? row.conflicts && (kind === 'conflicting' || !isChosen(row.place))
        : row.kind === kind);
    return fits && row.key.toLowerCase().includes(wanted);
  });
}

/** The place of the next conflict that nobody settled, going round from `from`; null where there is none. */
export function nextUnresolved(
  rows: readonly MergeRow[],
  from: number,
  isChosen: (place: string) => boolean,
): number | null {
  for (let step = 1; step <= rows.length; step++) {
    const index = (from + step + rows.length) % rows.length;
    const row = rows[index];
    if (row !== undefined && row.conflicts && !isChosen(row.place)) return index;
  }
  return null;
}
