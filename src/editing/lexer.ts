/**
 * Syntax highlighting of our language, line by line: the only lexer, for the editor and all shown code.
 *
 * It never fails and validates nothing; the parser in `engine/language` reports errors. The only state between lines
 * is whether an argument list is open, since `%` and `#` are ordinary characters there.
 */

export type TokenKind =
  | 'predicate'
  | 'variable'
  | 'constant'
  | 'string'
  | 'number'
  | 'keyword'
  | 'operator'
  | 'comment'
  | 'space';

/** `end` is exclusive; the tokens of a line cover it without gaps. */
interface CodeToken {
  readonly start: number;
  readonly end: number;
  readonly kind: TokenKind;
}

/** Tokens of a line. */
interface LexedLine {
  readonly tokens: readonly CodeToken[];
  /** True if the line ends inside an argument list. */
  readonly isOpen: boolean;
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const space = /\s+/y;
const quoted = /"(?:[^"\\]|\\.)*"?/y;
const variable = /\?[\p{L}\p{N}_]*/uy;
const bareArgument = /[^,()"\s](?:[^,()"]*[^,()"\s])?/y;
const operator = /:-|!-(?=\s|$)|<=|>=|!=|[<>=:,.{};+*/()]/y;
const word = /[^\s(){},;"'`<>=]+/y;
const aggregates: ReadonlySet<string> = new Set(['count', 'sum', 'min', 'max', 'avg']);

/** The end of the match of a sticky `pattern` at `at`, or `at` without a match. */
function matchEnd(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : at;
}

const beforeTest = /(?:^|[.{}])\s*$/;
const violationAfter = /\bexpect\s+(?:not\s+)?$/;

/** True for the words that begin a test or a statement of one, and for `violation`. */
function isOfTest(line: string, start: number, end: number): boolean {
  const text = line.slice(start, end);
  const after = line.slice(end);
  const before = line.slice(0, start);
  if (text === 'test') return /^\s+"/.test(after) && beforeTest.test(before);
  if (text === 'violation') return /^\s+\S/.test(after) && violationAfter.test(before);
  if (text !== 'given' && text !== 'expect') return false;
  return /^\s+(?!:-)\S/.test(after) && beforeTest.test(before);
}

function kindOfWord(line: string, start: number, end: number): TokenKind {
  const text = line.slice(start, end);
  if (line[end] === '(') return 'predicate';
  if (number.test(text)) return 'number';
  if (text === 'not' || text === 'mod' || isOfTest(line, start, end)) return 'keyword';
  if (aggregates.has(text) && /^\s*\{/.test(line.slice(end))) return 'keyword';
  return 'constant';
}

/** Lexes one token inside an argument list. */
function lexArgument(line: string, at: number): { end: number; kind: TokenKind } {
  if (line[at] === '"') return { end: matchEnd(quoted, line, at), kind: 'string' };
  const end = matchEnd(bareArgument, line, at);
  if (end === at) return { end: at + 1, kind: 'operator' };
  const text = line.slice(at, end);
  if (text.startsWith('?')) return { end, kind: 'variable' };
  return { end, kind: number.test(text) ? 'number' : 'constant' };
}

/** Lexes one token outside of argument lists. */
function lexStatement(line: string, at: number): { end: number; kind: TokenKind } {
  const character = line[at] ?? '';
  const isAfterSpace = at === 0 || /[\s.]/.test(line[at - 1] ?? '');
  if ((character === '%' || character === '#') && isAfterSpace) return { end: line.length, kind: 'comment' };
  if (character === '"') return { end: matchEnd(quoted, line, at), kind: 'string' };
  if (character === '?') return { end: Math.max(at + 1, matchEnd(variable, line, at)), kind: 'variable' };
  if (character === '-' && !/[\d\s]/.test(line[at + 1] ?? ' ')) return { end: at + 1, kind: 'keyword' };
  const operatorEnd = matchEnd(operator, line, at);
  if (operatorEnd > at) return { end: operatorEnd, kind: 'operator' };
  let end = matchEnd(word, line, at);
  if (end === at) return { end: at + 1, kind: 'operator' };
  // A rule's arrow and the final full stop are not part of a word.
  const arrow = line.slice(at, end).indexOf(':-');
  if (arrow > 0) end = at + arrow;
  else if (end - at > 1 && line[end - 1] === '.' && /^(?:\s|$)/.test(line.slice(end))) end -= 1;
  return { end, kind: kindOfWord(line, at, end) };
}

/** Returns the tokens of a line. `isOpen`: an argument list continues from the previous line. */
export function lexLine(line: string, isOpen: boolean): LexedLine {
  const tokens: CodeToken[] = [];
  let at = 0;
  let open = isOpen;
  while (at < line.length) {
    const spaceEnd = matchEnd(space, line, at);
    if (spaceEnd > at) {
      tokens.push({ start: at, end: spaceEnd, kind: 'space' });
      at = spaceEnd;
      continue;
    }
    const character = line[at];
    if (character === '(' || character === ')') {
      open = character === '(';
      tokens.push({ start: at, end: at + 1, kind: 'operator' });
      at += 1;
      continue;
    }
    const { end, kind } = open ? lexArgument(line, at) : lexStatement(line, at);
    tokens.push({ start: at, end, kind });
    at = end;
  }
  return { tokens, isOpen: open };
}
