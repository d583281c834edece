/**
 * The one way our language is laid out: what the editor's Format makes of a text, and how a stored rule is shown.
 *
 * A statement that cannot be read, or has a comment inside, stays as it was written; so does what stands between
 * statements, but for white space at the ends of lines and more than one empty line. What is formatted means the same.
 */
import type { Rule } from '../../engine/contract/language.ts';
import { renderAtom, renderLiteral, renderRule } from '../../engine/language/print.ts';
import { lexLine } from './lexer.ts';
import { applyTextEdits, type ReadStatement, parseEditorText, type TextMode } from './read-text.ts';

/** A longer rule is broken over lines. */
const lineLength = 72;

/** A rule as the editor shows it: broken over lines where it is long, with its full stop. */
export function ruleForEditor(rule: Rule): string {
  const text = `${renderRule(rule)}.`;
  if (text.length <= lineLength || rule.body.length < 2) return text;
  const body = rule.body.map(renderLiteral).join(',\n  ');
  return `${renderAtom(rule.head)} :-\n  ${body}.`;
}

function hasComment(text: string): boolean {
  let isOpen = false;
  for (const line of text.split('\n')) {
    const lexed = lexLine(line, isOpen);
    if (lexed.tokens.some((token) => token.kind === 'comment')) return true;
    isOpen = lexed.isOpen;
  }
  return false;
}

function questionAsText(rule: Rule): string {
  const literals = rule.body.map(renderLiteral);
  const text = literals.join(', ');
  return text.length <= lineLength ? text : literals.join(',\n');
}

function formatted({ kind, rule, atom }: ReadStatement): string | null {
  if (kind === 'question') return rule === null ? null : questionAsText(rule);
  if (rule !== null) return ruleForEditor(rule);
  return atom === null ? null : `${renderAtom(atom)}.`;
}

/** The text laid out; the same text where nothing is to be done. */
export function formatText(text: string, mode: TextMode): string {
  const { statements } = parseEditorText(text, mode);
  if (mode === 'question') {
    const [only] = statements;
    if (only === undefined || hasComment(text) || text.trimEnd().endsWith('?')) return text;
    return formatted(only) ?? text;
  }
  const edits = statements.flatMap((statement) => {
    const { span } = statement;
    const written = text.slice(span.start, span.end);
    const wanted = hasComment(written) ? null : formatted(statement);
    return wanted === null || wanted === written ? [] : [{ ...span, text: wanted }];
  });
  return tidied(applyTextEdits(text, edits));
}

/** Without white space at the ends of lines and runs of empty ones. A quoted argument never spans lines. */
function tidied(text: string): string {
  const trimmed = text.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n');
  return trimmed.replace(/^\n+/, '').replace(/\n+$/, text.endsWith('\n') ? '\n' : '');
}

export interface Fold {
  /** Lines from 1, both shown as one where folded. */
  readonly first: number;
  readonly last: number;
  readonly kind: 'statement' | 'comment';
}

/** What can be folded: statements of several lines, and runs of comment lines. */
export function textFoldsOf(text: string, mode: TextMode): Fold[] {
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
  for (const { span } of parseEditorText(text, mode).statements) {
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
