import { Boundaries } from './validity-boundaries.ts';

/** The scopes of one tenant as numbers and back; 0 is "without scope". A number is never reused. */
export class ScopeNames {
  readonly #names: (string | null)[] = [null];
  readonly #numbers = new Map<string, number>();

  /** By number. Grows when a scope is first named. */
  get names(): readonly (string | null)[] {
    return this.#names;
  }

  /** The number of the scope; -1 if it was never named. */
  numberOf(scope: string | null): number {
    return scope === null ? 0 : (this.#numbers.get(scope) ?? -1);
  }

  /** The number of the scope; assigns one if it is new. */
  intern(scope: string | null): number {
    if (scope === null) return 0;
    let number = this.#numbers.get(scope);
    if (number === undefined) {
      number = this.#names.length;
      this.#names.push(scope);
      this.#numbers.set(scope, number);
    }
    return number;
  }
}

/** What is recorded of one scope beside its facts. */
interface ScopeRecord {
  /**
   * When it was last created: by its first fact, or by the fork. Meaningless while it has no facts and is no
   * fork.
   */
  readonly createdAt: number;
  /** True from a fork until the scope is deleted: it exists even without facts. */
  readonly isForked: boolean;
  /** null if it is no fork, or a fork of the facts without scope. */
  readonly forkedFrom: string | null;
  /**
   * The generation of the fork; null if it is no fork, or was forked by a version without merge bases, which
   * did not log it.
   */
  readonly forkedAt: number | null;
  /** Live facts whose validity had not ended when validities were last settled. */
  readonly held: number;
}

/** The saved form of the records, without what the facts themselves tell. */
export interface SavedScopes {
  /** null if nothing has been settled. */
  readonly settledThrough: number | null;
  readonly records: readonly (readonly [number, SavedScope])[];
}

/** `forkedAt` is absent in older saved records. */
type SavedScope = Omit<ScopeRecord, 'held' | 'forkedAt'> & Partial<Pick<ScopeRecord, 'forkedAt'>>;

/** A live fact, as `restore` needs it. */
export interface AliveFact {
  readonly scope: number;
  readonly number: number;
  readonly until: number;
}

/** Ended validities processed between two slices. */
const endsInSlice = 256;

/**
 * The records of a tenant's scopes: since when each exists, and from what it was forked.
 *
 * Logged state: a fold over the changes of the fact store, by the times of records alone. It counts the facts
 * of each scope, and processes ended validities (`settle`) before anything is stored at a later time. Scopes
 * are numbers; 0, the facts without scope, has no record. The facts that a reader sees, at an earlier
 * generation or a later time, are counted elsewhere.
 */
export class ScopeRecords {
  readonly #records = new Map<number, { -readonly [Key in keyof ScopeRecord]: ScopeRecord[Key] }>();
  /**
   * The generation in which the last fact of a scope was removed: if the scope gets another fact in the same
   * generation, as in a commit, it has existed throughout.
   */
  readonly #emptiedIn = new Map<number, number>();
  readonly #ends = new Boundaries();
  #settledThrough = Number.NEGATIVE_INFINITY;

  /** All records, by the scope's number; may include scopes that no longer exist. */
  all(): ReadonlyMap<number, ScopeRecord> {
    return this.#records;
  }

  get(scope: number): ScopeRecord | null {
    return this.#records.get(scope) ?? null;
  }

  /** The time up to which ended validities have been processed. */
  get settledThrough(): number {
    return this.#settledThrough;
  }

  /** True if no validity ended up to this time that is not processed: the counts of facts are exact. */
  isSettledThrough(time: number): boolean {
    return this.#ends.next > time;
  }

  /**
   * Processes the validities that ended up to this time, in slices. `endingAt` gives the scope of a live fact
   * whose validity ends at exactly that instant, 0 for any other.
   */
  *settle(
    time: number,
    endingAt: (number: number, instant: number) => number,
  ): Generator<'more', void, undefined> {
    // An end can occur twice if a fact's validity was changed and changed back.
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

  /** Called when a new fact was stored. */
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

  /** Called when the validity of a stored fact now ends here. */
  moved(scope: number, number: number, until: number, time: number, generation: number): void {
    if (scope === 0) return;
    if (until <= time) this.#loseIn(generation, scope);
    else if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, number);
  }

  /** Called when a fact, whose validity was to end then, was retracted. */
  retracted(scope: number, until: number, generation: number): void {
    if (until > this.#settledThrough) this.#loseIn(generation, scope);
  }

  /**
   * Called when a fork made the scope, in this generation if it is known; the scope may have existed before.
   */
  fork(scope: number, from: string | null, time: number, at: number | null): void {
    const record = this.#records.get(scope);
    const fork = { isForked: true, forkedFrom: from, forkedAt: at };
    if (record === undefined) this.#records.set(scope, { createdAt: time, ...fork, held: 0 });
    else Object.assign(record, record.isForked ? fork : { ...fork, createdAt: time });
  }

  /** Called when the scope was deleted, after its facts. */
  delete(scope: number): void {
    const record = this.#records.get(scope);
    if (record === undefined) return;
    record.isForked = false;
    record.forkedFrom = null;
    record.forkedAt = null;
  }

  /** Counts the facts of each scope again, as of this earlier time: the clock was set back. */
  turnBack(time: number, alive: Iterable<AliveFact>): void {
    const { records } = this.saved();
    this.#ends.clear();
    this.restore({ settledThrough: time, records });
    for (const fact of alive) this.hold(fact);
  }

  saved(): SavedScopes {
    const { settledThrough } = this;
    return {
      settledThrough: Number.isFinite(settledThrough) ? settledThrough : null,
      records: Array.from(this.#records, ([scope, { held: _, ...record }]) => [scope, record]),
    };
  }

  /** Restores what was saved; then `hold` all facts that were alive. */
  restore({ settledThrough, records }: SavedScopes): void {
    for (const [scope, record] of records) this.#records.set(scope, { forkedAt: null, ...record, held: 0 });
    this.#settledThrough = settledThrough ?? Number.NEGATIVE_INFINITY;
  }

  /** Counts a fact that was alive when the scopes were saved. */
  hold({ scope, number, until }: AliveFact): void {
    const record = this.#records.get(scope);
    if (record === undefined || until <= this.#settledThrough) return;
    record.held++;
    if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, number);
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
