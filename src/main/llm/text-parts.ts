/**
 * Splits long texts into parts that a model reads well, between paragraphs or sentences, each overlapping the one
 * before.
 *
 * A statement across a cut is complete in one of the parts unless it is longer than the overlap. No part is empty, and
 * every character of the text is in one.
 */
import type { TextSpan } from './free-text.ts';

/** Maximum characters of a part. */
export const partCharacters = 8000;
/** A part begins at most this many characters before the end of the previous one. */
export const overlapCharacters = 400;

/** Ranges of the text that are sent together. */
export type TextPart = readonly TextSpan[];

/** `runs` in the order of the text. Short ones share a part. */
export function partsOf(text: string, runs: readonly TextSpan[]): TextPart[] {
  const parts: TextSpan[][] = [];
  let room = 0;
  for (const run of runs)
    for (const piece of piecesOf(text, run)) {
      const length = piece.end - piece.start;
      const last = parts.at(-1);
      if (last !== undefined && length <= room) last.push(piece);
      else {
        parts.push([piece]);
        room = partCharacters;
      }
      room -= length;
    }
  return parts;
}

function* piecesOf(text: string, { start, end }: TextSpan): Generator<TextSpan> {
  let from = start;
  while (end - from > partCharacters) {
    const to = cutBefore(text, from + partCharacters / 2, from + partCharacters);
    yield { start: from, end: to };
    from = beginBefore(text, Math.max(to - overlapCharacters, from + 1), to);
  }
  yield { start: from, end };
}

/** Boundaries, the best kind first: a paragraph, a sentence, a line, a word. */
const borders = [/\n\s*\n\s*/g, /[.!?…。！？]["'”’)\]]*\s+/g, /\n\s*/g, /\s+/g];

/** The last boundary of the best kind in a range of the text; its end if there is none. */
function cutBefore(text: string, from: number, to: number): number {
  const stretch = text.slice(from, to);
  for (const border of borders) {
    const last = [...stretch.matchAll(border)].at(-1);
    if (last !== undefined) return from + last.index + last[0].length;
  }
  return betweenCharacters(text, to);
}

/** The first boundary of the best kind in a range of the text; its beginning if there is none. */
function beginBefore(text: string, from: number, to: number): number {
  const stretch = text.slice(from, to);
  for (const border of borders) {
    const [first] = stretch.matchAll(border);
    if (first !== undefined && from + first.index + first[0].length < to)
      return from + first.index + first[0].length;
  }
  return betweenCharacters(text, from);
}

/** The offset, or the one before if it would split a surrogate pair. */
function betweenCharacters(text: string, offset: number): number {
  const isInPair = (text.codePointAt(offset - 1) ?? 0) > 0xffff;
  return isInPair ? offset - 1 : offset;
}
