/**
 * Statements in the grammar, read from a stream.
 *
 * The text is parsed in pieces. The certain part of a piece ends with the last statement that has its full stop, or is
 * on its own line before another statement: the rest may continue in the next piece, and is parsed again with it. A
 * statement longer than the maximum length of a line is given up.
 */
import { parseProgram, type Statement } from '../../engine/index.ts';
import {
  factItem,
  type ImportItem,
  type ImportItems,
  maxLineBytes,
  problemItem,
  readLines,
} from './items.ts';

const pieceLength = 64 * 1024;

/** Reads the statements of a file. */
export async function* readDatalog(chunks: AsyncIterable<Uint8Array>, scope: string | null): ImportItems {
  const reader = new StatementReader(scope);
  for await (const lines of readLines(chunks)) {
    for (const { number, text, problem } of lines) {
      if (text === null) reader.bad(number, problem ?? '');
      const items = reader.take(text ?? '');
      if (items.length > 0) yield items;
    }
  }
  yield reader.end();
}

class StatementReader {
  readonly #scope: string | null;
  #lines: string[] = [];
  #length = 0;
  /** The line in which the held text begins. */
  #first = 1;
  /** The length at which the held text is parsed. */
  #enough = pieceLength;
  #problems: ImportItem[] = [];

  constructor(scope: string | null) {
    this.#scope = scope;
  }

  bad(line: number, problem: string): void {
    this.#problems.push(problemItem(line, problem));
  }

  take(text: string): ImportItem[] {
    this.#lines.push(text);
    this.#length += text.length + 1;
    return this.#length < this.#enough ? [] : this.#parse(false);
  }

  end(): ImportItem[] {
    return this.#parse(true);
  }

  #parse(isAll: boolean): ImportItem[] {
    const text = this.#lines.join('\n') + (isAll ? '' : '\n');
    const { statements, errors } = parseProgram(text, { maxErrors: Number.POSITIVE_INFINITY });
    const certain = isAll ? text.length : certainEnd(text, statements);
    const lineOf = linesFrom(text, this.#first);
    const items = this.#problems;
    this.#problems = [];
    let at = 0;
    for (const { message, span } of errors)
      if (span.start < certain) items.push(problemItem(lineOf(span.start), message));
    for (const statement of statements) {
      const { start, end } = statement.span;
      if (end > certain) break;
      while ((errors[at]?.span.start ?? Number.POSITIVE_INFINITY) < start) at++;
      // A statement without its full stop is parsed and reported all the same.
      const isBad = (errors[at]?.span.start ?? Number.POSITIVE_INFINITY) < end;
      if (!isBad) items.push(itemOf(statement, lineOf(start), this.#scope));
    }
    if (certain === 0 && this.#length > maxLineBytes) {
      items.push(problemItem(this.#first, 'the statement that begins here is too long'));
      this.#hold('', this.#first + this.#lines.length);
    } else this.#hold(text.slice(certain), lineOf(certain));
    return items.sort((left, right) => left.line - right.line);
  }

  /** Holds the rest, whose last line is complete. */
  #hold(rest: string, first: number): void {
    this.#lines = rest === '' ? [] : rest.replace(/\n$/, '').split('\n');
    this.#length = rest.length;
    this.#first = first;
    this.#enough = Math.max(pieceLength, rest.length * 2);
  }
}

/** The end of the last statement that has its full stop, or another statement after it; 0: none. */
function certainEnd(text: string, statements: readonly Statement[]): number {
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

function itemOf(statement: Statement, line: number, scope: string | null): ImportItem {
  const size = statement.span.end - statement.span.start;
  if (statement.kind === 'fact') {
    const { predicate, args, negated } = statement.atom;
    return factItem(line, size, { predicate, args, truthVal: !negated }, scope);
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
