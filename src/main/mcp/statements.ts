/**
 * The text of `tell` and `forget`: statements in the grammar, all parsed before any is carried out.
 *
 * A statement that ends with its line needs no full stop. A name alone is not a fact here, or a sentence of one word
 * would be one.
 */
import { setImmediate } from 'node:timers/promises';
import type { Atom, Rule } from '../../engine/contract/language.ts';
import { EngineError, programSteps, Slices } from '../../engine/index.ts';

export type ToolStatement =
  | { readonly kind: 'fact'; readonly atom: Atom }
  /** `text`: the rule as written, without its full stop. */
  | { readonly kind: 'rule'; readonly rule: Rule; readonly text: string };

/** Maximum number of statements in one call. */
export const maxStatements = 100_000;

const maxErrors = 20;

/** The statements in the order of the text, at least one. `allowsPatterns`: atoms may have variables. */
export async function readStatements(text: string, allowsPatterns: boolean): Promise<ToolStatement[]> {
  const slices = new Slices(() => setImmediate());
  const steps = programSteps(text, { maxErrors, allowsPatterns, lineEndsStatement: true });
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await slices.breathe();
  const { statements, errors, lines } = step.value;
  const problems = errors.map(
    ({ message, range }) => `line ${range.startLine}, column ${range.startColumn}: ${message}`,
  );
  for (const statement of statements) {
    if (problems.length >= maxErrors) break;
    const { span, head } = statement;
    if (statement.kind === 'rule' || text[head.name.end] === '(') continue;
    const { startLine, startColumn } = lines.range(span);
    problems.push(
      `line ${startLine}, column ${startColumn}: a fact has parentheses: write ${text.slice(head.span.start, head.name.end)}()`,
    );
  }
  if (problems.length === 0 && statements.length === 0) problems.push('there is no statement in it');
  if (statements.length > maxStatements)
    problems.push(`it has ${statements.length} statements: give at most ${maxStatements} in one call`);
  if (problems.length > 0) throw unreadable(problems);
  return statements.map((statement) =>
    statement.kind === 'fact'
      ? { kind: 'fact', atom: statement.atom }
      : {
          kind: 'rule',
          rule: statement.rule,
          text: text.slice(statement.span.start, statement.span.end).replace(/\.\s*$/, ''),
        },
  );
}

function unreadable(problems: readonly string[]): EngineError {
  return new EngineError('ValidationException', `text: ${problems[0]}`, {
    errors: problems.map((message) => ({ path: 'text', message })),
  });
}
