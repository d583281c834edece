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

test('unfolds, then enters by right; leaves, then folds by left', () => {
  expect(press(['ArrowRight']).unfolded).toEqual(new Set([4]));
  expect(press(['ArrowRight', 'ArrowRight']).active).toBe('2');
  expect(press(['ArrowRight', 'ArrowRight', 'ArrowLeft']).active).toBe('4');
  expect(press(['ArrowRight', 'ArrowLeft']).unfolded).toEqual(new Set());
});

test('unfolds everything below by star, one step by plus, and folds by minus', () => {
  expect(press(['*']).unfolded).toEqual(new Set([4, 2, 3, 0, 1]));
  expect(press(['+']).unfolded).toEqual(new Set([4]));
  expect(press(['+', '-']).unfolded).toEqual(new Set());
});

test('goes to the ends of the visible lines by Home and End, and stays inside by arrows', () => {
  expect(press(['*', 'End']).active).toBe('3.0');
  expect(press(['*', 'End', 'ArrowDown', 'Home', 'ArrowUp']).active).toBe('4');
});

test('goes from a reference to the whole step by Enter', () => {
  expect(press(['*', 'End', 'Enter']).active).toBe('0');
});

test('keeps what was unfolded below a fold', () => {
  expect(press(['*', '-', '+']).unfolded.has(2)).toBe(true);
});

test('unfolds as many levels as a digit says, and folds those below', () => {
  expect(press(['1']).unfolded).toEqual(new Set([4]));
  expect(press(['*', '1']).unfolded).toEqual(new Set([4]));
  expect(press(['2']).unfolded).toEqual(new Set([4, 2, 3]));
  expect(press(['*', 'ArrowDown', '1']).unfolded.has(3)).toBe(true);
});

test('ignores other keys', () => {
  expect(
    outlineAfterKey('x', tree, visibleRows(tree, new Set()), { active: '4', unfolded: new Set() }, 1),
  ).toBeNull();
});
