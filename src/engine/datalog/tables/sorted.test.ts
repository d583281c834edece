import { MemoryBudget } from '../model/memory-budget.ts';
import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { compareText, TextComparisons } from '../../base/text-order.ts';
import { Dictionary } from '../../store/dictionary.ts';
import { Constants } from '../model/constants.ts';
import { Pacer } from './evaluation.ts';
import { rowsAt, rowsByText, sortedOrder } from './sorted.ts';

function pacer(): Pacer {
  return new Pacer(
    {
      timeoutMs: 60_000,
      maxDerivations: Number.POSITIVE_INFINITY,
      memory: new MemoryBudget(Number.POSITIVE_INFINITY),
      signal: new AbortController().signal,
    },
    () => Promise.resolve(),
  );
}

/** A pacer, and the characters that are compared between two looks at its limits. */
function watchedPacer() {
  const seen = { total: 0, most: 0 };
  let since = 0;
  const { limits } = pacer();
  const signal = {
    get aborted() {
      since = 0;
      return false;
    },
  };
  const watched = new Pacer({ ...limits, signal }, () => Promise.resolve());
  const compared = (characters: number): typeof seen => {
    seen.total += characters;
    since += characters;
    seen.most = Math.max(seen.most, since);
    return seen;
  };
  return { watched, compared };
}

/** Random rows of texts as ids, and the texts themselves. */
function randomRows(seed: number, count: number, width: number, distinct: number) {
  const prng = new Prng(seed);
  const dictionary = new Dictionary();
  const columns = Array.from({ length: width }, () => new Int32Array(count));
  const texts: string[][] = [];
  for (let row = 0; row < count; row++) {
    const parts = Array.from({ length: width }, () => `${prng.below(distinct)}${prng.pick(['', 'é', '😀'])}`);
    for (const [column, text] of parts.entries())
      (columns[column] as Int32Array)[row] = dictionary.intern(text);
    texts.push(parts);
  }
  return { columns, texts, constants: new Constants(dictionary) };
}

test('sorts numbers stably, however many', async () => {
  for (const count of [0, 1, 2, 4096, 4097, 30_000]) {
    const prng = new Prng(count);
    const keys = Array.from({ length: count }, () => prng.below(count / 3 + 1));
    const order = await sortedOrder(
      count,
      (left, right) => (keys[left] as number) - (keys[right] as number),
      pacer(),
    );
    const expected = keys
      .map((key, at) => ({ key, at }))
      .sort((left, right) => left.key - right.key || left.at - right.at)
      .map(({ at }) => at);
    expect(Array.from(order)).toEqual(expected);
  }
});

test('sorts nearly sorted numbers stably', async () => {
  for (const count of [1, 9, 40, 4097, 30_000]) {
    const prng = new Prng(count);
    // Some are outliers, also at the ends; a large one at the start makes nearly all others outliers.
    for (const moved of [0, 1, count / 100, count / 10]) {
      const keys = Array.from({ length: count }, (_, at) => at >> 1);
      for (let times = 0; times < moved; times++) keys[prng.below(count)] = prng.below(count);
      if (prng.chance(0.3)) keys[0] = count;
      const order = await sortedOrder(
        count,
        (left, right) => (keys[left] as number) - (keys[right] as number),
        pacer(),
      );
      const expected = keys
        .map((key, at) => ({ key, at }))
        .sort((left, right) => left.key - right.key || left.at - right.at)
        .map(({ at }) => at);
      expect([...order]).toEqual(expected);
    }
  }
});

test('sorts rows by their texts by code point, column by column', async () => {
  const { columns, texts, constants } = randomRows(1, 9000, 2, 60);
  const order = await rowsByText(columns, 9000, constants, pacer(), { from: 0, to: 9000 }, (row) => row);
  const expected = [...texts.keys()].sort((left, right) => {
    const [a, b] = [texts[left] as string[], texts[right] as string[]];
    return (
      compareText(a[0] as string, b[0] as string) ||
      compareText(a[1] as string, b[1] as string) ||
      left - right
    );
  });
  expect(Array.from(order)).toEqual(expected);
});

