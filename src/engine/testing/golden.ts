/**
 * Golden cases: small programs with their questions and exact answers, written by hand in `golden/*.txt`.
 *
 * A file is read line by line; blank lines and lines that begin with `#` are ignored.
 *   == title              begins a case
 *   p(a, b).              a fact or rule of the case, in the grammar; several may share a line
 *   [s] p(a).             the same in scope `s`;  `off: p(?x) :- q(?x).` is a disabled rule
 *   !! CODE words         the rule (or the question) of the line before is refused: code, and words of the detail
 *   ? p(a, ?y)            a question; `? [s] p(?x)` in scope `s`, `? [] p(?x)` of the unscoped facts
 *   = p(a, b)             one of its answers; all of them are listed, in any order
 *   @ beyond the model    the case is too large for the naive model
 *   @ beyond Prolog       the case means something else there, or is too slow
 * Lines and parts of lines can be repeated: `for i in 0..9: edge(n{i}, n{i+1}).` is ten lines, with `{i}`, `{i+2}`,
 * `{i-1}` and `{i mod 3}` as numbers, and `<i in 1..3: q{i}(?x)>` inside a line is `q1(?x), q2(?x), q3(?x)`.
 */
import type { Atom, Rule } from '../contract/language.ts';
import { parseProgram } from '../language/parse.ts';
import type { ModelView } from './naive-model.ts';

export interface GoldenQuestion {
  readonly text: string;
  readonly view: ModelView;
  /** As rendered, unordered. */
  readonly answers: string[];
  /** The error in place of answers. */
  refusal: Refusal | null;
}

export interface Refusal {
  readonly code: string;
  /** Occurs in the detail. */
  readonly words: string;
}

export interface GoldenFact {
  readonly atom: Atom;
  readonly scope: string | null;
}

export interface GoldenRule {
  readonly rule: Rule;
  readonly scope: string | null;
  readonly enabled: boolean;
  refusal: Refusal | null;
}

export interface GoldenCase {
  readonly title: string;
  readonly facts: GoldenFact[];
  readonly rules: GoldenRule[];
  readonly questions: GoldenQuestion[];
  isBeyondModel: boolean;
  isBeyondProlog: boolean;
}

/** The cases of a file, in order. Throws if a line is invalid. */
export function readGolden(text: string): GoldenCase[] {
  const cases: GoldenCase[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    try {
      const title = /^== (.+)$/.exec(line)?.[1];
      if (title !== undefined) cases.push(newCase(title));
      else for (const each of repeated(line)) readLine(cases.at(-1), each);
    } catch (error) {
      throw new Error(`line ${index + 1}: ${(error as Error).message}`, { cause: error });
    }
  }
  return cases;
}

function newCase(title: string): GoldenCase {
  return { title, facts: [], rules: [], questions: [], isBeyondModel: false, isBeyondProlog: false };
}

function readLine(into: GoldenCase | undefined, line: string): void {
  if (into === undefined) throw new Error('the first line must be == and a title');
  const [, mark = '', rest = ''] = /^(\?|=|!!|@)? ?(.*)$/.exec(line) ?? [];
  if (mark === '?') into.questions.push(readQuestion(rest));
  else if (mark === '=') present(into.questions.at(-1)).answers.push(rest);
  else if (mark === '!!') readRefusal(into, rest);
  else if (line === '@ beyond the model') into.isBeyondModel = true;
  else if (line === '@ beyond Prolog') into.isBeyondProlog = true;
  else if (mark === '@') throw new Error(`cannot read "${line}"`);
  else readStatements(into, line);
}

function readQuestion(text: string): GoldenQuestion {
  const [, brackets, scope = '', asked = text] = /^(\[([^\]]*)\] )?(.*)$/.exec(text) ?? [];
  const view: ModelView =
    brackets === undefined ? { kind: 'all' } : scope === '' ? { kind: 'unscoped' } : { kind: 'scope', scope };
  return { text: asked, view, answers: [], refusal: null };
}

function readRefusal(into: GoldenCase, text: string): void {
  const [, code = '', words = ''] = /^(\w+) ?(.*)$/.exec(text) ?? [];
  const refused = into.questions.at(-1) ?? into.rules.at(-1);
  present(refused).refusal = { code, words };
}

function readStatements(into: GoldenCase, line: string): void {
  const [, , scope = null, off, text = line] = /^(\[([^\]]+)\] )?(off: )?(.*)$/.exec(line) ?? [];
  const { statements, errors } = parseProgram(text);
  if (errors[0] !== undefined) throw new Error(errors[0].message);
  for (const statement of statements)
    if (statement.kind === 'fact') into.facts.push({ atom: statement.atom, scope });
    else into.rules.push({ rule: statement.rule, scope, enabled: off === undefined, refusal: null });
}

/** The line repeated as it says, with its repeated parts expanded. */
function repeated(line: string): string[] {
  const [, name = '', from, to, body = line] = /^for (\w+) in (\d+)\.\.(\d+): (.*)$/.exec(line) ?? [];
  const lines = name === '' ? [body] : overRange(from, to).map((value) => withNumber(body, name, value));
  return lines.map((each) =>
    each.replace(
      /<(\w+) in (\d+)\.\.(\d+): ([^>]+)>/g,
      (_, inner: string, first: string, last: string, part: string) =>
        overRange(first, last)
          .map((value) => withNumber(part, inner, value))
          .join(', '),
    ),
  );
}

function overRange(from: string | undefined, to: string | undefined): number[] {
  const first = Number(from);
  return Array.from({ length: Number(to) - first + 1 }, (_, at) => first + at);
}

/** The text with the number for `{name}`, and the computed value for `{name+1}` and the like. */
function withNumber(text: string, name: string, value: number): string {
  return text.replace(
    new RegExp(String.raw`\{${name}(?: ?(\+|-|mod) ?(\d+))?\}`, 'g'),
    (_, operator: string | undefined, operand: string | undefined) => {
      const by = Number(operand);
      if (operator === '+') return String(value + by);
      if (operator === '-') return String(value - by);
      return String(operator === undefined ? value : value % by);
    },
  );
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the line does not belong to an earlier one');
  return value;
}
