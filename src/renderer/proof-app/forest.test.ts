import { describe, expect, test } from 'vitest';
import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import {
  type ProvedAnswer,
  provedAnswersOf,
  type ForestRow,
  forestRows,
  stepsUnder,
  type Unfolded,
  unfoldedAtFirst,
  unfoldedUpTo,
} from './forest.ts';
import { forestAfterKey, type ForestState } from './forest-keys.ts';

function step(id: number, atom: string, premises: number[] = []): ProofStep {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  return { id, atom, kind, rule: kind === 'rule' ? 'r' : null, ruleId: null, premises, scope: null };
}

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
const both = provedAnswersOf(answerOf(steps, [3, 4]));

/** An answer on a chain of that many steps. */
function chain(length: number): ProvedAnswer[] {
  const links = Array.from({ length }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
  return provedAnswersOf(answerOf(links, [length - 1]));
}

function words(conclusions: readonly ProvedAnswer[], unfolded: Unfolded): string[] {
  return forestRows(conclusions, unfolded).map(
    ({ level, step: shown, conclusion, isReference }) =>
      `${level} ${shown?.atom ?? `${conclusion.text} unproved`}${isReference ? ' again' : ''}`,
  );
}

function rowOf(rows: readonly ForestRow[], key: string): ForestRow {
  const row = rows.find((candidate) => candidate.key === key);
  if (row === undefined) throw new Error(`no line ${key}`);
  return row;
}

describe('answers and their proofs as one outline', () => {
  test('each answer is a line of its own, with its whole proof under it', () => {
    expect(words(both, new Map())).toEqual(['1 d()', '1 e()']);
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
    const rows = forestRows(both, unfoldedUpTo(both, 100));
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    for (const { parent, level } of rows)
      expect(parent === null ? level : rowOf(rows, parent).level + 1).toBe(level);
    expect(rowOf(rows, '1:4')).toMatchObject({ position: 2, siblings: 2, parent: null });
    expect(rowOf(rows, '1:2')).toMatchObject({ position: 2, siblings: 2, parent: '1:3' });
  });

  test('what is unfolded in one answer is not unfolded in another that stands on the same step', () => {
    expect(words(both, new Map([[1, new Set([4, 3])]]))).toEqual([
      '1 d()',
      '1 e()',
      '2 d()',
      '3 b()',
      '3 c()',
    ]);
  });

  test('an answer without its proof is a line too', () => {
    const { proof: _, ...answer } = answerOf(steps, [3]);
    expect(words(provedAnswersOf(answer), new Map())).toEqual(['1 d() unproved']);
    expect(words(provedAnswersOf(answerOf(steps, [3, 99])), new Map())).toEqual([
      '1 d()',
      '1 lost(99) unproved',
    ]);
  });

  test('a single answer is unfolded at first as far as it is small, several where all is in sight', () => {
    expect(words(chain(4), unfoldedAtFirst(chain(4)))).toHaveLength(4);
    expect(words(chain(2000), unfoldedAtFirst(chain(2000))).length).toBeLessThan(10);
    expect(words(both, unfoldedAtFirst(both))).toHaveLength(13);
    const many = [...both, ...chain(9)];
    expect(unfoldedAtFirst(many)).toEqual(new Map());
  });

  test('unfolding everything ends before it is too much', () => {
    const unfolded = unfoldedUpTo([...chain(50), ...chain(60), ...chain(5)], 100);
    expect([...unfolded.keys()]).toEqual([0]);
  });

  test('thousands of answers that share a long chain are laid out only where they are unfolded', () => {
    const links = Array.from({ length: 5000 }, (_, id) => step(id, `p(${id})`, id === 0 ? [] : [id - 1]));
    const conclusions = provedAnswersOf(
      answerOf(
        links,
        links.map(({ id }) => id),
      ),
    );
    let laidOut = 0;
    const counted = conclusions.map((conclusion) => ({
      ...conclusion,
      tree: () => {
        laidOut++;
        return conclusion.tree();
      },
    }));
    const rows = forestRows(counted, new Map([[4999, new Set([4999])]]));
    expect(rows).toHaveLength(5001);
    expect(laidOut).toBe(1);
    expect(stepsUnder(rowOf(rows, '4999:4999'))).toBe(4999);
  });
});

describe('keys in the outline', () => {
  const start: ForestState = { active: '0:3', unfolded: new Map() };

  function press(keys: string[], state: ForestState = start): ForestState {
    return keys.reduce((at, key) => forestAfterKey(key, forestRows(both, at.unfolded), at, 3) ?? at, state);
  }

  test('arrows up and down go from line to line and stay within them', () => {
    expect(press(['ArrowDown']).active).toBe('1:4');
    expect(press(['ArrowDown', 'ArrowDown']).active).toBe('1:4');
    expect(press(['ArrowUp']).active).toBe('0:3');
    expect(press(['End']).active).toBe('1:4');
    expect(press(['*', 'PageDown']).active).toBe('0:2');
    expect(press(['*', 'PageDown', 'PageUp']).active).toBe('0:3');
  });

  test('to the right unfolds, then goes in; to the left folds, then goes out', () => {
    const open = press(['ArrowRight']);
    expect(open).toEqual({ active: '0:3', unfolded: new Map([[0, new Set([3])]]) });
    const inside = press(['ArrowRight'], open);
    expect(inside.active).toBe('0:1');
    expect(press(['ArrowLeft'], inside).active).toBe('0:3');
    expect(words(both, press(['ArrowLeft', 'ArrowLeft'], inside).unfolded)).toEqual(['1 d()', '1 e()']);
  });

  test('to the right of what stands on nothing stays there', () => {
    const { active } = press(['*', 'ArrowDown', 'ArrowDown', 'ArrowRight']);
    expect(active).toBe('0:0');
  });

  test('Enter and space fold and unfold', () => {
    expect(words(both, press(['Enter']).unfolded)).toEqual(['1 d()', '2 b()', '2 c()', '1 e()']);
    expect(words(both, press([' ', 'Enter']).unfolded)).toEqual(['1 d()', '1 e()']);
  });

  test('the asterisk unfolds all that the line stands on, in its answer alone', () => {
    expect(words(both, press(['*']).unfolded)).toHaveLength(7);
  });

  test('Enter on a step that is shown elsewhere goes there, unfolding what hides it', () => {
    const all = press(['*']);
    const rows = forestRows(both, all.unfolded);
    const again = rows.filter(({ isReference }) => isReference);
    expect(again.map(({ step: shown }) => shown?.atom)).toEqual(['a()', 'b()']);
    const folded = press(['ArrowLeft'], { ...all, active: '0:1' });
    const next = press(['Enter'], { ...folded, active: again[0]?.key ?? '' });
    expect(next.active).toBe('0:0');
    expect(forestRows(both, next.unfolded).map(({ key }) => key)).toContain('0:0');
  });

  test('a key that means nothing here is left to others', () => {
    expect(forestAfterKey('a', forestRows(both, new Map()), start, 3)).toBeNull();
    expect(forestAfterKey('ArrowDown', [], start, 3)).toBeNull();
  });
});
