import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../engine/contract/inference.ts';
import { differencesInNumbers, proofDifferences } from './differences.ts';
import { treeOf } from './proof-tree.ts';

function step(id: number, atom: string, rule: string | null = null, premises: number[] = []): ProofStep {
  return { id, atom, kind: rule === null ? 'fact' : 'rule', rule, ruleId: rule, premises, scope: null };
}

const shared = [step(0, 'a()'), step(1, 'b()'), step(2, 'c()', 'r1', [0])];
const left: Proof = {
  roots: [4],
  steps: [...shared, step(3, 'd()', 'r2', [1, 2]), step(4, 'goal()', 'r3', [3])],
};
const right: Proof = {
  roots: [4],
  steps: [...shared, step(3, 'e()', 'r2', [2]), step(4, 'goal()', 'r4', [3])],
};

test('marks what one proof alone has, and what both derive otherwise; the order of steps means nothing', () => {
  const found = proofDifferences(treeOf(left, 4), treeOf(right, 4));
  expect([...found.left]).toEqual([
    ['goal()', 'otherwise'],
    ['d()', 'only'],
    ['b()', 'only'],
  ]);
  expect([...found.right]).toEqual([
    ['goal()', 'otherwise'],
    ['e()', 'only'],
  ]);
  expect(differencesInNumbers(found)).toEqual({ onlyLeft: 2, onlyRight: 1, otherwise: 1 });
  const reversed = { ...left, steps: left.steps.toReversed() };
  expect(proofDifferences(treeOf(left, 4), treeOf(reversed, 4)).left.size).toBe(0);
});
