import { expect, test } from 'vitest';
import { MemoryMeter } from '../../store/memory-meter.ts';
import { newDerived, type Support } from './derived.ts';
import { Justifications } from './justifications.ts';

const rowCount = 30_000;

/** Many rows that share one premise; each also has a stored fact. */
function manyRows() {
  const justifications = new Justifications();
  const [premise, target] = ['premise', 'target'].map((name) => {
    const derived = newDerived({ name, arity: 1, level: 1, memory: new MemoryMeter() });
    justifications.track(derived, null);
    return derived.support as Support;
  }) as [Support, Support];
  premise.derived.rows.insert(Int32Array.of(0));
  for (let row = 0; row < rowCount; row++) {
    target.derived.rows.insert(Int32Array.of(row));
    justifications.begin(target, row);
    justifications.add(premise, 0, target, row);
    justifications.addFact(row % 100, target, row);
  }
  return { justifications, premise, target };
}

test('finds more rows than fit into a block, and still finds them after others are removed', async () => {
  const { justifications, premise, target } = manyRows();
  const dependents = (): number[] => {
    const rows: number[] = [];
    justifications.dependents(premise, 0, (_, row) => rows.push(row));
    return rows.sort((left, right) => left - right);
  };
  expect(dependents()).toHaveLength(rowCount);
  for (let row = 0; row < rowCount; row += 3) target.derived.rows.kill(row);
  for (let row = 1; row < rowCount; row += 3) {
    justifications.begin(target, row);
    justifications.addFact(100, target, row);
  }
  const left = Array.from({ length: rowCount }, (_, row) => row).filter((row) => row % 3 === 2);
  expect(dependents()).toEqual(left);
  const before = justifications.bytes;
  await justifications.compact(() => Promise.resolve());
  expect(dependents()).toEqual(left);
  expect(justifications.count).toBe(left.length * 2 + rowCount / 3);
  expect(justifications.bytes).toBeLessThan(before);
  let ofFact = 0;
  justifications.dependentsOfFact(100, () => ofFact++);
  expect(ofFact).toBe(rowCount / 3);
});

test('rows justified together have the dependents of rows justified one by one, however they change between', async () => {
  const justifications = new Justifications();
  const [premise, target] = ['premise', 'target'].map((name) => {
    const derived = newDerived({ name, arity: 1, level: 1, memory: new MemoryMeter() });
    justifications.track(derived, null);
    return derived.support as Support;
  }) as [Support, Support];
  const justify = (from: number, to: number): void => {
    for (let row = from; row < to; row++) target.derived.rows.insert(Int32Array.of(row));
    justifications.justifyNew(target, from, [
      { support: premise, epoch: premise.epoch, numbers: { at: 10 } },
      { support: null, epoch: 0, numbers: Int32Array.from({ length: to - from }, (_, at) => at % 3) },
      { support: premise, epoch: premise.epoch, numbers: 5 },
    ]);
  };
  const dependents = (row: number): number[] => {
    const rows: number[] = [];
    justifications.dependents(premise, row, (_, at) => rows.push(at));
    return rows.sort((left, right) => left - right);
  };
  justify(0, 8);
  const second: number[] = [];
  justifications.dependentsOfFact(1, (_, at) => second.push(at));
  expect(second.length).toBe(3);
  justify(8, 16);
  // Another justification for a row of the run, before anybody asked.
  justifications.begin(target, 9);
  justifications.add(premise, 7, target, 9);
  expect(dependents(11)).toEqual([1]);
  expect(dependents(13)).toEqual([3, 11]);
  expect(dependents(7)).toEqual([9]);
  expect(dependents(5)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15]);
  justify(16, 28);
  premise.clear();
  const ofFact: number[] = [];
  await justifications.compact(() => Promise.resolve());
  justifications.dependentsOfFact(1, (_, at) => ofFact.push(at));
  expect(ofFact.sort((left, right) => left - right)).toEqual([1, 4, 7, 12, 15, 17, 20, 23, 26]);
  expect(dependents(5)).toEqual([]);
  justify(28, 38);
  target.clear();
  expect(target.bytes).toBe(0);
  expect(dependents(10)).toEqual([]);
});
