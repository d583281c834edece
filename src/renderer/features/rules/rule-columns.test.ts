import { expect, test } from 'vitest';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseRule } from '../../../engine/language/parse.ts';
import { differingRuleColumns, nextRuleSort, rulesInOrder, ruleSortOf } from './rule-columns.tsx';

function rule(text: string, name: string | null, fired: number): StoredRule {
  const rest = { scope: null, description: null, enabled: true, createdAt: fired, etag: '"1"' };
  return { id: text, text, ...parseRule(text), ...rest, name, fired };
}

const rules = [
  rule('p10(?x) :- q(?x)', 'b', 3),
  rule('p9(?x) :- q(?x)', null, 7),
  rule('a(?x) :- q(?x)', 'a', 3),
];
const order = (sort: string | undefined) =>
  rulesInOrder(rules, ruleSortOf(sort)).map(({ head }) => head.predicate);

test('sorts rules by a column, stably', () => {
  expect(order(undefined)).toEqual(['p10', 'p9', 'a']);
  expect(order('rule')).toEqual(['a', 'p9', 'p10']);
  expect(order('-fired')).toEqual(['p9', 'p10', 'a']);
  expect(order('fired')).toEqual(['p10', 'a', 'p9']);
});

test('puts rules without a name last in either direction', () => {
  expect(order('name')).toEqual(['a', 'p10', 'p9']);
  expect(order('-name')).toEqual(['p10', 'a', 'p9']);
});

test('cycles a header through one direction, the other and none; counts begin with the greatest', () => {
  const walk = (key: 'rule' | 'fired') => {
    const first = nextRuleSort(null, key);
    const second = nextRuleSort(ruleSortOf(first), key);
    return [first, second, nextRuleSort(ruleSortOf(second), key)];
  };
  expect(walk('rule')).toEqual(['rule', '-rule', undefined]);
  expect(walk('fired')).toEqual(['-fired', 'fired', undefined]);
  expect(ruleSortOf('colour')).toBeNull();
});

test('hides names and scopes until a rule has one', () => {
  const [named, plain] = rules;
  expect([...differingRuleColumns(plain === undefined ? [] : [plain])]).toEqual(['fired', 'created']);
  expect(differingRuleColumns(rules)).toContain('name');
  expect(differingRuleColumns(named === undefined ? [] : [{ ...named, scope: 'draft' }])).toContain('scope');
});
