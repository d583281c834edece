import { assert, present } from '../base/assert.ts';
import type { FactRow, FactStore } from './fact-store.ts';
import { breakdown, type SalienceBreakdown, salienceOf, type Uses } from './salience.ts';
import { SalienceBounds } from './salience-bounds.ts';
import { UseColumns } from './use-columns.ts';

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
  readonly #uses = new UseColumns();
  /** While a moment is pinned: what has changed since, as it was then; null: no use had been noted. */
  #before: Map<number, Uses | null> | null = null;
  #bounds: SalienceBounds | null = null;

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** What is known of the saliences of many facts at once, kept from the first time that it is asked for. */
  get bounds(): SalienceBounds {
    this.#bounds ??= new SalienceBounds(this.#facts);
    return this.#bounds;
  }

  /** Notes one use. `assertedAt` is the time of the fact's assertion, its first use. */
  note(fact: FactRow, assertedAt: number, time: number): void {
    this.#note(numberOf(fact), assertedAt, time);
  }

  /** Notes one more use of each of the facts with these numbers, all of which have uses that were noted. */
  noteAgain(numbers: readonly number[], time: number): void {
    for (const number of numbers) {
      assert(this.#uses.has(number), 'a fact that is used again was used');
      this.#note(number, time, time);
    }
  }

  #note(number: number, assertedAt: number, time: number): void {
    this.version++;
    this.#keep(number);
    this.#uses.note(number, assertedAt, time);
    if (this.#bounds === null) return;
    const newest = this.#facts.versionOf(number);
    if (newest.row < 0) return;
    this.#bounds.used(newest, this.of(newest, assertedAt), time, this.#facts.metadataOf(newest));
  }

  /** Forgets the uses of a fact that was retracted. */
  drop(fact: FactRow): void {
    this.version++;
    const number = numberOf(fact);
    this.#keep(number);
    this.#uses.delete(number);
  }

  /** True where uses of the fact with this number beyond its assertion have been noted. */
  isNoted(number: number): boolean {
    return this.#uses.has(number);
  }

  of(fact: FactRow, assertedAt: number): Uses {
    return this.#uses.get(numberOf(fact)) ?? { count: 1, first: assertedAt, latest: [assertedAt] };
  }

  /** How many facts have uses that were noted. */
  get count(): number {
    return this.#uses.count;
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
    return before === undefined ? this.#uses.get(number) : before;
  }

  /** Takes over the uses of the fact with this number, before anybody has asked for `bounds`. */
  restore(number: number, uses: Uses): void {
    this.#uses.set(number, uses);
  }

  /** S of the fact at the time `now`: see `breakdown`. */
  salienceOf(fact: FactRow, assertedAt: number, now: number): number {
    return salienceOf(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }

  salience(fact: FactRow, assertedAt: number, now: number): SalienceBreakdown {
    return breakdown(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }

  #keep(number: number): void {
    if (this.#before === null || this.#before.has(number)) return;
    this.#before.set(number, this.#uses.get(number));
  }
}

function numberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}
