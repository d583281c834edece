/**
 * Search parameters of the Scopes view: the compared pair and the state of the comparison.
 *
 * A scope name has at least one character, so the empty text denotes the unscoped facts.
 */
import { scopeNameProblem } from '../../../engine/contract/names.ts';
import type { MergeStrategy } from '../../../engine/contract/scopes.ts';
import { isName } from '../../api/space.ts';

/** A side of a comparison: a scope name, or null for unscoped facts. */
export type Side = string | null;

/** Filters of the rows. */
export const mergeRowFilters = ['added', 'removed', 'modified', 'conflicting', 'unresolved'] as const;
/** A filter of the rows. */
export type MergeRowFilter = (typeof mergeRowFilters)[number];

/** Parts of the comparison. */
export const comparedParts = ['facts', 'rules', 'conclusions'] as const;
/** A part of the comparison. */
type ComparedPart = (typeof comparedParts)[number];

/** The search parameters. */
export interface ScopesSearch {
  /** Source side; `''` for unscoped, absent if not selected. */
  source?: string | undefined;
  /** Target side. */
  target?: string | undefined;
  /** Common base; absent: the common fork, if any. */
  base?: string | undefined;
  /** Present for a two-way merge without a base. */
  ways?: 'two' | undefined;
  strategy?: MergeStrategy | undefined;
  /** Absent: the facts. */
  part?: ComparedPart | undefined;
  kind?: MergeRowFilter | undefined;
  /** Part of the rendered fact. */
  q?: string | undefined;
  /** The rendered fact whose versions are shown in full. */
  fact?: string | undefined;
  /** Present while a scope is being forked: its name, `''` for unscoped. */
  fork?: string | undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function scopeName(value: unknown): string | undefined {
  return isName(value, scopeNameProblem) ? value : undefined;
}

const strategies: Readonly<Record<MergeStrategy, true>> = {
  SOURCE_WINS: true,
  TARGET_WINS: true,
  KEEP_BOTH: true,
  REJECT: true,
};

function strategyOf(value: unknown): MergeStrategy | undefined {
  return typeof value === 'string' && Object.hasOwn(strategies, value) ? (value as MergeStrategy) : undefined;
}

function sideText(value: unknown): string | undefined {
  return value === '' ? '' : scopeName(value);
}

/** Reads search parameters; invalid ones are dropped. */
export function scopesSearchOf(search: Record<string, unknown>): ScopesSearch {
  const found = {
    source: sideText(search['source']),
    target: sideText(search['target']),
    base: scopeName(search['base']),
    ways: oneOf(['two'], search['ways']),
    strategy: strategyOf(search['strategy']),
    part: oneOf(comparedParts, search['part']),
    kind: oneOf(mergeRowFilters, search['kind']),
    q: text(search['q']),
    fact: text(search['fact']),
    fork: sideText(search['fork']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Returns the side of a parameter; undefined if not selected. */
export function sideOf(parameter: string | undefined): Side | undefined {
  return parameter === '' ? null : parameter;
}

/** The inverse of `sideOf`. */
export function parameterOf(side: Side): string {
  return side ?? '';
}

/** Returns the label of a side. */
export function sideLabel(side: Side): string {
  return side ?? 'No scope';
}
