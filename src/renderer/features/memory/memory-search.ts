/** Search parameters of the Memory view: part, figures and open fact. */
import { isBuiltinName, predicateProblem } from '../../../engine/contract/language.ts';

/** Parts of the view. */
export const memoryParts = [
  'salient',
  'fading',
  'expiring',
  'evict',
  'consolidate',
  'summaries',
  'runs',
] as const;
/** A part of the view. */
export type MemoryPart = (typeof memoryParts)[number];

/** How soon a validity ends. */
export const horizons = ['hour', 'day', 'week'] as const;
/** One of these horizons. */
export type Horizon = (typeof horizons)[number];

/** How many days ahead the saliences are shown. */
export const forecasts = ['1', '7', '30'] as const;
/** One of these numbers of days. */
export type Forecast = (typeof forecasts)[number];

/** The search parameters. */
export interface MemorySearch {
  /** Absent: the most salient facts. */
  part?: MemoryPart | undefined;
  /** Salience below which facts would be evicted, 0 to 1; absent: the service's default. */
  threshold?: string | undefined;
  /** Absent: the saliences of now. */
  ahead?: Forecast | undefined;
  /** Absent: a day. */
  within?: Horizon | undefined;
  /** Predicates of the most salient facts, separated by commas; absent: all. */
  predicates?: string | undefined;
  /** Predicates to consolidate, in the same form; absent: all episodes. */
  episodes?: string | undefined;
  /** Minimum number of similar facts of a pattern; absent: the service's default. */
  least?: string | undefined;
  /** Id of the open fact. */
  fact?: string | undefined;
}

/** The service's default threshold. */
export const defaultThreshold = 0.05;
/** The service's default minimum of a pattern. */
export const defaultLeast = 3;
/** Maximum of that minimum. */
export const maxLeast = 1_000_000;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function numberText(value: unknown, isGood: (number: number) => boolean): string | undefined {
  const written = text(value)?.trim();
  if (written === undefined || written === '') return undefined;
  const number = Number(written);
  return Number.isFinite(number) && isGood(number) ? String(number) : undefined;
}

/** Returns the names in a comma-separated list; no predicate contains a comma. Invalid ones are dropped. */
export function listedPredicatesOf(list: string | undefined): string[] {
  const names = (list ?? '')
    .split(',')
    .filter((name) => !isBuiltinName(name) && predicateProblem(name) === null);
  return [...new Set(names)];
}

/** The inverse of `listedPredicatesOf`. */
export function predicateListOf(predicates: readonly string[]): string | undefined {
  return predicates.length === 0 ? undefined : predicates.join(',');
}

/** Reads search parameters; invalid ones are dropped. */
export function memorySearchOf(search: Record<string, unknown>): MemorySearch {
  const found = {
    part: oneOf(memoryParts, search['part']),
    threshold: numberText(search['threshold'], (number) => number >= 0 && number <= 1),
    ahead: oneOf(forecasts, search['ahead']),
    within: oneOf(horizons, search['within']),
    predicates: predicateListOf(listedPredicatesOf(text(search['predicates']))),
    episodes: predicateListOf(listedPredicatesOf(text(search['episodes']))),
    least: numberText(
      search['least'],
      (number) => Number.isInteger(number) && number >= 2 && number <= maxLeast,
    ),
    fact: text(search['fact']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Returns the threshold, by default the service's. */
export function thresholdOf({ threshold }: MemorySearch): number {
  return threshold === undefined ? defaultThreshold : Number(threshold);
}

/** Returns the minimum of a pattern, by default the service's. */
export function leastOf({ least }: MemorySearch): number {
  return least === undefined ? defaultLeast : Number(least);
}
