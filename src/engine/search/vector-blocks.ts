/** Vectors of a block; a block is written as one record. */
const perBlock = 64;
/** Of a record: the number of its block and the dimensions, four bytes each. */
const headBytes = 8;
const keyBytes = 8;
const scaleBytes = 4;

interface Block {
  /** The whole record, of which the others are views. */
  readonly bytes: Uint8Array;
  readonly keys: Float64Array;
  /** What a step of the vector's bytes stands for; 0: no vector is here. */
  readonly scales: Float32Array;
  readonly vectors: Int8Array;
}

/**
 * Unit vectors by the key of their text, each number in a byte: the largest of a vector is 127 steps.
 *
 * A vector has a slot, which is used again once the vector was removed. Blocks of vectors are the records of a file.
 */
export class VectorBlocks {
  readonly dimensions: number;
  readonly #blocks: Block[] = [];
  readonly #slots = new Map<number, number>();
  #free: number[] = [];
  readonly #changed = new Set<number>();

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  /** The blocks of these records; of two with the same number the later one counts. Other records are left out. */
  static of(dimensions: number, records: readonly Uint8Array[]): VectorBlocks {
    const vectors = new VectorBlocks(dimensions);
    const latest = new Map<number, Uint8Array>();
    for (const record of records) {
      if (record.length !== bytesOfBlock(dimensions)) continue;
      const [number = 0, ofDimensions] = new Uint32Array(record.slice(0, headBytes).buffer);
      if (ofDimensions === dimensions) latest.set(number, record);
    }
    for (const record of latest.values()) vectors.#takeIn(record);
    return vectors;
  }

  /** Number of vectors. */
  get count(): number {
    return this.#slots.size;
  }

  /** Slots are below this. */
  get slots(): number {
    return this.#blocks.length * perBlock;
  }

  get bytes(): number {
    return this.#blocks.length * bytesOfBlock(this.dimensions) + this.#slots.size * bytesOfMapEntry;
  }

  /** The slot of the key's vector; -1: it has none. */
  find(key: number): number {
    return this.#slots.get(key) ?? -1;
  }

  /** Stores a vector of length 1 for a key that has none. Returns its slot. */
  add(key: number, vector: Float32Array): number {
    if (this.#free.length === 0) this.#addBlock();
    const slot = this.#free.pop() as number;
    const { keys, scales, vectors } = this.#blocks[Math.floor(slot / perBlock)] as Block;
    const within = slot % perBlock;
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const from = within * this.dimensions;
    let squares = 0;
    for (let at = 0; at < this.dimensions; at++) {
      const steps = Math.round(((vector[at] as number) * largestByte) / largest);
      vectors[from + at] = steps;
      squares += steps * steps;
    }
    keys[within] = key;
    // What is kept has length 1 again.
    scales[within] = 1 / Math.sqrt(squares);
    this.#slots.set(key, slot);
    this.#changed.add(Math.floor(slot / perBlock));
    return slot;
  }

  /** Removes the vectors of the slots for which `isUsed` is 0. Returns how many. */
  keep(isUsed: Uint8Array): number {
    const before = this.#slots.size;
    for (const [key, slot] of this.#slots) {
      if (isUsed[slot] === 1) continue;
      const { keys, scales, vectors } = this.#blocks[Math.floor(slot / perBlock)] as Block;
      const within = slot % perBlock;
      keys[within] = 0;
      scales[within] = 0;
      vectors.fill(0, within * this.dimensions, (within + 1) * this.dimensions);
      this.#slots.delete(key);
      this.#free.push(slot);
    }
    return before - this.#slots.size;
  }

  /** The cosine of the vector in the slot and a vector of length 1, to within a hundredth. */
  cosine(slot: number, vector: Float32Array): number {
    const { scales, vectors } = this.#blocks[Math.floor(slot / perBlock)] as Block;
    const from = (slot % perBlock) * this.dimensions;
    let sum = 0;
    for (let at = 0; at < vector.length; at++) sum += (vectors[from + at] as number) * (vector[at] as number);
    return sum * (scales[slot % perBlock] as number);
  }

  /** The records of all blocks. */
  records(): Uint8Array[] {
    return this.#blocks.map(({ bytes }) => bytes);
  }

  /** The records of the blocks that have changed since the last call. */
  takeChanged(): Uint8Array[] {
    const changed = Array.from(this.#changed, (number) => (this.#blocks[number] as Block).bytes);
    this.#changed.clear();
    return changed;
  }

  #addBlock(): void {
    const bytes = new Uint8Array(bytesOfBlock(this.dimensions));
    new Uint32Array(bytes.buffer, 0, 2).set([this.#blocks.length, this.dimensions]);
    this.#takeIn(bytes);
  }

  /** Takes in the record of a block under the next number. */
  #takeIn(record: Uint8Array): void {
    const number = this.#blocks.length;
    const bytes = record.byteOffset === 0 ? record : record.slice();
    new Uint32Array(bytes.buffer, 0, 1)[0] = number;
    const scalesAt = headBytes + perBlock * keyBytes;
    const vectorsAt = scalesAt + perBlock * scaleBytes;
    const block = {
      bytes,
      keys: new Float64Array(bytes.buffer, headBytes, perBlock),
      scales: new Float32Array(bytes.buffer, scalesAt, perBlock),
      vectors: new Int8Array(bytes.buffer, vectorsAt, perBlock * this.dimensions),
    };
    this.#blocks.push(block);
    for (let within = perBlock - 1; within >= 0; within--) {
      const [slot, key] = [number * perBlock + within, block.keys[within] as number];
      if (block.scales[within] === 0 || this.#slots.has(key)) this.#free.push(slot);
      else this.#slots.set(key, slot);
    }
  }
}

const largestByte = 127;
/** A number as key and another as value in a Map. */
const bytesOfMapEntry = 40;

function bytesOfBlock(dimensions: number): number {
  return headBytes + perBlock * (keyBytes + scaleBytes + dimensions);
}
