/** What there is to know of the step under the cursor: its rule in full, with what its variables stand for. */
import type { ProofStep } from '../../engine/contract/inference.ts';
import { type VariableBinding, substitutionOf } from '../features/proof/step-words.ts';
import { clipped, code } from './code.ts';
import { element } from './dom.ts';
import type { ForestRow } from './forest.ts';
import { kindTag } from './step-line.ts';

/** Characters of one value that are shown. */
const mostOfValue = 1000;
/** Other ways to a step that are told. */
const mostWays = 5;

const explanations = {
  // A question of several literals is proved by its parts, without a rule.
  rule: 'All its parts hold, each by a step under it.',
  fact: 'It was asserted.',
  absence: 'Nothing matches it, so its negation holds.',
  builtin: 'It holds by comparison or arithmetic.',
  aggregate: 'It was computed over the steps under it.',
} as const;

/** The parts of the pane about the line's step. */
export function stepDetail({ step, conclusion }: ForestRow): Node[] {
  if (step === null)
    return [
      element('p', {}, code(conclusion.text)),
      element(
        'p',
        { class: 'dim' },
        'It follows, but its proof was left out, since it is too large to be passed on.',
      ),
    ];
  const head = element('p', {}, code(step.atom), ' ', kindTag(step));
  const parts: Node[] = [head];
  if (step.rule === null) parts.push(element('p', { class: 'dim' }, explanations[step.kind]));
  else
    parts.push(
      element('p', {}, 'by ', code(step.rule)),
      ...bindings(step.rule, step, conclusion.tree()?.steps),
    );
  for (const { rule } of (step.alternatives ?? []).slice(0, mostWays))
    parts.push(element('p', { class: 'dim' }, 'also by ', code(rule)));
  const notes = notesOf(step);
  if (notes.length > 0) parts.push(element('p', { class: 'dim' }, notes.join(' · ')));
  return parts;
}

function bindings(rule: string, step: ProofStep, steps: ReadonlyMap<number, ProofStep> | undefined): Node[] {
  const found = readBindings(
    rule,
    step.atom,
    step.premises.map((id) => steps?.get(id)?.atom ?? ''),
  );
  if (found.length === 0) return [];
  const pairs = found.flatMap(([variable, constant], index) => [
    index === 0 ? 'with ' : ', ',
    code(variable),
    ' = ',
    element('code', { class: 'code' }, clipped(constant, mostOfValue)),
  ]);
  return [element('p', { class: 'dim' }, ...pairs)];
}

function readBindings(rule: string, atom: string, premises: readonly string[]): VariableBinding[] {
  try {
    return substitutionOf(rule, atom, premises);
  } catch {
    // A host may pass on what it has shortened. The rule is shown as it came, without what its variables stand for.
    return [];
  }
}

function notesOf({ scope, metadata = {} }: ProofStep): string[] {
  const told = Object.entries(metadata).map(
    ([name, value]) =>
      `${name}: ${clipped(typeof value === 'string' ? value : JSON.stringify(value), mostOfValue)}`,
  );
  return scope === null ? told : [`scope ${scope}`, ...told];
}
