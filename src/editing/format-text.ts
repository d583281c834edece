/**
 * The formatter of our language, for the editor's Format, and what can be folded.
 *
 * Files are laid out as everywhere (`language/knowledge-text.ts`); a question with a comment stays as written.
 */
import { formatKnowledgeText } from '../engine/language/knowledge-text.ts';
import { layOutQuestion } from '../engine/language/layout.ts';
import type { Span } from '../engine/language/source.ts';
import { lexLine } from './lexer.ts';
import { parseEditorText, type TextMode } from './read-text.ts';

function hasComment(text: string): boolean {
  let isOpen = false;
  for (const line of text.split('\n')) {
    const lexed = lexLine(line, isOpen);
    if (lexed.tokens.some((token) => token.kind === 'comment')) return true;
    isOpen = lexed.isOpen;
  }
  return false;
}

/** Returns the formatted text; the same text if nothing changes. */
export function formatText(text: string, mode: TextMode): string {
  if (mode !== 'question') return formatKnowledgeText(text);
  const [only] = parseEditorText(text, mode).statements;
  if (!only?.rule || hasComment(text) || text.trimEnd().endsWith('?')) return text;
  return layOutQuestion(only.rule.body);
}

/** A foldable range. */
interface Fold {
  /** Lines from 1; folded, only the first is shown. */
  readonly first: number;
  readonly last: number;
  readonly kind: 'statement' | 'comment';
}

/** Returns the foldable ranges: of the statements, those of several lines, and runs of comment lines. */
export function textFoldsOf(text: string, statements: readonly { readonly span: Span }[]): Fold[] {
  const folds: Fold[] = [];
  const lines = text.split('\n');
  const starts: number[] = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const lineOf = (offset: number) => {
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  for (const { span } of statements) {
    const first = lineOf(span.start);
    const last = lineOf(Math.max(span.start, span.end - 1));
    if (last > first) folds.push({ first, last, kind: 'statement' });
  }
  for (let index = 0; index < lines.length; index++) {
    const first = index;
    while (/^\s*[%#]/.test(lines[index] ?? '')) index++;
    if (index - first > 1) folds.push({ first: first + 1, last: index, kind: 'comment' });
  }
  return folds;
}
