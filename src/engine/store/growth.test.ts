import { afterEach, expect, test, vi } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { ChainIndex } from './chain-index.ts';
import { Dictionary } from './dictionary.ts';
import { StoredRelation } from './stored-relation.ts';
import { Tuples } from './tuples.ts';

/** Large structures grow in steps: no insertion copies or moves more than a part. */

const count = 700_000;
/** Elements that one step of `Enlarging` copies, at most. */
const maxCopied = 0x1_0000 + 0x2000;

afterEach(() => vi.restoreAllMocks());

/** Records the largest number of elements that one call of `set` of these arrays copies. */
function largestCopy(): () => number {
  let largest = 0;
  for (const array of [Int32Array, Uint32Array, Uint8Array, Float64Array]) {
    const { set } = array.prototype;
    vi.spyOn(array.prototype, 'set').mockImplementation(function (this: Int32Array, from, at) {
      largest = Math.max(largest, from.length);
      set.call(this, from, at);
    });
  }
  return () => largest;
}

/** For each time that the bytes fell: how many insertions before they last rose. So long both copies existed. */
function lengthsOfRebuilding(bytes: () => number, insert: (at: number) => void): number[] {
  const lengths: number[] = [];
  let before = bytes();
  let rose = 0;
  for (let at = 0; at < count; at++) {
    insert(at);
    const now = bytes();
    if (now > before) rose = at;
    if (now < before) lengths.push(at - rose);
    before = now;
  }
  return lengths;
}

test('a set of tuples copies its columns in steps, and moves its slots over many insertions', () => {
  const largest = largestCopy();
  const tuples = new Tuples(2, true);
  const lengths = lengthsOfRebuilding(
    () => tuples.bytes,
    (at) => tuples.insert(Int32Array.of(at, at >> 4), at),
  );
  expect(tuples.count).toBe(count);
  expect(largest()).toBeLessThanOrEqual(maxCopied);
  // The slots of 524,288 rows are moved while a quarter of that is inserted: a batch of insertions moves few of them.
  expect(lengths.some((length) => length > 120_000)).toBe(true);
});

test('an index copies its chains in steps, and moves its heads over many rows', () => {
  const largest = largestCopy();
  const columns = [new Int32Array(count), new Int32Array(count)];
  const index = new ChainIndex(columns, [0, 1], 16);
  const lengths = lengthsOfRebuilding(
    () => index.bytes,
    (at) => {
      (columns[0] as Int32Array)[at] = at;
      (columns[1] as Int32Array)[at] = -at;
      index.add(at);
    },
  );
  expect(largest()).toBeLessThanOrEqual(maxCopied);
  expect(lengths.filter((length) => length > 1000).length).toBeGreaterThanOrEqual(2);
  expect(index.keys).toBe(count);
});

test('a stored relation copies its columns in steps, and moves its slots over many rows', () => {
  const largest = largestCopy();
  const relation = new StoredRelation('p', 1, false);
  const lengths = lengthsOfRebuilding(
    () => relation.bytes,
    (at) => relation.append(Int32Array.of(at, 0), 1, at, Number.NEGATIVE_INFINITY, at, null),
  );
  expect(largest()).toBeLessThanOrEqual(maxCopied);
  expect(lengths.filter((length) => length > 10_000).length).toBeGreaterThanOrEqual(2);
  expect(relation.find(Int32Array.of(count - 1, 0))).toBe(count - 1);
});

test('a stored relation of as many writes as rows copies no more at once', () => {
  const largest = largestCopy();
  const relation = new StoredRelation('p', 1, false);
  const open = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
  for (let at = 0; at < count; at++) relation.append(Int32Array.of(at, 0), at + 1, at, ...open, null);
  expect(largest()).toBeLessThanOrEqual(maxCopied);
  expect(relation.bornIn(count - 1)).toBe(count);
});

