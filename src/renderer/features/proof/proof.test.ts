import { describe, expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { turned, wayInWords, waysTo, withChosen } from './alternatives.ts';
import { proofAsText } from './save-proof.ts';
import { buildTree, initiallyUnfolded, stepsAbove, stepsBelow, visibleRows } from './proof-tree.ts';
import { substitutionOf } from './step-words.ts';

function step(id: number, atom: string, premises: number[] = [], more: Partial<ProofStep> = {}): ProofStep {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  return { id, atom, kind, rule: kind === 'rule' ? 'r' : null, ruleId: null, premises, scope: null, ...more };
}

/** d(1) uses b and c, which both use a. */
const diamond: Proof = {
  roots: [3],
  steps: [step(0, 'a()'), step(1, 'b()', [0]), step(2, 'c()', [0]), step(3, 'd()', [1, 2])],
};

describe('the outline of a proof', () => {
  test('shows a shared step once, and elsewhere as a reference', () => {
    const tree = buildTree(diamond, 3);
    const rows = visibleRows(tree, stepsBelow(tree, 3));
    expect(rows.map((row) => `${row.level} ${row.step.atom}${row.isReference ? ' ref' : ''}`)).toEqual([
      '1 d()',
      '2 b()',
      '3 a()',
      '2 c()',
      '3 a() ref',
    ]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });

  test('lays out only unfolded steps, with true positions among siblings', () => {
    const tree = buildTree(diamond, 3);
    expect(visibleRows(tree, new Set()).map((row) => row.step.atom)).toEqual(['d()']);
    const rows = visibleRows(tree, new Set([3]));
    expect(rows.map((row) => [row.step.atom, row.position, row.siblings])).toEqual([
      ['d()', 1, 1],
      ['b()', 1, 2],
      ['c()', 2, 2],
    ]);
  });

  test('unfolds everything above a step to show it', () => {
    const tree = buildTree(diamond, 3);
    expect(stepsAbove(tree, 0)).toEqual(new Set([1, 3]));
  });

  test('shows a premise that occurs twice in one body whole once', () => {
    const tree = buildTree(
      { roots: [1], steps: [step(0, 'a()', [2]), step(2, 'x()'), step(1, 'b()', [0, 0])] },
      1,
    );
    const rows = visibleRows(tree, stepsBelow(tree, 1));
    expect(rows.map((row) => row.isReference)).toEqual([false, false, false, true]);
  });

  test('lays out a chain of fifty thousand steps without recursion, and starts a large proof folded', () => {
    const steps = Array.from({ length: 50_000 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    const tree = buildTree({ roots: [49_999], steps }, 49_999);
    expect(tree.sizeOf.get(49_999)).toBe(50_000);
    expect(visibleRows(tree, stepsBelow(tree, 49_999))).toHaveLength(50_000);
    expect(visibleRows(tree, initiallyUnfolded(tree)).length).toBeLessThan(10);
  });

  test('renders each step as a line of text, with references for shared ones', () => {
    expect(proofAsText(buildTree(diamond, 3))).toBe(
      'd()  [derived by r]\n  b()  [derived by r]\n    a()  [asserted]\n  c()  [derived by r]\n    a()  [asserted]\n',
    );
  });

  test('says in text how many premises of a step are left out', () => {
    expect(proofAsText(buildTree(diamond, 1), new Map([[1, 2]]))).toBe(
      'b()  [derived by r, 2 known hidden]\n  a()  [asserted]\n',
    );
  });
});

describe('the substitution of a step', () => {
  test('lists the value of every variable, in order', () => {
    expect(
      substitutionOf('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)', 'ancestor(a, "c, d")', [
        'parent(a, b)',
        'ancestor(b, "c, d")',
      ]),
    ).toEqual([
      ['?x', 'a'],
      ['?z', 'c, d'],
      ['?y', 'b'],
    ]);
  });

  test('covers computed and negated premises too', () => {
    expect(
      substitutionOf('p(?x) :- q(?x, ?n), ?m = ?n + 1, not r(?x, ?_)', 'p(a)', [
        'q(a, 2)',
        '3 = 2 + 1',
        'not r(a, ?_)',
      ]),
    ).toEqual([
      ['?x', 'a'],
      ['?n', '2'],
      ['?m', '3'],
    ]);
  });
});

/** e() follows from a(), or d(), or f(), which follows from e() again. */
const manyWays: Proof = {
  roots: [1],
  steps: [
    step(0, 'a()'),
    step(1, 'e()', [0], {
      alternatives: [
        { rule: 'second', ruleId: 'r2', premises: [2] },
        { rule: 'third', ruleId: 'r3', premises: [3, 0] },
      ],
    }),
    step(2, 'd()'),
    step(3, 'f()', [1], { rule: 'f', alternatives: [] }),
  ],
};

describe('alternatives of a step', () => {
  const root = manyWays.steps[1] as ProofStep;
  const shownAlong = (chosen: ReadonlyMap<number, number>) => {
    const proof = withChosen(manyWays, chosen);
    const tree = buildTree(proof, 1);
    return visibleRows(tree, stepsBelow(tree, 1));
  };

  test('are numbered from the proof’s own, and cycled through', () => {
    expect(waysTo(root)).toBe(3);
    let chosen = turned(new Map(), root, 1);
    expect(wayInWords(chosen, root)).toBe('2 of 3');
    chosen = turned(chosen, root, 1);
    expect(wayInWords(chosen, root)).toBe('3 of 3');
    expect(turned(chosen, root, 1).size).toBe(0);
    expect(wayInWords(turned(new Map(), root, -1), root)).toBe('3 of 3');
  });

  test('are shown in place of the proof’s own, with their rule and premises', () => {
    expect(shownAlong(new Map()).map((row) => row.step.atom)).toEqual(['e()', 'a()']);
    const rows = shownAlong(new Map([[1, 1]]));
    expect(rows.map((row) => row.step.atom)).toEqual(['e()', 'd()']);
    expect(rows[0]?.step).toMatchObject({ kind: 'rule', rule: 'second', ruleId: 'r2' });
  });

  test('that lead back to the step are shown once, with the cycle marked', () => {
    const rows = shownAlong(new Map([[1, 2]]));
    expect(rows.map((row) => `${row.level} ${row.step.atom}${row.isCircle ? ' circle' : ''}`)).toEqual([
      '1 e()',
      '2 f()',
      '3 e() circle',
      '2 a()',
    ]);
    expect(rows.filter((row) => row.isReference)).toHaveLength(1);
  });

  test('treat a reference to a step elsewhere in the proof as no cycle', () => {
    const tree = buildTree(diamond, 3);
    expect(visibleRows(tree, stepsBelow(tree, 3)).some((row) => row.isCircle)).toBe(false);
  });
});
