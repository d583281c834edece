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
