/**
 * Each fact in target after a merge: the live column of the comparison.
 *
 * An explicit choice comes first, then non-conflicts resolve themselves, then the strategy decides. The same logic
 * yields the undo: the previous versions of target.
 */
import type { MergeStrategy, ScopeFact } from '../../../engine/contract/scopes.ts';
import type { Choices, Take } from './choices.ts';
import type { MergeRow } from './merge-rows.ts';

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
