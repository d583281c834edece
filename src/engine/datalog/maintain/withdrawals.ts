import { KnownConclusions, type Candidates, plainRows } from '../model/known-conclusions.ts';
import { tupleAt, Tuples } from '../../store/tuples.ts';
import type { Relation, Table } from '../model/table.ts';
import type { Constants } from '../model/constants.ts';
import { viewKey } from '../model/reader.ts';

/** The conclusions that changes of facts delete while a recording runs, once for each view. */
export class Losses {
  /** Ends the recording. */
  readonly end: () => void;
  /** True if deleted rows were certainly true when the recording began: no earlier change was pending. */
  readonly #isCertain: boolean;
  /** The rows of tables that were dropped meanwhile. */
  readonly #dropped: Candidates[] = [];
  /** Number of deleted rows. */
  count = 0;
  /** The last version that deleted any of them. */
  through = 0;
  readonly #byRelation = new Map<string, Relation & { readonly relation: string; readonly rows: Tuples }>();

  constructor(isCertain: boolean, end: () => void) {
    this.#isCertain = isCertain;
    this.end = end;
  }

  add(table: Table, row: number, constants: Constants): void {
    const key = `${viewKey(table.view)}\n${table.relation}`;
    let lost = this.#byRelation.get(key);
    if (lost === undefined) {
      const { view, predicate, arity, negated, relation } = table;
      lost = { view, predicate, arity, negated, relation, rows: new Tuples(arity) };
      this.#byRelation.set(key, lost);
    }
    const tuple = tupleAt(table.rows.rows, row, new Int32Array(table.arity));
    if (lost.rows.insert(tuple.map((id) => constants.plain(id))) >= 0) this.count++;
  }

  /** Records a dropped table: which of its rows are still true is not known. */
  drop(table: Table, constants: Constants): void {
    const demand = plainRows(table.demand.rows, constants).rows;
    const of = { boundPositions: table.boundPositions, demand: { rows: demand } };
    const held = plainRows(table.rows.rows, constants);
    this.#dropped.push({ ...table, ...held, table: of, isCertain: this.#isCertain });
  }

  get dropped(): readonly Candidates[] {
    return this.#dropped;
  }

  /** The deleted rows. */
  candidates(): Candidates[] {
    return [...this.#byRelation.values()].map((lost) => ({
      ...lost,
      count: lost.rows.count,
      dead: null,
      table: null,
      isCertain: this.#isCertain,
    }));
  }
}

/** What one maintenance run deleted. */
export interface Batch {
  /** Changes after the first version, up to and including the second. */
  readonly from: number;
  readonly to: number;
  /** null: too much to list. */
  readonly losses: Losses | null;
}

/** A writer that itself reports what its change deletes. */
export interface Hold {
  /** The version of its change. */
  readonly version: number;
}

/** What such a writer has reported. */
export interface Claim {
  readonly version: number;
  readonly atoms: ReadonlySet<string>;
  /** True if its change cannot have deleted anything else. */
  readonly isComplete: boolean;
}

/** The stored facts that changed with a version, by number. */
interface Noted {
  readonly version: number;
  readonly facts: readonly number[];
}

/** Up to this many doubtful rows are checked one by one. */
export const maxInDoubt = 10_000;

/**
 * Conclusions of a tenant that changes have deleted and that have not been reported yet.
 *
 * A maintenance run adds what its tables lost, with its first and last version. Rows that are no longer in
 * any table, because the table was dropped or belonged to a single question, were true when added
 * (`unwatched`); once a change may affect them they are in doubt, and the reporter checks whether they are
 * still true. If there is too much to check, only that fact is recorded. A retraction that reports for itself
 * holds back everything of its change until its end, then claims what it reported, so that nothing is
 * reported twice.
 */
export class Withdrawals {
  readonly #holds = new Set<Hold>();
  #batches: Batch[] = [];
  #claims: Claim[] = [];
  #noted: Noted[] = [];
  readonly #unwatched = new KnownConclusions();
  readonly #inDoubt = new Set<string>();
  /** Relations with conclusions that are true, in no maintained table, and too many to list. */
  readonly #unlisted = new Set<string>();

  /** True while something may have to be reported. */
  get isPending(): boolean {
    return this.#batches.length > 0 || this.#inDoubt.size > 0;
  }

