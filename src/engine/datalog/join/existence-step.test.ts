import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { MemoryMeter } from '../../store/memory-meter.ts';
import { newDerived } from '../model/derived.ts';
import { DerivedStep } from './derived-steps.ts';
import { noRow, type Machine, type AtomShape, unsureRow } from './machine.ts';
import { MarkedRows } from './existence-step.ts';

const [candidate, rest] = [0, 1];
const shape: AtomShape = {
  keyPositions: [0, 1],
  keyRegisters: [candidate, rest],
  bindPositions: [],
  bindRegisters: [],
  samePositions: [],
  sameRegisters: [],
  binds: null,
};

/** Random pairs of a value and a rest, some of them dead; the live pairs by row. */
function randomPairs(prng: Prng, rests: number, values: number, count: number) {
  const source = newDerived({ name: 'pairs', arity: 2, level: 0, memory: new MemoryMeter() });
  const rows = new Map<string, number>();
  for (let index = 0; index < count; index++) {
    const pair = Int32Array.of(prng.below(values), prng.below(rests));
    const row = source.rows.insert(pair);
    if (row >= 0) rows.set(pair.join(), row);
  }
  for (const [pair, row] of rows)
    if (prng.chance(0.1)) {
      source.rows.kill(row);
      rows.delete(pair);
    }
  source.done = source.rows.count;
  return { source, rows };
}

test.each([
  ['few values, asked for often', 4, 50, 200],
  ['many values, asked for often', 4, 3000, 9000],
  ['many values, asked for once', 300, 300, 30_000],
])('marks exactly the live rows: %s', (_, rests, values, count) => {
  const prng = new Prng(7);
  const { source, rows } = randomPairs(prng, rests, values, count);
  const step = new DerivedStep(source, shape, 'done');
  step.begin({ chunkStart: 0, chunkEnd: 0 } as Machine);
  const registers = new Int32Array(2);
  const marked = new MarkedRows(step, registers, candidate);
  marked.begin();
  const told = { row: 0, none: 0, unsure: 0 };
  for (let round = 0; round < 300; round++) {
    registers[rest] = prng.below(rests);
    for (let ask = rests > 100 ? 1 : 1 + prng.below(200); ask > 0; ask--) {
      registers[candidate] = prng.below(values + 5);
      const row = marked.row();
      told[row === noRow ? 'none' : row === unsureRow ? 'unsure' : 'row']++;
      if (row !== unsureRow) expect(row).toBe(rows.get(registers.join()) ?? noRow);
    }
  }
  expect(told.row).toBeGreaterThan(0);
  if (rests < 100) expect(told.none).toBeGreaterThan(0);
  if (values > 50) expect(told.unsure).toBeGreaterThan(0);
});
