import { Tuples } from '../facts/tuples.ts';
import type { Reader } from './reader.ts';

/** A join that new rows of a relation start; see `machine.ts`. */
export interface Consumer {
  /** Matches of the whole body since it was made. */
  readonly matches: number;
  /** True while nothing demands what it would derive: then it need not start. */
  readonly isIdle: boolean;
  /** Begins with the rows `from` to `to` of the delta, or with `list`; rows up to `done` were joined before. */
  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void;
  /** Goes on for about `budget` steps. Returns what is left of it; 0 means that the join is not at its end. */
  run(budget: number): number;
}

/**
 * A relation that evaluation fills: the rows of a table, its demand, or a relation made by a rewriting.
 *
 * Rows up to `done` have been joined with everything; the rest is the delta. `consumers` are the joins that a new
 * row starts. Where heights are kept, `lowered` lists rows that got a lesser height after they were processed.
 */
export interface Derived {
  readonly name: string;
  rows: Tuples;
  done: number;
  /** Rows up to here are being joined or have been; between joins the same as `done`. */
  claimed: number;
  readonly consumers: Consumer[];
  lowered: number[];
  /** True while the work list holds it. */
  queued: boolean;
  /** Called before its first rows are processed: a table compiles its rules only when it is first demanded. */
  readonly prepare: (() => void) | null;
}

export function newDerived(
  name: string,
  arity: number,
  withHeights: boolean,
  prepare: (() => void) | null,
): Derived {
  return {
    name,
    rows: new Tuples(arity, withHeights),
    done: 0,
    claimed: 0,
    consumers: [],
    lowered: [],
    queued: false,
    prepare,
  };
}

/** Forgets the rows, keeping the joins. */
export function clear(derived: Derived): void {
  derived.rows = new Tuples(derived.rows.arity, derived.rows.heights !== null);
  derived.done = 0;
  derived.claimed = 0;
  derived.lowered = [];
}

/** The derived relations that have rows to process, first come first served. */
export class WorkList {
  #queue: Derived[] = [];
  #at = 0;

  get isEmpty(): boolean {
    return this.#at === this.#queue.length;
  }

  add(derived: Derived): void {
    if (derived.queued) return;
    derived.queued = true;
    this.#queue.push(derived);
  }

  take(): Derived | null {
    const derived = this.#queue[this.#at];
    if (derived === undefined) return null;
    this.#at++;
    if (this.#at > 1024 && this.#at * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#at);
      this.#at = 0;
    }
    derived.queued = false;
    return derived;
  }

  clear(): void {
    for (const derived of this.#queue) derived.queued = false;
    this.#queue = [];
    this.#at = 0;
  }
}
