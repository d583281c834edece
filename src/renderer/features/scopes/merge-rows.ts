/**
 * The facts in which two scopes differ, one row each, and what a merge does to them unless somebody chooses.
 *
 * Follows section by section what a merge is: without a base every fact that both scopes have in different versions
 * is a conflict; with one, only what both changed since. The service decides at last; this says beforehand what it
 * will decide, from the same differences.
 */
import type { ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/logic/print.ts';
import type { RowFilter } from './scopes-search.ts';

export type DifferingField = ScopeDiff['modified'][number]['fields'][number];

export interface MergeRow {
  /** The fact as it is rendered; of a pair that differs in truth, source's. Every row has another. */
  readonly key: string;
  /** Predicate and arguments: what a choice is made for. A fact and its negation share it. */
  readonly place: string;
  /** added: only in source; removed: only in target; modified: in both, in different versions. */
  readonly kind: 'added' | 'removed' | 'modified';
  readonly source: ScopeFact | null;
  readonly target: ScopeFact | null;
  readonly fields: readonly DifferingField[];
  /** True where the strategy decides. */
  readonly conflicts: boolean;
  /** Whose version stands in target afterwards where there is no conflict. */
  readonly unasked: 'source' | 'target';
}

/** The two scopes and how each differs from the scope that both come from. */
export interface Differences {
  readonly diff: ScopeDiff;
  readonly base: { readonly ofSource: ScopeDiff; readonly ofTarget: ScopeDiff } | null;
}

type Atom = Pick<ScopeFact, 'predicate' | 'args'>;

export function placeOf({ predicate, args }: Atom): string {
  return JSON.stringify([predicate, ...args]);
}

export function renderScopeFact({ predicate, args, truthVal }: ScopeFact): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}

type Since = 'new' | 'alike' | 'changed';

/** How the facts of a scope stand to those of the base, from the differences between the two. */
function sinceBase(diff: ScopeDiff): (fact: ScopeFact) => Since {
  const changes = new Map<string, Since>();
  for (const fact of diff.added) changes.set(renderScopeFact(fact), 'new');
  // A fact whose negation stands in the base is new there.
  for (const { source, target } of diff.modified)
    changes.set(renderScopeFact(source), source.truthVal === target.truthVal ? 'changed' : 'new');
  return (fact) => changes.get(renderScopeFact(fact)) ?? 'alike';
}

type Judgement = Pick<MergeRow, 'conflicts' | 'unasked'>;

/** What a merge does to a row by itself. */
function judge(
  source: ScopeFact | null,
  target: ScopeFact | null,
  base: { source: (fact: ScopeFact) => Since; target: (fact: ScopeFact) => Since } | null,
): Judgement {
  if (source !== null && target !== null) {
    if (base === null) return { conflicts: true, unasked: 'target' };
    if (base.source(source) === 'alike') return { conflicts: false, unasked: 'target' };
    if (base.target(target) === 'alike') return { conflicts: false, unasked: 'source' };
    return { conflicts: true, unasked: 'target' };
  }
  if (source !== null) {
    const since = base?.source(source) ?? 'new';
    // In the base and not in target: target deleted it.
    return { conflicts: since === 'changed', unasked: since === 'new' ? 'source' : 'target' };
  }
  const since = target === null || base === null ? 'new' : base.target(target);
  return { conflicts: since === 'changed', unasked: since === 'alike' ? 'source' : 'target' };
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

/** All rows, ordered by predicate and arguments by code point, what is true first. */
export function rowsOf({ diff, base }: Differences): MergeRow[] {
  const since = base === null ? null : { source: sinceBase(base.ofSource), target: sinceBase(base.ofTarget) };
  const rowOf = (
    kind: MergeRow['kind'],
    source: ScopeFact | null,
    target: ScopeFact | null,
    fact: ScopeFact,
    fields: readonly DifferingField[] = [],
  ): MergeRow => ({
    key: renderScopeFact(fact),
    place: placeOf(fact),
    kind,
    source,
    target,
    fields,
    ...judge(source, target, since),
  });
  return [
    ...diff.added.map((fact) => rowOf('added', fact, null, fact)),
    ...diff.removed.map((fact) => rowOf('removed', null, fact, fact)),
    ...diff.modified.map(({ source, target, fields }) => rowOf('modified', source, target, source, fields)),
  ].sort(compareRows);
}

export type RowCounts = Readonly<Record<RowFilter | 'resolved', number>>;

/** How many rows there are of each kind. `isChosen`: whether a choice was made for a place. */
export function countsOf(rows: readonly MergeRow[], isChosen: (place: string) => boolean): RowCounts {
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
  filter: { readonly kind: RowFilter | undefined; readonly q: string },
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
