/**
 * Checks whether a model's output is supported by its input text.
 *
 * A fact is grounded if its quote occurs in the text, exactly or up to white space, and if the text names at least one
 * of its constants. This detects what a model makes up, or was talked into by the text, as far as a comparison of texts
 * can.
 */
import { canonicalName } from '../../engine/index.ts';
import type { TextSpan } from './free-text.ts';
import type { TextPart } from './text-parts.ts';

export interface Grounds {
  /** The position of the quote in the whole text; null: not found, or it has neither letter nor digit. */
  find(quote: string): TextSpan | null;
  /** Whether the text, or the caller's hint, names the constant, in any case and spelling. */
  names(constant: string): boolean;
}

/** Names with fewer letters and digits must be whole words of the text. */
const minWithinWord = 3;

/** `hint`: what the caller says the text is about. */
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
      return words.has(name) || (name.length >= minWithinWord && canonical.includes(name));
    },
  };
}

/** A range of the text, and the same without white space. */
class Piece {
  readonly written: string;
  readonly #start: number;
  #squeezed: { readonly text: string; readonly offsets: Uint32Array } | null = null;

  constructor(text: string, { start, end }: TextSpan) {
    this.#start = start;
    this.written = text.slice(start, end);
  }

  findExactly(quote: string): TextSpan | null {
    const at = this.written.indexOf(quote);
    return at < 0 ? null : { start: this.#start + at, end: this.#start + at + quote.length };
  }

  findSqueezed(quote: string): TextSpan | null {
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

/** The text without white space, and the original offset of each of its code units. */
function withoutSpace(text: string): { text: string; offsets: Uint32Array } {
  const squeezed = squeeze(text);
  const offsets = new Uint32Array(squeezed.length);
  let at = 0;
  for (let from = 0; from < text.length && at < squeezed.length; from++)
    if (text[from] === squeezed[at]) offsets[at++] = from;
  return { text: squeezed, offsets };
}
