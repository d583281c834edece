/**
 * What is wrong with a text of the language: a program of facts and rules, or one question.
 *
 * Pure, over the parser and checker that the service itself uses; runs in a worker.
 */
import type { Rule } from '../../engine/contract/language.ts';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import { diagnose } from '../../engine/logic/diagnose.ts';
import type { Range } from '../../engine/logic/source.ts';

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

/** What `diagnose` says of a rule that makes no sense for a question. */
const ofRulesOnly: ReadonlySet<Diagnostic['code']> = new Set([
  'singleton_variable',
  'negative_cycle',
  'duplicate',
]);

function diagnoseQuestion(text: string, knowledge: CheckedAgainst): Diagnostic[] {
  // A question mark at the end is taken for what it is; the places stay.
  const question = text.replace(/\)\s*\?\s*$/, (end) => `)${' '.repeat(end.length - 1)}`);
  const { diagnostics, rules, facts } = diagnose(head + question, knowledge);
  const found = diagnostics
    .filter((diagnostic) => !ofRulesOnly.has(diagnostic.code))
    .filter(({ endLine, endColumn }) => endLine > 1 || endColumn > head.length)
    .map((diagnostic) => ({ ...diagnostic, ...withoutHead(diagnostic) }));
  if (rules + facts > 1)
    found.push({
      severity: 'error',
      code: 'syntax',
      message: 'one question at a time: join conditions with commas',
      startLine: 1,
      startColumn: 1,
      endLine: 1,
      endColumn: 2,
    });
  return found;
}

export function diagnoseText(text: string, mode: TextMode, knowledge: CheckedAgainst): Diagnostic[] {
  if (text.trim() === '') return [];
  return mode === 'question' ? diagnoseQuestion(text, knowledge) : diagnose(text, knowledge).diagnostics;
}
