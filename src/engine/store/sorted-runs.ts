import type { MemoryMeter } from './memory-meter.ts';

/** Rows that a build reads or writes in one step: well under a millisecond. */
const rowsPerStep = 0x4000;
/** Bits of a digit of the radix sort: as many counters as fit the nearest CPU cache. */
const digitBits = 11;
const digits = 1 << digitBits;

/**
 * The rows of a relation, sorted by the values in some of its columns: a trie, one column a level, as leapfrog
 * triejoin reads it. Immutable; later rows of the relation need another run.
 *
 * Equal tuples (versions of one fact, or its copies in several scopes) lie next to each other, oldest row
 * first. Dead rows are among them: the reader decides which rows count.
 */
export class SortedRun {
  /** Number of rows: the first ones of the relation. */
  readonly count: number;
  /** By level: the values of its column, in the order of the run. */
  readonly values: readonly Int32Array[];
  /** The rows in the order of the run. */
  readonly rows: Int32Array;
  /** By bucket of ids of the first level: where it begins; one more element than there are buckets. */
  readonly #starts: Int32Array;
  readonly #least: number;
  readonly #shift: number;

  /** Takes over the arrays, which are sorted; `starts` is made by `startsOf`. */
  constructor(values: readonly Int32Array[], rows: Int32Array, buckets: Buckets) {
    this.count = rows.length;
    this.values = values;
    this.rows = rows;
    this.#starts = buckets.starts;
    this.#least = buckets.least;
    this.#shift = buckets.shift;
  }

  get bytes(): number {
    return this.count * 4 * (this.values.length + 1) + this.#starts.byteLength;
  }

