/**
 * The column codec of snapshots: values encoded one after another, and decoded in the same order.
 *
 * Every value begins with a byte for its kind, so that a read of the wrong kind fails at once. Numbers are
 * little-endian on every machine. Encoding and decoding yield between pieces. Writers and readers agree on the order
 * and meaning of the values.
 */
import { assert } from '../../base/assert.ts';
import type { Slices } from '../../base/slices.ts';
import type { Dictionary } from '../../store/dictionary.ts';

const kinds = { json: 1, int32: 2, float64: 3, texts: 4 } as const;

type Kind = keyof typeof kinds;

/** Elements written between two clock checks. */
const elementsInPiece = 16_384;
/** A piece of texts is closed at this many texts or this many bytes. */
const textsInPiece = 2048;
const bytesInPiece = 256 * 1024;
/** Bytes of kind and length. */
const headBytes = 9;

type Column = Int32Array | Float64Array;

/** Encodes values as columns, in slices. */
export class ColumnWriter {
  readonly #slices: Slices;

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /** A small value, as JSON. */
  async *json(value: unknown): AsyncGenerator<Uint8Array> {
    const bytes = encoder.encode(JSON.stringify(value));
    yield head('json', bytes.length);
    yield bytes;
    await this.#slices.breathe();
  }

  /** A column of `count` elements; `fill` fills the given piece with the elements from `from` on. */
  int32(count: number, fill: (piece: Int32Array, from: number) => void): AsyncGenerator<Uint8Array> {
    return this.#column('int32', count, (length) => new Int32Array(length), fill);
  }

  float64(count: number, fill: (piece: Float64Array, from: number) => void): AsyncGenerator<Uint8Array> {
    return this.#column('float64', count, (length) => new Float64Array(length), fill);
  }

  /** Any number of texts, as UTF-8; `count`: how many, 0 if that is not known. */
  async *texts(texts: Iterable<Uint8Array>, count = 0): AsyncGenerator<Uint8Array> {
    yield head('texts', count);
    let piece: Uint8Array[] = [];
    let bytes = 0;
    for (const text of texts) {
      piece.push(text);
      bytes += text.length;
      if (bytes < bytesInPiece && piece.length < textsInPiece) continue;
      yield textsPiece(piece, bytes);
      piece = [];
      bytes = 0;
      await this.#slices.breathe();
    }
    if (piece.length > 0) yield textsPiece(piece, bytes);
    yield textsPiece([], 0);
  }

  /** The texts of these ids, in order: the same bytes as `texts`, copied from where the dictionary has them. */
  async *constants(
    dictionary: Pick<Dictionary, 'sizeOf' | 'encodedOf'>,
    ids: Int32Array,
  ): AsyncGenerator<Uint8Array> {
    yield head('texts', ids.length);
    for (let from = 0; from < ids.length; ) {
      let bytes = 0;
      let end = from;
      while (end < ids.length && end - from < textsInPiece && bytes < bytesInPiece)
        bytes += dictionary.sizeOf(ids[end++] as number);
      const numbers = new Int32Array(2 + end - from);
      numbers.set([end - from, bytes]);
      const piece = new Uint8Array(numbers.byteLength + bytes);
      const ends = numbers.subarray(2);
      dictionary.encodedOf(ids.subarray(from, end), { bytes: piece.subarray(numbers.byteLength), ends });
      piece.set(new Uint8Array(inOrder(numbers).buffer));
      yield piece;
      from = end;
      await this.#slices.breathe();
    }
    yield textsPiece([], 0);
  }

  async *#column<Piece extends Column>(
    kind: Kind,
    count: number,
    make: (length: number) => Piece,
    fill: (piece: Piece, from: number) => void,
  ): AsyncGenerator<Uint8Array> {
    yield head(kind, count);
    for (let from = 0; from < count; from += elementsInPiece) {
      const piece = make(Math.min(elementsInPiece, count - from));
      fill(piece, from);
      const { buffer, byteOffset, byteLength } = inOrder(piece);
      yield new Uint8Array(buffer, byteOffset, byteLength);
      await this.#slices.breathe();
    }
  }
}

