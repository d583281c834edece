/**
 * The differing facts of two scopes as rows, and the default effect of a merge.
 *
 * The service reports for each difference what a merge takes of it: without a base, every fact with two versions is a
 * conflict; with one, only facts changed on both sides. The outcome is computed here.
 */
import type { ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import type { MergeRowFilter } from './scopes-search.ts';

/** A field that can differ. */
export type DifferingFactField = ScopeDiff['modified'][number]['fields'][number];

/** A differing fact. */
export interface MergeRow {
  /** The rendered fact; for a pair that differs in truth, source's. Unique per row. */
  readonly key: string;
  /** Key of predicate and arguments, for choices. A fact and its negation share it. */
  readonly place: string;
  /** added: only in source; removed: only in target; modified: in both, with different versions. */
  readonly kind: 'added' | 'removed' | 'modified';
  readonly source: ScopeFact | null;
  readonly target: ScopeFact | null;
  readonly fields: readonly DifferingFactField[];
  /** For a fact only in source: target's opposite fact, which makes it a conflict; else null. */
  readonly opposite: ScopeFact | null;
  /** True if the strategy decides. */
  readonly conflicts: boolean;
  /** Whose version target has after the merge, unless in conflict. */
  readonly unasked: 'source' | 'target';
}

type Atom = Pick<ScopeFact, 'predicate' | 'args'>;

/** Returns the key of an atom for choices. */
export function mergeKeyOf({ predicate, args }: Atom): string {
  return JSON.stringify([predicate, ...args]);
}

/** Returns the rendered fact. */
export function renderScopeFact({ predicate, args, truthVal }: ScopeFact): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}

/** Compares texts by code point; plain comparison uses UTF-16 units. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length - right.length;
  return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

/** Orders surrogates, which encode characters above 0xFFFF, after all other units. */
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

/** Returns all rows by predicate and arguments in code point order, true before false. */
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

/** Number of rows per kind. */
export type RowCounts = Readonly<Record<MergeRowFilter | 'resolved', number>>;

/** Returns the number of rows of each kind. `isChosen`: whether a key has a choice. */
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

/** Returns the rows of a kind that contain `q`, ignoring case. */
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

/** Returns the index of the next unresolved conflict, wrapping around from `from`; null if there is none. */
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
