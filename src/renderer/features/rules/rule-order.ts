/** Order of the rule list by column. All rules are loaded, so sorting needs no request. Pure. */
import type { StoredRule } from '../../../engine/contract/rules.ts';

/** Columns that can be sorted by. */
export const ruleSortKeys = ['rule', 'name', 'scope', 'fired', 'created'] as const;
/** A column to sort by. */
export type RuleSortKey = (typeof ruleSortKeys)[number];

/** Column and direction. */
export interface RuleSort {
  readonly key: RuleSortKey;
  readonly direction: 'asc' | 'desc';
}

/** Reads an order from the address: the column, with a leading minus for descending; null if invalid. */
export function ruleSortOf(text: string | undefined): RuleSort | null {
  const direction = text?.startsWith('-') === true ? 'desc' : 'asc';
  const key = ruleSortKeys.find((each) => each === text?.replace(/^-/, ''));
  return key === undefined ? null : { key, direction };
}

/**
 * Returns the address parameter after a click on a column header: first direction, second direction, then unsorted.
 * Counts and times start descending.
 */
export function nextRuleSort(current: RuleSort | null, key: RuleSortKey): string | undefined {
  const first = key === 'fired' || key === 'created' ? 'desc' : 'asc';
  if (current?.key !== key) return first === 'desc' ? `-${key}` : key;
  if (current.direction !== first) return undefined;
  return first === 'desc' ? key : `-${key}`;
}

const collator = new Intl.Collator('en', { numeric: true });

/** Missing text is last in either direction. */
function compareTexts(left: string | null, right: string | null, sign: number): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return sign * collator.compare(left, right);
}

function compareBy(key: RuleSortKey, sign: number): (left: StoredRule, right: StoredRule) => number {
  switch (key) {
    case 'rule':
      return (left, right) => compareTexts(left.text, right.text, sign);
    case 'name':
      return (left, right) => compareTexts(left.name, right.name, sign);
    case 'scope':
      return (left, right) => compareTexts(left.scope, right.scope, sign);
    case 'fired':
      return (left, right) => sign * (left.fired - right.fired);
    case 'created':
      return (left, right) => sign * (left.createdAt - right.createdAt);
  }
}

/** Returns the rules in that order; the sort is stable. */
export function rulesInOrder(rules: readonly StoredRule[], sort: RuleSort | null): readonly StoredRule[] {
  if (sort === null) return rules;
  return [...rules].sort(compareBy(sort.key, sort.direction === 'asc' ? 1 : -1));
}
