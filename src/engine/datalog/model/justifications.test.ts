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
