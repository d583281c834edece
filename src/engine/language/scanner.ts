/**
 * The lexer: a cursor over a text, and the tokens of the grammar.
 *
 * Every method either advances past what it read or throws a SyntaxFailure with the position; none looks at a
 * character more than a constant number of times, so any text is read in linear time. `parse.ts` gives tokens
 * their meaning.
 */
import { constantProblem, isArgumentName, isWellFormed, predicateProblem } from '../contract/language.ts';
import type { Span } from './source.ts';

/** Thrown by the scanner and caught by the parser; it never leaves the parsers. */
export class SyntaxFailure extends Error {
  readonly span: Span;

  constructor(message: string, start: number, end: number) {
    super(message);
    this.span = { start, end };
  }
}

/** A constant with more than `maxConstantBytes`. */
export class TooLongConstant extends SyntaxFailure {}

const variable = /\?[\p{L}\p{N}_]*/uy;
const operandNumber = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const operandWord = /[\p{L}\p{N}_]+/uy;
const comparison = /<=|>=|!=|<|>|=/y;
const operation = /[-+*/]|mod(?![\p{L}\p{N}_])/uy;

function matchAt(pattern: RegExp, text: string, position: number): string {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0] ?? '';
}

/** White space of the grammar: what `\s` matches. */
export function isSpace(unit: number): boolean {
  if (unit < 128) return unit === 32 || (unit >= 9 && unit <= 13);
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

function isControl(unit: number): boolean {
  return unit < 32 || (unit >= 127 && unit <= 159) || unit === 0x2028 || unit === 0x2029;
}

const nameEnders: ReadonlySet<number> = new Set(
  [...'(){},;"\'`'].map((character) => character.charCodeAt(0)),
);

/** A cursor over a text that reads tokens. */
export class Scanner {
  readonly text: string;
  position: number;
  /** The comments passed so far, in text order, each without its line's end. */
  readonly comments: Span[] = [];
  readonly #comments: boolean;

  /** `comments`: whether `%` and `#` may start one. */
  constructor(text: string, comments: boolean) {
    this.text = text;
    this.position = 0;
    this.#comments = comments;
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** The UTF-16 unit at the offset, NaN past the end. */
  unit(offset: number = this.position): number {
    return this.text.charCodeAt(offset);
  }

  sees(token: string): boolean {
    return this.text.startsWith(token, this.position);
  }

  /** Reads the token if it is here. */
  take(token: string): boolean {
    if (!this.sees(token)) return false;
    this.position += token.length;
    return true;
  }

  fail(message: string, start: number = this.position, end: number = start): never {
    throw new SyntaxFailure(message, start, end > start ? end : Math.min(start + 1, this.text.length));
  }

  /** Skips white space and comments. `atStart`: a comment may begin right here. */
  skip(atStart = false): void {
    const { text } = this;
    let mayComment = atStart;
    while (this.position < text.length) {
      const unit = text.charCodeAt(this.position);
      if (isSpace(unit)) {
        this.position++;
        mayComment = true;
      } else if (mayComment && this.#comments && (unit === 37 || unit === 35)) this.#skipLine();
      else return;
    }
  }

  /** Skips white space only, inside argument lists. */
  skipSpace(): void {
    while (isSpace(this.unit())) this.position++;
  }

  #skipLine(): void {
    const start = this.position;
    this.position = this.#lineEnd(start);
    // A look ahead passes a comment first.
    if (start >= (this.comments.at(-1)?.end ?? 0)) this.comments.push({ start, end: this.position });
  }

  /**
   * The end of the name that starts at `start` (`start` if there is none). A full stop that ends a statement
   * is not part of it.
   */
  nameEnd(start: number): number {
    const { text } = this;
    let end = start;
    while (end < text.length) {
      const unit = text.charCodeAt(end);
      if (isSpace(unit) || isControl(unit) || nameEnders.has(unit)) break;
      if (unit === 58 && text.charCodeAt(end + 1) === 45) break;
      end++;
    }
    const stops = end > start && text.charCodeAt(end - 1) === 46;
    return stops && (end === text.length || isSpace(text.charCodeAt(end))) ? end - 1 : end;
  }

  /** Reads a predicate. */
  name(): string {
    const start = this.position;
    const end = this.nameEnd(start);
    if (end === start) this.failUnexpected('expected a predicate');
    const name = this.text.slice(start, end);
    const problem = predicateProblem(name);
    if (problem !== null) this.fail(problem, start, end);
    this.position = end;
    return name;
  }

  /** Fails at the current character, which the message names. */
  failUnexpected(expectation: string): never {
    if (this.atEnd) this.fail(`${expectation}, but the text ends here`, this.text.length);
    const character = String.fromCodePoint(this.text.codePointAt(this.position) as number);
    const shown =
      isControl(this.unit()) || !isWellFormed(character)
        ? 'a character that cannot stand here'
        : `“${character}”`;
    return this.fail(`${expectation}, found ${shown}`, this.position, this.position + character.length);
  }

  /** Reads a constant that is a JSON string literal; the cursor is at its quotation mark. */
  quoted(): string {
    const start = this.position;
    const value = this.quotedText();
    this.#checkConstant(value, start, this.position);
    if (value.startsWith('?'))
      this.fail('a quoted text is a constant, and a constant does not start with ?', start, this.position);
    return value;
  }

  /** Reads any JSON string literal; the cursor is at its quotation mark. */
  quotedText(): string {
    const start = this.position;
    const { text } = this;
    let end = start + 1;
    for (; ; end++) {
      const unit = text.charCodeAt(end);
      if (unit === 34) break;
      if (unit === 92) end++;
      else if (Number.isNaN(unit) || unit === 10 || unit === 13)
        this.fail(
          'this quoted text has no closing quotation mark on its line',
          start,
          Math.min(end, text.length),
        );
    }
    const literal = text.slice(start, end + 1);
    const value = decodeString(literal);
    if (value === null)
      this.fail(
        'a quoted text is a JSON string: write \\n, \\t, \\" and \\\\ with a backslash',
        start,
        end + 1,
      );
    this.position = end + 1;
    return value;
  }

  /** Reads the name of an argument and the colon after it. */
  argumentName(): { value: string; span: Span } {
    this.skipSpace();
    const start = this.position;
    const value = this.wordAt(start);
    const span = { start, end: start + value.length };
    if (value === '') this.failUnexpected('expected the name of an argument');
    if (!isArgumentName(value))
      this.fail('a name of an argument has at most 128 characters', start, span.end);
    this.position = span.end;
    this.skipSpace();
    if (!this.take(':')) this.failUnexpected('expected : after the name of an argument');
    return { value, span };
  }

  /**
   * Reads one argument, bare or quoted, without surrounding white space. The span covers the source text. `close`: what
   * ends the arguments.
   */
  argument(close: ')' | '}' = ')'): { value: string; span: Span } {
    this.skipSpace();
    const start = this.position;
    if (this.unit() === 34) {
      const value = this.quoted();
      return { value, span: { start, end: this.position } };
    }
    const end = this.#bareEnd(start, close);
    const value = this.text.slice(start, end);
    if (value === '') this.failUnexpected('expected an argument (an empty one is written "")');
    this.#checkConstant(value, start, end);
    if (value.startsWith('?') && matchAt(variable, this.text, start).length !== value.length)
      this.fail('a variable is ? and letters, digits or _; a constant does not start with ?', start, end);
    if (value === '?') this.fail('a variable has a name after its ?', start, end);
    return { value, span: { start, end } };
  }

  /**
   * Reads a bare constant of a list without parentheses, without white space at its ends: up to a comma, a brace, a
   * comment, the end of the line or a full stop before white space.
   */
  bareAnswer(): { value: string; span: Span } {
    const start = this.position;
    let end = start;
    for (let at = start; at < this.text.length; at++) {
      const unit = this.unit(at);
      if (unit === 44 || unit === 123 || unit === 125 || isControl(unit)) break;
      if (unit === 46 && (at + 1 === this.text.length || isSpace(this.unit(at + 1)))) break;
      if (isSpace(unit)) continue;
      if ((unit === 37 || unit === 35) && at > end) break;
      if (unit === 40 || unit === 41 || unit === 34 || unit === 92) {
        this.position = at;
        this.failUnexpected('expected , or a full stop (a text with this character is in quotation marks)');
      }
      end = at + 1;
    }
    const value = this.text.slice(start, end);
    if (value === '') this.failUnexpected('expected an answer ({} is none)');
    if (value.startsWith('?')) this.fail('an answer is a constant: variables stand in the goal', start, end);
    this.#checkConstant(value, start, end);
    this.position = end;
    return { value, span: { start, end } };
  }

  /** Skips a bare argument and the white space after it; returns the end of its last other character. */
  #bareEnd(start: number, close: ')' | '}'): number {
    let end = start;
    const closes = close === ')' ? 41 : 125;
    for (; ; this.position++) {
      const unit = this.unit();
      if (Number.isNaN(unit) || unit === 44 || unit === closes) return end;
      if (isSpace(unit)) continue;
      const between = this.#controlIn(end, this.position);
      if (between >= 0) {
        this.position = between;
        this.fail(
          `expected , or ${close} before the line goes on (a text with a line break or tab is quoted)`,
          end,
          this.#lineEnd(end),
        );
      }
      const isBrace = closes === 125 && (unit === 41 || unit === 123);
      if (isBrace || unit === 40 || unit === 34 || unit === 92 || isControl(unit))
        this.failUnexpected(
          `expected , or ${close} (a text with this character is written in quotation marks)`,
        );
      end = this.position + 1;
    }
  }

  /** The first control character from `start` up to `end`, or -1. */
  #controlIn(start: number, end: number): number {
    for (let offset = start; offset < end; offset++) if (isControl(this.unit(offset))) return offset;
    return -1;
  }

  #lineEnd(start: number): number {
    let end = start;
    while (end < this.text.length && this.unit(end) !== 10 && this.unit(end) !== 13) end++;
    return end;
  }

  /** The comparison sign at the offset, or ''. */
  comparisonAt(offset: number): string {
    return matchAt(comparison, this.text, offset);
  }

  /** The arithmetic sign at the offset, or ''. */
  operationAt(offset: number): string {
    return matchAt(operation, this.text, offset);
  }

  /** The number or word at the offset that may be a bare operand, or ''. */
  bareOperandAt(offset: number): string {
    const number = matchAt(operandNumber, this.text, offset);
    const word = matchAt(operandWord, this.text, offset);
    return number.length >= word.length ? number : word;
  }

  /** The word (letters, digits and `_`) at the offset, or ''. */
  wordAt(offset: number): string {
    return matchAt(operandWord, this.text, offset);
  }

  /** The offset of the first character from here on that is neither white space nor comment. */
  pastSpace(offset: number): number {
    const before = this.position;
    this.position = offset;
    this.skip();
    const end = this.position;
    this.position = before;
    return end;
  }

  /** Reads an operand of a built-in: a variable, a quoted text, a number or a word. */
  operand(): { value: string; span: Span } {
    const start = this.position;
    const unit = this.unit();
    if (unit === 34) {
      const value = this.quoted();
      return { value, span: { start, end: this.position } };
    }
    const value = unit === 63 ? matchAt(variable, this.text, start) : this.bareOperandAt(start);
    if (value === '?') this.fail('a variable has a name after its ?', start, start + 1);
    if (value === '')
      this.failUnexpected('expected a variable, a number, a word or a text in quotation marks');
    this.#checkConstant(value, start, start + value.length);
    this.position = start + value.length;
    return { value, span: { start, end: this.position } };
  }

  #checkConstant(value: string, start: number, end: number): void {
    const problem = constantProblem(value);
    if (problem === null) return;
    if (isWellFormed(value)) throw new TooLongConstant(problem, start, end);
    this.fail(problem, start, end);
  }
}

/** The value of a JSON string literal, or null if it is invalid. */
function decodeString(literal: string): string | null {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
