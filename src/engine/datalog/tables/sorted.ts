import { MemoryMeter } from '../../store/memory-meter.ts';
import { Tuples } from '../../store/tuples.ts';
import { workAtOnce } from '../join/machine.ts';
import type { Constants } from '../model/constants.ts';
import type { Pacer } from './evaluation.ts';

const sortChunk = 4096;
/** Up to this many rows of constants of up to so many bytes are sorted by insertion, without a pause. */
const maxInsertionSort = 32;
const maxInsertionBytes = 4096;
/** Constants of the dictionary, for each row, that are marked while rows are compared: a bit each. */
const maxConstantsPerRow = 64;
/** At most this part of the rows is selected; more are sorted. */
const mostSelected = 1 / 8;
/** At most this part at the beginning is selected by a heap. */
const mostInHeap = 1 / 32;
/** Numbers written between two looks at the clock. */
const writesBetweenBreaths = 0x4_0000;
const comparisonsBetweenBreaths = 0x4000;

/**
 * What comparing costs: `work` counts the bytes or characters read since the last pause, one comparison reads up to
 * `longest`.
 */
interface ComparisonCost {
  work: number;
  readonly longest: number;
}

const noCost: ComparisonCost = { work: 0, longest: 1 };

/** True if it is time for a look at the clock, after comparison number `at`. */
function isDue(at: number, cost: { readonly work: number }): boolean {
  return at % comparisonsBetweenBreaths === comparisonsBetweenBreaths - 1 || cost.work > workAtOnce;
}

async function breathe(cost: { work: number }, pacer: Pacer): Promise<void> {
  if (cost.work > 0) cost.work = 0;
  await pacer.breathe();
}

/**
 * The numbers 0 to `count` - 1 sorted by `compare`, ties in ascending order. Sorts in slices, so that a large
 * answer does not hold the thread. `cost`: needed if comparisons read texts.
 */
export async function sortedOrder(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  cost: ComparisonCost = noCost,
): Promise<Int32Array> {
  pacer.look();
  pacer.memory.take(count * bytesToSort);
  const order = await sorted(count, compare, pacer, cost);
  pacer.memory.free(count * bytesToSort);
  return order;
}

/** Bytes for each number while they are sorted: the old order, the new one, and what is out of order. */
const bytesToSort = 16;

