import { expect, test } from 'vitest';
import { Tuples } from '../../store/tuples.ts';
import { KnownConclusions } from './known-conclusions.ts';

const about = (predicate: string) => ({
  view: { kind: 'all' as const },
  predicate,
  arity: 1,
  negated: false,
  relation: `${predicate}/1`,
});

function rows(...ids: number[]): Tuples {
  const tuples = new Tuples(1);
  for (const id of ids) tuples.insert(Int32Array.of(id));
  return tuples;
}

/** The contents of these relations, in the order in which they are returned. */
function contents(found: ReturnType<KnownConclusions['of']>): [string, number[]][] {
  return found.map(({ relation, rows: { columns }, count }) => [
    relation,
    Array.from((columns[0] as Int32Array).subarray(0, count)),
  ]);
}

test('reads the known conclusions of some relations without changing anything, not even the order', () => {
  const known = new KnownConclusions();
  for (const predicate of ['p', 'q', 'r']) known.add(about(predicate), rows(1, 2));
  known.add(about('p'), rows(2, 3));
  const all = new Set(['p/1', 'q/1', 'r/1']);
  const before = contents(known.of(all));
  expect(before).toEqual([
    ['p/1', [1, 2, 3]],
    ['q/1', [1, 2]],
    ['r/1', [1, 2]],
  ]);
  expect(contents(known.of(new Set(['p/1'])))).toEqual(before.slice(0, 1));
  expect(contents(known.of(all))).toEqual(before);
});

test('forgets what is taken, and keeps the rest', () => {
  const known = new KnownConclusions();
  for (const predicate of ['p', 'q', 'r']) known.add(about(predicate), rows(1));
  expect(contents(known.take(new Set(['q/1', 'unheard of/1'])))).toEqual([['q/1', [1]]]);
  expect(contents(known.of(new Set(['p/1', 'q/1', 'r/1'])))).toEqual([
    ['p/1', [1]],
    ['r/1', [1]],
  ]);
});
