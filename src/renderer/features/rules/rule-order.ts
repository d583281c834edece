/** The list of rules in the order of one of its columns. All rules are here, so nothing is asked for again. Pure. */
import type { StoredRule } from '../../../engine/contract/rules.ts';

export const ruleSortKeys = ['rule', 'name', 'scope', 'fired', 'created'] as const;
export type RuleSortKey = (typeof ruleSortKeys)[number];

export interface RuleSort {
  readonly key: RuleSortKey;
  readonly direction: 'asc' | 'desc';
}

/** As an address has it: the column, with a minus before it for the greatest first; null where it is none. */
export function ruleSortOf(text: string | undefined): RuleSort | null {
  const direction = text?.startsWith('-') === true ? 'desc' : 'asc';
  const key = ruleSortKeys.find((each) => each === text?.replace(/^-/, ''));
  return key === undefined ? null : { key, direction };
}

/**
 * What the header of a column asks for next, as an address has it: one way, the other, then as they were taught. Counts
 * and times begin with the greatest.
 */
export function nextRuleSort(current: RuleSort | null, key: RuleSortKey): string | undefined {
  const first = key === 'fired' || key === 'created' ? 'desc' : 'asc';
  if (current?.key !== key) return first === 'desc' ? `-${key}` : key;
  if (current.direction !== first) return undefined;
  return first === 'desc' ? key : `-${key}`;
}

const collator = new Intl.Collator('en', { numeric: true });

/** Text that is not there stands after all that is, in either direction. */
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

/** The rules in that order; what is equal stays as it was. */
export function rulesInOrder(rules: readonly StoredRule[], sort: RuleSort | null): readonly StoredRule[] {
  if (sort === null) return rules;
  return [...rules].sort(compareBy(sort.key, sort.direction === 'asc' ? 1 : -1));
}
