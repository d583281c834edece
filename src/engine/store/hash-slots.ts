/**
 * Open addressing of numbers by hash: where in a list, or in columns, the one that is looked for may lie.
 *
 * Beside each number stands a byte of its hash, so a probe goes from byte to byte, many of them in one line of the
 * processor's cache, and what a number stands for is compared only where the byte agrees: one in 128 times without
 * need. That allows three quarters of the slots to be taken. Numbers are never taken out. What they stand for, and when
 * two are equal, is their owner's business; so is putting them in again when the slots are too few.
 */
export class HashSlots {
  /** 0: empty; else the highest seven bits of the hash, and the eighth to say that it is taken. */
  readonly #tags: Uint8Array;
  readonly #numbers: Int32Array;
  readonly #most: number;
  #count = 0;

  /** With room for at least so many. */
  constructor(room: number) {
    let slots = 16;
    while (mostOf(slots) < room) slots *= 2;
    this.#tags = new Uint8Array(slots);
    this.#numbers = new Int32Array(slots);
    this.#most = mostOf(slots);
  }

  get bytes(): number {
    return this.#tags.byteLength + this.#numbers.byteLength;
  }

  /** Numbers that are in. */
  get count(): number {
    return this.#count;
  }

  /** True where nothing more can be put in. */
  get isFull(): boolean {
    return this.#count === this.#most;
  }

  /** The first slot whose number may have this hash; below 0 where there is none: for `put`. The hash is finished. */
  first(hash: number): number {
    return this.#probe(hash & (this.#tags.length - 1), (hash >>> 25) | 0x80);
  }

  /** The next slot after this one, as `first`. */
  next(slot: number, hash: number): number {
    return this.#probe((slot + 1) & (this.#tags.length - 1), (hash >>> 25) | 0x80);
  }

  /**
   * Reads what the search for each of these hashes reads first, and gives the numbers that stand there, 0 where none does.
   * Nothing is found by it, but the processor fetches what is not in its cache for many hashes at once, where one search
   * after the other waits for each.
   */
  fetch(hashes: Int32Array, count: number, numbers: Int32Array): void {
    const tags = this.#tags;
    const all = this.#numbers;
    const mask = tags.length - 1;
    for (let at = 0; at < count; at++) {
      const slot = (hashes[at] as number) & mask;
      // The highest bit says that the slot is taken; a branch here would be waited for.
      numbers[at] = (all[slot] as number) & -((tags[slot] as number) >>> 7);
    }
  }

  number(slot: number): number {
    return this.#numbers[slot] as number;
  }

  /** Puts a number in the place of the one in this slot, whose hash it shares. */
  replace(slot: number, number: number): void {
    this.#numbers[slot] = number;
  }

  /** Puts in a number where none was found: `missed` is what `first` or `next` gave for its hash. */
  put(missed: number, hash: number, number: number): void {
    this.#tags[~missed] = (hash >>> 25) | 0x80;
    this.#numbers[~missed] = number;
    this.#count++;
  }

  /** Puts in a number that is known not to be in. */
  add(hash: number, number: number): void {
    const tags = this.#tags;
    const mask = tags.length - 1;
    let slot = hash & mask;
    while (tags[slot] !== 0) slot = (slot + 1) & mask;
    this.put(~slot, hash, number);
  }

  /** As `add` for numbers one after the other, `first` and those after it: the hashes of at most `mostTogether`. */
  addAll(hashes: Int32Array, count: number, first: number): void {
    this.fetch(hashes, count, fetched);
    for (let at = 0; at < count; at++) this.add(hashes[at] as number, first + at);
  }

  /** All numbers, in no order. */
  forEach(see: (number: number) => void): void {
    for (let slot = 0; slot < this.#tags.length; slot++)
      if (this.#tags[slot] !== 0) see(this.#numbers[slot] as number);
  }

  #probe(from: number, tag: number): number {
    const tags = this.#tags;
    const mask = tags.length - 1;
    for (let slot = from; ; slot = (slot + 1) & mask) {
      const found = tags[slot];
      if (found === tag) return slot;
      if (found === 0) return ~slot;
    }
  }
}

/** So many hashes are looked for, or put in, together. */
export const mostTogether = 64;
const fetched = new Int32Array(mostTogether);

function mostOf(slots: number): number {
  return (slots / 4) * 3;
}
