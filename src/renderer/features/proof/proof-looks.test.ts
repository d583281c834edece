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

/** 6 uses 4, 5 and a comparison; 4 and 5 both use 0; 5 also an absence. */
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
  test('a step is known by its predicate, its absence, or as computed; an aggregate by nothing', () => {
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

  test('known steps are left out with all that only they stand on, and the step above says how many', () => {
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

  test('the root is shown though it is known, and nothing known leaves the proof as it is', () => {
    expect(buildTree(condensed(proof, new Set(['granny/1'])).proof, 6).sizeOf.get(6)).toBe(7);
    expect(condensed(proof, new Set()).proof).toBe(proof);
  });

  test('names are counted, the most frequent first', () => {
    const { steps } = proof;
    expect(namesIn({ roots: [6], steps: [...steps, step(7, 'parent(a, b)')] }).slice(0, 2)).toEqual([
      { name: 'parent/2', count: 2 },
      { name: 'computed', count: 1 },
    ]);
  });
});

describe('a search', () => {
  test('keeps matches and what they stand under, with true places; references only where they match', () => {
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

  test('goes from match to match, round and round', () => {
    const found = findSteps(tree, 'ruth');
    expect(found.inOrder).toEqual([4, 0, 1]);
    expect(nextMatch(tree, found, 6, 1)).toBe(4);
    expect(nextMatch(tree, found, 1, 1)).toBe(4);
    expect(nextMatch(tree, found, 4, -1)).toBe(1);
    expect(nextMatch(tree, findSteps(tree, 'nobody'), 6, 1)).toBeNull();
  });

  test('without a match shows the root alone, and at its end what was found stays in sight', () => {
    const none = findSteps(tree, 'nobody');
    expect(visibleRows(tree, none.above, none).map((row) => row.step.id)).toEqual([6]);
    expect(unfoldedAfter(tree, new Set(), 0)).toEqual(new Set([4, 6]));
  });
});

describe('the address', () => {
  test('says how a proof is looked at; what is not understood is dropped', () => {
    expect(
      proofSearchOf({ question: 'p(a)', look: 'diagram', from: 'q(b)', find: ' ', ways: 'yes', hide: 'a/1' }),
    ).toEqual({ question: 'p(a)', look: 'diagram', from: 'q(b)', hide: 'a/1' });
    expect(proofSearchOf({ look: 'map' })).toEqual({});
  });

  test('what is hidden is a list without order', () => {
    expect(hiddenNames('b/2,not a/1')).toEqual(new Set(['b/2', 'not a/1']));
    expect(hideOf(new Set(['b/2', 'a/1']))).toBe('a/1,b/2');
    expect(hideOf(hiddenNames(undefined))).toBeUndefined();
  });
});
