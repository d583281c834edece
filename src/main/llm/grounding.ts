/**
 * Whether what a model gives stands in the text that it was given.
 *
 * A fact is grounded where its quote occurs in the text, letter by letter or but for white space, and where the text
 * names at least one of its constants. What a model makes up, or was talked into by the text itself, is found out here as
 * far as a comparison of texts can.
 */
import { canonicalName } from '../../engine/index.ts';
import type { Span } from './free-text.ts';
import type { TextPart } from './text-parts.ts';

export interface Grounds {
  /** Where the quote stands in the whole text; null: nowhere, or it has neither letter nor digit. */
  find(quote: string): Span | null;
  /** True where the text, or what the caller said about it, names the constant, in whatever case and spelling. */
  names(constant: string): boolean;
}

/** Names of fewer letters and digits than these must be whole words of the text. */
const leastWithinWord = 3;

/** `hint`: what the caller said the text is about. */
export function groundsOf(text: string, part: TextPart, hint: string): Grounds {
  const pieces = part.map((piece) => new Piece(text, piece));
  const said = [...pieces.map(({ written }) => written), hint].join('\n');
  const lower = said.toLowerCase();
  const canonical = canonicalName(said);
  const words = new Set(Array.from(said.matchAll(/[\p{L}\p{N}\p{M}]+/gu), ([word]) => canonicalName(word)));
  return {
    find(quote) {
      const wanted = quote.trim();
      if (canonicalName(wanted) === '') return null;
      for (const piece of pieces) {
        const found = piece.findExactly(wanted);
        if (found !== null) return found;
      }
      const squeezed = squeeze(wanted);
      for (const piece of pieces) {
        const found = piece.findSqueezed(squeezed);
        if (found !== null) return found;
      }
      return null;
    },
    names(constant) {
      const name = canonicalName(constant);
      if (name === '') return constant !== '' && lower.includes(constant.toLowerCase());
      return words.has(name) || (name.length >= leastWithinWord && canonical.includes(name));
    },
  };
}

/** A stretch of the text, and the same without white space. */
class Piece {
  readonly written: string;
  readonly #start: number;
  #squeezed: { readonly text: string; readonly offsets: Uint32Array } | null = null;

  constructor(text: string, { start, end }: Span) {
    this.#start = start;
    this.written = text.slice(start, end);
  }

  findExactly(quote: string): Span | null {
    const at = this.written.indexOf(quote);
    return at < 0 ? null : { start: this.#start + at, end: this.#start + at + quote.length };
  }

  findSqueezed(quote: string): Span | null {
    this.#squeezed ??= withoutSpace(this.written);
    const { text, offsets } = this.#squeezed;
    const at = text.indexOf(quote);
    if (at < 0) return null;
    const start = this.#start + (offsets[at] as number);
    const end = this.#start + (offsets[at + quote.length - 1] as number) + 1;
    return { start, end };
  }
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, '');
}

/** The text without white space, and where each of its units stood. */
function withoutSpace(text: string): { text: string; offsets: Uint32Array } {
  const squeezed = squeeze(text);
  const offsets = new Uint32Array(squeezed.length);
  let at = 0;
  for (let from = 0; from < text.length && at < squeezed.length; from++)
    if (text[from] === squeezed[at]) offsets[at++] = from;
  return { text: squeezed, offsets };
}
