import { type FirstRows, Tuples } from '../facts/tuples.ts';
import type { Derived } from './derived.ts';

/**
 * The closure of a base by a step, one row of bits for each source.
 *
 * The step is a graph. Its strongly connected components are taken in topological order, what follows first, and
 * each gets the bits of its own nodes and of those that its edges lead to, a word at a time; all nodes of a component
 * share one row, and a row that was given away never changes. It is worked out as a whole each time: that costs words
 * for edges, not for conclusions.
 *
 * Sources and targets have numbers of their own, which stay: so rows of different times can be compared. What is
 * longer than a moment is a course, that yields between moments.
 */
export type Course<Result> = Generator<void, Result, void>;
export type Words = Int32Array;

/** Before the base: to what leads there. Behind it: to what it leads to. */
export type Side = 'before' | 'behind';

/** So many words or edges are a moment. */
const moment = 32_768;
/** So many sources are looked at to see how many targets one has. */
const samples = 32;
/** So many pairs have room from the start. */
const fewPairs = 0x20_0000;
const noWords = new Int32Array(0);

/** Numbers for ids, from 0 in the order they came. */
class Numbering {
  readonly #ids = new Tuples(1);
  readonly #id = new Int32Array(1);

  get count(): number {
    return this.#ids.count;
  }

  get bytes(): number {
    return this.#ids.bytes;
  }

  /** The ids by number. */
  get ids(): Int32Array {
    return this.#ids.columns[0] as Int32Array;
  }

  /** -1 where the id has none. */
  find(id: number): number {
    this.#id[0] = id;
    return this.#ids.find(this.#id);
  }

  of(id: number): number {
    const known = this.find(id);
    return known >= 0 ? known : this.#ids.insert(this.#id);
  }
}

/** The pairs of a relation by their numbers, and those alive as lists by the first. */
class Edges {
  /** Where the list of each first number begins in `to`, and at last their end. */
  start = new Int32Array(1);
  to = new Int32Array(0);
  readonly #pairs: Derived;
  readonly #numberings: readonly [Numbering, Numbering];
  /** By row of the relation. */
  readonly #numbers: [Int32Array, Int32Array] = [noWords, noWords];
  #numbered = 0;

  constructor(pairs: Derived, from: Numbering, to: Numbering) {
    this.#pairs = pairs;
    this.#numberings = [from, to];
  }

  get bytes(): number {
    const [from, to] = this.#numbers;
    return this.start.byteLength + this.to.byteLength + from.byteLength + to.byteLength;
  }

  /** Gives numbers to pairs that have come. */
  *number(): Course<void> {
    const { rows } = this.#pairs;
    for (const side of [0, 1] as const) {
      const numbers = new Int32Array(rows.count);
      numbers.set(this.#numbers[side]);
      const ids = rows.columns[side] as Int32Array;
      for (let row = this.#numbered; row < rows.count; row++) {
        numbers[row] = this.#numberings[side].of(ids[row] as number);
        if (row % moment === moment - 1) yield;
      }
      this.#numbers[side] = numbers;
    }
    this.#numbered = rows.count;
  }

  /** Makes the lists of the pairs alive. */
  *list(): Course<void> {
    const { rows } = this.#pairs;
    const [from, to] = this.#numbers;
    const { count } = this.#numberings[0];
    const start = new Int32Array(count + 1);
    for (let row = 0; row < rows.count; row++) {
      if (row % moment === moment - 1) yield;
      const number = from[row] as number;
      if (!rows.isDead(row)) start[number] = (start[number] as number) + 1;
    }
    for (let number = 1; number <= count; number++) {
      if (number % moment === 0) yield;
      start[number] = (start[number] as number) + (start[number - 1] as number);
    }
    // From the end of each list to its beginning: then `start` is where it begins.
    const lists = new Int32Array(start[count] as number);
    for (let row = rows.count - 1; row >= 0; row--) {
      if (row % moment === moment - 1) yield;
      if (rows.isDead(row)) continue;
      const number = from[row] as number;
      const at = (start[number] as number) - 1;
      start[number] = at;
      lists[at] = to[row] as number;
    }
    this.start = start;
    this.to = lists;
  }
}

export class BitClosure {
  /** By the number of a source: its targets. A row, or a word, that is not there has none. */
  rows: readonly Words[] = [];
  readonly #side: Side;
  readonly #sources = new Numbering();
  readonly #targets = new Numbering();
  readonly #base: Edges;
  readonly #step: Edges;
  /** Bytes of the rows as they are, of those in the making, and of pairs that are being written. */
  #held = 0;
  #made = 0;
  #writing = 0;
  /** Work since the last moment was over. */
  #spent = 0;

  /** Both relations have two arguments and outlive this; their rows are never renumbered. */
  constructor(side: Side, base: Derived, step: Derived) {
    this.#side = side;
    const nodes = side === 'behind' ? this.#targets : this.#sources;
    this.#base = new Edges(base, this.#sources, this.#targets);
    this.#step = new Edges(step, nodes, nodes);
  }

