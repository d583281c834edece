/**
 * The parser of statements: one class by recursive descent, and the loop that collects errors.
 *
 * Its methods throw a `SyntaxFailure` with the position; `itemSteps` catches it, reports it and goes on with the next
 * statement. It takes linear time, and the call stack is bounded (`maxAggregateDepth`). `parse.ts`, `knowledge-text.ts`
 * and `test-text.ts` offer it; the failures never leave them.
 */
import {
  type AggregateName,
  aggregateNames,
  type Atom,
  isBuiltinName,
  isVariable,
  type Literal,
  maxArguments,
  maxBodyLiterals,
  NamedTerms,
  type Rule,
} from '../contract/language.ts';
import type { ArgumentNames } from './argument-names.ts';
import { isSpace, Scanner, SyntaxFailure } from './scanner.ts';
import type { LineTable, LiteralSource, Range, Span } from './source.ts';
import { maxAggregateDepth } from './terms.ts';

/**
 * A fact or a rule of a program, with the positions of its parts. `span` includes the full stop, if there is
 * one.
 */
export type Statement =
  | { readonly kind: 'fact'; readonly atom: Atom; readonly span: Span; readonly head: LiteralSource }
  | {
      readonly kind: 'rule';
      readonly rule: Rule;
      readonly span: Span;
      readonly head: LiteralSource;
      readonly body: readonly LiteralSource[];
    };

/** A constraint of a program: the body that must have no answer, and the text in quotation marks after it. */
export interface ConstraintStatement {
  readonly kind: 'constraint';
  readonly literals: Literal[];
  /** Why it is forbidden, in words; null: not given. */
  readonly reason: string | null;
  readonly span: Span;
  readonly body: readonly LiteralSource[];
}

/** A syntax error. `code` is that of a diagnostic: a fact with variables is `unsafe_variable`. */
export interface SyntaxProblem {
  readonly code: 'syntax' | 'unsafe_variable' | 'unknown_argument';
  readonly message: string;
  readonly span: Span;
  readonly range: Range;
}

/**
 * Free text is strict (`p` alone, comments and a missing last full stop are not allowed), the rest is not.
 */
export interface Dialect {
  readonly bareNames: boolean;
  readonly comments: boolean;
  readonly lastStopOptional: boolean;
}

/** The dialect of programs, files and the texts of single items. */
export const programDialect: Dialect = { bareNames: true, comments: true, lastStopOptional: true };

const aggregates: ReadonlySet<string> = new Set(aggregateNames);

/** Arguments by name that do not fit the declarations of their predicate. */
export class ArgumentFailure extends SyntaxFailure {}

/** What an atom may leave out of its arguments by name: nothing in facts and heads. */
type AtomPlace = 'whole' | 'pattern';

/** What was parsed, and where. */
export interface Parsed<T> {
  readonly value: T;
  readonly source: LiteralSource;
}

/** Literals and where they are. */
export interface ParsedList {
  readonly literals: Literal[];
  readonly sources: LiteralSource[];
}

/** Parses the items of one text from where its scanner is. */
export class Parser {
  readonly scanner: Scanner;
  /**
   * Set if the last statement lacks its full stop although the next line continues; it is parsed
   * nevertheless.
   */
  #missingStop: SyntaxFailure | null = null;
  readonly #dialect: Dialect;
  readonly #names: ArgumentNames | null;

  /** `names`: puts arguments by name in order; null: they stay as they are given. */
  constructor(text: string, dialect: Dialect, names: ArgumentNames | null = null) {
    this.scanner = new Scanner(text, dialect.comments);
    this.#dialect = dialect;
    this.#names = names;
  }

  /** The missing full stop of the last statement, if any. */
  takeMissingStop(): SyntaxFailure | null {
    const failure = this.#missingStop;
    this.#missingStop = null;
    return failure;
  }

