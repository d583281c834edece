/**
 * Diagnostics of a text of the language: a program of facts and rules, one question, one constraint, or tests.
 *
 * Pure, over the service's own parser and checker; runs in a worker.
 */
import type { Rule } from '../engine/contract/language.ts';
import type { Diagnostic } from '../engine/contract/rules.ts';
import { ArgumentNames } from '../engine/language/argument-names.ts';
import { diagnose, diagnosis } from '../engine/language/diagnose.ts';
import { parseKnowledgeText } from '../engine/language/knowledge-text.ts';
import type { Range } from '../engine/language/source.ts';
import { questionHead, type TextMode, withoutQuestionMark } from './read-text.ts';

/** In place of the id of a rule: the text replaces all of them. */
export const everyRule = '*';

/** Vocabulary and rules that the text is checked against. */
export interface CheckedAgainst {
  /** `names`: of the declared arguments; null: they have none. */
  readonly predicates: readonly {
    readonly name: string;
    readonly arity: number;
    readonly names?: readonly string[] | null;
  }[];
  readonly rules: readonly { readonly id: string; readonly rule: Rule; readonly scope: string | null }[];
}

/** Message to the worker: the knowledge if it has changed, and the text to check. */
export type DiagnoseRequest =
  | { readonly kind: 'knowledge'; readonly knowledge: CheckedAgainst }
  | {
      readonly kind: 'text';
      readonly id: number;
      readonly text: string;
      readonly mode: TextMode;
      /** Id of the stored rule that the text would replace, which is ignored in the check; or `everyRule`. */
      readonly instead: string | null;
    };

/** Reply of the worker. */
export interface DiagnoseAnswer {
  readonly id: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** Shifts positions back by the added head, which is on the first line only. */
function withoutHead(range: Range): Range {
  const shift = (line: number, column: number) =>
    line === 1 ? Math.max(1, column - questionHead.length) : column;
  return {
    ...range,
    startColumn: shift(range.startLine, range.startColumn),
    endColumn: shift(range.endLine, range.endColumn),
  };
}

/** Codes of `diagnose` that apply only to rules. */
const ofRulesOnly: ReadonlySet<Diagnostic['code']> = new Set([
  'singleton_variable',
  'negative_cycle',
  'duplicate',
]);

function diagnoseQuestion(text: string, knowledge: CheckedAgainst): Diagnostic[] {
  const question = withoutQuestionMark(text);
  const { diagnostics, rules, facts } = diagnose(questionHead + question, {
    ...knowledge,
    names: namesIn(knowledge),
  });
  const found = diagnostics
    .filter((diagnostic) => !ofRulesOnly.has(diagnostic.code))
    .filter(({ endLine, endColumn }) => endLine > 1 || endColumn > questionHead.length)
    .map((diagnostic) => ({ ...diagnostic, ...withoutHead(diagnostic) }));
  if (rules + facts > 1)
    found.push({
      severity: 'error',
      code: 'syntax',
      message: 'one question at a time: join conditions with commas',
      ...firstCharacter,
    });
  return found;
}

const firstCharacter = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 } as const;

function diagnoseConstraint(text: string, knowledge: CheckedAgainst): Diagnostic[] {
  const steps = diagnosis(text, knowledge, true);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const { diagnostics, rules, facts, constraints } = step.value;
  const found = diagnostics.filter(({ code }) => code !== 'duplicate' && code !== 'negative_cycle');
  if (rules + facts > 0)
    found.push({
      severity: 'error',
      code: 'syntax',
      message:
        'a constraint is !- and a body that must have no answer: facts and rules belong to other views',
      ...firstCharacter,
    });
  else if (constraints > 1)
    found.push({
      severity: 'error',
      code: 'syntax',
      message: 'one constraint at a time: each has its own name and mode',
      ...firstCharacter,
    });
  return found;
}

function diagnoseTests(text: string, knowledge: CheckedAgainst): Diagnostic[] {
  const { items, errors, lines } = parseKnowledgeText(text, { tests: true, names: namesIn(knowledge) });
  const found: Diagnostic[] = errors.map(({ code, message, range }) => ({
    severity: 'error',
    code,
    message,
    ...range,
  }));
  for (const { kind, span } of items)
    if (kind !== 'test')
      found.push({
        severity: 'error',
        code: 'syntax',
        message: 'only tests can stand here: suppose facts with given, in a test',
        ...lines.range(span),
      });
  return found;
}

/** Where the workbench takes what a text of facts and rules cannot hold. */
function inWorkbench(diagnostic: Diagnostic): Diagnostic {
  const message = diagnostic.message.replace(/POST \/constraints$/, 'Schema, Constraints');
  return message === diagnostic.message ? diagnostic : { ...diagnostic, message };
}

/** The names of arguments that are declared. */
function namesIn({ predicates }: CheckedAgainst): ArgumentNames {
  return new ArgumentNames(
    predicates.flatMap(({ name, arity, names }) =>
      names === undefined || names === null
        ? []
        : [{ name, arity, arguments: names.map((each) => ({ name: each })) }],
    ),
  );
}

/** Returns the problems of a text. `instead` is the id of the rule that the text replaces, or `everyRule`. */
export function diagnoseText(
  text: string,
  mode: TextMode,
  knowledge: CheckedAgainst,
  instead: string | null = null,
): Diagnostic[] {
  if (text.trim() === '') return [];
  if (mode === 'question') return diagnoseQuestion(text, knowledge);
  if (mode === 'constraint') return diagnoseConstraint(text, knowledge);
  if (mode === 'tests') return diagnoseTests(text, knowledge);
  const others =
    instead === everyRule ? [] : knowledge.rules.filter(({ id }) => instead === null || id !== instead);
  const { predicates } = knowledge;
  const { diagnostics } = diagnose(text, { predicates, rules: others, names: namesIn(knowledge) });
  return diagnostics.map(inWorkbench);
}
