import { Prng } from '../testing/prng.ts';
import { expect, test } from 'vitest';
import { StoredRelation } from './stored-relation.ts';

const always = Number.NEGATIVE_INFINITY;
const never = Number.POSITIVE_INFINITY;

/** A relation of one argument whose fact numbers equal their rows. */
function relation(): { rows: StoredRelation; add: (id: number, generation: number) => number } {
  const rows = new StoredRelation('p', 1, false);
  return {
    rows,
    add: (id, generation) => rows.append(Int32Array.of(id, 0), generation, rows.count, always, never, null),
  };
}

/** The argument of every row visible at the generation and time. */
function seen(rows: StoredRelation, generation: number, time = 0): number[] {
  const found: number[] = [];
  for (let row = 0; row < rows.count; row++)
    if (rows.isVisible(row, generation, time)) found.push((rows.columns[0] as Int32Array)[row] as number);
  return found;
}

test('shows a reader of a generation the rows born by then and not dead', () => {
  const { rows, add } = relation();
  const first = add(1, 1);
  add(2, 2);
  rows.kill(first, 3);
  add(3, 4);
  expect([0, 1, 2, 3, 4].map((generation) => seen(rows, generation))).toEqual([[], [1], [1, 2], [2], [2, 3]]);
  expect(rows.live).toBe(2);
});

test('finds the newest version of a fact, dead or alive, and keeps older ones readable', () => {
  const { rows, add } = relation();
  const old = add(7, 1);
  rows.kill(old, 2);
  const newer = rows.append(Int32Array.of(7, 0), 2, 0, always, never, { source: 'test' });
  expect(rows.find(Int32Array.of(7, 0))).toBe(newer);
  expect(rows.metadata.get(newer)).toEqual({ source: 'test' });
  expect(rows.metadata.has(old)).toBe(false);
  rows.kill(newer, 3);
  expect(rows.find(Int32Array.of(7, 0))).toBe(newer);
  expect(rows.find(Int32Array.of(7, 1))).toBe(-1);
  expect([seen(rows, 1), seen(rows, 2), seen(rows, 3)]).toEqual([[7], [7], []]);
});

test('applies validity from its begin, inclusive, to its end, exclusive', () => {
  const rows = new StoredRelation('p', 1, false);
  rows.append(Int32Array.of(1, 0), 1, 0, always, never, null);
  rows.append(Int32Array.of(2, 0), 1, 1, 10, 20, null);
  rows.append(Int32Array.of(3, 0), 1, 2, always, 10, null);
  expect([9, 10, 19, 20].map((time) => seen(rows, 1, time))).toEqual([[1, 3], [1, 2], [1, 2], [1]]);
});

test('distinguishes facts of different scopes', () => {
  const rows = new StoredRelation('p', 1, true);
  const unscoped = rows.append(Int32Array.of(5, 0), 1, 0, always, never, null);
  const scoped = rows.append(Int32Array.of(5, 3), 1, 1, always, never, null);
  expect(rows.find(Int32Array.of(5, 0))).toBe(unscoped);
  expect(rows.find(Int32Array.of(5, 3))).toBe(scoped);
});

test('numbers the rows of a generation first', () => {
  const { rows, add } = relation();
  for (const generation of [1, 1, 1, 4, 4, 9]) add(rows.count, generation);
  expect([0, 1, 3, 4, 8, 9, 100].map((generation) => rows.rowsAt(generation))).toEqual([0, 3, 3, 5, 5, 6, 6]);
});

test('lets a row die once, and rows be born in the order of generations', () => {
  const { rows, add } = relation();
  const row = add(1, 5);
  rows.kill(row, 6);
  expect(() => rows.kill(row, 7)).toThrow('a row dies once');
  expect(() => add(2, 4)).toThrow('rows are born in the order of generations');
});

test('keeps versions, validity and indexes of many facts while the relation grows', () => {
  const rows = new StoredRelation('p', 2, false);
  const early = rows.index([0]);
  for (let id = 0; id < 5000; id++)
    rows.append(Int32Array.of(id % 50, id, 0), id, id, id % 3 === 0 ? id : always, never, null);
  for (let id = 0; id < 5000; id += 2) rows.kill(rows.find(Int32Array.of(id % 50, id, 0)), 5000);
  const rowsOf = (first: number, next: Int32Array): number => {
    let count = 0;
    for (let at = first; at !== 0; at = next[at - 1] as number) count++;
    return count;
  };
  expect(rowsOf(early.firstOf(7), early.next)).toBe(100);
  const late = rows.index([0, 1]);
  expect(rowsOf(late.first(Int32Array.of(7, 57)), late.next)).toBe(1);
  expect(rows.live).toBe(2500);
  expect(seen(rows, 4999, 4999)).toHaveLength(5000);
  expect(seen(rows, 5000, 4999)).toHaveLength(2500);
  const validByThen = Array.from({ length: 5000 }, (_, id) => id).filter((id) => id % 3 !== 0 || id <= 3000);
  expect(seen(rows, 4999, 3000)).toHaveLength(validByThen.length);
});

