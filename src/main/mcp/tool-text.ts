/**
 * The short text that stands beside a tool's structured content.
 *
 * A model reads the text, a program the structured content: so the text says in a few lines what an agent has to
 * know to go on, is cut where lists and atoms get long, and says that it was cut. It holds the whole of a small proof,
 * since many clients show a model the text alone. It never says anything that does not follow from the call and the
 * structured content.
 */
import type { ProofStep } from '../../engine/contract/inference.ts';
import type { OperationOutput } from '../../engine/contract/operations.ts';
import { renderAtom } from '../../engine/index.ts';
import type { ToolOperation } from './tools.ts';

const maxLines = 20;
const maxPremises = 8;
const maxAtomCharacters = 240;
/** Characters of a question, and premises of a step, that are looked at. */
const maxLookedAt = 1000;

/** The arguments of the call, as they were understood. */
type Given = Readonly<Record<string, unknown>>;
type Texts = { readonly [Name in ToolOperation]: (output: OperationOutput<Name>, given: Given) => string };

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
  assertRule: ({ status, rule }) => {
    const said = `${status === 'unchanged' ? 'Already known, unchanged' : 'Learnt'}: ${clip(rule)}`;
    if (/[\s(,]\?/.test(rule)) return said;
    return `${said}\nNo variable stands in it, so it concludes this one atom only: variables start with ?, as in ?x.`;
  },
  ask: answerText,
  recall: ({ facts, totalFacts, returned }) => {
    if (returned === 0) return 'Nothing is remembered that fits.';
    return [`${returned} of ${count(totalFacts, 'fact')}:`, ...cutLines(facts.map(entryLine))].join('\n');
  },
  optimizeContext: windowText,
  consolidate: (output) => {
    if (output.summaries.length === 0)
      return 'Nothing to consolidate: no group of alike episodes is large enough.';
    const done = output.dryRun === true ? 'Would put' : 'Put';
    const said = `${count(output.summariesCreated, 'summary', 'summaries')} in the place of ${count(output.factsConsolidated, 'fact')}`;
    const lines = output.summaries.map(({ atom, support }) => `${clip(atom)} (stands for ${support})`);
    return [`${done} ${said}:`, ...cutLines(lines)].join('\n');
  },
  decay: (output) => {
    const done = output.dryRun === true ? 'Would evict' : 'Evicted';
    if (output.evicted === 0) return `Nothing to evict; ${count(output.remaining, 'fact')} remain.`;
    const said = `${output.expired} expired, ${output.lowSalience} faded; ${count(output.remaining, 'fact')} remain`;
    const lines = cutLines(output.atoms.map(clip), output.evicted);
    return [`${done} ${count(output.evicted, 'fact')} (${said}):`, ...lines].join('\n');
  },
};

type Entry = OperationOutput<'recall'>['facts'][number];

function entryLine({ predicate, args, negated, provenance }: Entry): string {
  const by = provenance === null ? '' : ` (by ${clip(provenance.rule)})`;
  return `${clip(renderAtom({ predicate, args, negated }))}${by}`;
}

function windowText(output: OperationOutput<'optimizeContext'>): string {
  const { entries, totalFactsAvailable, relevantRules, contradictions } = output;
  if (entries.length === 0) return 'The window is empty: nothing that fits is known.';
  const lines = [
    `${entries.length} of ${count(totalFactsAvailable, 'fact')}:`,
    ...cutLines(entries.map(entryLine)),
  ];
  if (relevantRules.length > 0)
    lines.push(`${count(relevantRules.length, 'rule')}:`, ...cutLines(relevantRules.map(clip)));
  if (contradictions.length > 0) lines.push(`${count(contradictions.length, 'contradiction')} among them.`);
  return lines.join('\n');
}

function answerText(answer: OperationOutput<'ask'>, given: Given): string {
  const { results, truncated, proof } = answer;
  if (results.length === 0) return noAnswer(given);
  const steps: Steps = new Map(proof?.steps.map((step) => [step.id, step]));
  const roots = results.slice(0, maxLines).map((_, index) => steps.get(proof?.roots[index] ?? -1));
  const inner = innerSteps(roots, steps);
  const shown = inner.slice(0, maxLines);
  const ruleOf = ruleNames([...roots, ...shown]);
  const lines = roots.map((root, index) => {
    const result = clip(results[index] ?? '');
    return root === undefined ? result : `${result} ${because(root, steps, ruleOf)}`;
  });
  const kept = [`${count(results.length, 'answer')}:`, ...lines, ...leftOut(results.length)];
  if (shown.length > 0) kept.push('where');
  for (const step of shown) kept.push(`${clip(step.atom)} ${because(step, steps, ruleOf)}`);
  if (inner.length > shown.length)
    kept.push('… and more steps in the structured content; ask a premise to see its own.');
  if (truncated) kept.push('There are more answers: ask again with limit and offset.');
  return kept.join('\n');
}

