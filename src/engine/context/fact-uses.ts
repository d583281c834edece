import { assert, present } from '../base/assert.ts';
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
  /** While a moment is pinned: what has changed since, as it was then; null: no use had been noted. */
  #before: Map<number, Uses | null> | null = null;

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** Notes one use. `assertedAt` is the time of the fact's assertion, its first use. */
  note(fact: FactRow, assertedAt: number, time: number): void {
    this.version++;
    this.#keep(numberOf(fact));
    this.#uses.set(numberOf(fact), used(this.of(fact, assertedAt), time));
  }

  /** Forgets the uses of a fact that was retracted. */
  drop(fact: FactRow): void {
    this.version++;
    this.#keep(numberOf(fact));
    this.#uses.delete(numberOf(fact));
  }

  of(fact: FactRow, assertedAt: number): Uses {
    return this.#uses.get(numberOf(fact)) ?? { count: 1, first: assertedAt, latest: [assertedAt] };
  }

  /** How many facts have uses that were noted. */
  get count(): number {
    return this.#uses.size;
  }

  /** Keeps the uses as they are now to be read with `pinnedOf`, until `unpin`. One moment at a time. */
  pin(): void {
    assert(this.#before === null, 'one moment is pinned at a time');
    this.#before = new Map();
  }

  unpin(): void {
    this.#before = null;
  }

  /** The uses that had been noted of the fact with this number at the pinned moment, or null. */
  pinnedOf(number: number): Uses | null {
    const before = present(this.#before, 'a moment is pinned').get(number);
    return before === undefined ? (this.#uses.get(number) ?? null) : before;
  }

  /** Takes over the uses of the fact with this number. */
  restore(number: number, uses: Uses): void {
    this.#uses.set(number, uses);
  }

  salience(fact: FactRow, assertedAt: number, now: number): SalienceBreakdown {
    return breakdown(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }

  #keep(number: number): void {
    if (this.#before === null || this.#before.has(number)) return;
    this.#before.set(number, this.#uses.get(number) ?? null);
  }
}

function numberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}
