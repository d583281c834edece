/**
 * All rules as one text, and back.
 *
 * Rules are grouped by head under `%%` lines, in the order in which the service has them. The service stores a name, a
 * description, a scope and a switch beside a rule: they are the comment lines directly above it, so that nothing is
 * hidden. `% text` is a line of the description; `%@ name: …`, `%@ scope: …` and `%@ off` are the others. All other
 * comments have no place in the service, and reading reports them. Pure.
 */
import type { Rule } from '../../../engine/contract/language.ts';
import type { Diagnostic, StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule, ruleIdentity } from '../../../engine/language/print.ts';
import { lineTable, type Span } from '../../../engine/language/source.ts';
import { layOutRule } from '../../../engine/language/layout.ts';
import { lexLine } from '../../../editing/lexer.ts';
import { type ParsedText, parseEditorText } from '../../../editing/read-text.ts';

/** What a document says of one rule. */
export interface DocumentRule {
  readonly rule: Rule;
  /** As the service renders it. */
  readonly text: string;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean;
}

/** A stored rule that a document is based on. */
export interface BaseRule extends DocumentRule {
  readonly id: string;
  readonly etag: string;
}

/** A rule at its position in a document. */
export interface DocumentEntry extends DocumentRule {
  /** Its comment lines and statement, without the line break after them. */
  readonly block: Span;
  /** Line of the statement, from 1. */
  readonly line: number;
}

/** A document as far as it could be parsed. */
export interface ReadDocument {
  readonly entries: readonly DocumentEntry[];
  /** What a document cannot hold: facts, and the same rule twice. Any of them prevents saving. */
  readonly errors: readonly Diagnostic[];
  /** Comments that would be dropped. */
  readonly dropped: readonly Diagnostic[];
  /** True if every statement could be parsed. */
  readonly isWhole: boolean;
}

/** The head's relation: `path/2`, or `-path/2` for explicit negation. */
export function headOf({ rule: { head } }: Pick<DocumentRule, 'rule'>): string {
  return `${head.negated ? '-' : ''}${head.predicate}/${head.args.length}`;
}

/** Equal for two rules that the service takes for the same. */
export function ruleKeyOf({ rule, scope }: Pick<DocumentRule, 'rule' | 'scope'>): string {
  return `${scope === null ? '' : JSON.stringify(scope)} ${ruleIdentity(rule)}`;
}

/** True if the service would store both alike. */
export function isAlike(left: DocumentRule, right: DocumentRule): boolean {
  return (
    left.text === right.text &&
    left.scope === right.scope &&
    left.name === right.name &&
    left.description === right.description &&
    left.enabled === right.enabled
  );
}

/** Line breaks of descriptions as an editor has them. */
function plainLines(text: string | null): string | null {
  const plain = (text ?? '').replace(/\r\n?|[\u2028\u2029]/g, '\n');
  return plain === '' ? null : plain;
}

/** Returns a stored rule as a document has it. */
export function baseRuleOf(stored: StoredRule): BaseRule {
  const { id, etag, head, body, scope, name, description, enabled } = stored;
  const rule = { head, body };
  return {
    id,
    etag,
    rule,
    text: renderRule(rule),
    scope,
    name: name === '' ? null : name,
    description: plainLines(description),
    enabled,
  };
}

function tagText(text: string): string {
  return /^["\s]|\s$|\p{Cc}|[\u2028\u2029]/u.test(text) ? JSON.stringify(text) : text;
}

/** Returns the comment lines and the statement of one rule. */
export function blockOf({ rule, scope, name, description, enabled }: DocumentRule): string {
  return [
    ...(name === null ? [] : [`%@ name: ${tagText(name)}`]),
    ...(scope === null ? [] : [`%@ scope: ${tagText(scope)}`]),
    ...(enabled ? [] : ['%@ off']),
    ...(description === null ? [] : description.split('\n').map((line) => (line === '' ? '%' : `% ${line}`))),
    layOutRule(rule),
  ].join('\n');
}

/** Text between the rules of a group: a blank line around what has several lines. */
export function gapBetween(before: string, after: string): string {
  return before.includes('\n') || after.includes('\n') ? '\n\n' : '\n';
}

/** Returns rules by head, the heads in the order of their first rule. */
export function rulesByHead<Of extends Pick<DocumentRule, 'rule'>>(rules: readonly Of[]): Map<string, Of[]> {
  const groups = new Map<string, Of[]>();
  for (const rule of rules) {
    const head = headOf(rule);
    const group = groups.get(head);
    if (group === undefined) groups.set(head, [rule]);
    else group.push(rule);
  }
  return groups;
}

/** Returns rules as a text. */
export function documentOf(rules: readonly DocumentRule[]): string {
  const parts: string[] = [];
  for (const [head, group] of rulesByHead(rules)) {
    let text = `%% ${head}`;
    let before = '';
    for (const rule of group) {
      const block = blockOf(rule);
      text += before === '' ? `\n${block}` : `${gapBetween(before, block)}${block}`;
      before = block;
    }
    parts.push(text);
  }
  return parts.length === 0 ? '' : `${parts.join('\n\n')}\n`;
}

/** Comment lines above a statement, read. */
interface Above {
  readonly start: number;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean;
}

/** Reads the value of a tag; quoted where it would not survive otherwise. */
function tagValue(text: string): string | null {
  if (!text.startsWith('"')) return text === '' ? null : text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    // A quotation mark that opens nothing is part of the name.
    return text;
  }
}

