import type { MemoryMeter } from './memory-meter.ts';

const blockBits = 14;
const blockLength = 1 << blockBits;
const minLength = 16;
const noInts = new Int32Array(0);

/**
 * Integers by index, 0 where none was written, in blocks: growing never copies more than a block. Only the
 * first block starts small, since most owners have few.
 */
export class IntBlocks {
  #blocks: Int32Array[] = [];
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
    return this.#blocks.length <= 1 ? (this.#blocks[0]?.length ?? 0) : this.#blocks.length << blockBits;
  }

  at(index: number): number {
    const block = this.#blocks[index >>> blockBits];
    return block === undefined ? 0 : (block[index & (blockLength - 1)] as number) | 0;
  }

  set(index: number, value: number): void {
    const at = index & (blockLength - 1);
    let block = this.#blocks[index >>> blockBits];
    if (block === undefined || at >= block.length) block = this.#grow(index >>> blockBits, at);
    block[at] = value;
  }

  clear(): void {
    this.#memory?.free(this.#bytes);
    this.#blocks = [];
    this.#bytes = 0;
  }

  #grow(number: number, at: number): Int32Array {
    const blocks = this.#blocks;
    const old = blocks[number] ?? noInts;
    const length = number > 0 ? blockLength : Math.min(blockLength, Math.max(minLength, at * 2));
    this.#memory?.take((length - old.length) * 4);
    while (blocks.length < number) blocks.push(noInts);
    const block = new Int32Array(length);
    block.set(old);
    blocks[number] = block;
    this.#bytes += (length - old.length) * 4;
    return block;
  }
}
