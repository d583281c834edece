/**
 * Separates free text line by line into statements of the grammar and natural language.
 *
 * A line counts as statements only if all of it is; nothing is read from any other line. Offsets are UTF-16 code units
 * of the original text. Blank lines are neither.
 */
import { type Statement, parseFreeTextLine } from '../../engine/index.ts';

/** A range of the text: offsets, the end exclusive. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export type FactStatement = Extract<Statement, { kind: 'fact' }>;
export type RuleStatement = Extract<Statement, { kind: 'rule' }>;

/** A statement, its span in the whole text. */
export interface FreeText {
  readonly facts: readonly FactStatement[];
  readonly rules: readonly RuleStatement[];
  /** Natural language: ranges of lines without statements between them, from the first word to the last. */
  readonly prose: readonly TextSpan[];
}

/** `breathe` yields to other work between lines. */
export async function readFreeText(text: string, breathe: () => Promise<void>): Promise<FreeText> {
  const facts: FactStatement[] = [];
  const rules: RuleStatement[] = [];
  const prose: TextSpan[] = [];
  let isInRun = false;
  for (const line of linesOf(text)) {
    await breathe();
    const written = withinSpace(text, line);
    if (written === null) continue;
    const statements = parseFreeTextLine(text.slice(line.start, line.end));
    if (statements === null) {
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
