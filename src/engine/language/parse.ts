/**
 * The grammar of facts, rules and questions, parsed by recursive descent.
 *
 * Parsing a program never throws: every error is collected with its position, and parsing resumes at the next
 * statement, so that an editor sees them all. It takes linear time, and the call stack is bounded. The functions for a
 * single item (`parseRule`, `parseBody`, `parseAtom`) throw the first error, as the 400 that a client gets. The result
 * may still be unsafe: see `check.ts`.
 */
import { EngineError } from '../base/errors.ts';
import { runAtOnce } from '../base/slices.ts';
import { type Atom, isVariable, type Literal, maxConstantBytes, type Rule } from '../contract/language.ts';
import type { ArgumentNames } from './argument-names.ts';
import {
  ArgumentFailure,
  type ConstraintStatement,
  type Dialect,
  isGround,
  Parser,
  programDialect,
  itemSteps,
  type Statement,
  type SyntaxProblem,
} from './parser.ts';
import { SyntaxFailure, TooLongConstant } from './scanner.ts';
import { type LineTable, lineTable, type Span } from './source.ts';

/** Statements and errors, each in text order. */
interface ParsedProgram {
  readonly statements: readonly Statement[];
  /** Empty unless they are allowed. */
  readonly constraints: readonly ConstraintStatement[];
  readonly errors: readonly SyntaxProblem[];
  readonly lines: LineTable;
}

/** How to parse a program. */
interface ParseOptions {
  /** Parsing stops after this many errors (default 1000). */
  readonly maxErrors?: number;
  /** `!- body` is a statement too; else it is a syntax error. */
  readonly allowsConstraints?: boolean;
  /** Statements without a body may have variables: they are patterns. */
  readonly allowsPatterns?: boolean;
  /** A statement that ends with its line needs no full stop. */
  readonly lineEndsStatement?: boolean;
  /** Puts arguments by name in order; absent: they stay as they are given. */
  readonly names?: ArgumentNames;
}

const freeTextDialect: Dialect = { bareNames: false, comments: false, lastStopOptional: false };
const wholeLineDialect: Dialect = { ...freeTextDialect, lastStopOptional: true };

const defaultMaxErrors = 1000;

/** Parses facts and rules, each ended by a full stop; the last full stop may be missing. */
export function parseProgram(text: string, options: ParseOptions = {}): ParsedProgram {
  return runAtOnce(programSteps(text, options));
}

/** Like `parseProgram`, in small steps. */
export function programSteps(
  text: string,
  options: ParseOptions = {},
): Generator<'more', ParsedProgram, undefined> {
  return readProgram(text, programDialect, options);
}

function* readProgram(
  text: string,
  dialect: Dialect,
  {
    maxErrors = defaultMaxErrors,
    allowsConstraints = false,
    allowsPatterns = false,
    lineEndsStatement = false,
    names,
  }: ParseOptions,
): Generator<'more', ParsedProgram, undefined> {
  const lines = lineTable(text);
  const parser = new Parser(text, dialect, names);
  const statements: Statement[] = [];
  const constraints: ConstraintStatement[] = [];
  const errors = yield* itemSteps(parser, lines, maxErrors, (report) => {
    const statement =
      allowsConstraints && parser.startsConstraint
        ? parser.constraint()
        : parser.statement(allowsPatterns ? 'pattern' : 'whole');
    const missing = parser.takeMissingStop();
    if (missing !== null && !lineEndsStatement) report('syntax', missing.message, missing.span);
    if (statement.kind === 'constraint') constraints.push(statement);
    else if (allowsPatterns || isGround(statement, report)) statements.push(statement);
  });
  return { statements, constraints, errors, lines };
}

function failure(text: string, path: string, problem: { message: string; span: Span }): EngineError {
  const { startLine, startColumn } = lineTable(text).range(problem.span);
  const message = `line ${startLine}, column ${startColumn}: ${problem.message}`;
  return new EngineError('ValidationException', `${path}: ${message}`, {
    errors: [{ path, message }],
    line: startLine,
    column: startColumn,
  });
}

/** Parses one item that is the whole text. */
function readWhole<T>(
  text: string,
  path: string,
  names: ArgumentNames | null,
  read: (parser: Parser) => T,
): T {
  const parser = new Parser(text, programDialect, names);
  const { scanner } = parser;
  try {
    scanner.skip(true);
    const value = read(parser);
    const missing = parser.takeMissingStop();
    if (missing !== null) throw missing;
    scanner.skip();
    if (!scanner.atEnd) scanner.failUnexpected('expected nothing more');
    return value;
  } catch (error) {
    if (error instanceof SyntaxFailure) throw failure(text, path, error);
    throw error;
  }
}

