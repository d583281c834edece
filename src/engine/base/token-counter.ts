/**
 * Counts the tokens of texts in o200k_base, the encoding of OpenAI's models since GPT-4o.
 *
 * A text is split by the encoding's pattern; a piece that is no token is merged from bytes, the pair of lowest rank
 * first, the leftmost of equals. The merge takes n log n steps and can stop between any two, so that a constant of
 * 64 KiB holds nobody up.
 */
import { O200K_TOKEN_SPLIT_REGEX as pieces } from 'gpt-tokenizer/encodingParams/constants';
import type { TokenTable } from './token-table.ts';

/** Steps of a merge, and pieces of a text, between two breaths. */
const stepsBetweenBreaths = 2048;
const encoder = new TextEncoder();

/** Counts tokens with a table that it loads when it first needs it. */
export class TokenCounter {
  readonly #load: () => Promise<TokenTable>;
  #loading: Promise<TokenTable> | null = null;
  #table: TokenTable | null = null;
  #bytes = new Uint8Array(256);

  /** `load` is called when tokens are first counted, and again if it failed. */
  constructor(load: () => Promise<TokenTable>) {
    this.#load = load;
  }

  /** Resolves when tokens can be counted. */
  async ready(): Promise<void> {
    if (this.#table !== null) return;
    this.#loading ??= this.#load();
    try {
      this.#table = await this.#loading;
    } finally {
      this.#loading = null;
    }
  }

  /**
   * The tokens of the text; stops counting beyond `most`. Special tokens count as the text that they are. `breathe` is
   * called between small steps.
   */
  async count(
    text: string,
    breathe: () => Promise<void>,
    most: number = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    if (this.#table === null) await this.ready();
    const table = this.#table as TokenTable;
    let [tokens, looked] = [0, 0];
    for (const [piece] of text.matchAll(pieces)) {
      const end = this.#encode(piece);
      if (table.rankOf(this.#bytes, 0, end) >= 0) tokens++;
      else {
        // Another count may use the buffer while this one pauses.
        const merge = new Merge(table, this.#bytes.slice(0, end));
        while (!merge.run(stepsBetweenBreaths)) await breathe();
        tokens += merge.tokens;
      }
      if (tokens > most) break;
      if ((++looked & (stepsBetweenBreaths - 1)) === 0) await breathe();
    }
    return tokens;
  }

  /** Writes the UTF-8 of the piece to the buffer; returns its length. */
  #encode(piece: string): number {
    if (this.#bytes.length < piece.length * 3) this.#bytes = new Uint8Array(piece.length * 3);
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code > 0x7f) return encoder.encodeInto(piece, this.#bytes).written;
      this.#bytes[at] = code;
    }
    return piece.length;
  }
}

/** A rank and a place in one number, so that the lower rank, then the place further left, is the smaller one. */
const placesPerRank = 2 ** 26;
const none = -1;

/** Merges the bytes of one piece to tokens: a linked list of parts, and a heap of the pairs that can be merged. */
class Merge {
  /** The number of parts, which are tokens once the merge has ended. */
  tokens: number;
  readonly #table: TokenTable;
  readonly #bytes: Uint8Array;
  /** By the first byte of a part: the first bytes of the next and the previous one. */
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  /** By the first byte of a part: the rank of it and the next one together. */
  readonly #rank: Int32Array;
  /** Pairs, as rank and place; those that are no longer pairs are passed over. */
  readonly #heap: Float64Array;
  #size = 0;
  /** The first byte whose pair has not been looked at. */
  #begun = 0;

  constructor(table: TokenTable, bytes: Uint8Array) {
    const { length } = bytes;
    this.#table = table;
    this.#bytes = bytes;
    this.tokens = length;
    this.#next = new Int32Array(length);
    this.#previous = new Int32Array(length);
    this.#rank = new Int32Array(length).fill(none);
    // A pair for each byte, and two for each merge.
    this.#heap = new Float64Array(3 * length);
    for (let at = 0; at < length; at++) {
      this.#next[at] = at + 1;
      this.#previous[at] = at - 1;
    }
  }

  /** Goes on for that many steps; true if the merge has ended. */
  run(steps: number): boolean {
    let left = steps;
    for (; this.#begun < this.#bytes.length; this.#begun++) {
      if (left-- === 0) return false;
      this.#look(this.#begun);
    }
    for (; this.#size > 0; left--) {
      if (left <= 0) return false;
      const pair = this.#pop();
      const place = pair % placesPerRank;
      if (this.#rank[place] === (pair - place) / placesPerRank) this.#join(place);
    }
    return true;
  }

  /** Joins the part at the place with the next one. */
  #join(place: number): void {
    const gone = this.#next[place] as number;
    const after = this.#next[gone] as number;
    this.#next[place] = after;
    if (after < this.#bytes.length) this.#previous[after] = place;
    this.#rank[gone] = none;
    this.tokens--;
    this.#look(place);
    const before = this.#previous[place] as number;
    if (before >= 0) this.#look(before);
  }

  /** Finds out the rank of the part at the place and the next one together. */
  #look(place: number): void {
    const { length } = this.#bytes;
    const other = this.#next[place] as number;
    const rank = other < length ? this.#table.rankOf(this.#bytes, place, this.#next[other] as number) : none;
    this.#rank[place] = rank;
    if (rank !== none) this.#push(rank * placesPerRank + place);
  }

  #push(pair: number): void {
    const heap = this.#heap;
    let at = this.#size++;
    for (; at > 0; ) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as number) <= pair) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = pair;
  }

  #pop(): number {
    const heap = this.#heap;
    const least = heap[0] as number;
    const moved = heap[--this.#size] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (heap[child + 1] as number) < (heap[child] as number)) child++;
      if ((heap[child] as number) >= moved) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = moved;
    return least;
  }
}
