import { nextCapacityOf } from './enlarging.ts';
import type { MemoryMeter } from './memory-meter.ts';

const blockBits = 20;
const blockLength = 1 << blockBits;
const noInts = new Int32Array(0);

/**
 * Integers by index, 0 where none was written, in blocks of a million: growing never copies more than that.
 * Only the first block starts small, since most owners have few.
 */
export class IntBlocks {
  #first: Int32Array = noInts;
  /** The blocks after the first. */
  #others: Int32Array[] = [];
  #bytes = 0;
  readonly #memory: MemoryMeter | null;

  /** `memory`: what it asks before it grows. */
  constructor(memory: MemoryMeter | null) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Every index from here on is 0. */
  get length(): number {
    return this.#others.length === 0 ? this.#first.length : (this.#others.length + 1) << blockBits;
  }

  at(index: number): number {
    const first = this.#first;
    return index < first.length ? (first[index] as number) : this.#atOther(index);
  }

  set(index: number, value: number): void {
    const first = this.#first;
    if (index < first.length) first[index] = value;
    else this.#setOther(index, value);
  }

  #atOther(index: number): number {
    const block = this.#others[(index >>> blockBits) - 1];
    return block === undefined || block.length === 0 ? 0 : (block[index & (blockLength - 1)] as number);
  }

  #setOther(index: number, value: number): void {
    const number = index >>> blockBits;
    if (number === 0) {
      this.#first = this.#grown(this.#first, Math.min(blockLength, nextCapacityOf(index)));
      this.#first[index] = value;
      return;
    }
    const others = this.#others;
    while (others.length < number) others.push(noInts);
    let block = others[number - 1] as Int32Array;
    if (block.length === 0) others[number - 1] = block = this.#grown(noInts, blockLength);
    block[index & (blockLength - 1)] = value;
  }

  #grown(old: Int32Array, length: number): Int32Array {
    const bytes = length * 4 - old.byteLength;
    this.#memory?.take(bytes);
    const block = new Int32Array(length);
    block.set(old);
    this.#bytes += bytes;
    return block;
  }

  clear(): void {
    this.#memory?.free(this.#bytes);
    this.#first = noInts;
    this.#others = [];
    this.#bytes = 0;
  }
}
