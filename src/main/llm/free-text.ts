/**
 * Separates free text line by line into statements of the grammar and natural language.
 *
 * A line counts as statements only if all of it is; nothing is read from any other line. Offsets are UTF-16 code units
 * of the original text. Blank lines are neither.
 */
import {
  type ArgumentNames,
  freeTextLineSteps,
  refuseLongConstant,
  runInSlices,
  type Statement,
} from '../../engine/index.ts';

/** A range of the text: offsets, the end exclusive. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

type FactStatement = Extract<Statement, { kind: 'fact' }>;
export type RuleStatement = Extract<Statement, { kind: 'rule' }>;

/** A statement, its span in the whole text. */
export interface FreeText {
  readonly facts: readonly FactStatement[];
  readonly rules: readonly RuleStatement[];
  /** Natural language: ranges of lines without statements between them, from the first word to the last. */
  readonly prose: readonly TextSpan[];
}

/**
 * Separates statements and natural language. `breathe` yields to other work between lines, and within long ones. Refuses a statement with a
 * constant that is too long, or with arguments by name that do not fit the declaration in `names`, with
 * ValidationException at `path`.
 */
export async function readFreeText(
  text: string,
  path: string,
  breathe: () => Promise<void>,
  names?: ArgumentNames,
): Promise<FreeText> {
  const facts: FactStatement[] = [];
  const rules: RuleStatement[] = [];
  const prose: TextSpan[] = [];
  let isInRun = false;
  for (const line of linesOf(text)) {
    const written = withinSpace(text, line);
    if (written === null) continue;
    const statements = await runInSlices(
      freeTextLineSteps(text.slice(line.start, line.end), names, path),
      breathe,
    );
    if (statements === null) {
      refuseLongConstant(text, line, path);
      const start = (isInRun ? prose.pop()?.start : null) ?? written.start;
      prose.push({ start, end: written.end });
    }
    isInRun = statements === null;
    for (const statement of statements ?? []) {
      const span = { start: line.start + statement.span.start, end: line.start + statement.span.end };
      if (statement.kind === 'fact') facts.push({ ...statement, span });
      else rules.push({ ...statement, span });
    }
  }
  return { facts, rules, prose };
}

/** A line ends at LF, CR LF or a lone CR. */
function* linesOf(text: string): Generator<TextSpan> {
  const ends = /\r\n|\n|\r/g;
  let start = 0;
  for (const { index, 0: end } of text.matchAll(ends)) {
    yield { start, end: index };
    start = index + end.length;
  }
  yield { start, end: text.length };
}

/** The trimmed span; null if it is blank. */
function withinSpace(text: string, { start, end }: TextSpan): TextSpan | null {
  const line = text.slice(start, end);
  const trimmed = line.trim();
  if (trimmed === '') return null;
  const from = start + line.indexOf(trimmed);
  return { start: from, end: from + trimmed.length };
}

/** Maximum characters of a part. */
export const partCharacters = 8000;
/** A part begins at most this many characters before the end of the previous one. */
export const overlapCharacters = 400;

/** Ranges of the text that are sent together. */
export type TextPart = readonly TextSpan[];

/**
 * Splits long texts into parts that a model reads well, between paragraphs or sentences, each overlapping the one
 * before. `runs` are in the order of the text. Short ones share a part.
 *
 * A statement across a cut is complete in one of the parts unless it is longer than the overlap. No part is empty, and
 * every character of the text is in one.
 */
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