test('a stored relation finds the newest versions of facts, and knows the dead, while it grows', () => {
  const none = Number.NEGATIVE_INFINITY;
  const prng = new Prng(7);
  const relation = new StoredRelation('p', 1, false);
  const newest = new Map<number, number>();
  const deaths = new Map<number, number>();
  const wrong: number[] = [];
  const rowOf = (fact: number): number => relation.find(Int32Array.of(fact, 0));
  for (let generation = 1; relation.count < 300_000; generation++) {
    // Mostly new facts, then many versions of the same ones.
    const fact = relation.count < 200_000 && prng.chance(0.8) ? newest.size : prng.below(newest.size + 1);
    const known = newest.get(fact) ?? -1;
    if (rowOf(fact) !== known) wrong.push(fact);
    if (known >= 0 && relation.isAlive(known)) {
      relation.kill(known, generation);
      deaths.set(known, generation);
      if (prng.chance(0.2)) continue;
    }
    const until = prng.chance(0.1) ? generation : Number.POSITIVE_INFINITY;
    newest.set(fact, relation.append(Int32Array.of(fact, 0), generation, fact, none, until, null));
    const other = prng.below(newest.size);
    if (rowOf(other) !== newest.get(other)) wrong.push(other);
  }
  expect(wrong).toEqual([]);
  for (const [fact, row] of newest) if (rowOf(fact) !== row) wrong.push(fact);
  for (let row = 0; row < relation.count; row++) {
    if ((relation.death?.[row] ?? 0) !== (deaths.get(row) ?? Number.POSITIVE_INFINITY)) wrong.push(row);
    const { from, until } = relation.boundsOf(row);
    if (from !== none || (until !== Number.POSITIVE_INFINITY && until !== relation.bornIn(row)))
      wrong.push(row);
  }
  expect(wrong).toEqual([]);
  expect(relation.live).toBe(relation.count - deaths.size);
});

test('a dictionary copies its texts in steps, and moves its slots over many texts', () => {
  const largest = largestCopy();
  const dictionary = new Dictionary();
  const lengths = lengthsOfRebuilding(
    () => dictionary.bytes,
    (at) => dictionary.intern(`constant ${at}`),
  );
  expect(largest()).toBeLessThanOrEqual(maxCopied);
  expect(lengths.filter((length) => length > 10_000).length).toBeGreaterThanOrEqual(2);
  expect(dictionary.find(`constant ${count - 1}`)).toBe(count - 1);
});

test('a dictionary grows to the texts that are expected, not to many times what it has', () => {
  /** The different sizes that it has while it grows to so many texts. */
  const sizesWith = (expected: number): number[] => {
    const dictionary = new Dictionary();
    const sizes = new Set<number>();
    for (let at = 0; at < 30_000; at++) {
      if (at === 1000) dictionary.expect(expected);
      dictionary.intern(`${at}${'.'.repeat(60)}`);
      sizes.add(dictionary.bytes);
    }
    return [...sizes];
  };
  expect(sizesWith(30_500).length).toBeLessThan(sizesWith(0).length / 1.5);
  // An estimate comes from a client: of ten million texts it gets room for a part.
  const dictionary = new Dictionary();
  dictionary.intern('x'.repeat(1000));
  dictionary.expect(10_000_000);
  dictionary.intern('y'.repeat(1000));
  expect(dictionary.bytes).toBeLessThan(70_000_000);
});

test('an index is built in steps of so many rows, whatever is added meanwhile', () => {
  const tuples = new Tuples(2);
  for (let at = 0; at < 5000; at++) tuples.insert(Int32Array.of(at % 7, at));
  const index = tuples.indexToBuild([0]);
  expect(index.takeIn(tuples.count, 2048)).toBe(false);
  expect(index.rows).toBe(2048);
  tuples.insert(Int32Array.of(3, 5000));
  expect(index.rows).toBe(2048);
  while (!index.takeIn(tuples.count, 2048));
  tuples.insert(Int32Array.of(3, 5001));
  expect(index.rows).toBe(5002);
  const rows: number[] = [];
  for (let next = index.firstOf(3); next !== 0; next = index.next[next - 1] as number) rows.push(next - 1);
  expect(rows.slice(0, 3)).toEqual([5001, 5000, 4994]);
  expect(rows).toHaveLength(716);
});
