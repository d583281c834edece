/**
 * Statements in the grammar, read from a stream.
 *
 * The text is parsed in pieces. The certain part of a piece ends with the last statement that has its full stop, or is
 * on its own line before another statement: the rest may continue in the next piece, and is parsed again with it. A
 * statement longer than the maximum length of a line is given up.
 */
import { maxRuleTextCharacters } from '../../engine/contract/rules.ts';
import { importedDeclarationSchema } from '../../engine/contract/transfer.ts';
import { validate } from '../../engine/contract/validation.ts';
import {
  type ConstraintStatement,
  EngineError,
  isDeclarationLine,
  nameOfConstraint,
  parseKnowledgeText,
  parseDeclaration,
  type Pause,
  programSteps,
  renderConstraint,
  runInSlices,
  Slices,
  type Statement,
} from '../../engine/index.ts';
import {
  type ImportItem,
  type Line,
  type ImportItems,
  LineItems,
  maxLineBytes,
  problemItem,
  readLines,
} from './items.ts';

const pieceLength = 64 * 1024;
const statementsBetweenBreaths = 512;

/** Reads the statements of a file. */
export async function* readDatalog(
  chunks: AsyncIterable<Uint8Array>,
  scope: string | null,
  pause: Pause,
): ImportItems {
  const reader = new StatementReader(scope, pause);
  const tests = new TestReader(scope);
  /** Lines to read, the next one last. */
  const waiting: Line[] = [];
  const end = (): ImportItem[] => {
    const { items, passed, rest } = tests.end();
    for (let line = 0; line < passed; line++) reader.passed();
    waiting.push(...rest.toReversed());
    return items;
  };
  for await (const lines of readLines(chunks)) {
    waiting.push(...lines.toReversed());
    for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
      const { number, text, problem } = line;
      if (text !== null && (tests.isOpen || isTestLine(text))) {
        if (!tests.isOpen) yield await reader.end();
        else if (isTestLine(text)) {
          // Another test begins. The one before has ended, or lacks its brace.
          waiting.push(line);
          yield end();
          continue;
        }
        tests.add(number, text);
        if (tests.isClosed()) yield end();
        continue;
      }
      if (text !== null && isDeclarationLine(text)) {
        yield await reader.end();
        reader.passed();
        yield [declarationItem(number, text)];
        continue;
      }
      if (text === null) reader.bad(number, problem ?? '');
      const taken = reader.take(text ?? '');
      const items = taken instanceof Promise ? await taken : taken;
      if (items.length > 0) yield items;
    }
  }
  yield end();
  yield await reader.end();
}

/** True if a test begins with the line: no statement does, and none goes on so. */
function isTestLine(text: string): boolean {
  return /^\s*test\s+"/.test(text);
}

/** Reads one test after the other, which may have many lines each. What cannot be parsed is a problem of its line. */
class TestReader {
  readonly #scope: string | null;
  #lines: string[] = [];
  #first = 0;
  #length = 0;
  /** The length from which on the lines are parsed. */
  #enough = 0;

  constructor(scope: string | null) {
    this.#scope = scope;
  }

  /** True within a test. */
  get isOpen(): boolean {
    return this.#lines.length > 0;
  }

  add(number: number, line: string): void {
    if (!this.isOpen) this.#first = number;
    this.#lines.push(line);
    this.#length += line.length + 1;
  }

