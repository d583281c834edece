/**
 * Hashing of ids. Ids are small consecutive numbers, so every step mixes fully: with a cheaper hash that
 * preserves locality, linear probing is slower by an order of magnitude.
 */

/** Folds the id into the hash. */
export function fold(hash: number, id: number): number {
  const mixed = Math.imul(hash ^ id, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** The final mix (the finalizer of MurmurHash3): every input bit affects every output bit. */
export function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The initial hash. */
export const hashSeed = 0x2545f491;

/**
 * An open-addressing hash table of numbers that refer to entries of a list or of columns.
 *
 * Each number has a byte of its hash beside it, so a probe scans bytes, many in one cache line, and entries
 * are compared only if the byte matches: needlessly in one of 128 cases. That allows a load of three
 * quarters. Numbers are never removed. The owner knows what they refer to and when two entries are equal, and
 * rebuilds the table when it is full.
 */
export class HashSlots {
  /** 0: empty; else the highest seven bits of the hash, with the eighth bit set. */
  readonly #tags: Uint8Array;
  readonly #numbers: Int32Array;
  readonly #most: number;
  #count = 0;

  /** Makes room for at least `room` numbers. */
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

  /** Number of entries. */
  get count(): number {
    return this.#count;
  }

  /** How many more can be added. */
  get room(): number {
    return this.#most - this.#count;
  }

  /** True if no more can be added. */
  get isFull(): boolean {
    return this.#count === this.#most;
  }

  /**
   * The first slot whose number may have this hash; negative if there is none, as an argument for `put`. The
   * hash must be finished.
   */
  first(hash: number): number {
    return this.#probe(hash & (this.#tags.length - 1), (hash >>> 25) | 0x80);
  }

  /** The next such slot after this one. */
  next(slot: number, hash: number): number {
    return this.#probe((slot + 1) & (this.#tags.length - 1), (hash >>> 25) | 0x80);
  }

  /**
   * Reads what the search for each of these hashes reads first, and writes the numbers found there, 0 for
   * none. This finds nothing, but the CPU fetches the cache lines of many hashes at once, while one search
   * after another would wait for each.
   */
  fetch(hashes: Int32Array, count: number, numbers: Int32Array): void {
    const tags = this.#tags;
    const all = this.#numbers;
    const mask = tags.length - 1;
    for (let at = 0; at < count; at++) {
      const slot = (hashes[at] as number) & mask;
      // The highest bit marks a used slot; a branch here would stall.
      numbers[at] = (all[slot] as number) & -((tags[slot] as number) >>> 7);
    }
  }

  number(slot: number): number {
    return this.#numbers[slot] as number;
  }

  /** Replaces the number in this slot by one with the same hash. */
  replace(slot: number, number: number): void {
    this.#numbers[slot] = number;
  }

  /** Adds a number after a search that found none; `missed`: the result of `first` or `next` for its hash. */
  put(missed: number, hash: number, number: number): void {
    this.#tags[~missed] = (hash >>> 25) | 0x80;
    this.#numbers[~missed] = number;
    this.#count++;
  }

  /** Adds a number that is known to be absent. */
  add(hash: number, number: number): void {
    const tags = this.#tags;
    const mask = tags.length - 1;
    let slot = hash & mask;
    while (tags[slot] !== 0) slot = (slot + 1) & mask;
    this.put(~slot, hash, number);
  }

  /** `add` for consecutive numbers from `first` on, with at most `maxBatch` hashes. */
  addAll(hashes: Int32Array, count: number, first: number): void {
    this.fetch(hashes, count, fetched);
    for (let at = 0; at < count; at++) this.add(hashes[at] as number, first + at);
  }

  /** All numbers, unordered. */
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

/** Batch size of look-ups and insertions. */
export const maxBatch = 64;
const fetched = new Int32Array(maxBatch);

function mostOf(slots: number): number {
  return (slots / 4) * 3;
}
