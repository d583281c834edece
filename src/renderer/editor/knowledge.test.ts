import { expect, test } from 'vitest';
import { parseRule } from '../../engine/language/parse.ts';
import { type Knowledge, storedFactsText, storedRulesText } from './knowledge.ts';

function rule(id: string, text: string, enabled = true): Knowledge['rules'][number] {
  const { head, body } = parseRule(text);
  const rest = { scope: null, name: null, description: null, createdAt: 0, etag: '"1"', fired: 0 };
  return { id, text, head, body, enabled, ...rest };
}

const knowledge: Knowledge = {
  predicates: [
    {
      name: 'q',
      arity: 2,
      facts: 3,
      derived: 0,
      derivedComplete: true,
      rules: 0,
      scopes: [null],
      example: 'q(a, b)',
    },
    { name: 'p', arity: 1, facts: 0, derived: 2, derivedComplete: true, rules: 2, scopes: [], example: null },
  ],
  rules: [
    rule('r1', 'p(?x) :- first_condition(?x, ?somebody), second_condition(?somebody, ?x), third(?x)'),
    rule('r2', 'p(?x) :- q(?x, ?_)', false),
  ],
};

test('every line of the stored rules leads to its rule', () => {
  const { text, read, ownerOf } = storedRulesText(knowledge);
  expect(text.split('\n')).toHaveLength(5);
  expect([1, 4, 5, 6].map(ownerOf)).toEqual(['r1', 'r1', 'r2', null]);
  expect(read.predicates.filter(({ name, role }) => name === 'p' && role === 'head')).toHaveLength(2);
});

test('stored facts are shown by an example with their number', () => {
  const { text, ownerOf } = storedFactsText(knowledge);
  expect(text).toBe('q(a, b). % 1 of 3 stored');
  expect(ownerOf(1)).toBe('q');
});
