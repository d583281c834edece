import { expect, test } from 'vitest';
import '../api/testing/browser.ts';
import type { SearchHit } from '../../engine/contract/search.ts';
import { listedHits, placeOfHit } from './found-knowledge.tsx';

function hit(part: Partial<SearchHit>): SearchHit {
  return { kind: 'fact', id: null, score: 1, why: [], scope: null, salience: null, ...part };
}

test('a hit opens where it is seen best', () => {
  expect(placeOfHit(hit({ kind: 'fact', atom: 'lives(ann, "a b")', id: 'f1-2' }), true)).toEqual({
    to: '/facts',
    search: { predicate: 'lives', q: 'lives(ann, "a b")', fact: 'f1-2' },
  });
  expect(placeOfHit(hit({ kind: 'conclusion', atom: '-met(ann, bo)' }), true)).toEqual({
    to: '/proof',
    search: { question: '-met(ann, bo)' },
  });
  expect(placeOfHit(hit({ kind: 'rule', rule: 'p(?x) :- q(?x)', id: 'r1' }), true)).toEqual({
    to: '/rules',
    search: { rule: 'r1' },
  });
  expect(placeOfHit(hit({ kind: 'predicate', predicate: 'p' }), true)).toEqual({
    to: '/facts',
    search: { predicate: 'p' },
  });
  expect(placeOfHit(hit({ kind: 'predicate', predicate: 'p' }), false)).toEqual({
    to: '/facts',
    search: { predicate: 'p', derived: 'true' },
  });
  expect(placeOfHit(hit({ kind: 'entity', entity: 'new_york' }), true)).toEqual({
    to: '/entity/$constant',
    params: { constant: 'new_york' },
  });
});

test('the best hits of each kind are listed, without those that commands list already', () => {
  const facts = Array.from({ length: 9 }, (_, index) => hit({ kind: 'fact', atom: `p(${index})` }));
  const rules = [hit({ kind: 'rule', id: 'r1' }), hit({ kind: 'rule', id: 'r2' })];
  const predicates = [hit({ kind: 'predicate', predicate: 'p' }), hit({ kind: 'predicate', predicate: 'q' })];
  const listed = listedHits([...facts, ...rules, ...predicates], new Set(['rule r2', 'predicate p']));
  expect(listed.filter(({ kind }) => kind === 'fact').map(({ atom }) => atom)).toEqual(
    Array.from({ length: 5 }, (_, index) => `p(${index})`),
  );
  expect(listed.filter(({ kind }) => kind === 'rule').map(({ id }) => id)).toEqual(['r1']);
  expect(listed.filter(({ kind }) => kind === 'predicate').map(({ predicate }) => predicate)).toEqual(['q']);
});