  /** The first position with at least this value in the first level; `count` if there is none. */
  first(value: number): number {
    const starts = this.#starts;
    const offset = value - this.#least;
    if (offset <= 0) return 0;
    const bucket = offset >>> this.#shift;
    if (bucket >= starts.length - 1) return this.count;
    const from = starts[bucket] as number;
    if (this.#shift === 0) return from;
    return seek(this.values[0] as Int32Array, from, starts[bucket + 1] as number, value);
  }
}

/** The first position from `from` to `to` whose value is at least `least`, `to` if there is none (galloping). */
export function seek(values: Int32Array, from: number, to: number, least: number): number {
  if (from >= to || (values[from] as number) >= least) return from;
  let low = from;
  let step = 1;
  let high = from + 1;
  while (high < to && (values[high] as number) < least) {
    low = high;
    step <<= 1;
    high = low + step;
  }
  if (high > to) high = to;
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the buckets of ids begin: bucket `(id - least) >>> shift`. */
interface Buckets {
  readonly starts: Int32Array;
  readonly least: number;
  readonly shift: number;
}

const emptyRun = new SortedRun([], new Int32Array(0), { starts: new Int32Array(1), least: 0, shift: 0 });

/** The run that is asked for of an order of columns, and the one that is being made, with the bytes that this takes. */
interface Entry {
  run: SortedRun | null;
  build: Generator<undefined, SortedRun> | null;
  buildBytes: number;
}

/** Merging a row of a run costs about this part of sorting it. */
const mergingDivisor = 4;

/**
 * The sorted runs of one relation, each made when a join first wants it, in steps.
 *
 * A run has the rows that the relation had when its sorting began. If a reader needs later ones, these are sorted and
 * merged with the run into another one, so a join asks only if it has enough to do.
 */
export class SortedRuns {
  readonly #columns: readonly Int32Array[];
  #memory: MemoryMeter | null;
  readonly #byOrder = new Map<string, Entry>();

  /** `columns`: those of the relation, which may replace them by larger ones. `memory`: what it asks. */
  constructor(columns: readonly Int32Array[], memory: MemoryMeter | null = null) {
    this.#columns = columns;
    this.#memory = memory;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { run, buildBytes } of this.#byOrder.values()) bytes += (run?.bytes ?? 0) + buildBytes;
    return bytes;
  }

  /** True if their bytes are counted by the owner of the relation, as those of derived relations are. */
  get isMetered(): boolean {
    return this.#memory !== null;
  }

  /** The run in this order with at least the first `limit` rows; null if it has to be made. */
  known(order: readonly number[], limit: number): SortedRun | null {
    if (limit === 0) return emptyRun;
    const run = this.#byOrder.get(order.join(','))?.run ?? null;
    return run !== null && run.count >= limit ? run : null;
  }

  /** What making the run with the first `count` rows costs, in rows to sort. */
  cost(order: readonly number[], count: number): number {
    const known = this.#byOrder.get(order.join(','))?.run?.count ?? 0;
    return known === 0 ? count : count - known + Math.ceil(count / mergingDivisor);
  }

  /**
   * The run over these columns (at least one), in this order, with at least the first `limit` of the relation's
   * `count` rows; null while it is being made: then each call makes a little more of it.
   */
  take(order: readonly number[], limit: number, count: number): SortedRun | null {
    const known = this.known(order, limit);
    if (known !== null) return known;
    const key = order.join(',');
    let entry = this.#byOrder.get(key);
    if (entry === undefined) this.#byOrder.set(key, (entry = { run: null, build: null, buildBytes: 0 }));
    entry.build ??= this.#begin(entry, order, count);
    const made = entry.build.next();
    if (made.done !== true) return null;
    this.#memory?.free(entry.buildBytes + (entry.run?.bytes ?? 0));
    [entry.run, entry.build, entry.buildBytes] = [null, null, 0];
    this.#memory?.take(made.value.bytes);
    entry.run = made.value;
    return made.value.count >= limit ? made.value : null;
  }

  /** Drops all runs. Joins that use one keep it until they end. */
  drop(): void {
    this.#memory?.free(this.bytes);
    this.#byOrder.clear();
  }

  /** Drops all runs, and counts none from now on: the owner of the relation has given its memory back. */
  release(): void {
    this.drop();
    this.#memory = null;
  }

  #begin(entry: Entry, order: readonly number[], count: number): Generator<undefined, SortedRun> {
    const bytes = count * 4 * (order.length + 2);
    this.#memory?.take(bytes);
    entry.buildBytes = bytes;
    return this.#build(order, entry.run, count);
  }

  /** The run of the first `count` rows; `known` is that of fewer. */
  *#build(order: readonly number[], known: SortedRun | null, count: number): Generator<undefined, SortedRun> {
    const from = known === null ? 0 : known.count;
    const later = yield* this.#sorted(order, from, count);
    const rows = known === null ? later : yield* this.#merged(order, known, later);
    const values: Int32Array[] = [];
    for (const position of order) {
      const sorted = new Int32Array(count);
      for (const [start, end] of pieces(0, count)) {
        gather(this.#columns[position] as Int32Array, rows, start, end, sorted);
        yield;
      }
      values.push(sorted);
    }
    return new SortedRun(values, rows, yield* bucketsOf(values[0] as Int32Array));
  }

  /** The rows from `first` to `end`, sorted: a radix sort of the row numbers, from the last column to the first. */
  *#sorted(order: readonly number[], first: number, end: number): Generator<undefined, Int32Array> {
    const count = end - first;
    let rows = new Int32Array(count);
    let other: Int32Array<ArrayBuffer> = new Int32Array(count);
    for (const [from, to] of pieces(first, end)) {
      numberRows(rows, from, to, first);
      yield;
    }
    for (const position of order.toReversed()) {
      const bounds = { least: (this.#columns[position] as Int32Array)[first] as number, greatest: 0 };
      for (const [from, to] of pieces(first, end)) {
        widen(bounds, this.#columns[position] as Int32Array, from, to);
        yield;
      }
      const { least, greatest } = bounds;
      for (let shift = 0; shift < 32 && (greatest - least) >>> shift > 0; shift += digitBits) {
        const starts = new Int32Array(digits);
        for (const [from, to] of pieces(first, end)) {
          countDigits(this.#columns[position] as Int32Array, least, shift, from, to, starts);
          yield;
        }
        startEach(starts);
        for (const [from, to] of pieces(0, count)) {
          scatter(this.#columns[position] as Int32Array, least, shift, rows, from, to, starts, other);
          yield;
        }
        [rows, other] = [other, rows];
      }
    }
    return rows;
  }

  /** The rows of the run and later ones, which are sorted; of equal tuples the older row comes first. */
  *#merged(
    order: readonly number[],
    { rows, values }: SortedRun,
    later: Int32Array,
  ): Generator<undefined, Int32Array> {
    const merged = new Int32Array(rows.length + later.length);
    let done = 0;
    for (const [from, to] of pieces(0, later.length)) {
      // Rows of the run that come before a later one are copied together.
      for (let at = from; at < to; at++) {
        const row = later[at] as number;
        const start = done;
        done = this.#behind(order, values, row, start, rows.length);
        for (let next = start; next < done; next++) {
          merged[next + at] = rows[next] as number;
          if ((next & (rowsPerStep - 1)) === 0) yield;
        }
        merged[done + at] = row;
      }
      yield;
    }
    merged.set(rows.subarray(done), done + later.length);
    return merged;
  }

  /** The first position of the run, from `from` to `to`, that comes behind the row (galloping, level by level). */
  #behind(
    order: readonly number[],
    values: readonly Int32Array[],
    row: number,
    from: number,
    to: number,
  ): number {
    let [low, high] = [from, to];
    for (const [level, position] of order.entries()) {
      const column = values[level] as Int32Array;
      const value = (this.#columns[position] as Int32Array)[row] as number;
      low = seek(column, low, high, value);
      if (low === high || column[low] !== value) return low;
      high = seek(column, low, high, value + 1);
    }
    return high;
  }
}

/** From and to of each step's rows. */
function* pieces(first: number, end: number): Generator<readonly [number, number]> {
  for (let from = first; from < end; from += rowsPerStep) yield [from, Math.min(end, from + rowsPerStep)];
}

/** Writes the row numbers from `from` to `to`, of rows that begin with `first`. */
function numberRows(rows: Int32Array, from: number, to: number, first: number): void {
  for (let row = from; row < to; row++) rows[row - first] = row;
}

/** Takes the ids of the rows into the bounds. */
function widen(
  bounds: { least: number; greatest: number },
  column: Int32Array,
  from: number,
  to: number,
): void {
  let { least, greatest } = bounds;
  for (let row = from; row < to; row++) {
    const id = column[row] as number;
    if (id < least) least = id;
    if (id > greatest) greatest = id;
  }
  bounds.least = least;
  bounds.greatest = greatest;
}

function countDigits(
  column: Int32Array,
  least: number,
  shift: number,
  from: number,
  to: number,
  counts: Int32Array,
): void {
  for (let row = from; row < to; row++) {
    const digit = (((column[row] as number) - least) >>> shift) & (digits - 1);
    counts[digit] = (counts[digit] as number) + 1;
  }
}

/** Turns the number of each digit into where the first of them goes. */
function startEach(counts: Int32Array): void {
  let sum = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit] as number;
    counts[digit] = sum;
    sum += count;
  }
}

function scatter(
  column: Int32Array,
  least: number,
  shift: number,
  rows: Int32Array,
  from: number,
  to: number,
  starts: Int32Array,
  sorted: Int32Array,
): void {
  for (let at = from; at < to; at++) {
    const row = rows[at] as number;
    const digit = (((column[row] as number) - least) >>> shift) & (digits - 1);
    const start = starts[digit] as number;
    starts[digit] = start + 1;
    sorted[start] = row;
  }
}

function gather(column: Int32Array, rows: Int32Array, from: number, to: number, sorted: Int32Array): void {
  for (let at = from; at < to; at++) sorted[at] = column[rows[at] as number] as number;
}

/** Buckets of ids, at most three for each row. */
function* bucketsOf(sorted: Int32Array): Generator<undefined, Buckets> {
  const count = sorted.length;
  const least = sorted[0] as number;
  const range = (sorted[count - 1] as number) - least;
  let shift = 0;
  while (range >>> shift > 2 * count) shift++;
  const starts = new Int32Array((range >>> shift) + 2);
  let next = 0;
  for (const [from, to] of pieces(0, count)) {
    next = startBuckets(starts, next, sorted, least, shift, from, to);
    yield;
  }
  starts.fill(count, next);
  return { starts, least, shift };
}

/** Notes where the buckets of the ids from `from` to `to` begin. Returns the first bucket that is still to come. */
function startBuckets(
  starts: Int32Array,
  first: number,
  sorted: Int32Array,
  least: number,
  shift: number,
  from: number,
  to: number,
): number {
  let next = first;
  for (let at = from; at < to; at++) {
    const bucket = ((sorted[at] as number) - least) >>> shift;
    while (next <= bucket) starts[next++] = at;
  }
  return next;
}
