import { describe, expect, test } from 'vitest';
import type { ProofStep } from '../engine/contract/inference.ts';
import {
  activeRow,
  afterKey,
  afterOpening,
  type FoldState,
  initiallyUnfoldedOf,
  unfoldedUpTo,
} from './folds.ts';
import { type ProofTree, treesOf, visibleRows } from './proof-tree.ts';

function step(id: number, atom: string, premises: number[] = []): ProofStep {
  return { id, atom, kind: 'rule', rule: null, ruleId: null, premises, scope: null };
}

function pageOf(steps: ProofStep[], roots: number[]): ProofTree[] {
  return treesOf({ results: roots.map(() => ''), proof: { roots, steps } });
}

/** d uses b and c, which both use a; e uses d. */
const steps = [
  step(0, 'a()'),
  step(1, 'b()', [0]),
  step(2, 'c()', [0, 1]),
  step(3, 'd()', [1, 2]),
  step(4, 'e()', [3]),
];
const both = pageOf(steps, [3, 4]);

/** An answer on a chain of that many steps. */
function chain(length: number): ProofTree[] {
  const links = Array.from({ length }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
  return pageOf(links, [length - 1]);
}

function atoms(trees: readonly ProofTree[], unfolded: ReadonlySet<string>): string {
  return visibleRows(trees, unfolded)
    .map(({ step: { atom } }) => atom)
    .join(' ');
}

describe('what is unfolded at first', () => {
  test('is a single answer as far as it is small, and several if all is in sight', () => {
    expect(atoms(chain(4), initiallyUnfoldedOf(chain(4)))).toBe('p(3) p(2) p(1) p(0)');
    expect(visibleRows(chain(2000), initiallyUnfoldedOf(chain(2000))).length).toBeLessThan(10);
    expect(visibleRows(both, initiallyUnfoldedOf(both))).toHaveLength(13);
    expect(initiallyUnfoldedOf([...both, ...chain(9)])).toEqual(new Set());
    expect(
      initiallyUnfoldedOf(
        pageOf(
          steps,
          Array.from({ length: 17 }, () => 0),
        ),
      ),
    ).toEqual(new Set());
  });

  test('unfolding everything ends before it is too much', () => {
    const long = Array.from({ length: 60 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    expect(unfoldedUpTo(pageOf(long, [49, 59, 4]), 100).size).toBe(50);
  });
});

describe('keys in the outline', () => {
  const start: FoldState = { active: '0:3', unfolded: new Set() };

  function press(keys: string[], state: FoldState = start): FoldState {
    return keys.reduce((at, key) => {
      const rows = visibleRows(both, at.unfolded);
      const row = activeRow(rows, at.active);
      if (key === 'Enter' && row !== undefined) return afterOpening(row, at);
      return afterKey(key, rows, at, 3) ?? at;
    }, state);
  }

  test('arrows up and down go from line to line and stay within them', () => {
    expect(press(['ArrowDown']).active).toBe('1:4');
    expect(press(['ArrowDown', 'ArrowDown']).active).toBe('1:4');
    expect(press(['ArrowUp']).active).toBe('0:3');
    expect(press(['End']).active).toBe('1:4');
    expect(press(['*', 'PageDown']).active).toBe('0:2');
    expect(press(['*', 'PageDown', 'PageUp', 'End', 'Home']).active).toBe('0:3');
  });

  test('right unfolds, then goes in; left folds, then goes out', () => {
    const open = press(['ArrowRight']);
    expect(open).toEqual({ active: '0:3', unfolded: new Set(['0:3']) });
    const inside = press(['ArrowRight'], open);
    expect(inside.active).toBe('0:1');
    expect(press(['ArrowLeft'], inside).active).toBe('0:3');
    expect(press(['ArrowLeft', 'ArrowLeft'], inside).unfolded).toEqual(new Set());
    expect(press(['*', 'ArrowDown', 'ArrowDown', 'ArrowRight']).active).toBe('0:0');
  });

  test('plus unfolds a step, minus folds it, star unfolds all below it in its answer', () => {
    expect(press(['+']).unfolded).toEqual(new Set(['0:3']));
    expect(press(['+', '-']).unfolded).toEqual(new Set());
    expect(atoms(both, press(['*']).unfolded)).toBe('d() b() a() c() a() b() e()');
    expect(press(['*', '-', '+']).unfolded.has('0:2')).toBe(true);
  });

  test('a digit unfolds so many levels, and folds what is below them', () => {
    expect(press(['1']).unfolded).toEqual(new Set(['0:3']));
    expect(press(['*', '1']).unfolded).toEqual(new Set(['0:3']));
    expect(press(['2']).unfolded).toEqual(new Set(['0:3', '0:1', '0:2']));
    expect(press(['*', 'ArrowDown', '1']).unfolded.has('0:2')).toBe(true);
  });

  test('opening folds and unfolds; on a step that is shown elsewhere it goes there', () => {
    expect(atoms(both, press(['Enter']).unfolded)).toBe('d() b() c() e()');
    expect(press(['Enter', 'Enter']).unfolded).toEqual(new Set());
    const folded = press(['ArrowLeft'], { ...press(['*']), active: '0:1' });
    const again = visibleRows(both, folded.unfolded).find(({ isReference }) => isReference);
    expect(again?.step.atom).toBe('a()');
    const next = press(['Enter'], { ...folded, active: again?.key ?? '' });
    expect(next.active).toBe('0:0');
    expect(visibleRows(both, next.unfolded).map(({ key }) => key)).toContain('0:0');
  });

  test('other keys mean nothing here, and nothing means anything without lines', () => {
    expect(afterKey('x', visibleRows(both, new Set()), start, 3)).toBeNull();
    expect(afterKey('ArrowDown', [], start, 3)).toBeNull();
  });
});
