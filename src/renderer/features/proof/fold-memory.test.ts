import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { proofFoldsOf, storedFoldsOf, readFolds } from './fold-memory.ts';

function step(id: number, atom: string, premises: number[] = [], ways = 1): ProofStep {
  const alternatives = Array.from({ length: ways - 1 }, () => ({ rule: 'r', ruleId: 'r', premises: [0] }));
  return { id, atom, kind: 'fact', rule: null, ruleId: null, premises, scope: null, alternatives };
}

const proof: Proof = {
  roots: [3],
  steps: [step(0, 'a()'), step(1, 'b()', [0], 3), step(2, 'c()', [0]), step(3, 'd()', [1, 2])],
};

/** The same with another step before all others. */
const later: Proof = {
  roots: [4],
  steps: [
    step(0, 'new()'),
    step(1, 'a()', [0]),
    step(2, 'b()', [1], 2),
    step(3, 'c()', [1]),
    step(4, 'd()', [2, 3]),
  ],
};

test('what was unfolded is found again by its statement, though steps have other numbers', () => {
  const folds = {
    state: { active: '0:1', unfolded: new Set(['0:3', '0:1']) },
    chosen: new Map([[1, 1]]),
    apart: new Set([2]),
  };
  const kept = storedFoldsOf('q', proof, folds);
  expect(proofFoldsOf(kept, proof)).toEqual(folds);
  expect(proofFoldsOf(kept, later)).toEqual({
    state: { active: '0:2', unfolded: new Set(['0:4', '0:2']) },
    chosen: new Map([[2, 1]]),
    apart: new Set([3]),
  });
});

test('all unfolded stays all unfolded, and a way that is no more is the own one', () => {
  const kept = storedFoldsOf('q', proof, {
    state: { active: '0:3', unfolded: new Set(['0:1', '0:2', '0:3']) },
    chosen: new Map([[1, 2]]),
    apart: new Set(),
  });
  expect(kept.unfolded).toBe('all');
  const folds = proofFoldsOf(kept, later);
  expect([1, 2, 3, 4].every((id) => folds.state.unfolded.has(`0:${id}`))).toBe(true);
  expect(folds.chosen.size).toBe(0);
});

test('a cursor on what is there no more is on the root', () => {
  const kept = storedFoldsOf('q', proof, {
    state: { active: '0:1.0', unfolded: new Set() },
    chosen: new Map(),
    apart: new Set(),
  });
  expect(proofFoldsOf(kept, later).state.active).toBe('0:4');
});

test('of what is stored, what cannot be understood is dropped', () => {
  const good = { about: 'q', active: 'a()', unfolded: ['a()'], chosen: [['b()', 1]], apart: ['b()'] };
  const bad = [
    { ...good, unfolded: [1] },
    { ...good, chosen: [['b()', 0]] },
    { ...good, apart: [1] },
    { about: 1 },
    'x',
  ];
  expect(readFolds([good, ...bad])).toEqual([good]);
  const { apart: _, ...earlier } = good;
  expect(readFolds([earlier])).toEqual([{ ...earlier, apart: [] }]);
  expect(readFolds('none')).toBeNull();
});
