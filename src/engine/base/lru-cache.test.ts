import { expect, test } from 'vitest';
import { LruCache } from './lru-cache.ts';

const [one, other] = [{}, {}];

test('evicts the least recently used entries first, by number and by bytes', () => {
  const cache = new LruCache<object, number>(3, 100);
  for (const key of ['a', 'b', 'c']) cache.set(one, key, 1, 10);
  expect(cache.get(one, 'a')).toBe(1);
  cache.set(one, 'd', 1, 10);
  expect([cache.get(one, 'a'), cache.get(one, 'b'), cache.size]).toEqual([1, undefined, 3]);
  cache.set(one, 'e', 1, 85);
  expect([cache.get(one, 'd'), cache.get(one, 'a'), cache.bytes]).toEqual([undefined, 1, 95]);
});

test('replaces an earlier value, and removes it if the new one is too large to cache', () => {
  const cache = new LruCache<object, number>(3, 100);
  cache.set(one, 'a', 1, 10);
  cache.set(one, 'a', 2, 20);
  expect([cache.get(one, 'a'), cache.bytes, cache.size]).toEqual([2, 20, 1]);
  cache.set(one, 'b', 1, 10);
  cache.set(one, 'a', 3, 101);
  expect([cache.get(one, 'a'), cache.get(one, 'b'), cache.bytes]).toEqual([undefined, 1, 10]);
});

test("gives each owner its own keys and removes an owner's entries alone", () => {
  const cache = new LruCache<object, number>(30, 100);
  const many = Array.from({ length: 12 }, () => ({}));
  for (const [at, owner] of [one, other, ...many].entries()) cache.set(owner, 'a', at, 1);
  cache.deleteOwner(other);
  cache.delete(one, 'b');
  expect([cache.get(one, 'a'), cache.get(other, 'a'), cache.get(many[9] as object, 'a')]).toEqual([
    0,
    undefined,
    11,
  ]);
  expect([cache.size, cache.bytes]).toEqual([13, 13]);
});
