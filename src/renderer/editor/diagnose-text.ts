/**
 * What is wrong with a text of the language: a program of facts and rules, or one question.
 *
 * Pure, over the parser and checker that the service itself uses; runs in a worker.
 */
import type { Rule } from '../../engine/contract/language.ts';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import { bodyProblems } from '../../engine/logic/check.ts';
import { diagnose } from '../../engine/logic/diagnose.ts';
import { parseProgram } from '../../engine/logic/parse.ts';
import type { LiteralSource, Range } from '../../engine/logic/source.ts';

export type TextMode = 'program' | 'question';

/** The vocabulary and rules that the text is checked against. */
export interface CheckedAgainst {
  readonly predicates: readonly { readonly name: string; readonly arity: number }[];
  readonly rules: readonly { readonly rule: Rule; readonly scope: string | null }[];
}

export interface DiagnoseRequest {
  readonly id: number;
  readonly text: string;
  readonly mode: TextMode;
  readonly knowledge: CheckedAgainst;
}

export interface DiagnoseAnswer {
  readonly id: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** A question is read as the body of this rule. */
const head = 'question :- ';

/** Takes the head off the places again, which stands in the first line only. */
function withoutHead(range: Range): Range {
  const shift = (line: number, column: number) => (line === 1 ? Math.max(1, column - head.length) : column);
  return {
    ...range,
    startColumn: shift(range.startLine, range.startColumn),
    endColumn: shift(range.endLine, range.endColumn),
  };
}

function sourceAt(body: readonly LiteralSource[], path: readonly number[]): LiteralSource | undefined {
  const [first, ...rest] = path;
  const source = first === undefined ? undefined : body[first];
  return source === undefined || rest.length === 0 ? source : sourceAt(source.body, rest);
}

function diagnoseQuestion(text: string): Diagnostic[] {
  const question = text.replace(/\)\s*\?\s*$/, (end) => `)${' '.repeat(end.length - 1)}`);
  const { statements, errors, lines } = parseProgram(head + question, { maxErrors: 20 });
  const diagnostics = errors.map(
    (error): Diagnostic => ({
      severity: 'error',
      code: error.code,
      message: error.message,
      ...withoutHead(error.range),
    }),
  );
  const [first, second] = statements;
  if (second !== undefined)
    diagnostics.push({
      severity: 'error',
      code: 'syntax',
      message: 'one question at a time: join conditions with commas',
      ...withoutHead(lines.range(second.span)),
    });
  if (first?.kind !== 'rule') return diagnostics;
  for (const problem of bodyProblems(first.rule.body)) {
    const span = sourceAt(first.body, problem.path)?.span ?? first.span;
    diagnostics.push({
      severity: 'error',
      code: problem.variable === null ? 'syntax' : 'unsafe_variable',
      message: problem.message,
      ...withoutHead(lines.range(span)),
    });
  }
  return diagnostics;
}

export function diagnoseText(text: string, mode: TextMode, knowledge: CheckedAgainst): Diagnostic[] {
  if (text.trim() === '') return [];
  return mode === 'question' ? diagnoseQuestion(text) : diagnose(text, knowledge).diagnostics;
}
