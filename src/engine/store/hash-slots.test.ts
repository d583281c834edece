import { expect, test } from 'vitest';
import { finish, HashSlots, maxBatch } from './hash-slots.ts';

function has(slots: HashSlots, hash: number, number: number): boolean {
  let slot = slots.first(hash);
  while (slot >= 0 && slots.number(slot) !== number) slot = slots.next(slot, hash);
  return slot >= 0;
}

test('finds every number by its hash until the slots are full, and no others', () => {
  const slots = new HashSlots(100);
  let next = 0;
  for (; !slots.isFull; next++) {
    const hash = finish(next);
    expect(has(slots, hash, next)).toBe(false);
    slots.add(hash, next);
  }
  expect(next).toBeGreaterThanOrEqual(100);
  expect(slots.count).toBe(next);
  for (let number = 0; number < next; number++) expect(has(slots, finish(number), number)).toBe(true);
  expect(has(slots, finish(next), next)).toBe(false);
});

test('visits all numbers with one hash, and lets one replace another', () => {
  const slots = new HashSlots(10);
  const hash = finish(1);
  for (const number of [4, 5, 6]) slots.add(hash, number);
  const met: number[] = [];
  let slot = slots.first(hash);
  for (; slot >= 0; slot = slots.next(slot, hash)) met.push(slots.number(slot));
  expect(met).toEqual([4, 5, 6]);
  slots.put(slot, hash, 7);
  slots.replace(slots.first(hash), 8);
  const left: number[] = [];
  slots.forEach((number) => void left.push(number));
  expect(left.sort((a, b) => a - b)).toEqual([5, 6, 7, 8]);
});

test('finds numbers inserted together like those inserted one by one', () => {
  const slots = new HashSlots(maxBatch * 5);
  const hashes = new Int32Array(maxBatch);
  for (let first = 0; first < maxBatch * 5; first += maxBatch) {
    for (let at = 0; at < maxBatch; at++) hashes[at] = finish((first + at) % 100);
    slots.addAll(hashes, maxBatch, first);
  }
  expect(slots.count).toBe(maxBatch * 5);
  for (let number = 0; number < maxBatch * 5; number++)
    expect(has(slots, finish(number % 100), number)).toBe(true);
  expect(has(slots, finish(100), 100)).toBe(false);
});
