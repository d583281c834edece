/**
 * The formatter of our language, for the editor's Format and for stored rules.
 *
 * Statements that cannot be parsed or contain comments stay as written, as does text between statements except
 * trailing white space and repeated blank lines. Formatting preserves the meaning.
 */
import type { Literal, Rule } from '../../engine/contract/language.ts';
import { parseConstraint } from '../../engine/language/parse.ts';
import { renderAtom, renderConstraint, renderLiteral, renderRule } from '../../engine/language/print.ts';
import { lexLine } from '../../editing/lexer.ts';
import {
  applyTextEdits,
  type ReadStatement,
  parseEditorText,
  type TextMode,
} from '../../editing/read-text.ts';

/** Longer rules are broken over lines. */
const lineLength = 72;

/** Returns a rule formatted for the editor, with its full stop. */
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

/** Returns a constraint formatted for the editor, with its full stop. */
export function constraintForEditor(body: readonly Literal[], reason: string | null = null): string {
  const line = renderConstraint(body);
  const text =
    line.length <= lineLength || body.length < 2 ? line : `!- ${body.map(renderLiteral).join(',\n  ')}`;
  return reason === null ? `${text}.` : `${text} ${JSON.stringify(reason)}.`;
}

function constraintAsText(text: string): string {
  const { literals, reason } = parseConstraint(text);
  return constraintForEditor(literals, reason);
}

function formatted({ kind, rule, atom }: ReadStatement): string | null {
  if (kind === 'question') return rule === null ? null : questionAsText(rule);
  if (rule !== null) return ruleForEditor(rule);
  return atom === null ? null : `${renderAtom(atom)}.`;
}

/** Returns the formatted text; the same text if nothing changes. */
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
    const wanted = hasComment(written)
      ? null
      : statement.kind === 'constraint'
        ? constraintAsText(written)
        : formatted(statement);
    return wanted === null || wanted === written ? [] : [{ ...span, text: wanted }];
  });
  return tidied(applyTextEdits(text, edits));
}

/** Removes trailing white space and repeated blank lines. A quoted argument never spans lines. */
function tidied(text: string): string {
  const trimmed = text.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n');
  return trimmed.replace(/^\n+/, '').replace(/\n+$/, text.endsWith('\n') ? '\n' : '');
}

/** A foldable range. */
interface Fold {
  /** Lines from 1; folded, only the first is shown. */
  readonly first: number;
  readonly last: number;
  readonly kind: 'statement' | 'comment';
}

/** Returns the foldable ranges: multi-line statements and runs of comment lines. */
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