/**
 * Parses one rule. Otherwise throws a 400 ValidationException; its detail and `errors` give line and column.
 * `path`: the request field with the text. `names`: puts arguments by name in order; without it they stay as they are given.
 */
export function parseRule(text: string, path = 'text', names: ArgumentNames | null = null): Rule {
  return readWhole(text, path, names, (parser) => {
    const start = parser.scanner.position;
    const statement = parser.statement();
    if (statement.kind === 'rule') return statement.rule;
    return parser.scanner.fail('a rule needs :- and a body; this is a fact', start, statement.span.end);
  });
}

/** Parses one constraint, `!- body`. Errors as for `parseRule`. */
export function parseConstraint(
  text: string,
  path = 'text',
  names: ArgumentNames | null = null,
): ConstraintStatement {
  return readWhole(text, path, names, (parser) => {
    if (parser.startsConstraint) return parser.constraint();
    return parser.scanner.failUnexpected(
      'a constraint is !- and white space, then a body that must have no answer',
    );
  });
}

/** Parses the body of a rule, which is a question. Errors as for `parseRule`. */
export function parseBody(text: string, path = 'text', names: ArgumentNames | null = null): Literal[] {
  return readWhole(text, path, names, (parser) => {
    const { literals } = parser.literals(0);
    parser.lastStop();
    return literals;
  });
}

/** Parses one atom, with or without variables. Errors as for `parseRule`. */
export function parseAtom(text: string, path = 'text', names: ArgumentNames | null = null): Atom {
  return readWhole(text, path, names, (parser) => {
    const { value } = parser.head('pattern');
    parser.lastStop();
    return value;
  });
}

/**
 * The statements of a line of free text, or null if it is natural language: the whole line must consist of
 * statements, every literal with parentheses, every statement with its full stop, facts ground. If the line
 * is a single statement, the full stop may be missing. With `names`, arguments by name are put in order; a line
 * with names that are not declared is natural language, but for a predicate that is declared: that is a 400
 * ValidationException.
 */
export function parseFreeTextLine(line: string, names?: ArgumentNames): Statement[] | null {
  return runAtOnce(freeTextLineSteps(line, names));
}

/** Like `parseFreeTextLine`, in small steps. */
export function* freeTextLineSteps(
  line: string,
  names?: ArgumentNames,
  path = 'text',
): Generator<'more', Statement[] | null, undefined> {
  const written = line.trimEnd();
  const hasStop = written.endsWith('.');
  // Most natural language is recognized by its end, without parsing.
  if (!hasStop && !/[({]/.test(written)) return null;
  const dialect = hasStop ? freeTextDialect : wholeLineDialect;
  const options = { maxErrors: 1, ...(names === undefined ? {} : { names }) };
  const { statements, errors } = yield* readProgram(line, dialect, options);
  const [first] = errors;
  if (first?.code === 'unknown_argument') throw failure(line, path, first);
  if (errors.length > 0 || statements.length === 0) return null;
  return hasStop || statements.length === 1 ? [...statements] : null;
}

/**
 * Throws a 400 ValidationException if this line of a free text would be statements but for a constant that is too long:
 * it must not pass for natural language.
 */
export function refuseLongConstant(text: string, line: Span, path: string): void {
  if ((line.end - line.start) * 3 <= maxConstantBytes) return;
  const parser = new Parser(text.slice(line.start, line.end), wholeLineDialect);
  try {
    while (!parser.scanner.atEnd) {
      parser.statement();
      parser.scanner.skip();
    }
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    // Any other failure makes the line natural language.
    if (!(error instanceof TooLongConstant)) return;
    const { start, end } = error.span;
    const span = { start: line.start + start, end: line.start + end };
    throw failure(text, path, { message: error.message, span });
  }
}

/**
 * The body that a line of free text asks, or null if it asks nothing: a body followed by a question mark, or
 * one atom with a variable. Every atom needs parentheses or, with `names`, declared arguments in braces. Safety is not
 * checked. Throws like `parseFreeTextLine`.
 */
export function parseFreeTextQuestion(
  line: string,
  names: ArgumentNames | null = null,
  path = 'text',
): Literal[] | null {
  const written = line.trim();
  const isMarked = written.endsWith('?');
  const parser = new Parser(isMarked ? written.slice(0, -1) : written, freeTextDialect, names);
  const { scanner } = parser;
  try {
    const body = isMarked ? parser.literals(0).literals : [{ ...parser.head('pattern').value, naf: false }];
    scanner.skip();
    if (!scanner.atEnd) return null;
    return isMarked || body.some((literal) => 'args' in literal && literal.args.some(isVariable))
      ? body
      : null;
  } catch (error) {
    if (error instanceof ArgumentFailure) throw failure(written, path, error);
    if (error instanceof SyntaxFailure) return null;
    throw error;
  }
}
