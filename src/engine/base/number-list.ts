/** So many numbers are in an array: most lists are short. */
const maxFirst = 1024;
/** Numbers of one later part: 64 KiB. */
const partBits = 14;
const partMask = (1 << partBits) - 1;

/** What a list and an array of numbers have in common. */
export interface Numbers {
  readonly length: number;
  /** The number at this place; undefined: there is none. */
  at(place: number): number | undefined;
  forEach(each: (number: number) => void): void;
}

/**
 * A list of whole numbers below 2^31, in parts. A JavaScript array of millions is copied as a whole, in one turn,
 * each time it outgrows its memory.
 */
export class NumberList implements Numbers {
  #length = 0;
  readonly #first: number[] = [];
  readonly #parts: Int32Array[] = [];

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    const at = this.#length++ - maxFirst;
    if (at < 0) {
      this.#first.push(number);
      return;
    }
    const part = (this.#parts[at >>> partBits] ??= new Int32Array(partMask + 1));
    part[at & partMask] = number;
  }

  /** The number at this place, which must be there. */
  at(place: number): number {
    const at = place - maxFirst;
    if (at < 0) return this.#first[place] as number;
    return (this.#parts[at >>> partBits] as Int32Array)[at & partMask] as number;
  }

  /** Takes the last one away; undefined: there is none. */
  pop(): number | undefined {
    if (this.#length === 0) return undefined;
    const last = this.at(--this.#length);
    if (this.#length < maxFirst) this.#first.pop();
    return last;
  }

  forEach(each: (number: number) => void): void {
    for (const number of this.#first) each(number);
    let left = this.#length - maxFirst;
    for (const part of this.#parts) {
      for (let at = 0; at < Math.min(left, part.length); at++) each(part[at] as number);
      left -= part.length;
    }
  }
}