async function sorted(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  cost: ComparisonCost,
): Promise<Int32Array> {
  const direction = await runOf(count, compare, pacer, cost);
  let from = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    from[at] = direction < 0 ? count - 1 - at : at;
    if (at % writesBetweenBreaths === writesBetweenBreaths - 1) await pacer.breathe();
  }
  if (direction !== 0) return from;
  const almost = await almostRun(count, compare, pacer, cost);
  if (almost !== null) return almost;
  const chunk = chunkFor(cost);
  for (let start = 0; start < count; start += chunk) {
    const part = from.subarray(start, Math.min(count, start + chunk));
    part.sort((left, right) => compare(left, right) || left - right);
    await breathe(cost, pacer);
  }
  let to = new Int32Array(count);
  for (let width = chunk; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(count, start + width);
      const end = Math.min(count, start + 2 * width);
      const [left, right] = [from.subarray(start, middle), from.subarray(middle, end)];
      await merge(left, right, to.subarray(start, end), compare, pacer, cost);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** How many numbers to sort without a pause: fewer if one comparison reads much. */
function chunkFor({ longest }: ComparisonCost): number {
  let chunk = sortChunk;
  while (chunk > 2 && chunk * longest > workAtOnce) chunk /= 2;
  return chunk;
}

/** Merges two sorted arrays into `both`; equal elements are ordered by their numbers. */
async function merge(
  left: Int32Array,
  right: Int32Array,
  both: Int32Array,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  cost: ComparisonCost,
): Promise<void> {
  let [fromLeft, fromRight] = [0, 0];
  for (let at = 0; at < both.length; at++) {
    let takesLeft = fromRight >= right.length;
    if (!takesLeft && fromLeft < left.length) {
      const [one, other] = [left[fromLeft] as number, right[fromRight] as number];
      takesLeft = (compare(one, other) || one - other) < 0;
    }
    both[at] = (takesLeft ? left[fromLeft++] : right[fromRight++]) as number;
    if (isDue(at, cost)) await breathe(cost, pacer);
  }
}

/** Consecutive places of an order: `from` (inclusive) to `to` (exclusive). */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/**
 * Of the first `count` rows of id columns, ordered by their texts by code point, column by column, and rows of equal texts
 * by `last`: those at these places. Returns row numbers.
 */
export async function rowsByText(
  columns: readonly Int32Array[],
  count: number,
  constants: Constants,
  pacer: Pacer,
  { from, to }: Places = { from: 0, to: count },
  last: (row: number) => number = () => 0,
): Promise<Int32Array> {
  if (count <= 1) return new Int32Array(Math.min(count, to)).subarray(from);
  const compare = byText(columns, constants, last);
  if (count <= maxInsertionSort) {
    pacer.look();
    const longest = longestOf(columns, count, constants);
    if (longest > maxInsertionBytes) {
      const cost = costOf(constants, longest);
      return (await sortedOrder(count, compare, pacer, cost)).subarray(from, to);
    }
    return insertionSorted(count, compare).subarray(from, to);
  }
  if (to < count * mostInHeap) {
    const [first] = columns;
    // Of a single column every row has another constant, and of few rows most: the dictionary may have millions.
    const isMarked = columns.length > 1 && constants.dictionary.size < count * maxConstantsPerRow;
    const isBehind = first === undefined || !isMarked ? undefined : isBehindByText(first, constants, compare);
    const least = await leastRows(count, to, compare, pacer, { isBehind, cost: constants });
    return least.subarray(from);
  }
  if (to - from < count * mostSelected)
    return rowsAt(count, { from, to }, compare, pacer, costOf(constants, longestLikely));
  const bytesOfRanks = count * columns.length * 4;
  pacer.memory.take(bytesOfRanks);
  const ranks = await ranksByText(columns, count, constants, pacer);
  const byRank = (left: number, right: number): number => {
    for (const ranked of ranks) {
      const difference = (ranked[left] as number) - (ranked[right] as number);
      if (difference !== 0) return difference;
    }
    return last(left) - last(right);
  };
  const order = await sortedOrder(count, byRank, pacer);
  pacer.memory.free(bytesOfRanks);
  return order.subarray(from, to);
}

/** The cost of comparisons of up to so many bytes, whose work is counted elsewhere. */
function costOf(counted: { work: number }, longest: number): ComparisonCost {
  return {
    longest,
    get work() {
      return counted.work;
    },
    set work(work: number) {
      counted.work = work;
    },
  };
}

/** Bytes of the longest constant in the first `count` rows. */
function longestOf(columns: readonly Int32Array[], count: number, constants: Constants): number {
  let longest = 0;
  for (const column of columns)
    for (let row = 0; row < count; row++)
      longest = Math.max(longest, constants.sizeOf(column[row] as number));
  return longest;
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
  cost: ComparisonCost,
): Promise<number> {
  if (count < 2) return 1;
  const direction = compare(0, 1) <= 0 ? 1 : -1;
  for (let at = 1; at < count; at++) {
    const order = compare(at - 1, at);
    if (direction > 0 ? order > 0 : order <= 0) return 0;
    if (isDue(at, cost)) await breathe(cost, pacer);
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
  cost: ComparisonCost,
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
    if (isDue(at, cost)) await breathe(cost, pacer);
  }
  const compareApart = (left: number, right: number): number =>
    compare(apart[left] as number, apart[right] as number);
  const order = await sorted(apartCount, compareApart, pacer, cost);
  const both = new Int32Array(count);
  const others = order.map((at) => apart[at] as number);
  await merge(run.subarray(0, runCount), others, both, compare, pacer, cost);
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
    const other = first[greatest] as number;
    const order = id === other ? 0 : constants.order(id, other);
    if (order === 0) return compare(row, greatest) >= 0;
    if (order > 0 && id < known) behind[id >>> 3] = (behind[id >>> 3] as number) | bit;
    return order > 0;
  };
}

