import { describe, expect, test } from 'vitest';
import { greatestAllowance, raised, type ShownAnswer, usualAllowance } from './answer.ts';
import { compareRuns, runDifferencesOf, earlierAfter } from './compare-runs.ts';

function run(...results: string[]) {
  return { results, bindings: results.map((x) => ({ x })) };
}

describe('two runs compared', () => {
  test('keep the order of the later one, with removed answers at their former position', () => {
    const { rows, added, removed, stays } = compareRuns(
      run('a', 'b', 'c', 'e'),
      run('a', 'c', 'd', 'e', 'f'),
    );
    expect(rows.map(({ change, result }) => `${change} ${result}`)).toEqual([
      'stays a',
      'removed b',
      'stays c',
      'added d',
      'stays e',
      'added f',
    ]);
    expect([added, removed, stays]).toEqual([2, 1, 3]);
    expect(rows[1]?.bindings).toEqual({ x: 'b' });
  });

  test('have nothing in common, or everything', () => {
    expect(compareRuns(run('a', 'b'), run('c'))).toMatchObject({ added: 1, removed: 2, stays: 0 });
    expect(compareRuns(run('a'), run('a'))).toMatchObject({ added: 0, removed: 0, stays: 1 });
    expect(compareRuns(run(), run())).toEqual({ rows: [], added: 0, removed: 0, stays: 0 });
    expect(compareRuns(run('a', 'b'), run()).rows.map(({ change }) => change)).toEqual([
      'removed',
      'removed',
    ]);
  });

  test('in different order still have each answer once', () => {
    const { rows } = compareRuns(run('c', 'b', 'a', 'z'), run('a', 'b', 'c'));
    expect(rows.map(({ change, result }) => `${change} ${result}`)).toEqual([
      'stays a',
      'stays b',
      'stays c',
      'removed z',
    ]);
  });
});

function answered(id: string, part: Partial<ShownAnswer> = {}): ShownAnswer {
  return {
    id,
    answeredAt: 0,
    question: { text: 'p(?x)', variables: ['x'], atom: null, atoms: [] },
    isStoredOnly: false,
    scope: 'All scopes',
    ...run('a'),
    truncated: false,
    total: 1,
    generation: 1,
    elapsedMs: 1,
    hints: [],
    ...part,
  };
}

describe('the earlier runs of a tab', () => {
  const idsOf = (runs: readonly ShownAnswer[]) => runs.map(({ id }) => id);

  test('include the previous run, unless its answers are the same', () => {
    const first = answered('1');
    expect(earlierAfter([], null, first)).toEqual([]);
    expect(earlierAfter([], first, answered('2', { generation: 2 }))).toEqual([]);
    expect(idsOf(earlierAfter([], first, answered('2', run('a', 'b'))))).toEqual(['1']);
    expect(idsOf(earlierAfter([], first, answered('2', { isStoredOnly: true })))).toEqual(['1']);
    expect(idsOf(earlierAfter([], first, null))).toEqual(['1']);
  });

  test('are limited in number and in answers', () => {
    const many = Array.from({ length: 8 }, (_, index) => answered(String(index)));
    expect(idsOf(earlierAfter(many, answered('new'), null))).toEqual([
      'new',
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
    const large = answered('large', { results: Array.from({ length: 199_999 }, () => 'a') });
    expect(idsOf(earlierAfter([large, answered('old')], answered('new'), null))).toEqual(['new', 'large']);
  });

  test('say how they were asked if it differs', () => {
    expect(runDifferencesOf(answered('1'), answered('2'))).toEqual([]);
    expect(runDifferencesOf(answered('1', { isStoredOnly: true, scope: 'plan' }), answered('2'))).toEqual([
      'it was asked stored only',
      'its scope was plan',
    ]);
  });
});

test("a limit is raised tenfold, up to the service's maximum", () => {
  expect(raised(usualAllowance, 'maxDerivations')).toEqual({
    ...usualAllowance,
    maxDerivations: 100_000_000,
  });
  expect(raised({ ...usualAllowance, limit: 20_000 }, 'limit')?.limit).toBe(100_000);
  expect(raised(greatestAllowance, 'timeoutMs')).toBeNull();
});
