/** Numbers of one page: 32,768 of them are 4 KiB. */
const pageBits = 15;
const wordsInPage = 1 << (pageBits - 5);
const pageMask = (1 << pageBits) - 1;

/**
 * A set of whole numbers below 2^31, such as numbers of facts, as pages of bits. A JavaScript Set of millions is copied as a whole,
 * in one turn, each time it outgrows its table.
 */
export class NumberSet {
  readonly #pages: (Uint32Array | undefined)[] = [];
  #size = 0;
  #pageCount = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#pageCount * wordsInPage * 4 + this.#pages.length * 8;
  }

  has(number: number): boolean {
    const page = this.#pages[number >>> pageBits];
    return page !== undefined && ((page[(number & pageMask) >>> 5] as number) & (1 << (number & 31))) !== 0;
  }

  /** True if it was not there. */
  add(number: number): boolean {
    if (this.has(number)) return false;
    const page = (this.#pages[number >>> pageBits] ??= this.#newPage(number >>> pageBits));
    const word = (number & pageMask) >>> 5;
    page[word] = (page[word] as number) | (1 << (number & 31));
    this.#size++;
    return true;
  }

  /** True if it was there. */
  delete(number: number): boolean {
    if (!this.has(number)) return false;
    const page = this.#pages[number >>> pageBits] as Uint32Array;
    const word = (number & pageMask) >>> 5;
    page[word] = (page[word] as number) & ~(1 << (number & 31));
    this.#size--;
    return true;
  }

  clear(): void {
    this.#pages.length = 0;
    this.#size = 0;
    this.#pageCount = 0;
  }

  /** The numbers, ascending. */
  toArray(): Int32Array {
    const numbers = new Int32Array(this.#size);
    let at = 0;
    for (const [page, words] of this.#pages.entries())
      for (const [word, bits] of words?.entries() ?? [])
        for (let left = bits; left !== 0; left &= left - 1) {
          // The place of the lowest bit.
          const bit = 31 - Math.clz32(left & -left);
          numbers[at++] = (page << pageBits) + (word << 5) + bit;
        }
    return numbers;
  }

  #newPage(at: number): Uint32Array {
    // Without holes, so that the list stays an array.
    while (this.#pages.length < at) this.#pages.push(undefined);
    this.#pageCount++;
    return new Uint32Array(wordsInPage);
  }
}