/** For each column, the rank of each id's text among the texts of all columns. */
async function ranksByText(
  columns: readonly Int32Array[],
  count: number,
  constants: Constants,
  pacer: Pacer,
): Promise<Int32Array[]> {
  const memory = new MemoryMeter();
  memory.payer = pacer.memory;
  const distinct = new Tuples(1, false, null, memory);
  const id = new Int32Array(1);
  const placed = columns.map(() => new Int32Array(count));
  let longest = 1;
  for (const [at, column] of columns.entries())
    for (let row = 0; row < count; row++) {
      id[0] = column[row] as number;
      let known = distinct.find(id);
      if (known < 0) {
        known = distinct.insert(id);
        longest = Math.max(longest, constants.sizeOf(id[0]));
      }
      (placed[at] as Int32Array)[row] = known;
      if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
    }
  const ids = distinct.columns[0] as Int32Array;
  const compare = (left: number, right: number): number =>
    constants.order(ids[left] as number, ids[right] as number);
  const order = await sortedOrder(distinct.count, compare, pacer, costOf(constants, longest));
  memory.take(order.byteLength);
  const rank = new Int32Array(order.length);
  for (let at = 0; at < order.length; at++) {
    rank[order[at] as number] = at;
    if (at % writesBetweenBreaths === writesBetweenBreaths - 1) await pacer.breathe();
  }
  for (const column of placed)
    for (let row = 0; row < count; row++) {
      column[row] = rank[column[row] as number] as number;
      if (row % writesBetweenBreaths === writesBetweenBreaths - 1) await pacer.breathe();
    }
  memory.free(order.byteLength + distinct.bytes);
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
  how: {
    readonly isBehind?: ((at: number, greatest: number) => boolean) | undefined;
    /** Counts the bytes that comparisons read; `longest`: what one reads at most, if that is known. */
    readonly cost?: { work: number; readonly longest?: number };
  } = {},
): Promise<Int32Array> {
  const { isBehind = (at, greatest) => compare(at, greatest) >= 0, cost = noCost } = how;
  const bytes = Math.min(count, wanted) * bytesToSort;
  pacer.memory.take(bytes);
  const least = new LeastHeap(wanted, compare, isBehind);
  for (let row = 0; row < count; ) {
    row = least.take(row, Math.min(count, row + comparisonsBetweenBreaths), cost);
    if (row < count) await breathe(cost, pacer);
  }
  const { heap } = least;
  pacer.memory.free(bytes);
  const order = await sortedOrder(
    heap.length,
    (left, right) => {
      const [one, other] = [heap[left] as number, heap[right] as number];
      return compare(one, other) || one - other;
    },
    pacer,
    cost === noCost ? noCost : costOf(cost, cost.longest ?? longestLikely),
  );
  return order.map((at) => heap[at] as number);
}

/**
 * The numbers at these places of the numbers 0 to `count` - 1 in the order of `compare`, ties in ascending order. A sorted
 * sample tells between which two numbers they almost certainly lie: only those between are sorted.
 */
export async function rowsAt(
  count: number,
  { from, to }: Places,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
  cost: ComparisonCost = noCost,
): Promise<Int32Array> {
  const ascending = (left: number, right: number): number => compare(left, right) || left - right;
  const sample = sampleOf(count);
  const order = await sortedOrder(sample.length, ofItems(sample, ascending), pacer, cost);
  const share = sample.length / count;
  const margin = Math.ceil(deviations * Math.sqrt(sample.length));
  const boundAt = (rank: number): number | null => sample[order[rank] ?? -1] ?? null;
  const [low, high] = [boundAt(Math.floor(from * share) - margin), boundAt(Math.ceil(to * share) + margin)];
  const bytes = count * 4;
  pacer.memory.take(bytes);
  const band = new Band(count, low, high, ascending);
  for (let at = 0; at < count; ) {
    at = band.take(at, Math.min(count, at + comparisonsBetweenBreaths), cost);
    if (at < count) await breathe(cost, pacer);
  }
  const { before } = band;
  const between = band.numbers.subarray(0, band.count);
  const isMissed = from < before || to > before + between.length;
  const inOrder = isMissed
    ? await sortedOrder(count, compare, pacer, cost)
    : (await sortedOrder(between.length, ofItems(between, ascending), pacer, cost)).map(
        (at) => between[at] as number,
      );
  pacer.memory.free(bytes);
  return isMissed ? inOrder.subarray(from, to) : inOrder.subarray(from - before, to - before);
}

