import { expect, test } from 'vitest';
import { heights, proofLines } from './proof-text.mjs';

const fact = (/** @type {number} */ id, /** @type {string} */ atom) => ({
  id,
  atom,
  kind: 'fact',
  rule: null,
  premises: [],
});
const proof = {
  roots: [3, 4],
  steps: [
    fact(0, 'e(a, b)'),
    fact(1, 'e(b, c)'),
    { id: 2, atom: 't(a, b)', kind: 'rule', rule: 't(?x, ?y) :- e(?x, ?y)', premises: [0] },
    { id: 3, atom: 't(a, c)', kind: 'rule', rule: 't(?x, ?z) :- t(?x, ?y), e(?y, ?z)', premises: [2, 1] },
    { id: 4, atom: 'u(a)', kind: 'rule', rule: 'u(?x) :- t(?x, ?y), t(?x, ?z)', premises: [2, 2] },
  ],
};

test('a proof is printed conclusion first, premises in their order below it', () => {
  expect(proofLines(proof, 3)).toEqual([
    't(a, c)  [t(?x, ?z) :- t(?x, ?y), e(?y, ?z)]',
    '  t(a, b)  [t(?x, ?y) :- e(?x, ?y)]',
    '    e(a, b)  [fact]',
    '  e(b, c)  [fact]',
  ]);
});

test('a part that was shown is not repeated', () => {
  expect(proofLines(proof, 4).slice(-1)).toEqual(['  t(a, b)  [shown above]']);
});

test('the height of a conclusion is one more than that of its highest premise', () => {
  expect([...heights(proof).values()]).toEqual([0, 0, 1, 2, 2]);
});