  /**
   * Parses a whole statement with its full stop. The cursor is at its first character. `place`: of a statement without a body.
   */
  statement(place: AtomPlace = 'whole'): Statement {
    const { scanner } = this;
    const start = scanner.position;
    if (scanner.sees(':-')) scanner.fail('a rule needs a head before :-', start, start + 2);
    if (this.startsConstraint)
      scanner.fail('a constraint cannot stand here: add it with POST /constraints', start, start + 2);
    const head = this.head(place);
    let end = scanner.position;
    scanner.skip();
    if (!scanner.take(':-')) {
      const { terms } = head.source;
      const closes = scanner.unit(end - 1);
      const isGround =
        (closes === 41 || closes === 125) && !terms.some((term) => scanner.unit(term.start) === 63);
      const span = { start, end: this.#stop(end, isGround ? start : null) };
      return { kind: 'fact', atom: head.value, span, head: head.source };
    }
    const body = this.literals(0);
    end = (body.sources.at(-1) as LiteralSource).span.end;
    return {
      kind: 'rule',
      rule: { head: head.value, body: body.literals },
      span: { start, end: this.#stop(end, start) },
      head: head.source,
      body: body.sources,
    };
  }

  /** True at `!-` and white space. Without it, `!-` begins a predicate. */
  get startsConstraint(): boolean {
    const { scanner } = this;
    return scanner.sees('!-') && isSpace(scanner.unit(scanner.position + 2));
  }

  /** Parses a whole constraint with its full stop. The cursor is at its `!-`. */
  constraint(): ConstraintStatement {
    const { scanner } = this;
    const start = scanner.position;
    scanner.position += 2;
    const { literals, sources } = this.literals(0);
    let end = (sources.at(-1) as LiteralSource).span.end;
    scanner.skip();
    let reason: string | null = null;
    if (scanner.unit() === 34) {
      reason = scanner.quoted();
      end = scanner.position;
    }
    const span = { start, end: this.#stop(end, start) };
    return { kind: 'constraint', literals, reason, span, body: sources };
  }

  /**
   * Parses the full stop of a statement whose last literal ended at `end`, and returns the end of the
   * statement. `start`: where it began, if it needs no full stop on a line of its own; null for anything but
   * a ground atom or a rule.
   */
  #stop(end: number, start: number | null): number {
    const { scanner } = this;
    scanner.skip();
    if (scanner.unit() === 46) {
      const next = scanner.unit(scanner.position + 1);
      if (!Number.isNaN(next) && !isSpace(next))
        scanner.fail('white space must follow the full stop that ends a statement', scanner.position);
      return ++scanner.position;
    }
    if (scanner.atEnd) {
      if (this.#dialect.lastStopOptional) return scanner.position;
      scanner.fail('a statement ends with a full stop', end);
    }
    if (!/[\n\r]/.test(scanner.text.slice(end, scanner.position)))
      this.failAfterLiteral('expected a comma, :- or a full stop');
    if (start !== null && isWholeLine(scanner.text, start, end)) return end;
    this.#missingStop = new SyntaxFailure('a statement ends with a full stop: write . here', end - 1, end);
    return scanner.position;
  }

  /** Skips the optional full stop after a text of one body or atom. */
  lastStop(): void {
    const { scanner } = this;
    scanner.skip();
    if (!scanner.atEnd && !scanner.take('.')) this.failAfterLiteral('expected a comma or the end');
  }

  /** Fails at what follows a literal, with a hint about what it may have been meant for. */
  failAfterLiteral(expectation: string): never {
    const { scanner } = this;
    const builtin = scanner.comparisonAt(scanner.position) || scanner.operationAt(scanner.position);
    const space = scanner.unit() === 40 ? ' (a predicate and its parenthesis stand together)' : '';
    const hint = builtin === '' ? space : ' (in a built-in a constant of more than one word is quoted)';
    return scanner.failUnexpected(expectation + hint);
  }

  /** Parses an atom that may be a fact or the head of a rule. */
  head(place: AtomPlace): Parsed<Atom> {
    const { scanner } = this;
    const start = scanner.position;
    if (scanner.unit() === 63 || scanner.unit() === 34)
      scanner.failUnexpected('a statement begins with a predicate');
    const atom = this.atom(place);
    const { name } = atom.source;
    if (isBuiltinName(atom.value.predicate))
      scanner.fail(
        `${atom.value.predicate} is the name of a built-in and cannot be stated`,
        name.start,
        name.end,
      );
    if (atom.value.predicate === 'not' && scanner.unit(name.end) !== 40)
      scanner.fail('not stands before an atom of a body only', start, name.end);
    return atom;
  }

  /** Parses `p(a, b)`, `-p(a)`, `p{name: a}` or, if the dialect allows it, `p` alone. */
  atom(place: AtomPlace): Parsed<Atom> {
    const { scanner } = this;
    const start = scanner.position;
    const negated = scanner.take('-');
    const nameStart = scanner.position;
    const predicate = scanner.name();
    const name = { start: nameStart, end: scanner.position };
    const args: string[] = [];
    const terms: Span[] = [];
    if (scanner.unit() === 123) {
      const named = this.#named(predicate, name, place);
      const whole = { start, end: scanner.position };
      const source = { span: whole, name, terms: named.terms, body: [] };
      return { value: { predicate, args: named.args, negated }, source };
    }
    if (scanner.unit() === 40) this.arguments(args, terms);
    else if (!this.#dialect.bareNames) scanner.failUnexpected('expected ( right after the predicate');
    const span = { start, end: scanner.position };
    return { value: { predicate, args, negated }, source: { span, name, terms, body: [] } };
  }

  /** Parses arguments in parentheses into `args` and `terms`. The cursor is at the opening one. */
  arguments(args: string[], terms: Span[]): void {
    const { scanner } = this;
    scanner.position++;
    scanner.skipSpace();
    if (scanner.take(')')) return;
    for (;;) {
      const { value, span } = scanner.argument();
      if (args.length === maxArguments)
        scanner.fail(`an atom has at most ${maxArguments} arguments`, span.start, span.end);
      args.push(value);
      terms.push(span);
      scanner.skipSpace();
      if (scanner.take(')')) return;
      if (!scanner.take(',')) scanner.failUnexpected('expected , or )');
    }
  }

  /** Parses arguments by name; in order, if the declarations are known. */
  #named(predicate: string, name: Span, place: AtomPlace): { args: string[]; terms: Span[] } {
    const { scanner } = this;
    const brace = scanner.position++;
    const spans = new Map<string, { readonly name: Span; readonly value: Span }>();
    const given = new Map<string, string>();
    scanner.skipSpace();
    for (let ends = scanner.take('}'); !ends; ends = scanner.take('}')) {
      if (given.size > 0 && !scanner.take(',')) scanner.failUnexpected('expected , or }');
      const named = scanner.argumentName();
      const { value, span } = scanner.argument('}');
      if (given.has(named.value))
        scanner.fail(`the argument ${named.value} is given twice`, named.span.start, named.span.end);
      if (given.size === maxArguments)
        scanner.fail(`an atom has at most ${maxArguments} arguments`, named.span.start, span.end);
      given.set(named.value, value);
      spans.set(named.value, { name: named.span, value: span });
      scanner.skipSpace();
    }
    const args = new NamedTerms(given, place === 'whole');
    const inOrder = this.#names?.inOrder(predicate, args) ?? null;
    if (inOrder === null) return { args, terms: [...spans.values()].map(({ value }) => value) };
    if (inOrder.kind === 'problem') {
      const span = (inOrder.name === null ? null : spans.get(inOrder.name)?.name) ?? name;
      const Failure = inOrder.isDeclared ? ArgumentFailure : SyntaxFailure;
      throw new Failure(inOrder.message, span.start, span.end);
    }
    // A name that is left out has no place of its own.
    const nowhere = { start: brace, end: brace + 1 };
    return {
      args: inOrder.args,
      terms: inOrder.names.map((each) => spans.get(each)?.value ?? nowhere),
    };
  }

  /** Parses one or more literals separated by commas. `depth`: the number of enclosing braces. */
  literals(depth: number): ParsedList {
    const { scanner } = this;
    const list: ParsedList = { literals: [], sources: [] };
    for (;;) {
      scanner.skip();
      const start = scanner.position;
      const { value, source } = this.literal(depth);
      if (list.literals.length === maxBodyLiterals)
        scanner.fail(`a body has at most ${maxBodyLiterals} literals`, start, source.span.end);
      list.literals.push(value);
      list.sources.push(source);
      const end = scanner.position;
      scanner.skip();
      if (!scanner.take(',')) {
        scanner.position = end;
        return list;
      }
    }
  }

  literal(depth: number): Parsed<Literal> {
    const { scanner } = this;
    const start = scanner.position;
    const first = scanner.unit();
    if (first === 63 || first === 34) return this.#builtin(depth);
    const sign = first === 45 ? 1 : 0;
    const end = scanner.nameEnd(start + sign);
    if (scanner.unit(end) !== 40) {
      if (scanner.text.slice(start, end) === 'not' && !this.#startsBuiltin()) return this.#absence();
      if (this.#startsBuiltin()) return this.#builtin(depth);
    }
    const atom = this.atom('pattern');
    return { value: { ...atom.value, naf: false }, source: atom.source };
  }

  #absence(): Parsed<Literal> {
    const { scanner } = this;
    const start = scanner.position;
    scanner.position += 3;
    if (!isSpace(scanner.unit())) scanner.failUnexpected('expected white space and an atom after not');
    scanner.skip();
    if (scanner.unit() === 63 || scanner.unit() === 34)
      scanner.failUnexpected('not stands before an atom: write the opposite comparison instead');
    const atom = this.atom('pattern');
    const { name } = atom.source;
    if (atom.value.predicate === 'not' && scanner.unit(name.end) !== 40)
      scanner.fail('not stands once before an atom', start, name.end);
    const span = { start, end: scanner.position };
    return { value: { ...atom.value, naf: true }, source: { ...atom.source, span } };
  }

  /** True if a bare number or word and a comparison with its right side follow, rather than a name. */
  #startsBuiltin(): boolean {
    const { scanner } = this;
    const operand = scanner.bareOperandAt(scanner.position);
    if (operand === '') return false;
    const signAt = scanner.pastSpace(scanner.position + operand.length);
    const sign = scanner.comparisonAt(signAt);
    if (sign === '') return false;
    const rightAt = scanner.pastSpace(signAt + sign.length);
    // `not =p(a)`: a predicate may begin with a comparison sign.
    if (operand === 'not' && rightAt === signAt + sign.length) return false;
    const unit = scanner.unit(rightAt);
    return unit === 63 || unit === 34 || scanner.bareOperandAt(rightAt) !== '';
  }

  #builtin(depth: number): Parsed<Literal> {
    const { scanner } = this;
    const start = scanner.position;
    const left = scanner.operand();
    scanner.skip();
    const signAt = scanner.position;
    const sign = scanner.comparisonAt(signAt);
    if (sign === '') scanner.failUnexpected('expected a comparison (< <= > >= = !=)');
    scanner.position += sign.length;
    scanner.skip();
    if (sign === '=') {
      const aggregate = scanner.wordAt(scanner.position);
      const braceAt = scanner.pastSpace(scanner.position + aggregate.length);
      if (aggregates.has(aggregate) && scanner.unit(braceAt) === 123)
        return this.#aggregate(start, left, aggregate as AggregateName, braceAt, depth);
    }
    const right = scanner.operand();
    const operationAt = scanner.pastSpace(scanner.position);
    const operation = scanner.operationAt(operationAt);
    if (operation !== '') return this.#arithmetic(start, left, sign, right, operation, operationAt);
    return {
      value: { predicate: sign, args: [left.value, right.value], negated: false, naf: false },
      source: {
        span: { start, end: scanner.position },
        name: { start: signAt, end: signAt + sign.length },
        terms: [left.span, right.span],
        body: [],
      },
    };
  }

  #arithmetic(
    start: number,
    result: { value: string; span: Span },
    sign: string,
    left: { value: string; span: Span },
    operation: string,
    operationAt: number,
  ): Parsed<Literal> {
    const { scanner } = this;
    if (sign !== '=')
      scanner.fail('arithmetic stands after = only: give the result a variable first', operationAt);
    const isBareConstant = !isVariable(left.value) && scanner.unit(left.span.start) !== 34;
    if (isBareConstant && operationAt === left.span.end)
      scanner.fail(
        'a constant with this character is quoted; arithmetic has white space here',
        left.span.start,
        operationAt + operation.length,
      );
    scanner.position = operationAt + operation.length;
    scanner.skip();
    const right = scanner.operand();
    const nextAt = scanner.pastSpace(scanner.position);
    const next = scanner.operationAt(nextAt);
    if (next !== '')
      scanner.fail(
        'one operation in one literal: give the first result a variable',
        nextAt,
        nextAt + next.length,
      );
    return {
      value: {
        predicate: operation,
        args: [left.value, right.value, result.value],
        negated: false,
        naf: false,
      },
      source: {
        span: { start, end: scanner.position },
        name: { start: operationAt, end: operationAt + operation.length },
        terms: [left.span, right.span, result.span],
        body: [],
      },
    };
  }

  #aggregate(
    start: number,
    result: { value: string; span: Span },
    aggregate: AggregateName,
    braceAt: number,
    depth: number,
  ): Parsed<Literal> {
    const { scanner } = this;
    const name = { start: scanner.position, end: scanner.position + aggregate.length };
    if (depth === maxAggregateDepth)
      scanner.fail(`aggregates stand at most ${maxAggregateDepth} deep in one another`, name.start, name.end);
    scanner.position = braceAt + 1;
    const over: string[] = [];
    const terms = [result.span];
    do {
      scanner.skip();
      const { value, span } = scanner.operand();
      if (!isVariable(value)) scanner.fail('only variables stand before the colon', span.start, span.end);
      if (over.length === maxArguments)
        scanner.fail(`at most ${maxArguments} variables`, span.start, span.end);
      over.push(value);
      terms.push(span);
      scanner.skip();
    } while (scanner.take(','));
    if (!scanner.take(':')) scanner.failUnexpected('expected , or : after the variables of an aggregate');
    const inner = this.literals(depth + 1);
    scanner.skip();
    if (!scanner.take('}')) this.failAfterLiteral('expected , or }');
    const span = { start, end: scanner.position };
    return {
      value: { aggregate, result: result.value, over, body: inner.literals },
      source: { span, name, terms, body: inner.sources },
    };
  }

