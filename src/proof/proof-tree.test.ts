import { describe, expect, test, vi } from 'vitest';
import type { Answer, Proof, ProofStep } from '../engine/contract/inference.ts';
import { revealing, unfoldedUpTo } from './folds.ts';
import {
  isProved,
  keysBelow,
  partOf,
  type OutlineRow,
  type ProofTree,
  treeOf,
  treesOf,
  visibleRows,
} from './proof-tree.ts';

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
    const tree = treeOf(diamond, 3);
    const rows = visibleRows([tree], keysBelow(tree, 3));
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
    const tree = treeOf(diamond, 3);
    expect(visibleRows([tree], new Set()).map((row) => row.step.atom)).toEqual(['d()']);
    const rows = visibleRows([tree], new Set(['0:3']));
    expect(rows.map((row) => [row.step.atom, row.position, row.siblings])).toEqual([
      ['d()', 1, 1],
      ['b()', 1, 2],
      ['c()', 2, 2],
    ]);
  });

  test('to show a step, all that it stands under is unfolded', () => {
    const tree = treeOf(diamond, 3);
    expect(revealing(tree, new Set(), 0)).toEqual(new Set(['0:1', '0:3']));
  });

  test('a premise that stands twice in one body is whole once', () => {
    const tree = treeOf(
      { roots: [1], steps: [step(0, 'a()', [2]), step(2, 'x()'), step(1, 'b()', [0, 0])] },
      1,
    );
    const rows = visibleRows([tree], keysBelow(tree, 1));
    expect(rows.map((row) => row.isReference)).toEqual([false, false, false, true]);
  });

  test('a chain of fifty thousand steps is laid out without recursion', () => {
    const steps = Array.from({ length: 50_000 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    const tree = treeOf({ roots: [49_999], steps }, 49_999);
    expect(tree.sizeOf(49_999)).toBe(50_000);
    expect(visibleRows([tree], keysBelow(tree, 49_999))).toHaveLength(50_000);
  });
});

function answerOf(steps: ProofStep[], roots: number[]): Answer {
  const atoms = new Map(steps.map(({ id, atom }) => [id, atom]));
  const results = roots.map((id) => atoms.get(id) ?? `lost(${id})`);
  const count = results.length;
  const bindings = results.map(() => ({}));
  const page = { results, bindings, count, truncated: false, total: count };
  return { ...page, generation: 1, elapsedMs: 1, proof: { roots, steps } };
}

/** d uses b and c, which both use a; e uses d. */
const steps = [
  step(0, 'a()'),
  step(1, 'b()', [0]),
  step(2, 'c()', [0, 1]),
  step(3, 'd()', [1, 2]),
  step(4, 'e()', [3]),
];
const both = treesOf(answerOf(steps, [3, 4]));

function words(trees: readonly ProofTree[], unfolded: ReadonlySet<string>): string[] {
  return visibleRows(trees, unfolded).map(
    ({ level, step: shown, tree, isReference }) =>
      `${level} ${shown.atom}${isProved(tree) ? '' : ' unproved'}${isReference ? ' again' : ''}`,
  );
}

function rowOf(rows: readonly OutlineRow[], key: string): OutlineRow {
  const row = rows.find((candidate) => candidate.key === key);
  if (row === undefined) throw new Error(`no line ${key}`);
  return row;
}

describe('answers and their proofs as one outline', () => {
  test('each answer is a line of its own, with its whole proof under it', () => {
    expect(words(both, new Set())).toEqual(['1 d()', '1 e()']);
    expect(words(both, unfoldedUpTo(both, 100))).toEqual([
      '1 d()',
      '2 b()',
      '3 a()',
      '2 c()',
      '3 a() again',
      '3 b() again',
      '1 e()',
      '2 d()',
      '3 b()',
      '4 a()',
      '3 c()',
      '4 a() again',
      '4 b() again',
    ]);
  });

  test('every line has a key, a place among its siblings and the line it stands under', () => {
    const rows = visibleRows(both, unfoldedUpTo(both, 100));
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    for (const { parent, level } of rows)
      expect(parent === null ? level : rowOf(rows, parent).level + 1).toBe(level);
    expect(rowOf(rows, '1:4')).toMatchObject({ position: 2, siblings: 2, parent: null });
    expect(rowOf(rows, '1:2')).toMatchObject({ position: 2, siblings: 2, parent: '1:3' });
  });

  test('what is unfolded in one answer is not unfolded in another that stands on the same step', () => {
    expect(words(both, new Set(['1:4', '1:3']))).toEqual(['1 d()', '1 e()', '2 d()', '3 b()', '3 c()']);
  });

  test('an answer without its proof is a line too', () => {
    const { proof: _, ...answer } = answerOf(steps, [3]);
    expect(words(treesOf(answer), new Set())).toEqual(['1 d() unproved']);
    expect(words(treesOf(answerOf(steps, [3, 99])), new Set())).toEqual(['1 d()', '1 lost(99) unproved']);
  });

  test('thousands of answers that share a long chain are laid out only where they are unfolded', () => {
    const links = Array.from({ length: 5000 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    const trees = treesOf(
      answerOf(
        links,
        links.map(({ id }) => id),
      ),
    );
    const shared = trees[0]?.steps ?? new Map<number, ProofStep>();
    const reading = vi.spyOn(shared, 'get');
    const rows = visibleRows(trees, new Set(['4999:4999']));
    expect(rows).toHaveLength(5001);
    expect(reading.mock.calls.length).toBeLessThan(20_000);
    expect(trees[4999]?.sizeOf(4999)).toBe(5000);
  });
});

test('the part of a proof has what its roots rest on, however deep, alternatives included', () => {
  const links = Array.from({ length: 20_000 }, (_, id) => step(id, 'p()', id === 0 ? [] : [id - 1]));
  const whole: Proof = { roots: [19_999], steps: links };
  expect(partOf(whole, [19_999])).toEqual(whole);
  expect(partOf(whole, [9_999]).steps).toHaveLength(10_000);
  const other = { ...step(2, 'c()', [0, 0]), alternatives: [{ rule: 'r', ruleId: 'r', premises: [4] }] };
  const mixed = [step(0, 'a()'), step(1, 'b()'), other, step(3, 'd()', [1, 2]), step(4, 'e()')];
  const part = partOf({ roots: [3], steps: mixed }, [2]);
  expect([part.roots, part.steps.map(({ id }) => id)]).toEqual([[2], [0, 2, 4]]);
});
