import type { FactRow, FactStore } from '../facts/fact-store.ts';
import { breakdown, type SalienceBreakdown, used, type Uses } from './salience.ts';

/**
 * When the facts of a tenant were used beyond their assertion: observed state, never logged by itself.
 *
 * A use is kept by the number of the fact, so that it outlives updates; a fact that was retracted and asserted
 * again is another one. Most facts are never used again, so only those that were are held.
 */
export class FactUses {
  /** Moves with every change. */
  version = 0;
  readonly #facts: FactStore;
  readonly #uses = new Map<number, Uses>();

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** Notes one use. `assertedAt` is the time of the fact's assertion, its first use. */
  note(fact: FactRow, assertedAt: number, time: number): void {
    this.version++;
    this.#uses.set(numberOf(fact), used(this.of(fact, assertedAt), time));
  }

  /** Forgets the uses of a fact that was retracted. */
  drop(fact: FactRow): void {
    this.version++;
    this.#uses.delete(numberOf(fact));
  }

  of(fact: FactRow, assertedAt: number): Uses {
    return this.#uses.get(numberOf(fact)) ?? { count: 1, first: assertedAt, latest: [assertedAt] };
  }

  salience(fact: FactRow, assertedAt: number, now: number): SalienceBreakdown {
    return breakdown(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }
}

function numberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}