/** Reads what a `ColumnWriter` wrote, in the same order. A value of another kind throws. */
export class ColumnReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #slices: Slices;
  #piece: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** Each piece needs to stay valid only until the next one is taken. */
  constructor(pieces: AsyncIterable<Uint8Array>, slices: Slices) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#slices = slices;
  }

  async json(): Promise<unknown> {
    const length = await this.#head('json');
    return JSON.parse(decoder.decode(await this.#bytes(length)));
  }

  async int32(): Promise<Int32Array> {
    return this.#int32(await this.#head('int32'));
  }

  async float64(): Promise<Float64Array> {
    const count = await this.#head('float64');
    return inOrder(new Float64Array((await this.#bytes(count * Float64Array.BYTES_PER_ELEMENT)).buffer));
  }

  /** Calls `visit` with the UTF-8 bytes and index of each text, in order. The bytes are valid until `visit` returns. */
  async texts(visit: (text: Uint8Array, index: number) => void): Promise<void> {
    let index = 0;
    await this.textBlocks({
      expect: () => {},
      addEncoded: ({ bytes, ends }) => {
        let start = 0;
        for (const end of ends) {
          visit(bytes.subarray(start, end), index++);
          start = end;
        }
      },
    });
  }

  /** Reads texts many at a time. The number that `into` is told to expect is 0 if it was not written. */
  async textBlocks(into: Pick<Dictionary, 'expect' | 'addEncoded'>): Promise<void> {
    into.expect(await this.#head('texts'));
    for (;;) {
      const [count = 0, length = 0] = await this.#int32(2);
      if (count === 0) return;
      const ends = await this.#int32(count);
      into.addEncoded({ bytes: await this.#bytes(length), ends });
      await this.#slices.breathe();
    }
  }

  /** True if no bytes are left. */
  async isAtEnd(): Promise<boolean> {
    while (this.#at === this.#piece.length) if (!(await this.#next())) return true;
    return false;
  }

  async #head(kind: Kind): Promise<number> {
    const bytes = await this.#bytes(headBytes);
    assert(bytes[0] === kinds[kind], `a value in columns is ${kind}`);
    return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(1, true));
  }

  /** Copies that many bytes. */
  async #bytes(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#at === this.#piece.length) {
        const isMore = await this.#next();
        assert(isMore, 'a value in columns is whole');
        await this.#slices.breathe();
        continue;
      }
      const part = this.#piece.subarray(this.#at, this.#at + length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#at += part.length;
    }
    return bytes;
  }

  async #int32(count: number): Promise<Int32Array> {
    return inOrder(new Int32Array((await this.#bytes(count * Int32Array.BYTES_PER_ELEMENT)).buffer));
  }

  async #next(): Promise<boolean> {
    const next = await this.#pieces.next();
    if (next.done === true) return false;
    this.#piece = next.value;
    this.#at = 0;
    return true;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The head of a value: its kind, and its length in bytes or elements. */
function head(kind: Kind, length: number): Uint8Array {
  const bytes = new Uint8Array(headBytes);
  bytes[0] = kinds[kind];
  new DataView(bytes.buffer).setBigUint64(1, BigInt(length), true);
  return bytes;
}

/** A piece of texts: their number, total bytes, end offsets, and the bytes. */
function textsPiece(texts: readonly Uint8Array[], bytes: number): Uint8Array {
  const numbers = new Int32Array(2 + texts.length);
  numbers.set([texts.length, bytes]);
  const piece = new Uint8Array(numbers.byteLength + bytes);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    piece.set(text, numbers.byteLength + end);
    end += text.length;
    numbers[index + 2] = end;
  }
  piece.set(new Uint8Array(inOrder(numbers).buffer));
  return piece;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The column in little-endian order; swaps the bytes on a big-endian machine. */
function inOrder<Of extends Column>(column: Of): Of {
  if (isLittleEndian) return column;
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: width } = column;
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  for (let at = 0; at < bytes.length; at += width) bytes.subarray(at, at + width).reverse();
  return column;
}

/** Receives each generation whose time and request the snapshot must keep. */
export type GenerationNeeded = (generation: number) => void;

const marksInSlice = 4096;

/** The indexes marked with 1, ascending. */
export async function markedIndexes(marks: Uint8Array, slices: Slices): Promise<Int32Array> {
  let count = 0;
  for (let from = 0; from < marks.length; from += marksInSlice) {
    const end = Math.min(marks.length, from + marksInSlice);
    for (let index = from; index < end; index++) count += marks[index] as number;
    if (slices.isOver) await slices.pause();
  }
  const indexes = new Int32Array(count);
  let at = 0;
  for (let from = 0; from < marks.length; from += marksInSlice) {
    const end = Math.min(marks.length, from + marksInSlice);
    for (let index = from; index < end; index++) if (marks[index] === 1) indexes[at++] = index;
    if (slices.isOver) await slices.pause();
  }
  return indexes;
}
