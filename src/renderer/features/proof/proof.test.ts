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
  test('a shared step is shown once, elsewhere as a reference', () => {
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

  test('only what is unfolded is laid out, with true positions among siblings', () => {
    const tree = buildTree(diamond, 3);
    expect(visibleRows(tree, new Set()).map((row) => row.step.atom)).toEqual(['d()']);
    const rows = visibleRows(tree, new Set([3]));
    expect(rows.map((row) => [row.step.atom, row.position, row.siblings])).toEqual([
      ['d()', 1, 1],
      ['b()', 1, 2],
      ['c()', 2, 2],
    ]);
  });

  test('to show a step, all that it stands under is unfolded', () => {
    const tree = buildTree(diamond, 3);
    expect(stepsAbove(tree, 0)).toEqual(new Set([1, 3]));
  });

  test('a premise that stands twice in one body is whole once', () => {
    const tree = buildTree(
      { roots: [1], steps: [step(0, 'a()', [2]), step(2, 'x()'), step(1, 'b()', [0, 0])] },
      1,
    );
    const rows = visibleRows(tree, stepsBelow(tree, 1));
    expect(rows.map((row) => row.isReference)).toEqual([false, false, false, true]);
  });

  test('a chain of fifty thousand steps is laid out without recursion, a large proof starts folded', () => {
    const steps = Array.from({ length: 50_000 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    const tree = buildTree({ roots: [49_999], steps }, 49_999);
    expect(tree.sizeOf.get(49_999)).toBe(50_000);
    expect(visibleRows(tree, stepsBelow(tree, 49_999))).toHaveLength(50_000);
    expect(visibleRows(tree, initiallyUnfolded(tree)).length).toBeLessThan(10);
  });

  test('as text each step is a line, shared ones point back', () => {
    expect(proofAsText(buildTree(diamond, 3))).toBe(
      'd()  [derived by r]\n  b()  [derived by r]\n    a()  [asserted]\n  c()  [derived by r]\n    a()  [asserted]\n',
    );
  });

  test('as text a step says how many of its premises are left out', () => {
    expect(proofAsText(buildTree(diamond, 1), new Map([[1, 2]]))).toBe(
      'b()  [derived by r, 2 known hidden]\n  a()  [asserted]\n',
    );
  });
});

describe('the substitution of a step', () => {
  test('names what every variable stands for, in order', () => {
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

  test('reads computed and absent premises too', () => {
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

describe('other ways to a step', () => {
  const root = manyWays.steps[1] as ProofStep;
  const shownAlong = (chosen: ReadonlyMap<number, number>) => {
    const proof = withChosen(manyWays, chosen);
    const tree = buildTree(proof, 1);
    return visibleRows(tree, stepsBelow(tree, 1));
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

  test('a reference to a step elsewhere in the proof is no circle', () => {
    const tree = buildTree(diamond, 3);
    expect(visibleRows(tree, stepsBelow(tree, 3)).some((row) => row.isCircle)).toBe(false);
  });
});
