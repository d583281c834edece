import { compareText } from '../base/text-order.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { Dictionary } from '../store/dictionary.ts';

/** Terms that are newer than the order are looked at one by one; past so many, or so much of all, it is made anew. */
const MIN_NEW = 4096;
const SHARE_OF_NEW = 0.25;
/** Most terms with a prefix that are looked at. */
const MAX_LOOKED = 4096;

/**
 * The terms of a dictionary by code point, to find those that begin with a prefix.
 *
 * The order is made when it is first asked for, in slices, and again once many terms are new.
 */
export class SortedTerms {
  readonly #terms: Dictionary;
  #order: Int32Array = new Int32Array(0);

  constructor(terms: Dictionary) {
    this.#terms = terms;
  }

  get bytes(): number {
    return this.#order.byteLength;
  }

  /** Numbers of terms that begin with the prefix, at most some thousands. */
  async startingWith(prefix: string, pacer: Pacer): Promise<number[]> {
    const newest = this.#terms.size - this.#order.length;
    if (newest > Math.max(MIN_NEW, SHARE_OF_NEW * this.#order.length)) {
      const { size } = this.#terms;
      const cost = { work: 0, longest: 0 };
      this.#order = await sortedOrder(size, (left, right) => this.#terms.compare(left, right), pacer, cost);
    }
    const order = this.#order;
    const found: number[] = [];
    for (let at = firstFrom(order, (term) => compareText(this.#terms.text(term), prefix) >= 0); ; at++) {
      const term = order[at];
      if (term === undefined || found.length === MAX_LOOKED) break;
      if (!this.#terms.text(term).startsWith(prefix)) break;
      found.push(term);
    }
    for (let term = order.length; term < this.#terms.size && found.length < MAX_LOOKED; term++)
      if (this.#terms.text(term).startsWith(prefix)) found.push(term);
    return found;
  }
}

/** The first place of a sorted list from which on a test is true; its length if it is true of none. */
function firstFrom(order: Int32Array, isReached: (value: number) => boolean): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(order[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}
