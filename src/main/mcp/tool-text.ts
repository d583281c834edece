/**
 * The short text that stands beside a tool's structured content.
 *
 * A model reads the text, a program the structured content: so the text says in a few lines what an agent has to
 * know to go on, is cut where lists and atoms get long, and says that it was cut. It never says anything that the
 * structured content does not.
 */
import type { Proof, ProofStep } from '../../engine/contract/inference.ts';
import type { OperationOutput } from '../../engine/contract/operations.ts';
import type { ToolOperation } from './tools.ts';

const maxLines = 20;
const maxPremises = 8;
const maxAtomCharacters = 240;

type Texts = { readonly [Name in ToolOperation]: (output: OperationOutput<Name>) => string };

/** Text of every tool's answer. */
export const toolTexts: Texts = {
  assertFact: ({ status, atom }) => {
    const said = { asserted: 'Stored', updated: 'Updated', unchanged: 'Already stored, unchanged' }[status];
    return `${said}: ${clip(atom)}`;
  },
  retractPattern: (output) => {
    if (output.status === 'absent') return 'Nothing retracted: no stored fact matches.';
    const done = output.dryRun === true ? 'Would retract' : 'Retracted';
    return [`${done} ${count(output.retracted, 'fact')}.`, ...dependentLines(output)].join('\n');
  },
  listPredicates: ({ predicates }) => {
    if (predicates.length === 0) return 'Nothing is stored yet: tell facts and teach rules first.';
    const lines = predicates.map(({ name, arity, facts, rules, example }) => {
      const sample = example === null ? '' : `, such as ${clip(example)}`;
      return `${clip(name)}/${arity}: ${count(facts, 'fact')}, ${count(rules, 'rule')}${sample}`;
    });
    return [`${count(predicates.length, 'predicate')}:`, ...cutLines(lines)].join('\n');
  },
  assertRule: ({ status, rule }) =>
    `${status === 'unchanged' ? 'Already known, unchanged' : 'Learnt'}: ${clip(rule)}`,
  ask: answerText,
};

function answerText(answer: OperationOutput<'ask'>): string {
  const { results, truncated, proof } = answer;
  if (results.length === 0) return 'No answer: it does not follow from the facts and rules.';
  const steps = new Map(proof?.steps.map((step) => [step.id, step]));
  const lines = results.slice(0, maxLines).map((result, index) => {
    const root = proof === undefined ? undefined : steps.get(proof.roots[index] ?? -1);
    return `${clip(result)}${root === undefined ? '' : ` ${because(root, steps)}`}`;
  });
  const kept = [`${count(results.length, 'answer')}:`, ...lines, ...leftOut(results.length)];
  if (truncated) kept.push('There are more answers: ask again with limit and offset.');
  return kept.join('\n');
}

/** How a result came about, in one line: the rule and what it was applied to. */
function because(root: ProofStep, steps: ReadonlyMap<number, Proof['steps'][number]>): string {
  if (root.kind === 'fact') return '(stored)';
  const premises = root.premises.slice(0, maxPremises).map((id) => clip(steps.get(id)?.atom ?? `step ${id}`));
  if (root.premises.length > maxPremises) premises.push(`${root.premises.length - maxPremises} more`);
  const from = premises.length === 0 ? '' : ` from ${premises.join(', ')}`;
  if (root.rule !== null) return `by ${clip(root.rule)}${from}`;
  return from === '' ? `(${root.kind})` : from.trimStart();
}

function dependentLines(output: OperationOutput<'retractPattern'>): string[] {
  const { dependents, dependentsCount, dependentsComplete, dryRun } = output;
  const unsure = dependentsComplete ? [] : ['There may be more conclusions that depended on it.'];
  if (dependentsCount === 0) return unsure;
  const said = dryRun === true ? 'Would no longer hold' : 'No longer holding';
  const head = `${said}, ${count(dependentsCount, 'conclusion')}:`;
  return [head, ...cutLines(dependents.map(clip), dependentsCount), ...unsure];
}

function cutLines(lines: readonly string[], total = lines.length): string[] {
  return [...lines.slice(0, maxLines), ...leftOut(total)];
}

function leftOut(total: number): string[] {
  return total > maxLines ? [`… and ${total - maxLines} more in the structured content.`] : [];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function clip(text: string): string {
  if (text.length <= maxAtomCharacters) return text;
  // A cut between the halves of a surrogate pair would not be text.
  return `${text.slice(0, maxAtomCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
