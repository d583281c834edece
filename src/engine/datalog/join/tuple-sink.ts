import type { StoredRelation } from '../../store/stored-relation.ts';
import type { TupleBatch } from '../../store/tuples.ts';
import { type Derived, phases, type Support, type Work } from '../model/derived.ts';
import type { Justifications } from '../model/justifications.ts';
import type { Seen } from '../model/observer.ts';
import type { Tally } from '../model/rule-tallies.ts';

/** The conclusion of a machine. */
export interface Emission {
  readonly target: Derived;
  readonly registers: readonly number[];
  /** Added to the greatest height of the premises: 1 for a rule, 0 for a step that proofs do not show. */
  readonly heightIncrement: number;
  /** Counts the new tuples; null if they are not counted. */
  readonly tally: Tally | null;
  /** Called for every match, if there is an observer. */
  readonly seen: Seen | null;
}

/** The relation of a step's rows as premises: a maintained relation, or stored facts. */
export type Premises =
  | { readonly kind: 'derived'; readonly support: Support }
  | { readonly kind: 'stored'; readonly relation: StoredRelation };

/** What a sink needs to know of a step. */
interface PremiseStep {
  readonly height: number;
  readonly rowRegister: number;
  readonly premises: Premises | null;
}

/** What a sink is made of. */
export interface TupleSinkParts {
  readonly steps: readonly PremiseStep[];
  readonly emission: Emission;
  readonly work: Work;
  /** The justifications of the target's rows. */
  readonly justifications: Justifications;
  /** True if one match per row of the delta is enough; the caller must know at once. */
  readonly once: boolean;
  /** Buffer for matches, shared by all sinks: none waits between `take` and `flush`. */
  readonly batch: TupleBatch;
}

/** Adds a tuple to a derived relation, and queues the relation if the tuple is new. True if it is. */
export function put(target: Derived, tuple: Int32Array, height: number, work: Work): boolean {
  const row = target.rows.insert(tuple, height);
  if (row >= 0) work.add(target, phases.join);
  return row >= 0;
}

/**
 * Adds the conclusions of a machine to their target: a tuple for every match, with a justification for each
 * new tuple.
 *
 * Matches are buffered and inserted in batches, since with a target larger than the CPU caches several
 * look-ups take the time of one. The delay is not observable: a join reads no row added after it began, and
 * revived rows are joined again. With heights or an observer, each match is inserted at once.
 */
export class TupleSink {
  readonly #parts: TupleSinkParts;
  readonly #batch: TupleBatch;
  readonly #tuple: Int32Array;
  readonly #isBuffering: boolean;
  /** Registers of the tuple, then those of its premise rows. */
  #from: Int32Array;
  #premises: Premises[] = [];

  constructor(parts: TupleSinkParts) {
    const { target, registers, seen } = parts.emission;
    this.#parts = parts;
    this.#batch = parts.batch;
    this.#tuple = new Int32Array(registers.length);
    this.#from = Int32Array.from(registers);
    this.#isBuffering = !parts.once && seen === null && target.rows.heights === null;
  }

  /** Called after the steps were bound to another reader, whose relations may differ. */
  bind(): void {
    const { steps, emission } = this.#parts;
    const registers = [...emission.registers];
    this.#premises = [];
    if (emission.target.support !== null)
      for (const { rowRegister, premises } of steps)
        if (premises !== null) {
          registers.push(rowRegister);
          this.#premises.push(premises);
        }
    this.#from = Int32Array.from(registers);
  }

  /** Takes the match that is in the registers. */
  take(registers: Int32Array): void {
    if (!this.#isBuffering) this.#putNow(registers);
    else if (this.#batch.take(registers, this.#from)) this.flush();
  }

  /** Inserts the buffered matches into the target. */
  flush(): void {
    const batch = this.#batch;
    if (batch.count === 0) return;
    const { target, tally } = this.#parts.emission;
    const { rows, support } = target;
    const width = this.#from.length;
    const fresh = rows.deadCount === 0 ? batch.insertInto(rows, width) : this.#putEach(width);
    if (fresh > 0) {
      this.#parts.work.add(target, phases.join);
      if (tally !== null) tally.fired += fresh;
      if (support !== null) {
        for (let at = 0; at < batch.count; at++) {
          const row = batch.rows[at] as number;
          if (row >= 0) this.#justify(support, row, batch.values, at * width + rows.arity);
        }
        this.#notify(support);
      }
    }
    batch.count = 0;
  }

  /** Like `insertInto`, for a target with dead rows, which may be revived. */
  #putEach(width: number): number {
    const { values, rows, count } = this.#batch;
    const { target } = this.#parts.emission;
    const tuple = this.#tuple;
    let fresh = 0;
    for (let at = 0; at < count; at++) {
      for (let index = 0; index < tuple.length; index++) tuple[index] = values[at * width + index] as number;
      const row = target.rows.insert(tuple);
      rows[at] = row;
      if (row >= 0) fresh++;
      else if (target.rows.improved >= 0)
        this.#improve(target, target.rows.improved, values, at * width + tuple.length);
    }
    return fresh;
  }

  #putNow(registers: Int32Array): void {
    const { emission, work, steps } = this.#parts;
    const { target, heightIncrement, tally, seen } = emission;
    const { rows, support } = target;
    const batch = this.#batch;
    batch.take(registers, this.#from);
    batch.count = 0;
    const tuple = this.#tuple;
    tuple.set(batch.values.subarray(0, tuple.length));
    let height = 0;
    if (rows.heights !== null) {
      for (let index = 0; index < steps.length; index++)
        height = Math.max(height, (steps[index] as PremiseStep).height);
      height += heightIncrement;
    }
    const row = rows.insert(tuple, height);
    if (row >= 0) {
      work.add(target, phases.join);
      if (tally !== null) tally.fired++;
      if (support !== null) {
        this.#justify(support, row, batch.values, tuple.length);
        this.#notify(support);
      }
    } else if (rows.improved >= 0) this.#improve(target, rows.improved, batch.values, tuple.length);
    if (seen !== null) seen(tuple, row >= 0);
  }

  /** Handles an existing row that was revived or got a lesser height. */
  #improve(target: Derived, row: number, values: Int32Array, premises: number): void {
    const { work } = this.#parts;
    const { rows, support } = target;
    if (support !== null) {
      if (rows.wasRevived) support.noteRederived(row);
      this.#justify(support, row, values, premises);
      // The height of an aggregate is that of its rows, so watchers are also notified when heights change.
      if (support.watchers.length > 0 && (rows.wasRevived || rows.heights !== null))
        support.rederived.push(row);
      this.#notify(support);
    }
    if (row >= target.claimed) return;
    target.again.push(row);
    work.add(target, phases.join);
  }

  /** Queues the notification of higher levels if there are watchers. */
  #notify(support: Support): void {
    if (support.watchers.length > 0) this.#parts.work.add(support.derived, phases.notify);
  }

  /** Justifies the row by the premise rows in `values` from `at` on. */
  #justify(target: Support, row: number, values: Int32Array, at: number): void {
    const { justifications } = this.#parts;
    const premises = this.#premises;
    justifications.begin(target, row);
    for (let index = 0; index < premises.length; index++) {
      const premise = premises[index] as Premises;
      const of = values[at + index] as number;
      if (premise.kind === 'derived') justifications.add(premise.support, of, target, row);
      else justifications.addFact(premise.relation.number[of] as number, target, row);
    }
  }
}
