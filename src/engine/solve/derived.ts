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
  /** What is lower is at its fixpoint whenever this is processed; see `WorkList`. */
  readonly level: number;
  /** Called before its first rows are processed: a table compiles its rules only when it is first demanded. */
  readonly prepare: (() => void) | null;
}

export interface DerivedShape {
  readonly name: string;
  readonly arity: number;
  readonly level: number;
  readonly withHeights?: boolean;
  readonly prepare?: () => void;
}

export function newDerived(shape: DerivedShape): Derived {
  return {
    name: shape.name,
    rows: new Tuples(shape.arity, shape.withHeights === true),
    done: 0,
    claimed: 0,
    consumers: [],
    lowered: [],
    queued: false,
    level: shape.level,
    prepare: shape.prepare ?? null,
  };
}

/** Forgets the rows, keeping the joins. */
export function clear(derived: Derived): void {
  derived.rows = new Tuples(derived.rows.arity, derived.rows.heights !== null);
  derived.done = 0;
  derived.claimed = 0;
  derived.lowered = [];
}

/**
 * The derived relations that have rows to process: the lowest level first, within one in the order they came.
 *
 * Rules read downwards and demand goes downwards, so when something is taken, all that is lower has run to its
 * fixpoint for whatever was demanded of it so far. That is what absences and aggregates wait for.
 */
export class WorkList {
  readonly #heap: { readonly derived: Derived; readonly order: number }[] = [];
  #order = 0;

  get isEmpty(): boolean {
    return this.#heap.length === 0;
  }

  add(derived: Derived): void {
    if (derived.queued) return;
    derived.queued = true;
    const heap = this.#heap;
    heap.push({ derived, order: this.#order++ });
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): Derived | null {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined) return null;
    this.#swap(0, heap.length - 1);
    heap.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const child = left + 1 < heap.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, at)) break;
      this.#swap(at, child);
      at = child;
    }
    first.derived.queued = false;
    return first.derived;
  }

  clear(): void {
    for (const { derived } of this.#heap) derived.queued = false;
    this.#heap.length = 0;
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#heap[left] as { derived: Derived; order: number };
    const b = this.#heap[right] as { derived: Derived; order: number };
    return a.derived.level < b.derived.level || (a.derived.level === b.derived.level && a.order < b.order);
  }

  #swap(left: number, right: number): void {
    const heap = this.#heap;
    const kept = heap[left] as { derived: Derived; order: number };
    heap[left] = heap[right] as { derived: Derived; order: number };
    heap[right] = kept;
  }
}
