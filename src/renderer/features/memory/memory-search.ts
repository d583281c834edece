/** What the address of the Memory view says: which part is looked at, with which figures, and the open fact. */
import { predicateSchema } from '../../../engine/contract/language.ts';

export const memoryParts = [
  'salient',
  'fading',
  'expiring',
  'evict',
  'consolidate',
  'summaries',
  'runs',
] as const;
export type MemoryPart = (typeof memoryParts)[number];

/** How soon a validity is to end. */
export const horizons = ['hour', 'day', 'week'] as const;
export type Horizon = (typeof horizons)[number];

export interface MemorySearch {
  /** Absent: the most salient facts. */
  part?: MemoryPart | undefined;
  /** The salience below which facts would be evicted, 0 to 1; absent: what the service takes. */
  threshold?: string | undefined;
  /** Absent: a day. */
  within?: Horizon | undefined;
  /** Predicates of the most salient facts, separated by commas; absent: all. */
  predicates?: string | undefined;
  /** Predicates to consolidate, in the same form; absent: whatever is an episode. */
  episodes?: string | undefined;
  /** How many alike make a pattern; absent: what the service takes. */
  least?: string | undefined;
  /** Id of the open fact. */
  fact?: string | undefined;
}

/** What the service takes where nothing is said. */
export const usualThreshold = 0.05;
export const usualLeast = 3;
export const greatestLeast = 1_000_000;

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

/** The names in a list separated by commas, which no predicate contains; what is no predicate is left out. */
export function listedPredicatesOf(list: string | undefined): string[] {
  const names = (list ?? '').split(',').filter((name) => predicateSchema.safeParse(name).success);
  return [...new Set(names)];
}

/** The inverse of `predicatesOf`. */
export function predicateListOf(predicates: readonly string[]): string | undefined {
  return predicates.length === 0 ? undefined : predicates.join(',');
}

/** Reads search parameters; what is not understood is dropped. */
export function memorySearchOf(search: Record<string, unknown>): MemorySearch {
  const found = {
    part: oneOf(memoryParts, search['part']),
    threshold: numberText(search['threshold'], (number) => number >= 0 && number <= 1),
    within: oneOf(horizons, search['within']),
    predicates: predicateListOf(listedPredicatesOf(text(search['predicates']))),
    episodes: predicateListOf(listedPredicatesOf(text(search['episodes']))),
    least: numberText(
      search['least'],
      (number) => Number.isInteger(number) && number >= 2 && number <= greatestLeast,
    ),
    fact: text(search['fact']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

export function thresholdOf({ threshold }: MemorySearch): number {
  return threshold === undefined ? usualThreshold : Number(threshold);
}

export function leastOf({ least }: MemorySearch): number {
  return least === undefined ? usualLeast : Number(least);
}
