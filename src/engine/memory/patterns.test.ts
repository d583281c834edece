import { expect, test } from 'vitest';
import { parseRule } from '../language/parse.ts';
import { isInstant, predicatesRead } from './patterns.ts';

test('recognizes a time in ISO 8601 text with a date, or epoch milliseconds of 12 or 13 digits', () => {
  const times = [
    '2024-02-29',
    '2024-02-29T10:00',
    '2024-02-29 10:00:00.123+02:00',
    '1700000000000',
    '123456789012',
  ];
  const others = [
    '',
    '2024',
    '2024-02',
    '2023-02-29',
    '10:00',
    '1700000000',
    '17000000000000',
    '-1700000000000',
  ];
  expect(times.map(isInstant)).toEqual(times.map(() => true));
  expect(others.map(isInstant)).toEqual(others.map(() => false));
});

test('reads predicates under not and in aggregates too, but no built-ins', () => {
  const rules = [
    'q(?x) :- a(?x), not b(?x), -c(?x), ?x < 3, ?n = count { ?y : d(?y), ?m = sum { ?z : e(?z, ?y) } }',
    'r(?x) :- f(?x)',
  ];
  const read = predicatesRead(rules.map((text) => parseRule(text).body));
  expect([...read].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});
