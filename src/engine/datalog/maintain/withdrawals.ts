import { KnownConclusions, type Candidates } from '../model/known-conclusions.ts';
import type { Losses } from '../model/delta.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { Relation } from '../model/table.ts';

/**
 * What changes have taken away from a tenant's conclusions and nobody has been told of yet.
 *
 * A run of upkeep leaves what its tables lost, with the versions that it went from and to. Rows that stand in no
 * table any more, since the table was dropped or was one question's own, held when they came here (`unwatched`); once a
 * change can concern them they are in doubt, and whoever tells looks whether they still hold. Where there is too much to
 * look at one by one, that is what is noted. A retraction that reports for itself holds back what came with it until
 * its end and claims what it reported, so that nothing is told twice.
 */
export interface Batch {
  /** Changes after the first version, up to the second. */
  readonly from: number;
  readonly to: number;
  /** null: too much to be told one by one. */
  readonly losses: Losses | null;
}

/** One that reports for itself what a change takes away. */
export interface Hold {
  /** The version that its change makes. */
  readonly version: number;
}

export interface Claim {
  readonly version: number;
  readonly atoms: ReadonlySet<string>;
  /** True where nothing else can have gone with that change. */
  readonly isComplete: boolean;
}

/** The stored facts that changed with a version, by number. */
interface Noted {
  readonly version: number;
  readonly facts: readonly number[];
}

/** So many rows in doubt are looked at one by one. */
const mostInDoubt = 10_000;

export class Withdrawals {
  readonly #holds = new Set<Hold>();
  #batches: Batch[] = [];
  #claims: Claim[] = [];
  #noted: Noted[] = [];
  readonly #unwatched = new KnownConclusions();
  readonly #inDoubt = new Set<string>();

  /** True while something may have to be told. */
  get isPending(): boolean {
    return this.#batches.length > 0 || this.#inDoubt.size > 0;
  }

  /** True where something is ready to be looked at or told. */
  get isReady(): boolean {
    if (this.#inDoubt.size > 0 && !this.isHeld) return true;
    const end = this.#held;
    return this.#batches.some(({ to }) => to < end);
  }

  /** True while someone reports for himself. */
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

  /** Notes which stored facts changed; forgotten once everything up to that version was told. */
  note(version: number, facts: readonly number[]): void {
    this.#noted.push({ version, facts });
  }

  /** The facts that changed after the first version, up to the second. */
  *changedBetween(from: number, to: number): Generator<number> {
    for (const { version, facts } of this.#noted) if (version > from && version <= to) yield* facts;
  }

  /** Takes rows that hold and stand in no table that is kept true; nobody may change them any more. */
  unwatch(of: Relation & { readonly relation: string }, rows: Tuples): void {
    this.#unwatched.add(of, rows);
  }

  /** A change can concern conclusions of these relations. */
  doubt(relations: ReadonlySet<string>): void {
    for (const relation of this.#unwatched.among(relations)) this.#inDoubt.add(relation);
  }

  get hasUnwatched(): boolean {
    return !this.#unwatched.isEmpty;
  }

  /** The rows in doubt, which are forgotten here; null where they are too many to look at. */
  takeDoubtful(): Candidates[] | null {
    if (this.#inDoubt.size === 0) return [];
    const taken = this.#unwatched.take(this.#inDoubt);
    this.#inDoubt.clear();
    if (taken.reduce((sum, { rows }) => sum + rows.live, 0) > mostInDoubt) return null;
    return taken.map((each) => ({ ...each, isCertain: true }));
  }

  /** Until its end nothing that came with its change is told by anyone else. */
  hold(version: number): Hold {
    const hold = { version };
    this.#holds.add(hold);
    return hold;
  }

  /** The end of it, with what was reported. */
  release(hold: Hold, claim: Omit<Claim, 'version'> | null): void {
    this.#holds.delete(hold);
    if (claim !== null) this.#claims.push({ version: hold.version, ...claim });
  }

  /** Takes the batches that came up to this version and that nobody holds back. */
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

  /** Forgets what was kept for telling of changes up to this version. */
  forgetThrough(version: number): void {
    let end = Math.min(version, this.#held - 1);
    for (const { from } of this.#batches) end = Math.min(end, from);
    this.#claims = this.#claims.filter((claim) => claim.version > end);
    this.#noted = this.#noted.filter((noted) => noted.version > end);
  }

  /** Forgets the rows that are watched by nobody: there is no room for them. */
  evict(): void {
    this.#unwatched.clear();
    this.#inDoubt.clear();
  }
}
