import { assert } from '../base/assert.ts';
import { finish, hashSeed } from './hash.ts';

/** Constants as numbers and back: what stored facts need of a dictionary. */
export interface ConstantIds {
  /** Bytes that it takes. */
  readonly bytes: number;
  /** How many it knows. */
  readonly size: number;
  /** The id of the text, or -1 where it has none. */
  find(text: string): number;
  /** The id of the text, made where it is new. */
  intern(text: string): number;
  /** The text of an id that `find` or `intern` gave. */
  text(id: number): string;
}

/**
 * Interned constants of one tenant: text to a small number and back.
 *
 * The texts lie as UTF-8 in one arena with offsets, and an open-addressing table of ids finds them: a string
 * object and a Map entry would take several times the memory. Ids are consecutive from 0, local to the process,
 * and never leave it. Texts are well-formed (no lone surrogates), which the contract's schemas see to.
 */
export class Dictionary implements ConstantIds {
  #arena = new Uint8Array(1024);
  #offsets = new Uint32Array(64);
  #slots = new Int32Array(128);
  #count = 0;
  #end = 0;
  readonly #encoder = new TextEncoder();
  /** A text may begin with U+FEFF: that is no byte order mark here. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #scratch = new Uint8Array(256);

  get size(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#arena.byteLength + this.#offsets.byteLength + this.#slots.byteLength;
  }

  /** The id of the text, or -1 where it was never interned. */
  find(text: string): number {
    const length = this.#encode(text);
    return (this.#slots[this.#slot(length)] as number) - 1;
  }

  /** The id of the text, made where it is new. */
  intern(text: string): number {
    const length = this.#encode(text);
    const slot = this.#slot(length);
    const found = this.#slots[slot] as number;
    return found !== 0 ? found - 1 : this.#add(slot, length);
  }

  /** Gives the next id to the text in the scratch space, which belongs into this empty slot. */
  #add(slot: number, length: number): number {
    const id = this.#count;
    this.#reserve(length);
    this.#arena.set(this.#scratch.subarray(0, length), this.#end);
    this.#end += length;
    this.#count++;
    this.#offsets[id + 1] = this.#end;
    this.#slots[slot] = id + 1;
    if (this.#count * 2 > this.#slots.length) this.#rehash();
    return id;
  }

  /** The text of an id that `intern` gave. */
  text(id: number): string {
    const start = this.#offsets[id] as number;
    const end = this.#offsets[id + 1] as number;
    const arena = this.#arena;
    if (end - start <= 48) {
      let text = '';
      let index = start;
      for (; index < end; index++) {
        const byte = arena[index] as number;
        if (byte >= 0x80) break;
        text += String.fromCharCode(byte);
      }
      if (index === end) return text;
    }
    return this.#decoder.decode(arena.subarray(start, end));
  }

  /** The UTF-8 of the text of an id, not to be changed. */
  utf8(id: number): Uint8Array {
    return this.#arena.subarray(this.#offsets[id], this.#offsets[id + 1]);
  }

  /**
   * The order by code point of two texts, as if each were followed by its `end`, an ASCII character's code. Not 0 where
   * the ids differ, provided that no text has either end in it.
   */
  compareEnded(left: number, leftEnd: number, right: number, rightEnd: number): number {
    const arena = this.#arena;
    let a = this.#offsets[left] as number;
    let b = this.#offsets[right] as number;
    const endOfA = this.#offsets[left + 1] as number;
    const endOfB = this.#offsets[right + 1] as number;
    for (const end = a + Math.min(endOfA - a, endOfB - b); a < end; a++, b++) {
      const difference = (arena[a] as number) - (arena[b] as number);
      if (difference !== 0) return difference;
    }
    return (a < endOfA ? (arena[a] as number) : leftEnd) - (b < endOfB ? (arena[b] as number) : rightEnd);
  }

  /** True where a byte of the text is marked: `marked` has 256 elements, 0 where a byte is not. */
  hasMarked(id: number, marked: Uint8Array): boolean {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    for (let at = this.#offsets[id] as number; at < end; at++)
      if (marked[arena[at] as number] !== 0) return true;
    return false;
  }

  /** How many UTF-16 units the text has. */
  lengthOf(id: number): number {
    const arena = this.#arena;
    const end = this.#offsets[id + 1] as number;
    let length = 0;
    for (let at = this.#offsets[id] as number; at < end; at++) {
      const byte = arena[at] as number;
      // Every byte that continues none begins a character; one of four bytes is two units.
      if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1;
    }
    return length;
  }

  /** Gives the next id to a text, as UTF-8, that has none yet. */
  addUtf8(text: Uint8Array): void {
    if (text.length > this.#scratch.length) this.#scratch = new Uint8Array(text.length * 2);
    this.#scratch.set(text);
    const slot = this.#slot(text.length);
    assert(this.#slots[slot] === 0, 'a text is added once');
    this.#add(slot, text.length);
  }

  /** Writes the text's UTF-8 into the scratch space and returns its length. */
  #encode(text: string): number {
    if (text.length * 3 > this.#scratch.length) this.#scratch = new Uint8Array(text.length * 4);
    const scratch = this.#scratch;
    const length = text.length;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return this.#encoder.encodeInto(text, scratch).written;
      scratch[index] = unit;
    }
    return length;
  }

  /** The slot that holds the text in the scratch space, or the empty one where it belongs. */
  #slot(length: number): number {
    const scratch = this.#scratch;
    let hash = hashSeed ^ length;
    for (let index = 0; index < length; index++)
      hash = Math.imul(hash ^ (scratch[index] as number), 0x01000193);
    const mask = this.#slots.length - 1;
    let slot = finish(hash) & mask;
    for (;;) {
      const found = this.#slots[slot] as number;
      if (found === 0 || this.#equals(found - 1, length)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equals(id: number, length: number): boolean {
    const start = this.#offsets[id] as number;
    if ((this.#offsets[id + 1] as number) - start !== length) return false;
    const arena = this.#arena;
    const scratch = this.#scratch;
    for (let index = 0; index < length; index++) if (arena[start + index] !== scratch[index]) return false;
    return true;
  }

  #reserve(length: number): void {
    if (this.#end + length > this.#arena.length) {
      const grown = new Uint8Array(Math.max(this.#arena.length * 2, this.#end + length));
      grown.set(this.#arena.subarray(0, this.#end));
      this.#arena = grown;
    }
    if (this.#count + 1 >= this.#offsets.length) {
      const grown = new Uint32Array(this.#offsets.length * 2);
      grown.set(this.#offsets);
      this.#offsets = grown;
    }
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    const arena = this.#arena;
    for (let id = 0; id < this.#count; id++) {
      const start = this.#offsets[id] as number;
      const end = this.#offsets[id + 1] as number;
      let hash = hashSeed ^ (end - start);
      for (let index = start; index < end; index++)
        hash = Math.imul(hash ^ (arena[index] as number), 0x01000193);
      let slot = finish(hash) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}
