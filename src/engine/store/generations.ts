import { assert } from '../base/assert.ts';
import { maxClockStepMs } from '../base/clock.ts';

/** Generations that are known before one is added: ascending, their times and requests beside them. */
interface KnownGenerations {
  readonly numbers: Float64Array;
  readonly times: Float64Array;
  readonly requests: TextColumn;
}

/**
 * When the generations of one database were made, and by which request; in columns, since there may be
 * millions.
 *
 * Generations count up from the one after which this starts (a database that was deleted and created again
 * continues counting), and are only appended. Saving may have left out generations that nothing refers to any
 * more; of all others time and request are known.
 */
export class Generations {
  /** How often times of earlier generations were changed. */
  rewritten = 0;
  #numbers: Float64Array;
  #times: Float64Array;
  readonly #requests: TextColumn;
  #count: number;
  #last: number;

  /** `last`: the generation before the next one. */
  constructor(last = 0, known: KnownGenerations | null = null) {
    this.#numbers = known?.numbers ?? new Float64Array(64);
    this.#times = known?.times ?? new Float64Array(64);
    this.#requests = known?.requests ?? new TextColumn();
    this.#count = known?.numbers.length ?? 0;
    this.#last = last;
  }

  /** The newest generation; the one before the first if there is none. */
  get last(): number {
    return this.#last;
  }

  /** Number of known generations. */
  get count(): number {
    return this.#count;
  }

  /** Continues after this generation, if it is later; nothing is known of the skipped ones. */
  skipTo(generation: number): void {
    this.#last = Math.max(this.#last, generation);
  }

  /**
   * Begins the next generation and returns it. Where earlier ones were made by a clock that was ahead, they now count as
   * made at this time: times never decrease, and none is in the future for long. A write that was checked for a while is
   * judged by an earlier time than those that passed it; up to `maxClockStepMs` it counts as made at their time.
   */
  advance(judged: number, requestId: string): number {
    const last = this.#count === 0 ? judged : (this.#times[this.#count - 1] as number);
    const time = last > judged && last - judged <= maxClockStepMs ? last : judged;
    if (last > time) this.rewritten++;
    for (let at = this.#count - 1; at >= 0 && (this.#times[at] as number) > time; at--)
      this.#times[at] = time;
    this.#add(this.#last + 1, time, requestId);
    return this.#last;
  }

  #add(generation: number, time: number, requestId: string): void {
    if (this.#count === this.#numbers.length) {
      const room = Math.max(64, this.#count * 2);
      this.#numbers = enlarged(this.#numbers, room);
      this.#times = enlarged(this.#times, room);
    }
    this.#last = generation;
    this.#numbers[this.#count] = generation;
    this.#times[this.#count] = time;
    this.#requests.add(requestId);
    this.#count++;
  }

  /** Copies of the columns of known generations from this index on, at most `most` of them. */
  known(index: number, most: number): Pick<KnownGenerations, 'numbers' | 'times'> {
    const end = Math.min(this.#count, index + most);
    return { numbers: this.#numbers.slice(index, end), times: this.#times.slice(index, end) };
  }

  /** Takes times from the generations of which these are a copy; by which request they were made is not known here. */
  enter({ numbers, times }: Pick<KnownGenerations, 'numbers' | 'times'>): void {
    for (const [at, generation] of numbers.entries()) {
      const known = generation > this.#last ? -1 : this.find(generation);
      if (known < 0) this.#add(generation, times[at] as number, '');
      else this.#times[known] = times[at] as number;
    }
  }

  /** Epoch milliseconds; 0 for a generation before the first known one, such as that of a new database. */
  timeOf(generation: number): number {
    const index = this.#indexOf(generation);
    return index < 0 ? 0 : (this.#times[index] as number);
  }

  /** Epoch milliseconds; null if nothing is known of the generation. */
  knownTimeOf(generation: number): number | null {
    const index = this.find(generation);
    return index < 0 ? null : (this.#times[index] as number);
  }

  /** The time of the last known generation up to this one; 0: there is none. */
  timeUpTo(generation: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) <= generation) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : (this.#times[low - 1] as number);
  }

  /** '' for a generation before the first known one. */
  requestOf(generation: number): string {
    const index = this.#indexOf(generation);
    return index < 0 ? '' : this.#requests.text(index);
  }

  /** The index of a generation among the known ones, or -1. */
  find(generation: number): number {
    // Nearly always there are no gaps at the end, and no search is needed.
    const dense = this.#count - 1 - (this.#last - generation);
    if (dense >= 0 && this.#numbers[dense] === generation) return dense;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) < generation) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && this.#numbers[low] === generation ? low : -1;
  }

  /** The generation at an index, with its time and the UTF-8 of its request. */
  at(index: number): { readonly generation: number; readonly time: number; readonly request: Uint8Array } {
    assert(index < this.#count, 'an index is below the count');
    const [generation, time] = [this.#numbers[index] as number, this.#times[index] as number];
    return { generation, time, request: this.#requests.utf8(index) };
  }

  /** The index of a generation; -1 for one before the first. */
  #indexOf(generation: number): number {
    const index = this.find(generation);
    const isBefore = this.#count === 0 || generation < (this.#numbers[0] as number);
    assert(index >= 0 || isBefore, 'a generation that is asked for is known');
    return index;
  }
}

function enlarged(from: Float64Array, room: number): Float64Array {
  const to = new Float64Array(room);
  to.set(from);
  return to;
}

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
      piece.arena = enlargedPiece(piece.arena, new Uint8Array(Math.max(most, piece.arena.length * 2)));
    if (piece.count === piece.ends.length)
      piece.ends = enlargedPiece(piece.ends, new Uint32Array(piece.ends.length * 2));
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

function enlargedPiece<Column extends Uint8Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

/** An import and the generations that it made. */
export interface KnownImport {
  readonly id: string;
  readonly tenant: string;
  /** Those in which it changed something, ascending. */
  readonly generations: readonly number[];
}

/**
 * The generations of one database that imports made, so that a fact can name the import that asserted it.
 *
 * An import belongs to a tenant and consists of many writes; a generation is made by at most one import. An
 * import is known from its first write on, even if that changed nothing, and forever.
 */
export class Imports {
  readonly #imports = new Map<string, { readonly tenant: string; readonly generations: number[] }>();
  readonly #byGeneration = new Map<number, string>();

  /** Records a write of the import; `generation` is null if it changed nothing. */
  note(id: string, tenant: string, generation: number | null): void {
    let known = this.#imports.get(id);
    if (known === undefined) this.#imports.set(id, (known = { tenant, generations: [] }));
    if (generation === null) return;
    known.generations.push(generation);
    this.#byGeneration.set(generation, id);
  }

  /** The import that made the generation, or null. */
  idOf(generation: number): string | null {
    return this.#byGeneration.get(generation) ?? null;
  }

  /** The generations of the tenant's import, ascending; null if the tenant has no such import. */
  generationsOf(id: string, tenant: string): readonly number[] | null {
    const known = this.#imports.get(id);
    return known?.tenant === tenant ? known.generations : null;
  }

  /** All imports, in the order of their first writes. */
  saved(): KnownImport[] {
    return Array.from(this.#imports, ([id, { tenant, generations }]) => ({
      id,
      tenant,
      generations: [...generations],
    }));
  }

  /** Restores a saved import. */
  restore({ id, tenant, generations }: KnownImport): void {
    this.note(id, tenant, null);
    for (const generation of generations) this.note(id, tenant, generation);
  }
}
