/**
 * The text of a file of knowledge: facts, rules, constraints (`!- body "why"`), declarations (`:declare …`) and, if they
 * are allowed, tests (`test-text.ts`).
 *
 * Parsing never throws: errors are collected with their positions, and parsing goes on behind them. It takes linear time,
 * in a bounded stack. Items may still be unsafe, or at odds with one another (`diagnose.ts`), and what is declared is not
 * checked against the schema of declarations.
 */
import { runAtOnce } from '../base/slices.ts';
import type { ArgumentNames } from './argument-names.ts';
import {
  type DeclarationStatement,
  readDeclaration,
  renderDeclaration,
  startsDeclaration,
} from './declaration-text.ts';
import { layOutConstraint, layOutRule, layOutTestStatement } from './layout.ts';
import {
  type ConstraintStatement,
  isGround,
  Parser,
  programDialect,
  itemSteps,
  type ReportProblem,
  type Statement,
  type SyntaxProblem,
} from './parser.ts';
import { renderAtom } from './print.ts';
import { type LineTable, lineTable, type Span } from './source.ts';
import { type KnowledgeTest, readTest, startsTest } from './test-text.ts';

/** One item of a file. */
export type KnowledgeItem = Statement | ConstraintStatement | DeclarationStatement | KnowledgeTest;

/** A file as far as it could be parsed. */
export interface KnowledgeText {
  /** In text order. */
  readonly items: readonly KnowledgeItem[];
  /** In the order of the items that they are about. */
  readonly errors: readonly SyntaxProblem[];
  /** Comments outside of what could not be parsed, in text order. */
  readonly comments: readonly Span[];
  readonly lines: LineTable;
}

/** How to parse a file. */
export interface KnowledgeTextOptions {
  /** Tests are items; otherwise each is an error. Default false. */
  readonly tests?: boolean;
  /** Puts arguments by name in order; absent: they stay as they are given. */
  readonly names?: ArgumentNames;
  /** Parsing stops after this many errors (default 1000). */
  readonly maxErrors?: number;
}

/** Parses the text of a file. */
export function parseKnowledgeText(text: string, options: KnowledgeTextOptions = {}): KnowledgeText {
  return runAtOnce(knowledgeTextSteps(text, options));
}

/** Like `parseKnowledgeText`, in small steps; each test is one. */
export function* knowledgeTextSteps(
  text: string,
  { tests = false, names, maxErrors = 1000 }: KnowledgeTextOptions = {},
): Generator<'more', KnowledgeText, undefined> {
  const lines = lineTable(text);
  const parser = new Parser(text, programDialect, names ?? null);
  const items: KnowledgeItem[] = [];
  const testLines = new Map<string, number>();
  const errors = yield* itemSteps(parser, lines, maxErrors, (report) => {
    const item = readItem(parser, report);
    if (item === null) return;
    if (item.kind !== 'test') items.push(item);
    else if (!tests)
      report('syntax', 'a test cannot stand here: write it in a file that ends with .test.kb', item.nameSpan);
    else {
      items.push(item);
      const first = testLines.get(item.name);
      if (first === undefined) testLines.set(item.name, lines.range(item.nameSpan).startLine);
      else report('syntax', `another test has this name, on line ${first}`, item.nameSpan);
    }
  });
  return { items, errors, comments: parser.scanner.comments, lines };
}

function readItem(parser: Parser, report: ReportProblem): KnowledgeItem | null {
  const { scanner } = parser;
  if (startsDeclaration(scanner)) return readDeclaration(scanner);
  if (startsTest(scanner)) return readTest(parser, report);
  const statement = parser.startsConstraint ? parser.constraint() : parser.statement();
  const missing = parser.takeMissingStop();
  if (missing !== null) report('syntax', missing.message, missing.span);
  return statement.kind === 'constraint' || isGround(statement, report) ? statement : null;
}

