import { describe, expect, test } from 'vitest';
import { maxAlternatives, type Proof, type ProofStep } from '../../../engine/contract/inference.ts';
import { revealing } from '../../../proof/folds.ts';
import { keysBelow, treeOf, visibleRows } from '../../../proof/proof-tree.ts';
import { hiddenNames, hideOf, proofSearchOf } from './proof-search.ts';
import {
  condensed,
  knownNameOf,
  maxWays,
  namesIn,
  turned,
  wayInWords,
  waysTo,
  withChosen,
} from './shown-proof.ts';
import { nextMatch } from './step-actions.ts';
import { findSteps } from './use-proof-display.ts';

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

const tree = treeOf(proof, 6);
const all = keysBelow(tree, 6);

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
    const shown = treeOf(left, 6);
    expect(hiddenUnder).toEqual(new Map([[6, 2]]));
    expect(visibleRows([shown], all).map((row) => row.step.atom)).toEqual([
      'granny(agnes)',
      'female(agnes)',
      'mother(agnes, ruth)',
      'not born(ruth, ?_)',
      '1 = count { ?y : mother(agnes, ?y) }',
      'mother(agnes, ruth)',
    ]);
  });

  test('the root is shown though it is known, and nothing known leaves the proof as it is', () => {
    expect(treeOf(condensed(proof, new Set(['granny/1'])).proof, 6).sizeOf(6)).toBe(7);
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

/** e() follows from a(), or d(), or f(), which follows from e() again. */
const manyWays: Proof = {
  roots: [1],
  steps: [
    step(0, 'a()'),
    {
      ...step(1, 'e()', [0]),
      alternatives: [
        { rule: 'second', ruleId: 'r2', premises: [2] },
        { rule: 'third', ruleId: 'r3', premises: [3, 0] },
      ],
    },
    step(2, 'd()'),
    step(3, 'f()', [1]),
  ],
};

describe('other ways to a step', () => {
  const root = manyWays.steps[1] as ProofStep;
  const shownAlong = (chosen: ReadonlyMap<number, number>) => {
    const proof = withChosen(manyWays, chosen);
    const tree = treeOf(proof, 1);
    return visibleRows([tree], keysBelow(tree, 1));
  };

  test('are numbered from the proof’s own, and turned through in a round', () => {
    expect(waysTo(root)).toBe(3);
    let chosen = turned(new Map(), root, 1);
    expect(wayInWords(chosen, root)).toBe('2 of 3');
    chosen = turned(chosen, root, 1);
    expect(wayInWords(chosen, root)).toBe('3 of 3');
    expect(turned(chosen, root, 1).size).toBe(0);
    expect(wayInWords(turned(new Map(), root, -1), root)).toBe('3 of 3');
  });

  test('may be more than the service lists', () => {
    expect(maxWays).toBe(1 + maxAlternatives);
    const other = { rule: 'a() :- b()', ruleId: 'r1', premises: [] };
    const waysOf = (others: number) => ({
      ...root,
      alternatives: Array.from({ length: others }, () => other),
    });
    expect(wayInWords(new Map(), waysOf(maxAlternatives - 1))).toBe('1 of 100');
    expect(wayInWords(new Map(), waysOf(maxAlternatives))).toBe('1 of 101 or more');
  });

  test('are shown in place of the own way, with their rule and premises', () => {
    expect(shownAlong(new Map()).map((row) => row.step.atom)).toEqual(['e()', 'a()']);
    const rows = shownAlong(new Map([[1, 1]]));
    expect(rows.map((row) => row.step.atom)).toEqual(['e()', 'd()']);
    expect(rows[0]?.step).toMatchObject({ kind: 'rule', rule: 'second', ruleId: 'r2' });
  });

  test('one that leads back to the step is shown once, and its circle is said', () => {
    const rows = shownAlong(new Map([[1, 2]]));
    expect(rows.map((row) => `${row.level} ${row.step.atom}${row.isCircle ? ' circle' : ''}`)).toEqual([
      '1 e()',
      '2 f()',
      '3 e() circle',
      '2 a()',
    ]);
    expect(rows.filter((row) => row.isReference)).toHaveLength(1);
  });
});

describe('a search', () => {
  test('keeps matches and what they stand under, with true places; references only where they match', () => {
    const found = findSteps(tree, 'MOTHER');
    const rows = visibleRows([tree], found.above, found);
    expect(rows.map((row) => `${row.level} ${row.step.atom} ${row.position}/${row.siblings}`)).toEqual([
      '1 granny(agnes) 1/1',
      '2 parent(agnes, ruth) 1/2',
      '3 mother(agnes, ruth) 1/1',
      '2 1 = count { ?y : mother(agnes, ?y) } 2/2',
    ]);
    const born = findSteps(tree, 'not born');
    expect(visibleRows([tree], born.above, born).map((row) => row.step.id)).toEqual([6, 5, 1]);
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
    expect(visibleRows([tree], none.above, none).map((row) => row.step.id)).toEqual([6]);
    expect(revealing(tree, new Set(), 0)).toEqual(new Set(['0:4', '0:6']));
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
