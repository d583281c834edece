import { expect, test } from 'vitest';
import { FactStore } from '../store/fact-store.ts';
import { ListingCache, type Listing, type ListingState, maxListings } from './caches.ts';
import { Program } from '../datalog/model/program.ts';

const facts = new FactStore(0);
const program = new Program([]);

function state(changes: Partial<ListingState> = {}): ListingState {
  return { key: 'k', facts, version: 3, usesVersion: 2, program, time: 10, until: 20, ...changes };
}

/** A listing of this many rows, eight bytes each. */
function listing(count: number): Listing {
  const places = new Int32Array(count);
  return {
    relations: [],
    places,
    rows: new Int32Array(count),
    conclusions: [],
    sorted: { from: 0, to: count },
  };
}

test('finds a listing for its own state, until a validity begins or ends', () => {
  const kept = new ListingCache(1000);
  const made = listing(1);
  kept.keep(state(), made);
  expect(kept.find(state())).toBe(made);
  expect(kept.find(state({ time: 19, until: 30 }))).toBe(made);
});

test.each<[string, Partial<ListingState>]>([
  ['the facts changed', { version: 4 }],
  ['facts were used', { usesVersion: 3 }],
  ['the rules changed', { program: new Program([]) }],
  ['a validity began or ended', { time: 20, until: 30 }],
  ['it is wanted for an earlier time', { time: 9 }],
])('drops a listing if %s', (_why, changes) => {
  const kept = new ListingCache(1000);
  kept.keep(state(), listing(1));
  expect(kept.find(state(changes))).toBeNull();
  expect([kept.count, kept.bytes]).toEqual([0, 0]);
});

test.each<[string, Partial<ListingState>]>([
  ['query', { key: 'other' }],
  ['tenant', { facts: new FactStore(0) }],
])('does not find a listing for another %s, and keeps it', (_what, changes) => {
  const kept = new ListingCache(1000);
  const made = listing(1);
  kept.keep(state(), made);
  expect(kept.find(state(changes))).toBeNull();
  expect(kept.find(state())).toBe(made);
});

test('evicts the least recently used first, by number and by bytes', () => {
  const kept = new ListingCache(1_000_000);
  for (let index = 0; index < maxListings; index++) kept.keep(state({ key: `${index}` }), listing(1));
  expect(kept.find(state({ key: '0' }))).not.toBeNull();
  kept.keep(state({ key: 'one more' }), listing(1));
  expect(kept.count).toBe(maxListings);
  expect([kept.find(state({ key: '0' })), kept.find(state({ key: '1' }))]).toEqual([expect.anything(), null]);
  kept.keep(state({ key: 'large' }), listing(124_990));
  expect(kept.find(state({ key: 'large' }))).not.toBeNull();
  expect(kept.count).toBeLessThan(maxListings);
  expect(kept.bytes).toBeLessThanOrEqual(1_000_000);
});

test('does not cache a listing larger than the cache, and evicts nothing for it', () => {
  const kept = new ListingCache(1000);
  kept.keep(state({ key: 'small' }), listing(1));
  kept.keep(state({ key: 'large' }), listing(1000));
  expect(kept.find(state({ key: 'large' }))).toBeNull();
  expect(kept.find(state({ key: 'small' }))).not.toBeNull();
});
