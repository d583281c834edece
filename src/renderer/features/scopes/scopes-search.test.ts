import { expect, test } from 'vitest';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { rulesText } from './rules-compared.tsx';
import { parameterOf, scopesSearchOf, sideOf } from './scopes-search.ts';

test('reads two scopes, unscoped facts, and the view from an address', () => {
  expect(
    scopesSearchOf({ source: 'a/b "c"', target: '', strategy: 'KEEP_BOTH', kind: 'unresolved' }),
  ).toEqual({
    source: 'a/b "c"',
    target: '',
    strategy: 'KEEP_BOTH',
    kind: 'unresolved',
  });
  for (const side of [null, 'null', 'a b']) expect(sideOf(parameterOf(side))).toBe(side);
  expect(sideOf(undefined)).toBeUndefined();
});

test('drops what is not understood in an address', () => {
  expect(
    scopesSearchOf({
      source: '..',
      target: 'x'.repeat(257),
      base: '',
      strategy: 'OURS',
      kind: 'all',
      part: 1,
    }),
  ).toEqual({});
});

function rule(text: string, scope: string | null, more: Partial<StoredRule> = {}): StoredRule {
  const head = { predicate: 'p', args: [], negated: false };
  const fields = { name: null, description: null, enabled: true, createdAt: 0, etag: '', fired: 0 };
  return { id: text, text, head, body: [], scope, ...fields, ...more };
}

test('renders the rules of a scope as a text independent of when they were taught', () => {
  const rules = [
    rule('q(?x) :- r(?x)', 'draft', { enabled: false }),
    rule('p(?x) :- q(?x)', 'draft', { name: 'the\nfirst' }),
    rule('p(?x) :- z(?x)', 'main'),
    rule('p(?x) :- y(?x)', null),
  ];
  expect(rulesText(rules, 'draft')).toBe('% the first\np(?x) :- q(?x).\n% switched off\nq(?x) :- r(?x).');
  expect(rulesText(rules, null)).toBe('p(?x) :- y(?x).');
});