/** A place in a sample lies within so many square roots of its size around the one expected: four standard deviations. */
const deviations = 2;

/** The numbers at about the places of a sample of 0 to `count` - 1, one from each of equal parts, at no regular distance. */
function sampleOf(count: number): Int32Array {
  const size = Math.ceil(count ** (2 / 3));
  return Int32Array.from({ length: size }, (_, part) => {
    const place = (Math.imul(part + 1, 0x9e3779b1) >>> 0) / 2 ** 32;
    return Math.floor(((part + place) * count) / size);
  });
}

/** Compares items by what they are, given their places. */
function ofItems(
  items: Int32Array,
  compare: (left: number, right: number) => number,
): (left: number, right: number) => number {
  return (left, right) => compare(items[left] as number, items[right] as number);
}

/** Those numbers that are neither before the one bound nor after the other, and how many are before. */
class Band {
  readonly numbers: Int32Array;
  count = 0;
  before = 0;
  readonly #low: number | null;
  readonly #high: number | null;
  readonly #compare: (left: number, right: number) => number;

  /** `low`, `high`: null if there is no bound. */
  constructor(
    most: number,
    low: number | null,
    high: number | null,
    compare: (left: number, right: number) => number,
  ) {
    this.numbers = new Int32Array(most);
    this.#low = low;
    this.#high = high;
    this.#compare = compare;
  }

  /** As `LeastHeap.take`. */
  take(from: number, to: number, cost: { readonly work: number }): number {
    const compare = this.#compare;
    const [low, high] = [this.#low, this.#high];
    const { numbers } = this;
    let { count, before } = this;
    let at = from;
    for (; at < to && cost.work <= workAtOnce; at++)
      if (low !== null && compare(at, low) < 0) before++;
      else if (high === null || compare(at, high) <= 0) numbers[count++] = at;
    this.count = count;
    this.before = before;
    return at;
  }
}

/** A bounded heap of the least numbers so far, with the greatest of them on top. */
class LeastHeap {
  readonly heap: number[] = [];
  readonly #wanted: number;
  readonly #compare: (left: number, right: number) => number;
  readonly #isBehind: (at: number, greatest: number) => boolean;

  constructor(
    wanted: number,
    compare: (left: number, right: number) => number,
    isBehind: (at: number, greatest: number) => boolean,
  ) {
    this.#wanted = wanted;
    this.#compare = compare;
    this.#isBehind = isBehind;
  }

  /**
   * Takes the numbers from `from` up to, not including, `to`, or until comparisons have read enough. Returns the next one. No
   * asynchronous function: V8 compiles its loop late, and each answer would run it anew.
   */
  take(from: number, to: number, cost: { readonly work: number }): number {
    const { heap } = this;
    const wanted = this.#wanted;
    const isBehind = this.#isBehind;
    let at = from;
    for (; at < to && cost.work <= workAtOnce; at++)
      if (heap.length < wanted) {
        heap.push(at);
        if (heap.length === wanted) for (let top = wanted >>> 1; top >= 0; top--) this.#sink(top);
      } else if (wanted > 0 && !isBehind(at, heap[0] as number)) {
        heap[0] = at;
        this.#sink(0);
      }
    return at;
  }

  #sink(from: number): void {
    const { heap } = this;
    const compare = this.#compare;
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
  }
}

/** Of the few rows that are left to sort, any may have a constant of 64 KiB. */
const longestLikely = 0x1_0000;