type Steps = ReadonlyMap<number, ProofStep>;

function noAnswer({ args, text }: Given): string {
  const said = 'No answer: it does not follow from the facts and rules.';
  const named: unknown[] = Array.isArray(args) ? args : [];
  const written = typeof text === 'string' ? (text.slice(0, maxLookedAt).match(/[^\s(),]+/g) ?? []) : [];
  const constant = [...named, ...written].find(
    (word): word is string => typeof word === 'string' && /^(?:[A-Z]\d?|_)$/.test(word),
  );
  if (constant === undefined)
    return `${said} If that is a surprise, see by predicates whether the name and the number of arguments are those in use.`;
  return `${said} ${constant} is a constant here: variables start with ?, as in ?${constant}.`;
}

/**
 * Steps of premises that were concluded themselves, each once, from the results down to what is stored; no more than one
 * over those that are shown.
 */
function innerSteps(roots: readonly (ProofStep | undefined)[], steps: Steps): ProofStep[] {
  const found: ProofStep[] = [];
  const seen = new Set(roots.map((root) => root?.id));
  const waiting = roots.flatMap((root) => root?.premises.slice(0, maxLookedAt) ?? []);
  for (let at = 0; at < waiting.length && found.length <= maxLines; at++) {
    const step = steps.get(waiting[at] ?? -1);
    if (step === undefined || seen.has(step.id)) continue;
    seen.add(step.id);
    if (step.kind !== 'rule' && step.kind !== 'aggregate') continue;
    found.push(step);
    waiting.push(...step.premises.slice(0, maxLookedAt));
  }
  return found;
}

/** How a rule is named in the lines of these steps, in their order: one that comes again is written out once. */
function ruleNames(shown: readonly (ProofStep | undefined)[]): (rule: string) => string {
  const uses = new Map<string, number>();
  for (const step of shown)
    if (typeof step?.rule === 'string') uses.set(step.rule, (uses.get(step.rule) ?? 0) + 1);
  const numbers = new Map<string, number>();
  return (rule) => {
    if ((uses.get(rule) ?? 0) < 2) return clip(rule);
    const known = numbers.get(rule);
    if (known !== undefined) return `rule ${known}`;
    numbers.set(rule, numbers.size + 1);
    return `rule ${numbers.size} (${clip(rule)})`;
  };
}

/** How a result came about, in one line: the rule and what it was applied to. */
function because(step: ProofStep, steps: Steps, ruleOf: (rule: string) => string): string {
  if (step.kind === 'fact') return '(stored)';
  const premises = step.premises.slice(0, maxPremises).map((id) => clip(steps.get(id)?.atom ?? `step ${id}`));
  if (step.premises.length > maxPremises) premises.push(`${step.premises.length - maxPremises} more`);
  const from = premises.length === 0 ? '' : ` from ${premises.join(', ')}`;
  if (step.rule !== null) return `by ${ruleOf(step.rule)}${from}`;
  return from === '' ? `(${step.kind})` : from.trimStart();
}

function dependentLines(output: OperationOutput<'retractPattern'>): string[] {
  const { dependents, dependentsCount, dependentsComplete, notWorkedOut = [], dryRun } = output;
  const named = notWorkedOut.length > 0 ? ` Not worked out: ${cutList(notWorkedOut)}.` : '';
  const unsure = dependentsComplete ? [] : [`There may be more conclusions that depended on it.${named}`];
  if (dependentsCount === 0) return unsure;
  const said = dryRun === true ? 'Would no longer hold' : 'No longer holding';
  const head = `${said}, ${count(dependentsCount, 'conclusion')}:`;
  return [head, ...cutLines(dependents.map(clip), dependentsCount), ...unsure];
}

const maxNamed = 20;

function cutList(names: readonly string[]): string {
  const rest = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function cutLines(lines: readonly string[], total = lines.length): string[] {
  return [...lines.slice(0, maxLines), ...leftOut(total)];
}

function leftOut(total: number): string[] {
  return total > maxLines ? [`… and ${total - maxLines} more in the structured content.`] : [];
}

/** `1 fact`, `2 facts`. */
export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

function clip(text: string): string {
  if (text.length <= maxAtomCharacters) return text;
  // A cut between the halves of a surrogate pair would not be text.
  return `${text.slice(0, maxAtomCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
