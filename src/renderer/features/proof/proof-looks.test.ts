import { describe, expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { condensed, knownNameOf, namesIn } from './condense.ts';
import { findSteps, nextMatch, unfoldedAfter } from './use-proof-display.ts';
import { hiddenNames, hideOf, proofSearchOf } from './proof-search.ts';
import { buildTree, stepsBelow, visibleRows } from './proof-tree.ts';

function step(
  id: number,
  atom: string,
  premises: number[] = [],
  kind: ProofStep['kind'] = premises.length > 0 ? 'rule' : 'fact',
): ProofStep {
  return { id, atom, kind, rule: null, ruleId: null, premises, scope: null };
}

/** 6 uses 4, 5 and a comparison; 4 and 5 both use 0; 5 also a negation. */
const proof: Proof = {
  roots: [6],
  steps: [
    step(0, 'mother(agnes, ruth)'),
    step(1, 'not born(ruth, ?_)', [], 'absence'),
    step(2, '3 < 5', [], 'builtin'),
    step(3, '1 = count { ?y : mother(agnes, ?y) }', [0], 'aggregate'),
    step(4, 'parent(agnes, ruth)', [0]),
    step(5, 'female(agnes)', [0, 1]),
    step(6, 'granny(agnes)', [4, 5, 2, 3]),
  ],
};

const tree = buildTree(proof, 6);
const all = stepsBelow(tree, 6);

describe('condensation', () => {
  test('hides a step by its predicate, its negation, or as computed; never an aggregate', () => {
    expect(proof.steps.map(knownNameOf)).toEqual([
      'mother/2',
      'not born/2',
      'computed',
      null,
      'parent/2',
      'female/1',
      'granny/1',
    ]);
    expect(knownNameOf(step(9, '-likes(a, "b, c")'))).toBe('-likes/2');
    expect(knownNameOf(step(9, 'p(a), q(b)', [0]))).toBeNull();
  });

  test('hides known steps with everything that only they use, and says how many in the step above', () => {
    const { proof: left, hiddenUnder } = condensed(proof, new Set(['parent/2', 'computed']));
    const shown = buildTree(left, 6);
    expect(hiddenUnder).toEqual(new Map([[6, 2]]));
    expect(visibleRows(shown, all).map((row) => row.step.atom)).toEqual([
      'granny(agnes)',
      'female(agnes)',
      'mother(agnes, ruth)',
      'not born(ruth, ?_)',
      '1 = count { ?y : mother(agnes, ?y) }',
      'mother(agnes, ruth)',
    ]);
  });

  test('always shows the root, and leaves the proof unchanged if nothing is known', () => {
    expect(buildTree(condensed(proof, new Set(['granny/1'])).proof, 6).sizeOf.get(6)).toBe(7);
    expect(condensed(proof, new Set()).proof).toBe(proof);
  });

  test('counts names, the most frequent first', () => {
    const { steps } = proof;
    expect(namesIn({ roots: [6], steps: [...steps, step(7, 'parent(a, b)')] }).slice(0, 2)).toEqual([
      { name: 'parent/2', count: 2 },
      { name: 'computed', count: 1 },
    ]);
  });
});

describe('a search', () => {
  test('keeps matches and the steps above them, with true positions, and references only if they match', () => {
    const found = findSteps(tree, 'MOTHER');
    const rows = visibleRows(tree, found.above, found);
    expect(rows.map((row) => `${row.level} ${row.step.atom} ${row.position}/${row.siblings}`)).toEqual([
      '1 granny(agnes) 1/1',
      '2 parent(agnes, ruth) 1/2',
      '3 mother(agnes, ruth) 1/1',
      '2 1 = count { ?y : mother(agnes, ?y) } 2/2',
    ]);
    const born = findSteps(tree, 'not born');
    expect(visibleRows(tree, born.above, born).map((row) => row.step.id)).toEqual([6, 5, 1]);
  });

  test('cycles from match to match', () => {
    const found = findSteps(tree, 'ruth');
    expect(found.inOrder).toEqual([4, 0, 1]);
    expect(nextMatch(tree, found, 6, 1)).toBe(4);
    expect(nextMatch(tree, found, 1, 1)).toBe(4);
    expect(nextMatch(tree, found, 4, -1)).toBe(1);
    expect(nextMatch(tree, findSteps(tree, 'nobody'), 6, 1)).toBeNull();
  });

  test('shows only the root without a match, and keeps the match visible when it ends', () => {
    const none = findSteps(tree, 'nobody');
    expect(visibleRows(tree, none.above, none).map((row) => row.step.id)).toEqual([6]);
    expect(unfoldedAfter(tree, new Set(), 0)).toEqual(new Set([4, 6]));
  });
});

describe('the address', () => {
  test('stores how a proof is viewed, and drops what is not understood', () => {
    expect(
      proofSearchOf({ question: 'p(a)', look: 'diagram', from: 'q(b)', find: ' ', ways: 'yes', hide: 'a/1' }),
    ).toEqual({ question: 'p(a)', look: 'diagram', from: 'q(b)', hide: 'a/1' });
    expect(proofSearchOf({ look: 'map' })).toEqual({});
  });

  test('stores what is hidden as a list without order', () => {
    expect(hiddenNames('b/2,not a/1')).toEqual(new Set(['b/2', 'not a/1']));
    expect(hideOf(new Set(['b/2', 'a/1']))).toBe('a/1,b/2');
    expect(hideOf(hiddenNames(undefined))).toBeUndefined();
  });
});
