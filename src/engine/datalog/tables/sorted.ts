import { compareText } from '../../base/text-order.ts';
import type { Constants } from '../model/constants.ts';
import type { Pacer } from './evaluation.ts';

const sortChunk = 4096;
/** Up to this many rows are sorted by insertion: anything else costs more than it saves. */
const maxInsertionSort = 32;

/**
 * The numbers 0 to `count` - 1 sorted by `compare`, ties in ascending order. Sorts in slices, so that a large
 * answer does not hold the thread.
 */
export async function sortedOrder(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
): Promise<Int32Array> {
  let from = Int32Array.from({ length: count }, (_, index) => index);
  pacer.look();
  const direction = await runOf(count, compare, pacer);
  if (direction !== 0) return direction > 0 ? from : from.reverse();
  const almost = await almostRun(count, compare, pacer);
  if (almost !== null) return almost;
  for (let start = 0; start < count; start += sortChunk) {
    const part = from.subarray(start, Math.min(count, start + sortChunk));
    part.sort((left, right) => compare(left, right) || left - right);
    await pacer.breathe();
  }
  let to = new Int32Array(count);
  for (let width = sortChunk; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(count, start + width);
      const end = Math.min(count, start + 2 * width);
      await merge(
        from.subarray(start, middle),
        from.subarray(middle, end),
        to.subarray(start, end),
        compare,
        pacer,
      );
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two sorted arrays into `both`; equal elements are ordered by their numbers. */
async function merge(
  left: Int32Array,
  right: Int32Array,
  both: Int32Array,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
): Promise<void> {
  let [fromLeft, fromRight] = [0, 0];
  for (let at = 0; at < both.length; at++) {
    let takesLeft = fromRight >= right.length;
    if (!takesLeft && fromLeft < left.length) {
      const [one, other] = [left[fromLeft] as number, right[fromRight] as number];
      takesLeft = (compare(one, other) || one - other) < 0;
    }
    both[at] = (takesLeft ? left[fromLeft++] : right[fromRight++]) as number;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
}

/**
 * The first `wanted` of the first `count` rows of id columns, ordered by their texts by code point, column by
 * column; rows of equal texts are ordered by `last`. Returns row numbers.
 */
export async function rowsByText(
  columns: readonly Int32Array[],
  count: number,
  constants: Constants,
  pacer: Pacer,
  wanted: number,
  last: (row: number) => number = () => 0,
): Promise<Int32Array> {
  if (count <= 1) return Int32Array.from({ length: Math.min(count, wanted) }, () => 0);
  const compare = byText(columns, constants, last);
  if (count <= maxInsertionSort) {
    pacer.look();
    return insertionSorted(count, compare).subarray(0, wanted);
  }
  if (wanted < count / 8) {
    const [first] = columns;
    const isBehind = first === undefined ? undefined : isBehindByText(first, constants, compare);
    return leastRows(count, wanted, compare, pacer, isBehind);
  }
  const ranks = await ranksByText(columns, count, constants, pacer);
  const byRank = (left: number, right: number): number => {
    for (const ranked of ranks) {
      const difference = (ranked[left] as number) - (ranked[right] as number);
      if (difference !== 0) return difference;
    }
    return last(left) - last(right);
  };
  return (await sortedOrder(count, byRank, pacer)).subarray(0, wanted);
}

/** All rows by insertion sort, for a few. */
function insertionSorted(count: number, compare: (left: number, right: number) => number): Int32Array {
  const order = new Int32Array(count);
  for (let row = 1; row < count; row++) {
    let at = row;
    for (; at > 0 && compare(order[at - 1] as number, row) > 0; at--) order[at] = order[at - 1] as number;
    order[at] = row;
  }
  return order;
}

/** 1 if the numbers are already in order, -1 if in strictly descending order, else 0. */
async function runOf(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
): Promise<number> {
  if (count < 2) return 1;
  const direction = compare(0, 1) <= 0 ? 1 : -1;
  for (let at = 1; at < count; at++) {
    const order = compare(at - 1, at);
    if (direction > 0 ? order > 0 : order <= 0) return 0;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  return direction;
}

/** With more than this percentage of numbers out of order, everything is sorted. */
const maxPercentApart = 12;

/** The sorted order if most numbers are in order already, as after maxInsertionSort changes; else null. */
async function almostRun(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
): Promise<Int32Array | null> {
  const most = Math.floor((count * maxPercentApart) / 100);
  const run = new Int32Array(count);
  const apart = new Int32Array(most);
  let runCount = Math.min(1, count);
  let apartCount = 0;
  for (let at = 1; at < count; at++) {
    if (compare(run[runCount - 1] as number, at) <= 0) run[runCount++] = at;
    else if (apartCount === most) return null;
    else apart[apartCount++] = at;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const sorted = await sortedOrder(
    apartCount,
    (left, right) => compare(apart[left] as number, apart[right] as number),
    pacer,
  );
  const both = new Int32Array(count);
  const others = sorted.map((at) => apart[at] as number);
  await merge(run.subarray(0, runCount), others, both, compare, pacer);
  return both;
}

/** Compares rows by their texts in place: cheaper than ranks if most rows are looked at once. */
function byText(
  columns: readonly Int32Array[],
  constants: Constants,
  last: (row: number) => number,
): (left: number, right: number) => number {
  return (left, right) => {
    for (let at = 0; at < columns.length; at++) {
      const column = columns[at] as Int32Array;
      const a = column[left] as number;
      const b = column[right] as number;
      if (a === b) continue;
      const order = constants.order(a, b);
      if (order !== 0) return order;
    }
    return last(left) - last(right);
  };
}

/**
 * Equals `compare(row, greatest) >= 0` by text, for a `greatest` that never increases from call to call: once
 * a first constant came after that of `greatest`, it always will, and its text is not compared again.
 */
function isBehindByText(
  first: Int32Array,
  constants: Constants,
  compare: (left: number, right: number) => number,
): (row: number, greatest: number) => boolean {
  const known = constants.dictionary.size;
  const behind = new Uint8Array((known >>> 3) + 1);
  return (row, greatest) => {
    const id = first[row] as number;
    const bit = 1 << (id & 7);
    if (id < known && ((behind[id >>> 3] as number) & bit) !== 0) return true;
    if (compare(row, greatest) < 0) return false;
    if (id < known && constants.order(id, first[greatest] as number) > 0)
      behind[id >>> 3] = (behind[id >>> 3] as number) | bit;
    return true;
  };
}

/** For each column, the rank of each id's text among the texts of all columns. */
async function ranksByText(
  columns: readonly Int32Array[],
  count: number,
  constants: Constants,
  pacer: Pacer,
): Promise<Int32Array[]> {
  const place = new Map<number, number>();
  const distinct: number[] = [];
  const placed = columns.map(() => new Int32Array(count));
  for (const [at, column] of columns.entries())
    for (let row = 0; row < count; row++) {
      const id = column[row] as number;
      let known = place.get(id);
      if (known === undefined) {
        known = distinct.length;
        place.set(id, known);
        distinct.push(id);
      }
      (placed[at] as Int32Array)[row] = known;
      if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
    }
  const texts: string[] = [];
  for (const id of distinct) {
    texts.push(constants.text(id));
    if ((texts.length & 0xfff) === 0) await pacer.breathe();
  }
  const order = await sortedOrder(
    distinct.length,
    (left, right) => compareText(texts[left] as string, texts[right] as string),
    pacer,
  );
  const rank = new Int32Array(distinct.length);
  for (let at = 0; at < order.length; at++) rank[order[at] as number] = at;
  for (const column of placed)
    for (let row = 0; row < count; row++) column[row] = rank[column[row] as number] as number;
  return placed;
}

/**
 * The `wanted` least of the numbers 0 to `count` - 1, sorted, by a bounded heap with the greatest on top.
 * `isBehind` tells whether a number is no less than the greatest in the heap.
 */
export async function leastRows(
  count: number,
  wanted: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  isBehind = (at: number, greatest: number): boolean => compare(at, greatest) >= 0,
): Promise<Int32Array> {
  const heap: number[] = [];
  const sink = (from: number): void => {
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child =
        right < heap.length && compare(heap[right] as number, heap[left] as number) > 0 ? right : left;
      if (compare(heap[at] as number, heap[child] as number) >= 0) return;
      [heap[at], heap[child]] = [heap[child] as number, heap[at] as number];
      at = child;
    }
  };
  for (let row = 0; row < count; row++) {
    if ((row & 0x1fff) === 0x1fff) await pacer.breathe();
    if (heap.length < wanted) {
      heap.push(row);
      if (heap.length === wanted) for (let at = heap.length >>> 1; at >= 0; at--) sink(at);
    } else if (wanted > 0 && !isBehind(row, heap[0] as number)) {
      heap[0] = row;
      sink(0);
    }
  }
  return Int32Array.from(heap).sort((left, right) => compare(left, right) || left - right);
}
