/** Formatting of a file as edits of whole lines: of all of it, or of the items of some lines. */
import { formatKnowledgeText } from '../engine/language/knowledge-text.ts';
import type { Span } from '../engine/language/source.ts';
import type { TextEdit } from './read-text.ts';

/** Formats a file; without edits if nothing changes. */
export function formatFile(text: string): TextEdit[] {
  return lineEdit(0, text, formatKnowledgeText(text));
}

/** Formats the items that a range touches, with what shares a line with them. `items`: those of the text, in text order. */
export function formatRange(
  text: string,
  items: readonly { readonly span: Span }[],
  range: Span,
): TextEdit[] {
  let { start, end } = range;
  for (const { span } of items)
    if (span.start <= end && span.end >= start) {
      start = Math.min(start, span.start);
      end = lineEnd(text, Math.max(end, span.end));
    }
  start = lineStart(text, start);
  for (const { span } of [...items].reverse())
    if (span.end > start && span.start < start) start = lineStart(text, span.start);
  const written = text.slice(start, end);
  const lineBreak = /\r\n?|\n/.exec(text)?.[0] ?? '\n';
  const formatted = formatKnowledgeText(written).replace(/\r\n?|\n/g, lineBreak);
  return lineEdit(start, written, formatted);
}

function lineStart(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && !/[\r\n]/.test(text[start - 1] as string)) start--;
  return start;
}

function lineEnd(text: string, offset: number): number {
  const end = text.slice(offset).search(/[\r\n]/);
  return end < 0 ? text.length : offset + end;
}

/** One edit of the lines that differ, from the first to the last. `at`: where `written` begins in the text. */
function lineEdit(at: number, written: string, wanted: string): TextEdit[] {
  if (written === wanted) return [];
  const before = linesOf(written);
  const after = linesOf(wanted);
  let same = 0;
  let start = at;
  while (same < before.length && same < after.length && before[same] === after[same]) {
    start += (before[same] as string).length;
    same++;
  }
  let end = at + written.length;
  let last = 0;
  const most = Math.min(before.length, after.length) - same;
  while (last < most && before[before.length - 1 - last] === after[after.length - 1 - last]) {
    end -= (before[before.length - 1 - last] as string).length;
    last++;
  }
  return [{ start, end, text: after.slice(same, after.length - last).join('') }];
}

/** The lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}
