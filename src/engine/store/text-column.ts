/**
 * Many texts of which few are ever read: UTF-8 in arenas with offsets, decoded on demand. Strings would take
 * several times the memory, and garbage collection time.
 *
 * Texts are only appended and never change. They are in pieces, so that no arena grows without bound and
 * growing never copies more than one piece. Texts are well-formed (no lone surrogates).
 */
export class TextColumn {
  readonly #pieces: Piece[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#pieces.reduce((sum, { arena, ends }) => sum + arena.byteLength + ends.byteLength, 0);
  }

  add(text: string): void {
    const piece = this.#pieceFor(text.length * 3);
    const start = endOf(piece);
    const { written } = encoder.encodeInto(text, piece.arena.subarray(start));
    piece.ends[piece.count++] = start + written;
    this.#count++;
  }

  /** Adds a text given as UTF-8. */
  addUtf8(text: Uint8Array): void {
    const piece = this.#pieceFor(text.length);
    const start = endOf(piece);
    piece.arena.set(text, start);
    piece.ends[piece.count++] = start + text.length;
    this.#count++;
  }

  /** The text at this index. */
  text(index: number): string {
    return decoder.decode(this.utf8(index));
  }

  /** The UTF-8 of the text at this index; read-only. */
  utf8(index: number): Uint8Array {
    const { arena, ends } = this.#pieces[Math.floor(index / textsInPiece)] as Piece;
    const at = index % textsInPiece;
    return arena.subarray(at === 0 ? 0 : ends[at - 1], ends[at]);
  }

  /** The piece for one more text of at most `bytes` bytes. */
  #pieceFor(bytes: number): Piece {
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.count === textsInPiece)
      this.#pieces.push((piece = { arena: new Uint8Array(1024), ends: new Uint32Array(64), count: 0 }));
    const most = endOf(piece) + bytes;
    if (most > piece.arena.length)
      piece.arena = enlarged(piece.arena, new Uint8Array(Math.max(most, piece.arena.length * 2)));
    if (piece.count === piece.ends.length)
      piece.ends = enlarged(piece.ends, new Uint32Array(piece.ends.length * 2));
    return piece;
  }
}

interface Piece {
  arena: Uint8Array;
  /** The end of each text. */
  ends: Uint32Array;
  count: number;
}

/** Every piece but the last has this many texts. */
const textsInPiece = 16_384;

const encoder = new TextEncoder();
/** A text may begin with U+FEFF, which is not a byte order mark here. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function endOf({ ends, count }: Piece): number {
  return count === 0 ? 0 : (ends[count - 1] as number);
}

function enlarged<Column extends Uint8Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
