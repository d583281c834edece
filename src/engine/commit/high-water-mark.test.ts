import { expect, test } from 'vitest';
import { nearestMark } from './high-water-mark.ts';

test('memory is that of the process, or the heap of V8 if that ends first', () => {
  const reading = { resident: 300, residentMark: 1000, heap: 200, heapMark: 2000 };
  expect(nearestMark(reading)).toEqual({ used: 300, allowed: 1000, isHeap: false });
  expect(nearestMark({ ...reading, heapMark: 500 })).toEqual({ used: 200, allowed: 500, isHeap: true });
});