const heading = /^[ \t]*%%(?: -?\S.*\/\d+)?[ \t]*$/;
const comment = /^[ \t]*[%#]/;
const tag = /^[ \t]*%@[ \t]*(?:(name|scope)[ \t]*:[ \t]*(.*?)|(off))[ \t]*$/;

/** Reads the comment lines that end where the line of a statement begins; `from` is where they may begin. */
function readAbove(text: string, lineStart: number, from: number): Above {
  const lines: string[] = [];
  let start = lineStart;
  while (start > from) {
    const before = text.lastIndexOf('\n', start - 2) + 1;
    const line = text.slice(before, start - 1);
    if (before < from || !comment.test(line) || heading.test(line)) break;
    lines.unshift(line);
    start = before;
  }
  let name: string | null = null;
  let scope: string | null = null;
  let enabled = true;
  const description: string[] = [];
  for (const line of lines) {
    const [, field, value = '', off] = tag.exec(line) ?? [];
    if (field === 'name') name = tagValue(value);
    else if (field === 'scope') scope = tagValue(value);
    else if (off !== undefined) enabled = false;
    else description.push(line.replace(/^[ \t]*[%#] ?/, ''));
  }
  return { start, name, scope, enabled, description: plainLines(description.join('\n')) };
}

const maxDropped = 100;

/** The comments of a text that begins outside of argument lists. */
function* commentsIn(text: string, { start, end }: Span): Generator<Span> {
  let at = start;
  let isOpen = false;
  for (const line of text.slice(start, end).split('\n')) {
    const lexed = lexLine(line, isOpen);
    isOpen = lexed.isOpen;
    const found = lexed.tokens.find(({ kind }) => kind === 'comment');
    if (found !== undefined && !heading.test(line))
      yield { start: at + found.start, end: at + line.trimEnd().length };
    at += line.length + 1;
  }
}

const droppedMessage =
  'The service does not keep this comment: only those directly above a rule, as its description';

/** The statements as entries, and what a document cannot hold. */
function entriesIn(text: string, read: ParsedText) {
  const lines = lineTable(text);
  const entries: DocumentEntry[] = [];
  const errors: Diagnostic[] = [];
  const gaps: Span[] = [];
  const seen = new Map<string, number>();
  let last = 0;
  function report(code: Diagnostic['code'], message: string, span: Span): void {
    errors.push({ severity: 'error', code, message, ...lines.range(span) });
  }
  for (const { span, rule } of read.statements) {
    const lineStart = text.lastIndexOf('\n', span.start - 1) + 1;
    const isFirst = text.slice(lineStart, span.start).trim() === '' && lineStart >= last;
    const above = readAbove(text, isFirst ? lineStart : span.start, isFirst ? last : span.start);
    gaps.push({ start: last, end: above.start });
    last = span.end;
    if (rule === null) {
      report('syntax', 'This is a fact. The document holds rules: assert it under List, or in Facts', span);
      continue;
    }
    const { start, ...said } = above;
    const line = lines.range(span).startLine;
    const entry = { rule, text: renderRule(rule), ...said, block: { start, end: span.end }, line };
    const identity = ruleKeyOf(entry);
    const other = seen.get(identity);
    if (other !== undefined) report('duplicate', `This is the rule of line ${other} again`, span);
    seen.set(identity, other ?? line);
    entries.push(entry);
  }
  gaps.push({ start: last, end: text.length });
  return { entries, errors, gaps, lines };
}

/** Parses a document. */
export function readDocument(text: string): ReadDocument {
  const read = parseEditorText(text, 'program');
  const { entries, errors, gaps, lines } = entriesIn(text, read);
  const dropped: Diagnostic[] = [];
  const within = read.statements.flatMap(({ span }) =>
    /[%#]/.test(text.slice(span.start, span.end)) ? [span] : [],
  );
  // A gap may also be a statement with a mistake.
  const places = read.isWhole ? [...gaps, ...within] : within;
  for (const place of places) {
    if (dropped.length >= maxDropped) break;
    for (const span of commentsIn(text, place))
      dropped.push({
        severity: 'warning',
        code: 'syntax',
        message: droppedMessage,
        ...lines.range(span),
      });
  }
  return { entries, errors, dropped, isWhole: read.isWhole };
}
