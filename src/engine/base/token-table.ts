/**
 * The tokens of a byte pair encoding, found by their bytes.
 *
 * Read from the text in which such encodings are published: a line for each token, its bytes in base64 and its rank,
 * which counts up from 0. 200,000 tokens take 5 MB in flat arrays; as strings in a map they would take 30.
 */

/** Tokens between two breaths while the table is read. */
const tokensBetweenBreaths = 1024;
/** Open addressing at a load of at most one half. */
const slotsPerToken = 2;

/** The ranks of tokens by their bytes. */
export class TokenTable {
  /** The longest token, in bytes. */
  readonly longest: number;
  readonly #bytes: Uint8Array;
  /** By rank: where its bytes begin; one more at the end. */
  readonly #starts: Int32Array;
  /** Ranks plus one; 0: free. */
  readonly #slots: Int32Array;

  private constructor(bytes: Uint8Array, starts: Int32Array, slots: Int32Array, longest: number) {
    this.#bytes = bytes;
    this.#starts = starts;
    this.#slots = slots;
    this.longest = longest;
  }

  /** Reads a published table; `breathe` is called between small steps. */
  static async read(published: Uint8Array, breathe: () => Promise<void>): Promise<TokenTable> {
    const count = await linesIn(published, breathe);
    const starts = new Int32Array(count + 1);
    // Base64 is longer than what it stands for.
    const bytes = new Uint8Array(published.length);
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * slotsPerToken)));
    let [end, at, longest] = [0, 0, 0];
    for (let rank = 0; rank < count; rank++) {
      if (rank % tokensBetweenBreaths === 0) await breathe();
      const space = published.indexOf(0x20, at);
      const start = end;
      end = decodeBase64(published, at, space, bytes, start);
      at = published.indexOf(0x0a, space) + 1;
      longest = Math.max(longest, end - start);
      starts[rank + 1] = end;
      let slot = hashOf(bytes, start, end) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = rank + 1;
    }
    return new TokenTable(bytes.slice(0, end), starts, slots, longest);
  }

  /** The rank of the token with these bytes; -1: there is none. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.longest) return -1;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashOf(bytes, start, end) & mask;
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      if (this.#isToken(found - 1, bytes, start, end)) return found - 1;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  #isToken(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[rank] as number;
    if ((this.#starts[rank + 1] as number) - from !== end - start) return false;
    for (let at = start; at < end; at++) if (this.#bytes[from + at - start] !== bytes[at]) return false;
    return true;
  }
}

async function linesIn(published: Uint8Array, breathe: () => Promise<void>): Promise<number> {
  let lines = 0;
  for (let at = published.indexOf(0x0a); at >= 0; at = published.indexOf(0x0a, at + 1)) {
    if (++lines % tokensBetweenBreaths === 0) await breathe();
  }
  return lines;
}

/** FNV-1a, with its high bits mixed into the low ones. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digitOf = new Uint8Array(128);
for (let digit = 0; digit < digits.length; digit++) digitOf[digits.charCodeAt(digit)] = digit;

/** Decodes base64 from `from` up to `to`; returns the end of the decoded bytes. */
function decodeBase64(text: Uint8Array, from: number, to: number, into: Uint8Array, start: number): number {
  let [end, bits, held] = [start, 0, 0];
  for (let at = from; at < to && text[at] !== 0x3d; at++) {
    held = ((held << 6) | (digitOf[text[at] as number] as number)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    into[end++] = held >> bits;
  }
  return end;
}
