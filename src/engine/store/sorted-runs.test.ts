import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { MemoryMeter, QuestionMemory } from './memory-meter.ts';
import { seek, type SortedRun, SortedRuns } from './sorted-runs.ts';

/** Columns of random ids, those of the first column at most `ids` many from `least` on. */
function columnsOf(prng: Prng, count: number, ids: number, least: number): Int32Array[] {
  const column = (most: number, from: number) =>
    Int32Array.from({ length: count }, () => from + prng.below(most));
  return [column(ids, least), column(7, 0), column(100_000, 0)];
}

/** Takes the run to its end. Returns it with the number of steps that this took. */
function made(runs: SortedRuns, order: readonly number[], limit: number, count: number) {
  for (let steps = 1; ; steps++) {
    const run = runs.take(order, limit, count);
    if (run !== null) return { run, steps };
  }
}

function tuplesOf(run: SortedRun): number[][] {
  return Array.from(run.rows, (row, at) => [...run.values.map((values) => values[at] as number), row]);
}

test.each([
  ['close ids', 50_000, 900, 0],
  ['sparse ids', 3000, 2_000_000_000, 17],
  ['one id', 40, 1, 5],
  ['one row', 1, 1, 0],
])('sorts rows by the columns in their order, the oldest first: %s', (_, count, ids, least) => {
  const columns = columnsOf(new Prng(3), count, ids, least);
  for (const order of [[0], [1, 0], [2, 1], [0, 2, 1]]) {
    const { run } = made(new SortedRuns(columns), order, count, count);
    const expected = Array.from({ length: count }, (_none, row) => [
      ...order.map((position) => columns[position]?.[row] as number),
      row,
    ]).sort((left, right) => {
      const at = left.findIndex((value, index) => value !== right[index]);
      return (left[at] as number) - (right[at] as number);
    });
    expect(tuplesOf(run)).toEqual(expected);
  }
});

test.each([
  ['close ids', 2000],
  ['sparse ids', 2_000_000_000],
])('finds the first position of every id: %s', (_, ids) => {
  const prng = new Prng(5);
  const count = 3000;
  const { run } = made(new SortedRuns(columnsOf(prng, count, ids, 40)), [0, 1], count, count);
  const [values] = run.values as [Int32Array];
  const asked = [0, 39, 40, 41, ids, ids + 100, ...values.subarray(0, 50), ...values.map((id) => id + 1)];
  for (const id of asked) {
    const at = values.findIndex((value) => value >= id);
    expect(run.first(id), `${id}`).toBe(at < 0 ? count : at);
  }
});

test('seeks the first value that is not less, within its bounds', () => {
  const values = Int32Array.of(1, 3, 3, 5, 8, 8, 8, 13, 21);
  for (let from = 0; from <= values.length; from++)
    for (let to = from; to <= values.length; to++)
      for (let least = 0; least < 23; least++) {
        const found = values.subarray(from, to).findIndex((value) => value >= least);
        expect(seek(values, from, to, least)).toBe(found < 0 ? to : from + found);
      }
});

test('makes a run in steps, of which none reads more than a fixed number of rows', () => {
  const columns = columnsOf(new Prng(7), 200_000, 5000, 0);
  const few = made(new SortedRuns(columns), [0, 1], 20_000, 20_000).steps;
  const many = made(new SortedRuns(columns), [0, 1], 200_000, 200_000).steps;
  expect(few).toBeGreaterThan(10);
  expect(many).toBeGreaterThan(few * 5);
});

test('keeps a run until a reader needs later rows, and then makes one with all of them', () => {
  const columns = columnsOf(new Prng(9), 100, 10, 0);
  const runs = new SortedRuns(columns);
  const { run } = made(runs, [0], 40, 60);
  expect(run.count).toBe(60);
  expect(runs.known([0], 60)).toBe(run);
  expect(runs.known([0], 61)).toBeNull();
  expect(runs.known([1], 1)).toBeNull();
  const later = made(runs, [0], 61, 100).run;
  expect(later.count).toBe(100);
  expect(runs.known([0], 10)).toBe(later);
});

test.each([
  ['a few', 30_000, 30_040, 900],
  ['as many', 2000, 4000, 50],
  ['more', 100, 5000, 7],
  ['equal ones', 500, 900, 1],
])('merges later rows with the run as if all were sorted: %s', (_, before, count, ids) => {
  const columns = columnsOf(new Prng(13), count, ids, 3);
  for (const order of [[0], [1, 0], [2, 1], [0, 2, 1]]) {
    const runs = new SortedRuns(columns);
    made(runs, order, before, before);
    const { run } = made(runs, order, before + 1, count);
    const whole = made(new SortedRuns(columns), order, count, count).run;
    expect(tuplesOf(run)).toEqual(tuplesOf(whole));
    const [values] = run.values as [Int32Array];
    for (const id of values.subarray(0, 100)) expect(run.first(id)).toBe(whole.first(id));
  }
});

test('a run with a few later rows costs less than one that is sorted from nothing', () => {
  const runs = new SortedRuns(columnsOf(new Prng(15), 10_000, 900, 0));
  expect(runs.cost([0, 1], 9000)).toBe(9000);
  made(runs, [0, 1], 9000, 9000);
  expect(runs.cost([0, 1], 9001)).toBeLessThan(3000);
  expect(runs.cost([1, 0], 9001)).toBe(9001);
});

test('counts the memory of its runs, and gives it back when they are dropped', () => {
  const meter = new MemoryMeter();
  meter.payer = new QuestionMemory(1_000_000);
  const runs = new SortedRuns(columnsOf(new Prng(11), 1000, 500, 0), meter);
  made(runs, [0, 1], 1000, 1000);
  expect(runs.bytes).toBeGreaterThan(12_000);
  expect(meter.payer.used).toBe(runs.bytes);
  runs.drop();
  expect([runs.bytes, meter.payer.used]).toEqual([0, 0]);
  expect(runs.known([0, 1], 1)).toBeNull();
});

test('gives back what it took for a sort that nobody ends', () => {
  const meter = new MemoryMeter();
  const runs = new SortedRuns(columnsOf(new Prng(11), 40_000, 500, 0), meter);
  expect(runs.take([0, 1], 40_000, 40_000)).toBeNull();
  expect(meter.held).toBe(runs.bytes);
  expect(runs.bytes).toBeGreaterThan(40_000 * 8);
  runs.drop();
  expect([runs.bytes, meter.held]).toEqual([0, 0]);
});
