/** Count, sum, mean, least and greatest of numbers, in one pass. */
import type { Measure } from './answer-forms.ts';

/** The numbers added so far. */
export class NumberTally {
  /** Of all values, numbers or not. */
  count = 0;
  numbers = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  #sum = 0;
  // What rounding lost (Neumaier), so that the order of the answers does not show.
  #lost = 0;

  /** Adds a value; null for one that is no number. */
  add(value: number | null): void {
    this.count += 1;
    if (value === null) return;
    this.numbers += 1;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    const sum = this.#sum + value;
    this.#lost += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
  }

  /** Returns a measure; null if no number was added. */
  of(measure: Measure): number | null {
    if (measure === 'count') return this.count;
    if (this.numbers === 0) return null;
    if (measure === 'min') return this.min;
    if (measure === 'max') return this.max;
    const sum = this.#sum + this.#lost;
    return measure === 'sum' ? sum : sum / this.numbers;
  }
}
