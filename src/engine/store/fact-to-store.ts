import type { Metadata } from '../contract/facts.ts';
import type { Extras } from './fact-extras.ts';
import type { Bounds } from './stored-relation.ts';
import type { FactVersion } from './version-archive.ts';

/**
 * What a write asks for, the version of a fact that this makes, and when two versions are alike.
 */

/** A fact to store. */
export interface FactToStore extends Extras {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
}

/** What identifies a fact. */
export type FactIdentity = Pick<FactToStore, 'predicate' | 'args' | 'truthVal' | 'scope'>;

/** The bounds of a fact that is always valid. */
export const openBounds: Bounds = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

/** A version without validity and metadata. */
export const plainVersion: FactVersion = { ...openBounds, metadata: null };

/** True if the fact gives neither a validity nor metadata. */
export function isPlain({ validFrom, validUntil, metadata }: FactToStore): boolean {
  return validFrom === undefined && validUntil === undefined && metadata === undefined;
}

/** The version that a fact asks for; what it does not give is taken from `kept`. */
export function versionAfter(fact: FactToStore, kept: FactVersion): FactVersion {
  if (isPlain(fact)) return kept;
  const { metadata } = fact;
  return {
    ...boundsAfter(fact, kept),
    metadata: metadata === undefined ? kept.metadata : nonEmpty(metadata),
  };
}

/** The bounds that a fact gives, or the kept ones if it gives none. */
export function boundsAfter(fact: FactToStore, kept: Bounds): Bounds {
  const { validFrom = kept.from, validUntil = kept.until } = fact;
  return {
    from: validFrom === 'always' ? Number.NEGATIVE_INFINITY : validFrom,
    until: validUntil === 'never' ? Number.POSITIVE_INFINITY : validUntil,
  };
}

/** The metadata; null if it has no field. */
export function nonEmpty(metadata: Metadata | null): Metadata | null {
  return metadata === null || Object.keys(metadata).length === 0 ? null : metadata;
}

/** True if two versions have the same validity, and equal metadata in any order of keys. */
export function areAlike(left: FactVersion, right: FactVersion): boolean {
  return left.from === right.from && left.until === right.until && sameJson(left.metadata, right.metadata);
}

/** Equality of JSON values, in any order of keys. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      sameJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}
