/**
 * What the address of the Scopes view says: which scopes are compared, and what of the comparison is looked at.
 *
 * A scope has at least one character, so the empty text stands for the facts without scope.
 */
import { scopeNameSchema } from '../../../engine/contract/fields.ts';
import { type MergeStrategy, mergeStrategies } from '../../../engine/contract/scopes.ts';

/** A side of a comparison: a scope by its name, or null for what has no scope. */
export type Side = string | null;

export const mergeRowFilters = ['added', 'removed', 'modified', 'conflicting', 'unresolved'] as const;
export type MergeRowFilter = (typeof mergeRowFilters)[number];

export const comparedParts = ['facts', 'rules', 'conclusions'] as const;
export type ComparedPart = (typeof comparedParts)[number];

export interface ScopesSearch {
  /** Side that is merged from; `''` for no scope, absent where none is chosen. */
  source?: string | undefined;
  /** Side that is merged into. */
  target?: string | undefined;
  /** Scope that both come from; absent: their common fork, where there is one. */
  base?: string | undefined;
  /** Present where the merge is two-way, without a base. */
  ways?: 'two' | undefined;
  strategy?: MergeStrategy | undefined;
  /** Absent: the facts. */
  part?: ComparedPart | undefined;
  kind?: MergeRowFilter | undefined;
  /** A part of the rendered fact. */
  q?: string | undefined;
  /** The fact whose versions are shown in full, as it is rendered. */
  fact?: string | undefined;
  /** Present while a scope is being forked: which, `''` for no scope. */
  fork?: string | undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function scopeName(value: unknown): string | undefined {
  const read = scopeNameSchema.safeParse(value);
  return read.success ? read.data : undefined;
}

function sideText(value: unknown): string | undefined {
  return value === '' ? '' : scopeName(value);
}

/** Reads search parameters; what is not understood is dropped. */
export function scopesSearchOf(search: Record<string, unknown>): ScopesSearch {
  const found = {
    source: sideText(search['source']),
    target: sideText(search['target']),
    base: scopeName(search['base']),
    ways: oneOf(['two'], search['ways']),
    strategy: oneOf(mergeStrategies, search['strategy']),
    part: oneOf(comparedParts, search['part']),
    kind: oneOf(mergeRowFilters, search['kind']),
    q: text(search['q']),
    fact: text(search['fact']),
    fork: sideText(search['fork']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The side that a parameter names; undefined where none is chosen. */
export function sideOf(parameter: string | undefined): Side | undefined {
  return parameter === '' ? null : parameter;
}

/** The inverse of `sideOf`. */
export function parameterOf(side: Side): string {
  return side ?? '';
}

/** What a side is called wherever it is spoken of. */
export function sideLabel(side: Side): string {
  return side ?? 'No scope';
}
