import { assert, present } from '../base/assert.ts';

/** Texts in one piece of memory. */
interface Piece {
  /** Number of its first text. */
  readonly first: number;
  /** Where each text ends. */
  readonly ends: number[];
  bytes: Uint8Array;
}

/** Texts in a piece; and the bytes with which one begins. */
const textsInPiece = 1024;
const minPieceBytes = 4096;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Texts in the order in which they were added, as UTF-8 in large pieces: a JavaScript string for each costs several times
 * that. They are numbered from 0 on, and removed from the front.
 */
export class TextQueue {
  readonly #pieces: Piece[] = [];
  #first = 0;
  #next = 0;
  #bytes = 0;

  /** Bytes of the texts that were not removed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the first text that was not removed. */
  get first(): number {
    return this.#first;
  }

  /** Adds a text and returns its number. */
  add(text: string): number {
    const added = encoder.encode(text);
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.ends.length === textsInPiece) {
      // A full piece keeps no spare room.
      if (piece !== undefined) piece.bytes = piece.bytes.slice(0, piece.ends.at(-1));
      piece = { first: this.#next, ends: [], bytes: new Uint8Array(Math.max(minPieceBytes, added.length)) };
      this.#pieces.push(piece);
    }
    const start = piece.ends.at(-1) ?? 0;
    const end = start + added.length;
    if (end > piece.bytes.length) {
      const grown = new Uint8Array(Math.max(end, piece.bytes.length * 2));
      grown.set(piece.bytes.subarray(0, start));
      piece.bytes = grown;
    }
    piece.bytes.set(added, start);
    piece.ends.push(end);
    this.#bytes += added.length;
    return this.#next++;
  }

  /** The text with this number; null if it was removed. */
  text(number: number): string | null {
    return textIn(this.#pieces, this.#first, number);
  }

  /** Like `text`, of the texts that are there now, whatever is added and removed later. */
  pinned(): (number: number) => string | null {
    const [pieces, first] = [this.#pieces.map((piece) => ({ ...piece })), this.#first];
    return (number) => textIn(pieces, first, number);
  }

  /** Removes the first text. */
  removeFirst(): void {
    assert(this.#first < this.#next, 'there is a text');
    const { start, end } = placeIn(this.#pieces, this.#first++);
    this.#bytes -= end - start;
    const next = this.#pieces[1];
    if (next !== undefined && next.first <= this.#first) this.#pieces.shift();
  }
}

function textIn(pieces: readonly Piece[], first: number, number: number): string | null {
  if (number < first) return null;
  const { bytes, start, end } = placeIn(pieces, number);
  return decoder.decode(bytes.subarray(start, end));
}

function placeIn(
  pieces: readonly Piece[],
  number: number,
): { bytes: Uint8Array; start: number; end: number } {
  // Every piece but the last has the same number of texts.
  const index = Math.floor((number - (pieces[0]?.first ?? 0)) / textsInPiece);
  const { bytes, ends, first } = present(pieces[index], 'a number is that of a text');
  const at = number - first;
  return { bytes, start: ends[at - 1] ?? 0, end: present(ends[at], 'a number is that of a text') };
}
