import { Tuples } from '../../store/tuples.ts';
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

/** What the work list holds: once for each phase that it has work in. */
export interface Queued {
  /** What is lower is at its fixpoint whenever this is processed; see `WorkList`. */
  level: number;
  /** A bit for each phase that it is queued for. */
  queued: number;
}

/**
 * A relation that evaluation fills: the rows of a table, its demand, or a relation made by a rewriting.
 *
 * Rows up to `done` have been joined with everything; the rest is the delta. `consumers` are the joins that a new
 * row starts. Rows that are revived, or get a lesser height, after they were processed are listed in `again`.
 */
export interface Derived extends Queued {
  readonly name: string;
  rows: Tuples;
  done: number;
  /** Rows up to here are being joined or have been; between joins the same as `done`. */
  claimed: number;
  readonly consumers: Consumer[];
  again: number[];
  /** Rows up to here have been joined, and all that follows from them: of a demand, what is answered in full. */
  settled: number;
  /** Called before its first rows are processed: a table compiles its rules only when it is first demanded. */
  readonly prepare: (() => void) | null;
  /** What keeps it true when facts change; null for demand, and where nothing is kept beyond one question. */
  support: Support | null;
}

/** Stored rows that have come, for one atom of one rule. */
export interface StoredDelta extends Readonly<Pick<Queued, 'level'>>, Pick<Queued, 'queued'> {
  rows: number[];
  /** The join that they start. */
  readonly machine: () => Consumer;
}

/** A rule as who keeps its conclusions true sees it. */
export interface Checker {
  /** The join that looks for another reason for the dead rows it is started with. */
  check(): Consumer;
}

/** What a derived relation needs so that its rows stay true when facts change; see `justifications.ts`. */
export class Support {
  readonly derived: Derived;
  /** Its place among those of the set. */
  readonly number: number;
  /** Called for every row that a change of facts took away; null where nobody is to know. */
  readonly lost: ((row: number) => void) | null;
  /** The rules that conclude the relation. */
  readonly rules: Checker[] = [];
  readonly watchers: Watcher[] = [];
  /** By row: the first place of its justification. */
  since = new Int32Array(0);
  /** By row: 1 + the newest place where it is a premise. */
  heads = new Int32Array(0);
  /** Places taken by justifications of rows of this relation. */
  places = 0;
  /** Rows whose dependents have not been followed. */
  overdeleted: number[] = [];
  /** Rows to look for another reason for. */
  toRederive: number[] = [];
  /** Rows that died since the levels above were told, with the heights that they had. */
  deleted: { readonly row: number; readonly height: number }[] = [];
  /** Rows long gone that came back since then. */
  rederived: number[] = [];
  /** Rows up to here are no news to watchers. */
  propagatedCount = 0;
  /** Rows up to here, without those that came back since, were held when the upkeep in hand began. */
  #held = 0;
  readonly #back = new Set<number>();

  constructor(derived: Derived, number: number, lost: ((row: number) => void) | null) {
    this.derived = derived;
    this.number = number;
    this.lost = lost;
  }

  get bytes(): number {
    return this.since.byteLength + this.heads.byteLength;
  }

  /** Forgets what was kept for rows that are no more. */
  clear(): void {
    this.since = new Int32Array(0);
    this.heads = new Int32Array(0);
    this.places = 0;
    this.overdeleted = [];
    this.toRederive = [];
    this.deleted = [];
    this.rederived = [];
    this.propagatedCount = 0;
    this.markBaseline();
  }

  /** What is alive now counts as held from here on. */
  markBaseline(): void {
    this.#held = this.derived.rows.count;
    if (this.#back.size > 0) this.#back.clear();
  }

  /** Notes that a row long gone is alive again. */
  noteRederived(row: number): void {
    if (row < this.#held) this.#back.add(row);
  }

  /**
   * Whether a row that died was held when the upkeep began. Joins of a level meet rows above that have not heard yet of
   * what died: what they conclude from those dies again, and never held.
   */
  wasInBaseline(row: number): boolean {
    return row < this.#held && !this.#back.has(row);
  }
}

/** Which rows of a waiting relation a changed row concerns: those with its values for the key. */
export interface Watcher {
  readonly waits: Derived;
  /** Columns of the changed row that must hold these constants. */
  readonly constants: readonly { readonly position: number; readonly id: number }[];
  /** Columns of the changed row that must be equal. */
  readonly equal: readonly (readonly [number, number])[];
  /** Columns of the changed row, and those of the waiting relation (ascending) that they are the key of. */
  readonly from: readonly number[];
  readonly to: readonly number[];
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
    again: [],
    settled: 0,
    queued: 0,
    level: shape.level,
    prepare: shape.prepare ?? null,
    support: null,
  };
}

/** Forgets the rows, keeping the joins. */
export function clear(derived: Derived): void {
  derived.rows = new Tuples(derived.rows.arity, derived.rows.heights !== null);
  derived.done = 0;
  derived.claimed = 0;
  derived.settled = 0;
  derived.again = [];
  derived.support?.clear();
}

/**
 * What can be done at a level, in this order: follow what died until nothing more dies, look whether what died holds
 * for another reason, join what is new among the stored facts, join what is new or revived among the derived rows,
 * and tell the levels above what has changed.
 */
export const phases = { kill: 0, check: 1, stored: 2, join: 3, tell: 4 } as const;
export type Phase = (typeof phases)[keyof typeof phases];

interface Entry<Item> {
  readonly item: Item;
  readonly phase: Phase;
  readonly order: number;
}

/**
 * What there is to process: the lowest level first, within one by phase, within that in the order it came.
 *
 * Rules read downwards and demand goes downwards, so when something is taken, all that is lower has run to its
 * fixpoint for whatever was demanded of it so far. That is what absences and aggregates wait for.
 */
export class WorkList<Item extends Readonly<Pick<Queued, 'level'>> & Pick<Queued, 'queued'>> {
  readonly #heap: Entry<Item>[] = [];
  #order = 0;

  get isEmpty(): boolean {
    return this.#heap.length === 0;
  }

  add(item: Item, phase: Phase): void {
    const bit = 1 << phase;
    if ((item.queued & bit) !== 0) return;
    item.queued |= bit;
    const heap = this.#heap;
    heap.push({ item, phase, order: this.#order++ });
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): { readonly item: Item; readonly phase: Phase } | null {
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
    first.item.queued &= ~(1 << first.phase);
    return first;
  }

  clear(): void {
    for (const { item } of this.#heap) item.queued = 0;
    this.#heap.length = 0;
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#heap[left] as Entry<Item>;
    const b = this.#heap[right] as Entry<Item>;
    if (a.item.level !== b.item.level) return a.item.level < b.item.level;
    return a.phase < b.phase || (a.phase === b.phase && a.order < b.order);
  }

  #swap(left: number, right: number): void {
    const heap = this.#heap;
    const kept = heap[left] as Entry<Item>;
    heap[left] = heap[right] as Entry<Item>;
    heap[right] = kept;
  }
}

export type Work = WorkList<Derived | StoredDelta>;

/** Kills a row that is alive; what it was a premise of is to be followed. */
export function overdelete(work: Work, target: Support, row: number): void {
  const { derived } = target;
  const { heights } = derived.rows;
  derived.rows.kill(row);
  target.overdeleted.push(row);
  target.deleted.push({ row, height: heights === null ? 0 : (heights.of[row] as number) });
  work.add(derived, phases.kill);
  work.add(derived, phases.tell);
}