  /** True if something can be checked or reported now. */
  get isReady(): boolean {
    if (this.#inDoubt.size > 0 && !this.isHeld) return true;
    const end = this.#held;
    return this.#batches.some(({ to }) => to < end);
  }

  /** True while a writer reports for itself. */
  get isHeld(): boolean {
    return this.#holds.size > 0;
  }

  /** The first version that is held back. */
  get #held(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { version } of this.#holds) first = Math.min(first, version);
    return first;
  }

  get bytes(): number {
    return this.#unwatched.bytes;
  }

  add(batch: Batch): void {
    if (batch.losses === null || batch.losses.count > 0) this.#batches.push(batch);
  }

  /** Records which stored facts changed; forgotten once everything up to that version was reported. */
  note(version: number, facts: readonly number[]): void {
    this.#noted.push({ version, facts });
  }

  /** The facts that changed after the first version, up to and including the second. */
  *changedBetween(from: number, to: number): Generator<number> {
    for (const { version, facts } of this.#noted) if (version > from && version <= to) yield* facts;
  }

  /** Adds rows that are true and in no maintained table; they must not change any more. */
  unwatch(of: Relation & { readonly relation: string }, rows: Tuples): void {
    this.#unwatched.add(of, rows);
  }

  /** Notes that the relation has true conclusions that are in no maintained table and too many to list. */
  unwatchUnlisted(relation: string): void {
    this.#unlisted.add(relation);
  }

  /** True if one of these relations has such conclusions. */
  hasUnlisted(relations: ReadonlySet<string>): boolean {
    for (const relation of this.#unlisted) if (relations.has(relation)) return true;
    return false;
  }

  /** Marks that a change may affect conclusions of these relations. */
  doubt(relations: ReadonlySet<string>): void {
    for (const relation of this.#unlisted) if (relations.has(relation)) this.#inDoubt.add(relation);
    for (const relation of this.#unwatched.among(relations)) this.#inDoubt.add(relation);
  }

  get hasUnwatched(): boolean {
    return !this.#unwatched.isEmpty || this.#unlisted.size > 0;
  }

  /** Removes and returns the doubtful rows; null if there are too many to check. */
  takeDoubtful(): Candidates[] | null {
    if (this.#inDoubt.size === 0) return [];
    const taken = this.#unwatched.take(this.#inDoubt);
    let isUnlisted = false;
    for (const relation of this.#inDoubt) if (this.#unlisted.delete(relation)) isUnlisted = true;
    this.#inDoubt.clear();
    if (isUnlisted || taken.reduce((sum, { rows }) => sum + rows.live, 0) > maxInDoubt) return null;
    return taken.map((each) => ({ ...each, isCertain: true }));
  }

  /** Until it is released, nothing of this version's change is reported by others. */
  hold(version: number): Hold {
    const hold = { version };
    this.#holds.add(hold);
    return hold;
  }

  /** Ends the hold, with what was reported. */
  release(hold: Hold, claim: Omit<Claim, 'version'> | null): void {
    this.#holds.delete(hold);
    if (claim !== null) this.#claims.push({ version: hold.version, ...claim });
  }

  /** Takes the batches up to this version that are not held back. */
  take(version: number): { readonly batches: Batch[]; readonly claims: readonly Claim[] } {
    const end = Math.min(version, this.#held - 1);
    const ready = this.#batches.filter(({ to }) => to <= end);
    this.#batches = this.#batches.filter(({ to }) => to > end);
    const claims = this.#claims;
    const batches = ready.filter(
      ({ from, to }) => !claims.some((claim) => claim.isComplete && claim.version === to && from === to - 1),
    );
    return { batches, claims };
  }

  /**
   * Forgets what was recorded for reporting changes up to this version. While rows are in doubt it stays: when they are
   * checked, what a writer reported itself must be known.
   */
  forgetThrough(version: number): void {
    if (this.#inDoubt.size > 0) return;
    let end = Math.min(version, this.#held - 1);
    for (const { from } of this.#batches) end = Math.min(end, from);
    this.#claims = this.#claims.filter((claim) => claim.version > end);
    this.#noted = this.#noted.filter((noted) => noted.version > end);
  }

  /** Forgets the rows in no table, to free memory. */
  evict(): void {
    this.#unwatched.clear();
    this.#unlisted.clear();
    this.#inDoubt.clear();
  }
}