  /**
   * After an error at `from`: skips to the possible start of the next statement, after the next full stop.
   */
  recover(from: number): void {
    const { scanner } = this;
    const { text } = scanner;
    let position = from;
    let quotesUntil = -1;
    for (; position < text.length; position++) {
      const unit = text.charCodeAt(position);
      if (unit === 46 && (position + 1 === text.length || isSpace(text.charCodeAt(position + 1)))) break;
      if (unit !== 34 || position < quotesUntil) continue;
      const close = closingQuote(text, position);
      if (text.charCodeAt(close) === 34) position = close;
      else quotesUntil = close;
    }
    scanner.position = Math.min(position + 1, text.length);
  }
}

/** True if the span begins its line; that it also ends it is known. */
function isWholeLine(text: string, start: number, end: number): boolean {
  for (let at = start - 1; at >= 0 && !isLineBreak(text.charCodeAt(at)); at--)
    if (!isSpace(text.charCodeAt(at))) return false;
  for (let at = start; at < end; at++) if (isLineBreak(text.charCodeAt(at))) return false;
  return true;
}

function isLineBreak(unit: number): boolean {
  return unit === 10 || unit === 13;
}

/** The offset of the quotation mark that closes the one at `start`, or of the end of its line. */
function closingQuote(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === 34 || unit === 10 || unit === 13) return end;
    if (unit === 92) end++;
  }
  return text.length;
}