test('returns the first rows of the full order if only those are wanted', async () => {
  const { columns, constants } = randomRows(2, 6000, 2, 2000);
  const whole = await rowsByText(columns, 6000, constants, pacer());
  for (const to of [0, 1, 2, 10, 700, 749, 750, 751, 5999, 6000])
    expect(
      Array.from(await rowsByText(columns, 6000, constants, pacer(), { from: 0, to })),
      String(to),
    ).toEqual(Array.from(whole.subarray(0, to)));
});

test('returns the rows at places anywhere in the full order', async () => {
  const values = { few: 3, many: 100_000 };
  for (const [name, distinct] of Object.entries(values)) {
    const { columns, constants } = randomRows(distinct, 6000, 2, distinct);
    const whole = await rowsByText(columns, 6000, constants, pacer(), undefined, (row) => row);
    for (const from of [1, 40, 94, 700, 3000, 5800, 5990, 6000])
      for (const to of [from, from + 1, from + 10, from + 600].map((place) => Math.min(6000, place)))
        expect(
          Array.from(await rowsByText(columns, 6000, constants, pacer(), { from, to }, (row) => row)),
          `${name}, ${from} to ${to}`,
        ).toEqual(Array.from(whole.subarray(from, to)));
  }
});

test('returns the rows at places that the sample missed', async () => {
  const count = 5000;
  const places = { from: 3000, to: 3010 };
  const size = Math.ceil(count ** (2 / 3));
  const sampled = new Set<number>();
  let comparisons = 0;
  // Numbers in order are compared each with the next: the sample comes first.
  await rowsAt(
    count,
    places,
    (left, right) => {
      if (comparisons++ < size) for (const each of [left, right]) sampled.add(each);
      return left - right;
    },
    pacer(),
  );
  expect(sampled.size).toBe(size);
  const compare = (left: number, right: number): number =>
    Number(sampled.has(right)) - Number(sampled.has(left)) || left - right;
  const whole = [...Array(count).keys()].sort(compare);
  expect(Array.from(await rowsAt(count, places, compare, pacer()))).toEqual(
    whole.slice(places.from, places.to),
  );
});

test('returns no rows or one row as they are', async () => {
  const { columns, constants } = randomRows(3, 1, 1, 5);
  expect(Array.from(await rowsByText([new Int32Array(0)], 0, constants, pacer()))).toEqual([]);
  expect(Array.from(await rowsByText(columns, 1, constants, pacer()))).toEqual([0]);
  expect(Array.from(await rowsByText(columns, 1, constants, pacer(), { from: 0, to: 0 }))).toEqual([]);
});

test('stops sorting when the client has disconnected', async () => {
  const gone = new AbortController();
  gone.abort();
  const limits = { timeoutMs: 60_000, maxDerivations: 1, memory: new MemoryBudget(1), signal: gone.signal };
  const stopped = new Pacer(limits, () => Promise.resolve());
  await expect(sortedOrder(10, () => 0, stopped)).rejects.toThrow('the client has gone');
});

test('looks at its limits after about a megabyte of text compared, however few the texts', async () => {
  const texts = Array.from({ length: 300 }, (_, at) => `${'x'.repeat(60_000)}${(at * 7919) % 1000}`);
  const comparisons = new TextComparisons();
  for (const text of texts) comparisons.see(text);
  const { watched, compared } = watchedPacer();
  const order = await sortedOrder(
    texts.length,
    (left, right) => {
      compared(60_000);
      return comparisons.compare(texts[left] as string, texts[right] as string);
    },
    watched,
    comparisons,
  );
  expect([...order].map((at) => texts[at])).toEqual(texts.toSorted(compareText));
  expect(compared(0).total).toBeGreaterThan(50_000_000);
  expect(compared(0).most).toBeLessThan(8_000_000);
});
