/**
 * What a merge makes of target: the choices per fact, the differing facts of both scopes as rows, and each fact after
 * the merge. Pure.
 *
 * A choice (source's version, target's, or both) applies to predicate and arguments, so a fact and its negation share
 * it; one for a fact without differences is kept without effect. The service reports for each difference what a merge
 * takes of it: without a base, every fact with two versions is a conflict; with one, only facts changed on both sides.
 * The outcome is computed here: an explicit choice comes first, then non-conflicts resolve themselves, then the
 * strategy decides. The same logic yields the undo: the previous versions of target.
 */
import type { MergeStrategy, Resolution, ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import type { MergeRowFilter } from './scopes-search.ts';

/** The possible choices. */
export const takeOptions = ['source', 'target', 'both'] as const;
/** A choice. */
export type Take = (typeof takeOptions)[number];

/** By row key of the fact. */
export type Choices = ReadonlyMap<string, Take>;

function isTake(value: unknown): value is Take {
  return takeOptions.some((take) => take === value);
}

/** Reads stored choices; an invalid draft counts as none. */
export function readChoices(draft: string): Choices {
  if (draft === '') return new Map();
  let value: unknown;
  try {
    value = JSON.parse(draft);
  } catch {
    // Another version wrote it; the next choice replaces it.
    return new Map();
  }
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).filter((entry): entry is [string, Take] => isTake(entry[1])));
}

/** Returns the choices as a draft. */
export function writeChoices(choices: Choices): string {
  return choices.size === 0 ? '' : JSON.stringify(Object.fromEntries(choices));
}

/** Returns the choices with `take` for `places`; null removes them. */
export function withChoice(choices: Choices, places: readonly string[], take: Take | null): Choices {
  const next = new Map(choices);
  for (const place of places)
    if (take === null) next.delete(place);
    else next.set(place, take);
  return next;
}

/** Returns the choices as a merge takes them: for facts that differ, without duplicates, in row order. */
export function resolutionsOf(rows: readonly MergeRow[], choices: Choices): Resolution[] {
  const resolutions = new Map<string, Resolution>();
  for (const { place, source, target } of rows) {
    const take = choices.get(place);
    const fact = source ?? target;
    if (take !== undefined && fact !== null)
      resolutions.set(place, { predicate: fact.predicate, args: fact.args, take });
  }
  return [...resolutions.values()];
}

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
function renderScopeFact({ predicate, args, truthVal }: ScopeFact): string {
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

/** The comparable fields of a fact. */
export type Version = Pick<ScopeFact, 'truthVal' | 'validFrom' | 'validUntil' | 'metadata'>;

/** The result of a row. */
export interface RowResult {
  /** `refused`: an unresolved conflict, which refuses the whole merge. */
  readonly take: Take | 'refused';
  readonly by: 'choice' | 'course' | 'strategy';
  /** The versions in target afterwards, true before false. */
  readonly versions: readonly Version[];
  /** The change of target. */
  readonly change: 'add' | 'update' | 'delete' | 'none';
}

const byStrategy: Record<MergeStrategy, RowResult['take']> = {
  SOURCE_WINS: 'source',
  TARGET_WINS: 'target',
  KEEP_BOTH: 'both',
  REJECT: 'refused',
};

function decide(row: MergeRow, strategy: MergeStrategy, choices: Choices): Pick<RowResult, 'take' | 'by'> {
  const choice = choices.get(row.place);
  if (choice !== undefined) return { take: choice, by: 'choice' };
  if (!row.conflicts) return { take: row.unasked, by: 'course' };
  return { take: byStrategy[strategy], by: 'strategy' };
}

type Json = ScopeFact['metadata'][string];

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if two JSON values are equal regardless of key order. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((value, index) => isSameJson(value, right[index]));
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]))
  );
}

/**
 * Joins metadata: target's, plus keys only in source, plus source's differing values under `_source`. Source's own
 * `_source` is used if target has none, and otherwise nested one deeper; joining the result with source again changes
 * nothing.
 */
function joinMetadata(source: ScopeFact['metadata'], target: ScopeFact['metadata']): ScopeFact['metadata'] {
  const { _source: said, ...rest } = source;
  const { _source: known } = target;
  const joined: ScopeFact['metadata'] = { ...target };
  const otherwise: ScopeFact['metadata'] = {};
  for (const [key, value] of Object.entries(rest))
    if (!Object.hasOwn(target, key)) joined[key] = value;
    else if (!isSameJson(value, target[key])) otherwise[key] = value;
  const isOtherwise = said !== undefined && known !== undefined && !isSameJson(said, known);
  if (Object.keys(otherwise).length === 0 && !isOtherwise)
    return said !== undefined && known === undefined ? { ...joined, _source: said } : joined;
  if (said !== undefined) otherwise['_source'] = said;
  joined['_source'] = { ...asObject(known), ...otherwise };
  return joined;
}

/** Target's `_source` as an object that can take more. */
function asObject(known: Json | undefined): Record<string, Json> {
  if (known === undefined) return {};
  return isObject(known) ? known : { _target: known };
}

/** Returns both versions joined: joined metadata and the widest validity. */
export function joinVersions(source: Version, target: Version): Version {
  const starts = [source.validFrom, target.validFrom].filter((time) => time !== null);
  const ends = [source.validUntil, target.validUntil].filter((time) => time !== null);
  return {
    truthVal: target.truthVal,
    validFrom: starts.length < 2 ? null : Math.min(...starts),
    validUntil: ends.length < 2 ? null : Math.max(...ends),
    metadata: joinMetadata(source.metadata, target.metadata),
  };
}

function versionsOf({ source, target }: MergeRow, take: Take): Version[] {
  if (take === 'source') return source === null ? [] : [source];
  if (take === 'target') return target === null ? [] : [target];
  if (source === null || target === null) return [source, target].filter((fact) => fact !== null);
  if (source.truthVal === target.truthVal) return [joinVersions(source, target)];
  return source.truthVal ? [source, target] : [target, source];
}

function isSameVersion(left: Version, right: Version): boolean {
  return (
    left.truthVal === right.truthVal &&
    left.validFrom === right.validFrom &&
    left.validUntil === right.validUntil &&
    isSameJson(left.metadata, right.metadata)
  );
}

function changeOf(target: Version | null, versions: readonly Version[]): RowResult['change'] {
  if (target === null) return versions.length === 0 ? 'none' : 'add';
  if (versions.length === 0) return 'delete';
  const [first] = versions;
  const stays = versions.length === 1 && first !== undefined && isSameVersion(first, target);
  return stays ? 'none' : 'update';
}

/** Returns what the merge makes of a row. */
export function resultOf(row: MergeRow, strategy: MergeStrategy, choices: Choices): RowResult {
  const decision = decide(row, strategy, choices);
  const { take } = decision;
  if (take === 'refused')
    return { ...decision, versions: row.target === null ? [] : [row.target], change: 'none' };
  const versions = versionsOf(row, take);
  return { ...decision, versions, change: changeOf(row.target, versions) };
}
