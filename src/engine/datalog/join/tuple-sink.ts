import type { StoredRelation } from '../../store/stored-relation.ts';
import type { TupleBatch } from '../../store/tuple-batch.ts';
import { type Derived, phases, type Support, type Work } from '../model/derived.ts';
import type { Justifications } from '../model/justifications.ts';
import type { Seen } from '../model/observer.ts';
import type { Tally } from '../model/rule-tallies.ts';

/**
 * What a machine concludes: a tuple for its target from every match, with the justification of those that are new.
 *
 * Matches are gathered and put into the target many at a time: a target that is larger than the processor's caches then
 * answers for several tuples in the time of one. Nobody notices, since a join looks at no row that came after it began,
 * and what it revives is joined again. Where heights count or someone watches, each match is put in at once.
 */
export interface Emission {
  readonly target: Derived;
  readonly registers: readonly number[];
  /** Added to the greatest height of the premises: 1 for a rule, 0 for a step that proofs do not show. */
  readonly heightIncrement: number;
  /** Counts the tuples that were new; null where nobody asks. */
  readonly tally: Tally | null;
  /** Told of every match, where an observer watches. */
  readonly seen: Seen | null;
}

/** What the rows of a step are premises as: rows of a kept relation, or stored facts. */
export type Premises =
  | { readonly kind: 'derived'; readonly support: Support }
  | { readonly kind: 'stored'; readonly relation: StoredRelation };

/** What an emitter needs to know of a step of its machine. */
interface PremiseStep {
  readonly height: number;
  readonly place: number;
  readonly premises: Premises | null;
}

export interface TupleSinkParts {
  readonly steps: readonly PremiseStep[];
  readonly emission: Emission;
  readonly work: Work;
  /** Where the target's rows are justified. */
  readonly justifications: Justifications;
  /** One match for a row of the delta is enough: who looks for it is to know at once that there is one. */
  readonly once: boolean;
  /** Where matches are gathered; everyone's who does not wait between `take` and `flush`. */
  readonly batch: TupleBatch;
}

/** Puts a tuple into a derived relation, and the relation on the work list where that is news. */
export function put(target: Derived, tuple: Int32Array, height: number, work: Work): boolean {
  const row = target.rows.insert(tuple, height);
  if (row >= 0) work.add(target, phases.join);
  return row >= 0;
}

export class TupleSink {
  readonly #parts: TupleSinkParts;
  readonly #batch: TupleBatch;
  readonly #tuple: Int32Array;
  readonly #isGathering: boolean;
  /** Registers of the tuple, then those of the rows that it rests on. */
  #from: Int32Array;
  #premises: Premises[] = [];

  constructor(parts: TupleSinkParts) {
    const { target, registers, seen } = parts.emission;
    this.#parts = parts;
    this.#batch = parts.batch;
    this.#tuple = new Int32Array(registers.length);
    this.#from = Int32Array.from(registers);
    this.#isGathering = !parts.once && seen === null && target.rows.heights === null;
  }

  /** To be called when the steps were bound to another reader: what they stand on may be another relation. */
  bind(): void {
    const { steps, emission } = this.#parts;
    const places = [...emission.registers];
    this.#premises = [];
    if (emission.target.support !== null)
      for (const { place, premises } of steps)
        if (premises !== null) {
          places.push(place);
          this.#premises.push(premises);
        }
    this.#from = Int32Array.from(places);
  }

  /** Takes the match that the registers hold. */
  take(registers: Int32Array): void {
    if (!this.#isGathering) this.#putNow(registers);
    else if (this.#batch.take(registers, this.#from)) this.flush();
  }

  /** Puts into the target what was gathered. */
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
        this.#tell(support);
      }
    }
    batch.count = 0;
  }

  /** As `insertInto`, for a target some of whose rows are dead: these may come back. */
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
        this.#tell(support);
      }
    } else if (rows.improved >= 0) this.#improve(target, rows.improved, batch.values, tuple.length);
    if (seen !== null) seen(tuple, row >= 0);
  }

  /** A row that was there has come back, or has a lesser height. */
  #improve(target: Derived, row: number, values: Int32Array, premises: number): void {
    const { work } = this.#parts;
    const { rows, support } = target;
    if (support !== null) {
      if (rows.hasRisen) support.noteRederived(row);
      this.#justify(support, row, values, premises);
      // The height of an aggregate is that of its rows: watchers are told when those change too.
      if (support.watchers.length > 0 && (rows.hasRisen || rows.heights !== null))
        support.rederived.push(row);
      this.#tell(support);
    }
    if (row >= target.claimed) return;
    target.again.push(row);
    work.add(target, phases.join);
  }

  /** The levels above hear of what is new where someone watches. */
  #tell(support: Support): void {
    if (support.watchers.length > 0) this.#parts.work.add(support.derived, phases.tell);
  }

  /** The row rests on the rows that stand in `values` from `at` on. */
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