  /** True if the lines so far have the whole test, or too much for one. A long one may turn out to be whole a while later. */
  isClosed(): boolean {
    if (this.#length > maxRuleTextCharacters) return true;
    if (this.#length < this.#enough || this.#lines.at(-1)?.includes('}') !== true) return false;
    const [test] = parseKnowledgeText(this.#lines.join('\n'), { tests: true, maxErrors: 1 }).items;
    if (test?.kind === 'test' && test.isClosed) return true;
    if (this.#length > shortTest) this.#enough = this.#length * 1.25;
    return false;
  }

  /** The test, how many lines it takes wholly, and the lines after it. */
  end(): { items: ImportItem[]; passed: number; rest: Line[] } {
    const [text, first] = [this.#lines.join('\n'), this.#first];
    const count = this.#lines.length;
    this.#lines = [];
    this.#length = 0;
    this.#enough = 0;
    if (count === 0) return { items: [], passed: 0, rest: [] };
    const { items: read, errors } = parseKnowledgeText(text, { tests: true });
    const [item] = read;
    const test = item?.kind === 'test' && item.isClosed ? item : null;
    const end = test?.span.end ?? text.length;
    const own = errors.filter(({ span }) => span.start < end);
    const problems = own.map(({ message, range }) => problemItem(first + range.startLine - 1, message));
    const written = text.slice(0, end).trimStart();
    const what = { kind: 'test', test: { test: written, scope: this.#scope } } as const;
    if (written.length > maxRuleTextCharacters) problems.push(problemItem(first, 'the test is too long'));
    const items = problems.length > 0 ? problems : [{ line: first, size: written.length, what }];
    const lines = text.slice(0, end).split('\n').length;
    const rest = text
      .slice(end)
      .split('\n')
      .map((after, at): Line => ({ number: first + lines - 1 + at, text: after, problem: null }));
    const isLineOver = rest[0]?.text?.trim() === '';
    return { items, passed: isLineOver ? lines : lines - 1, rest: isLineOver ? rest.slice(1) : rest };
  }
}

/** Up to so many characters, a test is parsed with each of its lines that may be the last. */
const shortTest = 4096;

class StatementReader {
  readonly #scope: string | null;
  #lines: string[] = [];
  #length = 0;
  /** The line in which the held text begins. */
  #first = 1;
  /** The length at which the held text is parsed. */
  #enough = pieceLength;
  #problems: ImportItem[] = [];
  readonly #items = new LineItems();
  readonly #slices: Slices;

  constructor(scope: string | null, pause: Pause) {
    this.#scope = scope;
    this.#slices = new Slices(pause);
  }

  bad(line: number, problem: string): void {
    this.#problems.push(problemItem(line, problem));
  }

  /** The items that are certain with this line; a promise only if it parses. */
  take(text: string): ImportItem[] | Promise<ImportItem[]> {
    this.#lines.push(text);
    this.#length += text.length + 1;
    return this.#length < this.#enough ? [] : this.#parse(false);
  }

  /** Counts a line that is read otherwise; nothing is held. */
  passed(): void {
    this.#hold('', this.#first + 1);
  }

  async end(): Promise<ImportItem[]> {
    const items = await this.#parse(true);
    return [...items, ...this.#items.rest()];
  }

  async #parse(isAll: boolean): Promise<ImportItem[]> {
    const text = this.#lines.join('\n') + (isAll ? '' : '\n');
    const breathe = (): Promise<void> => this.#slices.breathe();
    const steps = programSteps(text, { maxErrors: Number.POSITIVE_INFINITY, allowsConstraints: true });
    const parsed = await runInSlices(steps, breathe);
    const { errors, constraints } = parsed;
    const statements =
      constraints.length === 0
        ? parsed.statements
        : [...parsed.statements, ...constraints].sort((left, right) => left.span.start - right.span.start);
    const certain = isAll ? text.length : certainEnd(text, statements);
    const lineOf = linesFrom(text, this.#first);
    const items = this.#items;
    const problems = this.#problems;
    this.#problems = [];
    let at = 0;
    let looked = 0;
    for (const { message, span } of errors)
      if (span.start < certain) problems.push(problemItem(lineOf(span.start), message));
    problems.sort((left, right) => left.line - right.line);
    let told = 0;
    const tellThrough = (line: number): void => {
      for (; (problems[told]?.line ?? Number.POSITIVE_INFINITY) <= line; told++)
        items.push(problems[told] as ImportItem);
    };
    for (const statement of statements) {
      const { start, end } = statement.span;
      if (end > certain) break;
      while ((errors[at]?.span.start ?? Number.POSITIVE_INFINITY) < start) at++;
      // A statement without its full stop is parsed and reported all the same.
      const isBad = (errors[at]?.span.start ?? Number.POSITIVE_INFINITY) < end;
      const line = lineOf(start);
      tellThrough(line);
      if (!isBad) addStatement(items, statement, line, this.#scope);
      if (++looked % statementsBetweenBreaths === 0) await breathe();
    }
    tellThrough(Number.MAX_SAFE_INTEGER);
    if (certain === 0 && this.#length > maxLineBytes) {
      items.push(problemItem(this.#first, 'the statement that begins here is too long'));
      this.#hold('', this.#first + this.#lines.length);
    } else this.#hold(text.slice(certain), lineOf(certain));
    return items.taken();
  }

  /** Holds the rest, whose last line is complete. */
  #hold(rest: string, first: number): void {
    this.#lines = rest === '' ? [] : rest.replace(/\n$/, '').split('\n');
    this.#length = rest.length;
    this.#first = first;
    this.#enough = Math.max(pieceLength, rest.length * 2);
  }
}

/** A line with a declaration. */
function declarationItem(line: number, text: string): ImportItem {
  try {
    const declaration = validate(importedDeclarationSchema, { declare: parseDeclaration(text) });
    if (declaration.ok)
      return { line, size: text.length, what: { kind: 'declaration', declaration: declaration.value } };
    const message = declaration.errors.map((each) => `${each.path}: ${each.message}`).join('; ');
    return problemItem(line, message);
  } catch (error) {
    if (error instanceof EngineError) return problemItem(line, error.message);
    throw error;
  }
}

/** The end of the last statement that has its full stop, or another statement after it; 0: none. */
function certainEnd(text: string, statements: readonly (Statement | ConstraintStatement)[]): number {
  for (let at = statements.length - 1; at >= 0; at--) {
    const end = statements[at]?.span.end ?? 0;
    if (text[end - 1] === '.' || at + 1 < statements.length) return end;
  }
  return 0;
}

/**
 * Returns a function from offsets to lines, where `first` is the first line's number. Only LF ends a line, as in the
 * stream.
 */
function linesFrom(text: string, first: number): (offset: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at);
  return (offset) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return first + low;
  };
}

function addStatement(
  items: LineItems,
  statement: Statement | ConstraintStatement,
  line: number,
  scope: string | null,
): void {
  if (statement.kind !== 'fact') return items.push(itemOf(statement, line, scope));
  const { predicate, args, negated } = statement.atom;
  items.addFact(
    line,
    statement.span.end - statement.span.start,
    { predicate, args, truthVal: !negated },
    scope,
  );
}

function itemOf(
  statement: Exclude<Statement, { kind: 'fact' }> | ConstraintStatement,
  line: number,
  scope: string | null,
): ImportItem {
  const size = statement.span.end - statement.span.start;
  if (statement.kind === 'constraint') {
    const text = renderConstraint(statement.literals);
    const constraint = {
      text,
      name: nameOfConstraint(statement.reason ?? text),
      description: statement.reason,
      mode: 'warn',
      scope,
      dryRun: false,
      timeoutMs: 10_000,
    } as const;
    return { line, size, what: { kind: 'constraint', constraint, isBare: true } };
  }
  const { head, body } = statement.rule;
  const rule = {
    head,
    body,
    text: null,
    scope,
    unscoped: false,
    name: null,
    description: null,
    enabled: null,
  };
  return { line, size, what: { kind: 'rule', rule } };
}
