/**
 * How statements are laid out: on one line, or with a part of each on a line of its own if they are long.
 *
 * What is laid out parses back to the same. The formatter of files (`knowledge-text.ts`) and all views use it.
 */
import type { Literal, Rule } from '../contract/language.ts';
import { renderAtom, renderConstant, renderConstraint, renderLiteral, renderRule } from './print.ts';
import type { ExpectedAnswer, Expectation, GivenStatement } from './test-text.ts';

/** Longer statements are broken over lines. */
const lineLength = 72;

/** Returns a rule with its full stop. */
export function layOutRule(rule: Rule): string {
  const text = `${renderRule(rule)}.`;
  if (text.length <= lineLength || rule.body.length < 2) return text;
  const body = rule.body.map(renderLiteral).join(',\n  ');
  return `${renderAtom(rule.head)} :-\n  ${body}.`;
}

/** Returns a constraint with its full stop. */
export function layOutConstraint(body: readonly Literal[], reason: string | null = null): string {
  const line = renderConstraint(body);
  const text =
    line.length <= lineLength || body.length < 2 ? line : `!- ${body.map(renderLiteral).join(',\n  ')}`;
  return reason === null ? `${text}.` : `${text} ${JSON.stringify(reason)}.`;
}

/** Returns a question without a mark at its end. */
export function layOutQuestion(body: readonly Literal[]): string {
  return joined(body.map(renderLiteral), '\n', 0);
}

/** Returns a statement of a test with its full stop, as it stands in the braces. */
export function layOutTestStatement(statement: GivenStatement | Expectation): string {
  switch (statement.kind) {
    case 'given': {
      const atoms = statement.atoms.map(
        ({ atom, isWithdrawn }) => `${isWithdrawn ? 'not ' : ''}${renderAtom(atom)}`,
      );
      return `given ${joined(atoms, inTest, 'given '.length)}.`;
    }
    case 'violation':
      return `expect violation ${renderName(statement.name)}.`;
    case 'noViolation':
      return `expect not violation ${renderName(statement.name)}.`;
    case 'answer':
      return `expect ${layOutGoal(statement.goal)}.`;
    case 'noAnswer':
      return `expect not ${layOutGoal(statement.goal)}.`;
    case 'answers': {
      const goal = `expect ${layOutGoal(statement.goal)} =`;
      if (statement.answers.length === 0) return `${goal} {}.`;
      const answers = statement.answers.map(renderAnswer);
      const line = `${goal} ${answers.join(', ')}.`;
      return line.length <= lineLength || answers.length < 2
        ? line
        : `${goal}${inTest}${answers.join(`,${inTest}`)}.`;
    }
  }
}

/** The break of a line inside a statement of a test. */
const inTest = '\n    ';

/** A goal of a test. `violation a` and `not` at its beginning would be read otherwise. */
function layOutGoal(goal: readonly Literal[]): string {
  return joined(goal.map(renderLiteral), inTest, 'expect not '.length);
}

function joined(parts: readonly string[], lineBreak: string, before: number): string {
  const text = parts.join(', ');
  return before + text.length <= lineLength ? text : parts.join(`,${lineBreak}`);
}

const plainAnswer = /^[\p{L}\p{N}_-]+(?:[ .][\p{L}\p{N}_-]+)*$/u;
const plainName = /^[\p{L}\p{N}_]+$/u;

function renderName(name: string): string {
  return plainName.test(name) ? name : JSON.stringify(name);
}

/** An answer as it stands in a list of a test. */
function renderAnswer(answer: ExpectedAnswer): string {
  if (answer.kind === 'atom') return renderAtom(answer.atom);
  const { values } = answer;
  const [only] = values;
  if (only !== undefined && values.length === 1) return plainAnswer.test(only) ? only : JSON.stringify(only);
  return `(${values.map(renderConstant).join(', ')})`;
}