/**
 * Formats a file: lays its statements out, and indents its tests. Keeps the meaning, comments, the order, statements that
 * share a line, and the file's line ends (LF or CR LF). A statement with a comment inside, and what cannot be parsed,
 * stays as written but for white space at the ends of lines and repeated blank lines. Formatting twice is formatting once.
 */
export function formatKnowledgeText(text: string): string {
  const firstEnd = /\r\n?|\n/.exec(text)?.[0] ?? '\n';
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const { items, comments } = parseKnowledgeText(plain, { tests: true, maxErrors: Number.POSITIVE_INFINITY });
  const parts: string[] = [];
  const commentsOf = commentsBySpan(comments);
  let at = 0;
  for (const item of items) {
    const { start, end } = item.span;
    // What follows an error may be read twice.
    if (start < at) continue;
    const inside = commentsOf(item.span);
    const wanted = item.kind === 'test' ? layOutTest(item, plain, inside) : layOut(item, plain, inside);
    parts.push(plain.slice(at, start), wanted ?? plain.slice(start, end));
    at = end;
  }
  parts.push(plain.slice(at));
  const tidy = tidied(parts.join(''));
  return firstEnd === '\r\n' ? tidy.replaceAll('\n', '\r\n') : tidy;
}

/** Returns the comments inside a span; the spans asked for are in text order. */
function commentsBySpan(comments: readonly Span[]): (span: Span) => Span[] {
  let next = 0;
  return ({ start, end }) => {
    while ((comments[next]?.start ?? Number.POSITIVE_INFINITY) < start) next++;
    const inside: Span[] = [];
    for (let at = next; (comments[at]?.start ?? Number.POSITIVE_INFINITY) < end; at++)
      inside.push(comments[at] as Span);
    return inside;
  };
}

/** The statement laid out; null: it stays as written. */
function layOut(
  item: Exclude<KnowledgeItem, KnowledgeTest>,
  text: string,
  comments: readonly Span[],
): string | null {
  if (comments.length > 0) return null;
  switch (item.kind) {
    case 'fact':
      return `${renderAtom(item.atom)}.`;
    case 'rule':
      return layOutRule(item.rule);
    case 'constraint':
      return layOutConstraint(item.literals, item.reason);
    case 'declaration':
      return renderDeclaration(item.declared) + (text[item.span.end - 1] === '.' ? '.' : '');
  }
}

/** A test laid out; null: it stays as written, since something in it could not be parsed, or a comment is in its way. */
function layOutTest(test: KnowledgeTest, text: string, comments: readonly Span[]): string | null {
  const brace = text.indexOf('{', test.nameSpan.end);
  if (!test.isWhole || comments.some(({ start }) => start < brace)) return null;
  const statements = test.statements.map((statement) => ({ statement, span: statement.span }));
  const own = comments.map((span) => ({ statement: null, span }));
  const pieces = [...statements, ...own].sort((left, right) => left.span.start - right.span.start);
  let laid = `test ${JSON.stringify(test.name)} {`;
  const commentsOf = commentsBySpan(comments);
  let at = brace + 1;
  for (const { statement, span } of pieces) {
    if (span.start < at) continue;
    const gap = text.slice(at, span.start);
    const breaks = gap.split('\n').length - 1;
    if (statement === null && breaks === 0) laid += gap === '' ? ' ' : gap;
    else laid += breaks > 1 && at > brace + 1 ? '\n\n  ' : '\n  ';
    const staysAsWritten = statement === null || commentsOf(span).length > 0;
    laid += staysAsWritten ? text.slice(span.start, span.end) : layOutTestStatement(statement);
    at = span.end;
  }
  return `${laid}\n}`;
}

/** Removes trailing white space and repeated blank lines. A quoted text never spans lines. */
function tidied(text: string): string {
  const trimmed = text.replace(/[ \t]+(?=\n|$)/g, '').replace(/\n{3,}/g, '\n\n');
  return trimmed.replace(/^\n+/, '').replace(/\n+$/, text.endsWith('\n') ? '\n' : '');
}