test('keeps the same live facts at compaction, and the old relation for its readers', () => {
  const { rows, add } = relation();
  for (let id = 0; id < 600; id++) add(id, id + 1);
  for (let id = 0; id < 400; id++) rows.kill(id, 1000);
  expect(rows.isMostlyDead).toBe(true);
  const fresh = rows.compaction(1000).finish();
  expect(fresh.isMostlyDead).toBe(false);
  expect(seen(fresh, 1000)).toEqual(seen(rows, 1000));
  expect(fresh.count).toBe(200);
  expect(fresh.number[0]).toBe(400);
  expect(fresh.bornIn(0)).toBe(401);
  expect(fresh.find(Int32Array.of(3, 0))).toBe(-1);
  expect(fresh.forgottenThrough).toBe(1000);
  expect(seen(rows, 999)).toHaveLength(600);
});

test('keeps rows that died after the generation of compaction, still dead', () => {
  const { rows, add } = relation();
  for (let id = 0; id < 600; id++) add(id, id + 1);
  for (let id = 0; id < 400; id++) rows.kill(id, 1000);
  for (let id = 400; id < 500; id++) rows.kill(id, 2000);
  const fresh = rows.compaction(1500).finish();
  expect(fresh.count).toBe(200);
  expect(fresh.live).toBe(100);
  expect(fresh.forgottenThrough).toBe(1000);
  const kept = fresh.find(Int32Array.of(450, 0));
  expect([fresh.bornIn(kept), fresh.death?.[kept], fresh.number[kept]]).toEqual([451, 2000, 450]);
  expect(seen(fresh, 2000)).toEqual(seen(rows, 2000));
  expect(seen(fresh, 1999)).toEqual(seen(rows, 1999));
  expect(fresh.liveAt(2000)).toBe(100);
});

test('drops most rows only once most of them died early enough', () => {
  const { rows, add } = relation();
  for (let id = 0; id < 600; id++) add(id, id + 1);
  for (let id = 0; id < 250; id++) rows.kill(id, 1000);
  for (let id = 250; id < 400; id++) rows.kill(id, 2000);
  expect(rows.isMostlyDead).toBe(true);
  expect(rows.isMostlyDeadThrough(1500)).toBe(false);
  expect(rows.isMostlyDeadThrough(1999)).toBe(false);
  expect(rows.isMostlyDeadThrough(2000)).toBe(true);
  for (let id = 400; id < 450; id++) rows.kill(id, 3000);
  // Counted again only if there are many more rows, or if all that were dead can be dropped.
  expect(rows.isMostlyDeadThrough(1999)).toBe(false);
  expect(rows.isMostlyDeadThrough(2500)).toBe(true);
});

test('a compaction in steps takes in what is added, replaced and killed meanwhile', () => {
  const prng = new Prng(7);
  const { rows } = relation();
  const many = 150_000;
  const add = (id: number, generation: number): number =>
    rows.append(Int32Array.of(id, id % 3), generation, id, id % 5, Number.POSITIVE_INFINITY, null);
  for (let id = 0; id < many; id++) add(id, 1);
  for (let row = 0; row < many; row++) if (row % 3 > 0) rows.kill(row, 2);
  const compaction = rows.compaction(2);
  expect(compaction.isNearlyWhole).toBe(false);
  let generation = 3;
  for (let id = many; !compaction.isNearlyWhole; generation++) {
    compaction.step();
    for (let change = 0; change < 40; change++) {
      const row = prng.below(rows.count);
      if (prng.chance(0.3)) add(id++, generation);
      else if (rows.isAlive(row)) {
        rows.kill(row, generation);
        if (prng.chance(0.5)) add(rows.number[row] as number, generation);
      }
    }
  }
  expect(rows.compaction(generation)).toBe(compaction);
  const fresh = compaction.finish();
  expect(rows.compacting).toBeNull();
  expect(fresh.live).toBe(rows.live);
  expect(seen(fresh, generation, 9)).toEqual(seen(rows, generation, 9));
  const died = Array.from({ length: rows.count }, (_, row) => row).filter(
    (row) => !((rows.death?.[row] ?? 0) <= 2),
  );
  expect(fresh.count).toBe(died.length);
  for (const [at, row] of died.entries())
    expect([fresh.bornIn(at), fresh.death?.[at], fresh.number[at]]).toEqual([
      rows.bornIn(row),
      rows.death?.[row],
      rows.number[row],
    ]);
});
