import { expect, test } from 'vitest';
import type { Metadata } from '../contract/facts.ts';
import { Prng } from '../testing/prng.ts';
import { MetadataColumn } from './metadata-column.ts';

const encoder = new TextEncoder();

test('has what was set, by row, in whatever way and order it came', () => {
  const prng = new Prng(7);
  const [column, copy] = [new MetadataColumn(), new MetadataColumn()];
  const expected = new Map<number, Metadata>();
  for (let at = 0; at < 3000; at++) {
    const row = prng.below(20_000);
    if (expected.has(row)) continue;
    const metadata = prng.pick<Metadata>([
      { source: `s${prng.below(3)}`, confidence: 0.5 },
      { note: `é"\\\ud800 ${at}`, 2: [null, { x: true }], 1: 'x' },
    ]);
    const json = encoder.encode(`##${JSON.stringify(metadata)}##`);
    if (prng.chance(0.5)) column.set(row, metadata);
    else column.setJson(row, json, 2, json.length - 2);
    copy.copy(row + 1, column, row);
    copy.copy(row + 40_000, column, 50_000);
    expected.set(row, metadata);
  }
  expect(column.size).toBe(expected.size);
  expect([...column.keys()]).toEqual([...expected.keys()].sort((one, other) => one - other));
  for (let row = 0; row < 20_001; row++) {
    const metadata = expected.get(row);
    expect(column.has(row)).toBe(metadata !== undefined);
    expect(column.get(row)).toEqual(metadata);
    expect(JSON.stringify(column.get(row))).toBe(JSON.stringify(metadata));
    expect(copy.get(row + 1)).toEqual(metadata);
    if (metadata !== undefined)
      expect(Buffer.from(column.jsonOf(row)).toString()).toBe(JSON.stringify(metadata));
  }
});

test('stores equal metadata once', () => {
  const column = new MetadataColumn();
  column.set(0, { source: 'x' });
  const before = column.bytes;
  for (let row = 1; row < 16; row++) column.set(row, { source: 'x' });
  expect(column.bytes).toBe(before);
});