/** Characters parsed between two yields. */
const charactersOfStep = 16_384;

/** Takes a syntax error. */
export type ReportProblem = (code: SyntaxProblem['code'], message: string, span: Span) => void;

/** True for a rule, and for a fact without variables; otherwise reports its first variable. */
export function isGround(statement: Statement, report: ReportProblem): boolean {
  if (statement.kind === 'rule') return true;
  const index = statement.atom.args.findIndex(isVariable);
  if (index < 0) return true;
  const message = 'a fact is ground: it has no variables (a rule has :- and a body)';
  report('unsafe_variable', message, statement.head.terms[index] as Span);
  return false;
}

/**
 * Reads items until the text ends, in small steps, and returns the errors in the order found, at most `maxErrors` and
 * those of one item more. `readItem` reads one from the scanner's position; after a failure parsing goes on behind it.
 */
export function* itemSteps(
  parser: Parser,
  lines: LineTable,
  maxErrors: number,
  readItem: (report: ReportProblem) => void,
): Generator<'more', SyntaxProblem[], undefined> {
  const { scanner } = parser;
  const errors: SyntaxProblem[] = [];
  let yieldsAt = 0;
  function report(code: SyntaxProblem['code'], message: string, span: Span): void {
    errors.push({ code, message, span, range: lines.range(span) });
  }
  while (errors.length < maxErrors) {
    scanner.skip(true);
    if (scanner.atEnd) break;
    if (scanner.position >= yieldsAt) {
      yieldsAt = scanner.position + charactersOfStep;
      yield 'more';
    }
    try {
      readItem(report);
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      report(codeOf(error), error.message, error.span);
      parser.recover(Math.max(error.span.start, scanner.position));
    }
  }
  return errors;
}

/** The code of a diagnostic for the failure. */
export function codeOf(failure: SyntaxFailure): SyntaxProblem['code'] {
  return failure instanceof ArgumentFailure ? 'unknown_argument' : 'syntax';
}
