import { expect, test } from 'vitest';
import type { Proof } from '../../../engine/contract/inference.ts';
import { outlineAfterKey, type OutlineState } from './outline-keys.ts';
import { buildTree, visibleRows } from './proof-tree.ts';

function rule(id: number, premises: number[]): Proof['steps'][number] {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  return { id, atom: `s${id}()`, kind, rule: null, ruleId: null, premises, scope: null };
}

/** 4 uses 2 and 3; 2 uses 0 and 1; 3 uses 0 again. */
const tree = buildTree(
  { roots: [4], steps: [rule(0, []), rule(1, []), rule(2, [0, 1]), rule(3, [0]), rule(4, [2, 3])] },
  4,
);

function press(keys: string[], start: OutlineState = { active: '4', unfolded: new Set() }): OutlineState {
  return keys.reduce<OutlineState>(
    (state, key) => outlineAfterKey(key, tree, visibleRows(tree, state.unfolded), state, 2) ?? state,
    start,
  );
}

test('right unfolds, then goes in; left goes out, then folds', () => {
  expect(press(['ArrowRight']).unfolded).toEqual(new Set([4]));
  expect(press(['ArrowRight', 'ArrowRight']).active).toBe('2');
  expect(press(['ArrowRight', 'ArrowRight', 'ArrowLeft']).active).toBe('4');
  expect(press(['ArrowRight', 'ArrowLeft']).unfolded).toEqual(new Set());
});

test('star unfolds all below, plus one step, minus folds', () => {
  expect(press(['*']).unfolded).toEqual(new Set([4, 2, 3, 0, 1]));
  expect(press(['+']).unfolded).toEqual(new Set([4]));
  expect(press(['+', '-']).unfolded).toEqual(new Set());
});

test('Home and End go to the ends of what is shown, arrows stay inside', () => {
  expect(press(['*', 'End']).active).toBe('3.0');
  expect(press(['*', 'End', 'ArrowDown', 'Home', 'ArrowUp']).active).toBe('4');
});

test('Enter on a reference goes to where the step is shown whole', () => {
  expect(press(['*', 'End', 'Enter']).active).toBe('0');
});

test('a fold that is made again keeps what was unfolded below it', () => {
  expect(press(['*', '-', '+']).unfolded.has(2)).toBe(true);
});

test('a digit unfolds so many levels, and folds what is below them', () => {
  expect(press(['1']).unfolded).toEqual(new Set([4]));
  expect(press(['*', '1']).unfolded).toEqual(new Set([4]));
  expect(press(['2']).unfolded).toEqual(new Set([4, 2, 3]));
  expect(press(['*', 'ArrowDown', '1']).unfolded.has(3)).toBe(true);
});

test('other keys mean nothing here', () => {
  expect(
    outlineAfterKey('x', tree, visibleRows(tree, new Set()), { active: '4', unfolded: new Set() }, 1),
  ).toBeNull();
});
