import type { Metadata } from '../contract/facts.ts';
import { Dictionary } from './dictionary.ts';

/**
 * The metadata of the rows of a relation, most of which have none: the JSON of each, interned, and by row its number.
 *
 * An object for each row would take several times the memory. Equal metadata is stored once; like the rows, it goes with
 * the next compaction.
 */
export class MetadataColumn {
  /** The JSON of all; null until a row has metadata. */
  #documents: Dictionary | null = null;
  /** By row, in blocks: the number of its JSON plus one; 0: none. */
  readonly #blocks: (Int32Array | undefined)[] = [];
  #blockBytes = 0;
  /** Values read last, by the lowest bits of their numbers. */
  #cached: ({ readonly number: number; readonly value: Metadata } | undefined)[] | null = null;

  /** The number of rows with metadata. */
  size = 0;

  /** Bytes of memory. */
  get bytes(): number {
    return this.#blockBytes + (this.#documents?.bytes ?? 0);
  }

  /** The metadata of the row, which is not to be changed; undefined: it has none. */
  get(row: number): Metadata | undefined {
    const number = this.#numberOf(row);
    if (number < 0) return undefined;
    this.#cached ??= Array.from({ length: cachedValues }, () => undefined);
    const known = this.#cached[number % cachedValues];
    if (known?.number === number) return known.value;
    const value = JSON.parse(this.#dictionary.text(number)) as Metadata;
    this.#cached[number % cachedValues] = { number, value };
    return value;
  }

  has(row: number): boolean {
    return this.#numberOf(row) >= 0;
  }

  /** The JSON of the row's metadata, which it must have, as UTF-8; read-only. */
  jsonOf(row: number): Uint8Array {
    return this.#dictionary.utf8(this.#numberOf(row));
  }

  /** The rows with metadata, ascending. */
  *keys(): Generator<number> {
    for (const [at, block] of this.#blocks.entries()) {
      if (block === undefined) continue;
      for (let index = 0; index < block.length; index++)
        if (block[index] !== 0) yield (at << blockBits) + index;
    }
  }

  /** Sets the metadata of a row that has none. */
  set(row: number, metadata: Metadata): void {
    this.#put(row, this.#dictionary.intern(JSON.stringify(metadata)));
  }

  /** `set` for metadata as JSON.stringify has it: these bytes of UTF-8. */
  setJson(row: number, bytes: Uint8Array, start: number, end: number): void {
    this.#put(row, this.#dictionary.internUtf8(bytes, start, end));
  }

  /** Gives a row that has none the metadata of a row of another column, if that has any. */
  copy(row: number, from: MetadataColumn, other: number): void {
    if (!from.has(other)) return;
    const json = from.jsonOf(other);
    this.setJson(row, json, 0, json.length);
  }

  get #dictionary(): Dictionary {
    return (this.#documents ??= new Dictionary());
  }

  #numberOf(row: number): number {
    return (this.#blocks[row >>> blockBits]?.[row & (blockLength - 1)] ?? 0) - 1;
  }

  #put(row: number, number: number): void {
    const [at, index] = [row >>> blockBits, row & (blockLength - 1)];
    // Without holes, so that the list stays an array.
    while (this.#blocks.length <= at) this.#blocks.push(undefined);
    let block = this.#blocks[at];
    if (block === undefined || index >= block.length) {
      let room = minBlock;
      while (room <= index) room *= 2;
      const larger = new Int32Array(room);
      if (block !== undefined) larger.set(block);
      this.#blockBytes += larger.byteLength - (block?.byteLength ?? 0);
      this.#blocks[at] = block = larger;
    }
    if (block[index] === 0) this.size++;
    block[index] = number + 1;
  }
}

const blockBits = 12;
const blockLength = 1 << blockBits;
const minBlock = 16;
const cachedValues = 512;
