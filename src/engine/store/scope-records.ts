import { Boundaries } from './validity-boundaries.ts';

/**
 * What is remembered of each scope of a tenant beside its facts: since when it has been there, and what it was forked
 * from.
 *
 * Logged state: a fold of what the store of facts is told, by the times of records alone. For that it counts the facts
 * that each scope holds, and takes note of the ends of validities (`settle`) before anything is stored at a later time.
 * Scopes go by their numbers; 0, the facts without scope, is none. What is there for a reader, who may be at an earlier
 * generation or a later time, is counted elsewhere, from the facts.
 */
export interface ScopeRecord {
  /** When it last came to be: with its first fact, or by the fork. Means nothing while it has no facts and is no fork. */
  readonly createdAt: number;
  /** True from a fork until the scope is deleted: it is there without facts too. */
  readonly isForked: boolean;
  /** null: it is no fork, or one of the facts without scope. */
  readonly forkedFrom: string | null;
  /** The generation of the fork; null: it is no fork, or one of which a program of before bases logged nothing. */
  readonly forkedAt: number | null;
  /** Facts alive whose validity had not ended when that was last settled. */
  readonly held: number;
}

/** The records as they are saved: without what the facts themselves tell. */
export interface SavedScopes {
  /** null: nothing has been settled. */
  readonly settledThrough: number | null;
  readonly records: readonly (readonly [number, SavedScope])[];
}

/** `forkedAt` is absent in what was saved before there was such a thing. */
type SavedScope = Omit<ScopeRecord, 'held' | 'forkedAt'> & Partial<Pick<ScopeRecord, 'forkedAt'>>;

/** A fact that is alive, as `restore` needs it. */
export interface AliveFact {
  readonly scope: number;
  readonly number: number;
  readonly until: number;
}

/** Ends that are taken note of between two slices. */
const endsInSlice = 256;

export class ScopeRecords {
  readonly #records = new Map<number, { -readonly [Key in keyof ScopeRecord]: ScopeRecord[Key] }>();
  /**
   * In which generation the last fact of a scope was written away: one that gets another in the same generation, as by
   * a commit, has been there all the time.
   */
  readonly #emptiedIn = new Map<number, number>();
  readonly #ends = new Boundaries();
  #settledThrough = Number.NEGATIVE_INFINITY;

  /** Everything that is remembered, by the scope's number; records of scopes that are no more may be among them. */
  all(): ReadonlyMap<number, ScopeRecord> {
    return this.#records;
  }

  get(scope: number): ScopeRecord | null {
    return this.#records.get(scope) ?? null;
  }

  /** The time up to which ends of validity have been taken note of. */
  get settledThrough(): number {
    return this.#settledThrough;
  }

  /**
   * Takes note of the validities that ended up to this time, in slices. `endingAt` gives the scope of a fact that is
   * alive and whose validity ends at exactly that instant, 0 for any other.
   */
  *settle(
    time: number,
    endingAt: (number: number, instant: number) => number,
  ): Generator<'more', void, undefined> {
    // An end can stand here twice, of a fact whose validity was changed and changed back.
    const settled = new Set<number>();
    let left = endsInSlice;
    while (this.#ends.next <= time) {
      if (--left === 0) {
        left = endsInSlice;
        yield 'more';
      }
      const { next } = this.#ends;
      const number = this.#ends.takeFirst();
      const scope = settled.has(number) ? 0 : endingAt(number, next);
      if (scope === 0) continue;
      settled.add(number);
      this.#lose(scope);
    }
    this.#settledThrough = Math.max(this.#settledThrough, time);
  }

  /** A new fact was stored. */
  asserted(scope: number, number: number, until: number, time: number, generation: number): void {
    if (scope === 0 || until <= time) return;
    let record = this.#records.get(scope);
    if (record === undefined) {
      record = { createdAt: time, isForked: false, forkedFrom: null, forkedAt: null, held: 0 };
      this.#records.set(scope, record);
    } else if (record.held === 0 && !record.isForked && this.#emptiedIn.get(scope) !== generation)
      record.createdAt = time;
    record.held++;
    if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, number);
  }

  /** The validity of a fact that was held now ends here. */
  moved(scope: number, number: number, until: number, time: number, generation: number): void {
    if (scope === 0) return;
    if (until <= time) this.#loseIn(generation, scope);
    else if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, number);
  }

  /** A fact whose validity was to end then was retracted. */
  retracted(scope: number, until: number, generation: number): void {
    if (until > this.#settledThrough) this.#loseIn(generation, scope);
  }

  /** The scope was made by a fork, in this generation where that is known: it is there from now on, or was already. */
  fork(scope: number, from: string | null, time: number, at: number | null): void {
    const record = this.#records.get(scope);
    const fork = { isForked: true, forkedFrom: from, forkedAt: at };
    if (record === undefined) this.#records.set(scope, { createdAt: time, ...fork, held: 0 });
    else Object.assign(record, record.isForked ? fork : { ...fork, createdAt: time });
  }

  /** The scope was deleted, its facts before. */
  delete(scope: number): void {
    const record = this.#records.get(scope);
    if (record === undefined) return;
    record.isForked = false;
    record.forkedFrom = null;
    record.forkedAt = null;
  }

  saved(): SavedScopes {
    const { settledThrough } = this;
    return {
      settledThrough: Number.isFinite(settledThrough) ? settledThrough : null,
      records: Array.from(this.#records, ([scope, { held: _, ...record }]) => [scope, record]),
    };
  }

  /** Puts back what was saved, with the facts that were alive then. */
  restore({ settledThrough, records }: SavedScopes, alive: Iterable<AliveFact>): void {
    for (const [scope, record] of records) this.#records.set(scope, { forkedAt: null, ...record, held: 0 });
    this.#settledThrough = settledThrough ?? Number.NEGATIVE_INFINITY;
    for (const { scope, number, until } of alive) {
      const record = this.#records.get(scope);
      if (record === undefined || until <= this.#settledThrough) continue;
      record.held++;
      if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, number);
    }
  }

  #loseIn(generation: number, scope: number): void {
    this.#lose(scope);
    if (this.#records.get(scope)?.held === 0) this.#emptiedIn.set(scope, generation);
  }

  #lose(scope: number): void {
    const record = this.#records.get(scope);
    if (record !== undefined) record.held--;
  }
}
