const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** A value that was written as JSON elsewhere, in UTF-8 and in pieces: to be sent as it is. */
export class JsonText {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts;
    this.bytes = parts.reduce((sum, { length }) => sum + length, 0);
  }

  /** The text as one piece. */
  whole(): Uint8Array {
    const [only] = this.parts;
    if (this.parts.length === 1 && only !== undefined) return only;
    const whole = new Uint8Array(this.bytes);
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** True if the first 64 bytes match. */
  begins(pattern: RegExp): boolean {
    const [first = new Uint8Array()] = this.parts;
    return pattern.test(new TextDecoder().decode(first.subarray(0, 64)));
  }

  /** The text of an object with one more member at its end; that of anything else as it is. */
  withMember(name: string, value: unknown): JsonText {
    const parts = this.parts.filter(({ length }) => length > 0);
    const last = parts.pop();
    const [first = last] = parts;
    if (last === undefined || first?.[0] !== OPENING_BRACE || last.at(-1) !== CLOSING_BRACE) return this;
    const comma = this.bytes > 2 ? ',' : '';
    const member = `${comma}${JSON.stringify(name)}:${JSON.stringify(value)}}`;
    return new JsonText([...parts, last.subarray(0, -1), new TextEncoder().encode(member)]);
  }

  /** The value, parsed in one turn: for short texts. */
  value(): unknown {
    return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.whole()));
  }
}

/** Characters of a list that are texts; more are written. */
const MAX_TEXT_CHARACTERS = 128 * 1024;

/**
 * A list of texts for an answer. A long one is written as JSON while it grows: texts by the million would outlive the slices in
 * which they were made, and the collector's pauses grow with what survives.
 */
export class TextList {
  #length = 0;
  /** The last ones, not written yet. */
  #texts: string[] = [];
  /** Characters of these. */
  #characters = 0;
  readonly #parts: Uint8Array[] = [];
  readonly #maxCharacters: number;

  /** `staysTexts`: it is written in no case. */
  constructor(staysTexts = false) {
    this.#maxCharacters = staysTexts ? Number.POSITIVE_INFINITY : MAX_TEXT_CHARACTERS;
  }

  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length++;
    this.#characters += text.length;
    if (this.#characters >= this.#maxCharacters) this.#write();
  }

  /** The texts; null: they are written. */
  get texts(): readonly string[] | null {
    return this.#parts.length === 0 ? this.#texts : null;
  }

  /** The JSON of an object with this list as a member, after those of `before`, which has some, and before those of `after`. */
  within(before: object, name: string, after: object): JsonText {
    if (this.#texts.length > 0 || this.#parts.length === 0) this.#write();
    const encoder = new TextEncoder();
    const opening = `${JSON.stringify(before).slice(0, -1)},${JSON.stringify(name)}:`;
    const members = JSON.stringify(after).slice(1);
    const closing = members === '}' ? ']}' : `],${members}`;
    return new JsonText([encoder.encode(opening), ...this.#parts, encoder.encode(closing)]);
  }

  #write(): void {
    const list = JSON.stringify(this.#texts).slice(0, -1);
    this.#parts.push(new TextEncoder().encode(this.#parts.length === 0 ? list : `,${list.slice(1)}`));
    this.#texts = [];
    this.#characters = 0;
  }
}
