import { numberText } from '../../language/arithmetic.ts';
import type { EncodedTexts } from '../../store/dictionary.ts';

/** Numbers that it takes at once. */
const maxNumbers = 1024;
/** No double has a longer text. */
const maxLength = 25;
const minus = 0x2d;
const zero = 0x30;

/** The texts of numbers, some at a time, as UTF-8 to be looked up: those of `numberText`, with no string for an integer. */
export class Numerals implements EncodedTexts {
  readonly bytes = new Uint8Array(maxNumbers * maxLength);
  readonly ends = new Int32Array(maxNumbers);
  /** By text, the index of its number. */
  readonly indexes = new Int32Array(maxNumbers);
  count = 0;

  /** Writes the texts of the finite numbers from index `from` on, as many as there is room for. Returns the next index. */
  take(numbers: Float64Array, from: number): number {
    const { ends, indexes } = this;
    let end = 0;
    let count = 0;
    let at = from;
    for (; at < numbers.length && count < maxNumbers; at++) {
      const number = numbers[at] as number;
      if (Number.isSafeInteger(number)) end = this.#writeInteger(number, end);
      else if (Number.isFinite(number)) end = this.#writeText(number, end);
      else continue;
      ends[count] = end;
      indexes[count++] = at;
    }
    this.count = count;
    return at;
  }

  /**
   * Writes the ids of the texts, plus `offset`, at the indexes of their numbers. Keeps the texts whose id is negative, moved to
   * the front.
   */
  give(found: Int32Array, ids: Int32Array, offset = 0): void {
    const { bytes, ends, indexes } = this;
    let count = 0;
    let end = 0;
    for (let at = 0, start = 0; at < this.count; at++) {
      const stop = ends[at] as number;
      if ((found[at] as number) >= 0) ids[indexes[at] as number] = (found[at] as number) + offset;
      else {
        for (let from = start; from < stop; from++) bytes[end++] = bytes[from] as number;
        ends[count] = end;
        indexes[count++] = indexes[at] as number;
      }
      start = stop;
    }
    this.count = count;
  }

  /** Returns the end. */
  #writeInteger(number: number, start: number): number {
    const { bytes } = this;
    let rest = Math.abs(number);
    let end = number < 0 ? start + 1 : start;
    if (number < 0) bytes[start] = minus;
    let bound = 10;
    for (end++; rest >= bound; bound *= 10) end++;
    for (let at = end - 1; at >= start + (number < 0 ? 1 : 0); at--) {
      const tenth = Math.floor(rest / 10);
      bytes[at] = zero + (rest - tenth * 10);
      rest = tenth;
    }
    return end;
  }

  #writeText(number: number, start: number): number {
    const text = numberText(number) ?? '';
    for (let at = 0; at < text.length; at++) this.bytes[start + at] = text.charCodeAt(at);
    return start + text.length;
  }
}
