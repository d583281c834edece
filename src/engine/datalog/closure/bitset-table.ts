import { assert, present } from '../../base/assert.ts';
import { Tuples } from '../../store/tuples.ts';
import { type BitsetRelation, bitOf, type Course, noWords, type Words } from './bitset-relation.ts';
import {
  type Consumer,
  type Derived,
  notify,
  overdelete,
  phases,
  requeue,
  type WorkList,
} from '../model/derived.ts';
import type { Tally } from '../model/program.ts';

/** What a `BitsetTable` computes its rows from, and where it puts them. */
export interface BitsetTableParts {
  /** Makes the bitset relation; called while there is none. */
  readonly make: () => BitsetRelation;
  /** The pairs outside the recursion. */
  readonly base: Derived;
  /** The rows of the table. */
  readonly target: Derived;
  readonly work: WorkList;
  /** The count of derivations of the recursive rule. */
  readonly tally: Tally | null;
  /** Called if the relation is too sparse for bitset rows; the table is then derived by its rules. */
  readonly onSparse: () => void;
}

/** Bytes of a pair in columns. Bitset rows that take more per pair do not pay. */
const bytesOfPair = 8;
/** Waste below this is ignored. */
const minWastedBytes = 1_000_000;

/**
 * Fills a table from a bitset relation: a closure, or recursion at both ends.
 *
 * It is a consumer that a one-row relation starts, at the table's level and so above the inputs: when they
 * first reach their fixpoint, and after maintenance changed them. The first run makes the pairs the rows of
 * the table as they are. Later runs insert and overdelete row by row the difference between old and new bits,
 * so that every reader of the table gets exactly that delta. Rows have no justifications: a row exists if its
 * bit is set.
 */
export class BitsetTable implements Consumer {
  readonly isIdle = false;
  matches = 0;
  readonly #parts: BitsetTableParts;
  #closure: BitsetRelation | null = null;
  #course: Course<void> | null = null;

  constructor(parts: BitsetTableParts) {
    this.#parts = parts;
  }

  /** Memory beside the rows of the table. */
  get bytes(): number {
    return this.#closure === null ? 0 : this.#closure.bytes;
  }

  /** True if the bits take more memory than the rows of the table: the relation has become sparse. */
  get isWasteful(): boolean {
    return this.bytes > this.#parts.target.rows.bytes + minWastedBytes;
  }

  /** The table has been emptied. */
  forget(): void {
    this.#closure?.drop();
    this.#closure = null;
  }

  start(): void {
    this.#course = this.#closure === null ? this.#begin() : this.#change(this.#closure);
  }

  run(budget: number): number {
    if (this.#course !== null && this.#course.next().done !== true) return 0;
    this.#course = null;
    return budget;
  }

  *#begin(): Course<void> {
    const { make, base, target, work, tally, onSparse } = this.#parts;
    const closure = make();
    this.#closure = closure;
    yield* closure.takeIn();
    const worth = closure.isWorthBeginning();
    const isTried = typeof worth === 'boolean' ? worth : yield* worth;
    if (isTried) closure.take(yield* closure.derive());
    const starts = isTried ? yield* closure.starts() : null;
    const count = starts === null ? 0 : (starts[starts.length - 1] as number);
    if (starts === null || (count > 0 && closure.rowBytes > count * bytesOfPair)) {
      this.forget();
      return onSparse();
    }
    const pairs = yield* closure.pairs(starts, (written) => {
      this.matches += written;
    });
    const { memory } = target.rows;
    target.rows.release();
    target.rows = new Tuples(2, false, pairs, memory);
    if (tally !== null) tally.fired += count - base.rows.live;
    work.add(target, phases.join);
    if (target.support !== null) notify(work, target.support);
  }

  *#change(closure: BitsetRelation): Course<void> {
    yield* closure.takeIn();
    const { rows } = closure;
    const next = yield* closure.derive();
    // Sources that share a new row mostly shared an old one.
    const same = new Map<Words, Words>();
    for (let source = 0; source < next.length; source++) {
      const words = next[source] as Words;
      const old = rows[source] ?? noWords;
      if (words === old || same.get(words) === old) continue;
      if (this.#isSame(words, old)) same.set(words, old);
      else yield* this.#changeRow(closure, source, words, old);
      if (closure.isSliceOver(words.length)) yield;
    }
    closure.take(next);
  }

  #isSame(words: Words, old: Words): boolean {
    for (let word = 0; word < Math.max(words.length, old.length); word++)
      if ((words[word] ?? 0) !== (old[word] ?? 0)) return false;
    return true;
  }

  *#changeRow(closure: BitsetRelation, source: number, words: Words, old: Words): Course<void> {
    const pair = new Int32Array(2);
    for (let word = 0; word < Math.max(words.length, old.length); word++) {
      const bits = words[word] ?? 0;
      const changed = bits ^ (old[word] ?? 0);
      for (let left = changed; left !== 0; left &= left - 1) {
        const bit = bitOf(left);
        closure.ids(source, (word << 5) + bit, pair);
        if ((bits & (1 << bit)) !== 0) this.#add(pair);
        else this.#kill(pair);
        if (++this.matches % 1024 === 0) yield;
      }
    }
  }

  #kill(pair: Int32Array): void {
    const { target, work } = this.#parts;
    const row = target.rows.find(pair);
    assert(row >= 0, 'a pair whose bit was set is a row');
    overdelete(work, present(target.support, 'what changes is maintained'), row);
  }

  #add(pair: Int32Array): void {
    const { target, work, base, tally } = this.#parts;
    const { rows, support } = target;
    const row = rows.insert(pair);
    if (row < 0) return requeue(work, target);
    work.add(target, phases.join);
    if (tally !== null && base.rows.find(pair) < 0) tally.fired++;
    if (support !== null) notify(work, support);
  }
}
