/** Saved generations to start from: ascending numbers, with their times and requests. */
import { assert } from '../base/assert.ts';
import { TextColumn } from './text-column.ts';

/** Generations that are known before one is added: ascending, their times and requests beside them. */
export interface KnownGenerations {
  readonly numbers: Float64Array;
  readonly times: Float64Array;
  readonly requests: TextColumn;
}

/**
 * When the generations of one database were made, and by which request; in columns, since there may be
 * millions.
 *
 * Generations count up from the one after which this starts (a database that was deleted and created again
 * continues counting), and are only appended. Saving may have left out generations that nothing refers to any
 * more; of all others time and request are known.
 */
export class Generations {
  #numbers: Float64Array;
  #times: Float64Array;
  readonly #requests: TextColumn;
  #count: number;
  #last: number;

  /** `last`: the generation before the next one. */
  constructor(last = 0, known: KnownGenerations | null = null) {
    this.#numbers = known?.numbers ?? new Float64Array(64);
    this.#times = known?.times ?? new Float64Array(64);
    this.#requests = known?.requests ?? new TextColumn();
    this.#count = known?.numbers.length ?? 0;
    this.#last = last;
  }

  /** The newest generation; the one before the first if there is none. */
  get last(): number {
    return this.#last;
  }

  /** Number of known generations. */
  get count(): number {
    return this.#count;
  }

  /** Continues after this generation, if it is later; nothing is known of the skipped ones. */
  skipTo(generation: number): void {
    this.#last = Math.max(this.#last, generation);
  }

  /** Begins the next generation and returns it. */
  advance(time: number, requestId: string): number {
    if (this.#count === this.#numbers.length) {
      const room = Math.max(64, this.#count * 2);
      this.#numbers = enlarged(this.#numbers, room);
      this.#times = enlarged(this.#times, room);
    }
    this.#last++;
    this.#numbers[this.#count] = this.#last;
    this.#times[this.#count] = time;
    this.#requests.add(requestId);
    this.#count++;
    return this.#last;
  }

  /** Epoch milliseconds; 0 for a generation before the first known one, such as that of a new database. */
  timeOf(generation: number): number {
    const index = this.#indexOf(generation);
    return index < 0 ? 0 : (this.#times[index] as number);
  }

  /** '' for a generation before the first known one. */
  requestOf(generation: number): string {
    const index = this.#indexOf(generation);
    return index < 0 ? '' : this.#requests.text(index);
  }

  /** The index of a generation among the known ones, or -1. */
  find(generation: number): number {
    // Nearly always there are no gaps at the end, and no search is needed.
    const dense = this.#count - 1 - (this.#last - generation);
    if (dense >= 0 && this.#numbers[dense] === generation) return dense;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) < generation) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && this.#numbers[low] === generation ? low : -1;
  }

  /** The generation at an index, with its time and the UTF-8 of its request. */
  at(index: number): { readonly generation: number; readonly time: number; readonly request: Uint8Array } {
    assert(index < this.#count, 'an index is below the count');
    const [generation, time] = [this.#numbers[index] as number, this.#times[index] as number];
    return { generation, time, request: this.#requests.utf8(index) };
  }

  /** The index of a generation; -1 for one before the first. */
  #indexOf(generation: number): number {
    const index = this.find(generation);
    const isBefore = this.#count === 0 || generation < (this.#numbers[0] as number);
    assert(index >= 0 || isBefore, 'a generation that is asked for is known');
    return index;
  }
}

function enlarged(from: Float64Array, room: number): Float64Array {
  const to = new Float64Array(room);
  to.set(from);
  return to;
}