  get bytes(): number {
    const numberings = this.#sources.bytes + this.#targets.bytes;
    return numberings + this.#base.bytes + this.#step.bytes + this.#held + this.#made + this.#writing;
  }

  /** Looks at the base and the step as they are now. */
  *takeIn(): Course<void> {
    yield* this.#base.number();
    yield* this.#step.number();
    yield* this.#base.list();
    yield* this.#step.list();
  }

  /**
   * True where a source has at least `part` of all targets on average, by some that are looked at, and where none has
   * any. After `takeIn`.
   */
  *isDense(part: number): Course<boolean> {
    const sources = this.#sources.count;
    const step = Math.max(1, Math.ceil(sources / samples));
    const wanted = Math.ceil(sources / step) * this.#targets.count * part;
    let reached = 0;
    for (let source = 0; source < sources && reached < wanted; source += step)
      reached += yield* this.#reachOf(source);
    return reached === 0 || reached >= wanted;
  }

  /** How many targets a source has, by going along the edges. */
  *#reachOf(source: number): Course<number> {
    const base = this.#base;
    const step = this.#step;
    const nodes = new Uint8Array(step.start.length);
    const targets = this.#side === 'behind' ? nodes : new Uint8Array(this.#targets.count);
    const open: number[] = [];
    let [count, walked] = [0, 0];
    const visit = (node: number): void => {
      if (nodes[node] !== 0) return;
      nodes[node] = 1;
      open.push(node);
    };
    const meet = (target: number): void => {
      if (targets[target] === 0) count++;
      if (this.#side === 'behind') visit(target);
      else targets[target] = 1;
    };
    const meetBase = (of: number): void => {
      for (let at = base.start[of] as number; at < (base.start[of + 1] as number); at++)
        meet(base.to[at] as number);
    };
    if (this.#side === 'behind') meetBase(source);
    else visit(source);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (this.#side === 'before') meetBase(node);
      const end = step.start[node + 1] as number;
      for (let at = step.start[node] as number; at < end; at++)
        if (this.#side === 'behind') meet(step.to[at] as number);
        else visit(step.to[at] as number);
      if (++walked % 1024 === 0) yield;
    }
    return count;
  }

  /** The rows for what was taken in, by source. */
  *derive(): Course<readonly Words[]> {
    this.#made = 0;
    const { of, rows } = yield* this.#components();
    const next: Words[] = [];
    for (let source = 0; source < this.#sources.count; source++) {
      if (this.#isMomentOver(source === 0 ? 0 : 1)) yield;
      if (this.#side === 'before') next.push(rows[of[source] as number] as Words);
      else next.push(this.#behind(source, of, rows));
    }
    return next;
  }

  /** Takes the rows for its own. */
  take(rows: readonly Words[]): void {
    this.rows = rows;
    this.#held = this.#made;
    this.#made = 0;
  }

  /** Where the pairs of each source begin, if all are written one after the other; and at last how many there are. */
  *starts(): Course<Int32Array> {
    const { rows } = this;
    const starts = new Int32Array(rows.length + 1);
    for (const [source, words] of rows.entries()) {
      if (this.#isMomentOver(words.length)) yield;
      starts[source + 1] = (starts[source] as number) + countOf(words, words.length);
    }
    return starts;
  }

  /** The pairs of the rows as they are, in the order of sources, then of targets; `onWritten` is told how many more. */
  *pairs(starts: Int32Array, onWritten: (count: number) => void): Course<FirstRows> {
    const { rows } = this;
    const count = starts[rows.length] as number;
    const columns: [Int32Array, Int32Array] = [noWords, noWords];
    for (const [source, words] of rows.entries()) {
      const end = starts[source + 1] as number;
      for (const side of [0, 1] as const)
        if (end > columns[side].length) columns[side] = grown(columns[side], end, count);
      columns[0].fill(this.#sources.ids[source] as number, starts[source], end);
      this.#write(words, columns[1], starts[source] as number);
      this.#writing = columns[0].byteLength * 2;
      onWritten(end - (starts[source] as number));
      if (this.#isMomentOver(words.length + end - (starts[source] as number))) yield;
    }
    this.#writing = 0;
    return new FirstPairs(columns, starts, rows, this.#sources, this.#targets);
  }

  #write(words: Words, column: Int32Array, from: number): void {
    const { ids } = this.#targets;
    let at = from;
    for (let word = 0; word < words.length; word++)
      for (let left = words[word] as number; left !== 0; left &= left - 1)
        column[at++] = ids[(word << 5) + bitOf(left)] as number;
  }

  /** All that the base of a source leads to: the row of a component where that is all. */
  #behind(source: number, of: Int32Array, rows: readonly Words[]): Words {
    const { start, to } = this.#base;
    const end = start[source + 1] as number;
    let words: Words | null = null;
    let isOwn = false;
    for (let at = start[source] as number; at < end; at++) {
      const row = rows[of[to[at] as number] as number] as Words;
      if (words === null) words = row;
      else if (row !== words) {
        if (!isOwn) words = this.#copy(words);
        isOwn = true;
        or(words, row);
      }
    }
    return words ?? noWords;
  }

  /** The strongly connected components of the step by node, and the row of each: Tarjan's algorithm, no recursion. */
  *#components(): Course<{ readonly of: Int32Array; readonly rows: readonly Words[] }> {
    const { start, to } = this.#step;
    const nodes = start.length - 1;
    const of = new Int32Array(nodes).fill(-1);
    // 1 + the place in the order of finding, 0 for what was not found; and the least such place that is reached.
    const order = new Int32Array(nodes);
    const low = new Int32Array(nodes);
    const next = start.slice();
    const rows: Words[] = [];
    const open: number[] = [];
    const path: number[] = [];
    let found = 0;
    for (let root = 0; root < nodes; root++) {
      if (order[root] === 0) path.push(root);
      while (path.length > 0) {
        const node = path[path.length - 1] as number;
        if (order[node] === 0) {
          order[node] = low[node] = ++found;
          open.push(node);
        }
        const at = next[node] as number;
        if (at < (start[node + 1] as number)) {
          next[node] = at + 1;
          const other = to[at] as number;
          if (order[other] === 0) path.push(other);
          else if (of[other] === -1) low[node] = Math.min(low[node] as number, order[other] as number);
          continue;
        }
        path.pop();
        const parent = path[path.length - 1];
        if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
        if (low[node] !== order[node]) continue;
        const members = open.splice(open.lastIndexOf(node));
        for (const member of members) of[member] = rows.length;
        rows.push(yield* this.#component(members, of, rows));
      }
    }
    return { of, rows };
  }

  /** The row of a component: what its members have themselves, and the rows that their edges lead to. */
  *#component(members: readonly number[], of: Int32Array, rows: readonly Words[]): Course<Words> {
    const { start, to } = this.#step;
    const base = this.#base;
    const words = this.#copy(noWords);
    for (const member of members) {
      if (this.#side === 'behind') set(words, member);
      else
        for (let at = base.start[member] as number; at < (base.start[member + 1] as number); at++)
          set(words, base.to[at] as number);
      const end = start[member + 1] as number;
      for (let at = start[member] as number; at < end; at++) {
        const row = rows[of[to[at] as number] as number];
        if (row === undefined) continue;
        or(words, row);
        if (this.#isMomentOver(words.length)) yield;
      }
    }
    return words;
  }

  /** A row of its own. */
  #copy(words: Words): Words {
    const copy = new Int32Array((this.#targets.count + 31) >>> 5);
    copy.set(words);
    this.#made += copy.byteLength;
    return copy;
  }

  /** Counts words and edges. */
  #isMomentOver(work: number): boolean {
    this.#spent += work + 1;
    if (this.#spent < moment) return false;
    this.#spent = 0;
    return true;
  }

  /** The source and the target that these numbers stand for. */
  ids(source: number, target: number, pair: Int32Array): void {
    pair[0] = this.#sources.ids[source] as number;
    pair[1] = this.#targets.ids[target] as number;
  }
}

/** Pairs in the order of rows of bits, each found by counting the bits before it. */
class FirstPairs implements FirstRows {
  readonly columns: readonly Int32Array[];
  readonly bytes: number;
  readonly #starts: Int32Array;
  readonly #rows: readonly Words[];
  readonly #sources: Numbering;
  readonly #targets: Numbering;

  constructor(
    columns: readonly Int32Array[],
    starts: Int32Array,
    rows: readonly Words[],
    sources: Numbering,
    targets: Numbering,
  ) {
    this.columns = columns;
    this.#starts = starts;
    this.#rows = rows;
    this.#sources = sources;
    this.#targets = targets;
    const distinct = new Set(rows);
    this.bytes = [...distinct].reduce((sum, { byteLength }) => sum + byteLength, starts.byteLength);
  }

  get count(): number {
    return this.#starts[this.#starts.length - 1] as number;
  }

  find(tuple: Int32Array): number {
    const source = this.#sources.find(tuple[0] as number);
    const target = this.#targets.find(tuple[1] as number);
    const words = this.#rows[source];
    if (words === undefined || target < 0) return -1;
    const word = target >>> 5;
    const bits = words[word] ?? 0;
    if ((bits & (1 << (target & 31))) === 0) return -1;
    const before = bits & ((1 << (target & 31)) - 1);
    return (this.#starts[source] as number) + countOf(words, word) + countBits(before);
  }
}

function set(words: Words, bit: number): void {
  const word = bit >>> 5;
  words[word] = (words[word] as number) | (1 << (bit & 31));
}

/** Adds the bits of the other, which is as long or shorter. */
function or(words: Words, other: Words): void {
  for (let word = 0; word < other.length; word++)
    words[word] = (words[word] as number) | (other[word] as number);
}

/** How many bits the first words have. */
function countOf(words: Words, length: number): number {
  let count = 0;
  for (let word = 0; word < length; word++) count += countBits(words[word] as number);
  return count;
}

function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The place of the lowest bit that is set. */
export function bitOf(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** A larger copy with room for so many, and no more than that there will be `most`. */
function grown(column: Int32Array, room: number, most: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.min(most, Math.max(room, column.length * 2, fewPairs)));
  larger.set(column);
  return larger;
}
