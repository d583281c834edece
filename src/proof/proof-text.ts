/**
 * A proof as text, in two layouts over the same steps and words: an outline for people, and for language models one
 * sentence for each conclusion, since indentation and repetition cost tokens.
 *
 * Both name a step again where it is used again, but give its premises once, so the length of the text is bounded by
 * the number of premises. Neither recurses.
 */
import type { ProofStep } from '../engine/contract/inference.ts';
import { chainInWords, type StepChain, withFoldedChains } from './chains.ts';
import { elsewhere, stepWords } from './step-words.ts';

/** A step as the API gives it, or without its null and empty fields as tools give it. */
export interface TextStep extends Pick<ProofStep, 'id' | 'atom'> {
  readonly kind: string;
  readonly rule?: string | null | undefined;
  readonly premises?: readonly number[] | undefined;
  readonly scope?: string | null | undefined;
  readonly alternatives?: readonly { readonly rule: string }[] | undefined;
  /** Of a folded proof. */
  readonly chain?: Pick<StepChain, 'times' | 'rules' | 'along'> | undefined;
}

/** The proof of a page of answers: `roots[i]` proves the answer `i`. */
export interface TextProof {
  readonly roots: readonly number[];
  readonly steps: readonly TextStep[];
  readonly truncated?: boolean | undefined;
}

/**
 * Returns the proof with its chains folded. Steps with alternatives are in no chain, since a fold would hide these. Facts
 * beside a chain that are in a scope are only counted.
 */
export function withFoldedText(proof: TextProof): TextProof {
  if (!hasSteppedPremise(proof)) return proof;
  const steps = proof.steps.map((step) => ({
    ...step,
    // Only compared here, and written as they came.
    kind: step.kind as ProofStep['kind'],
    rule: step.rule ?? null,
    ruleId: null,
    premises: [...(step.premises ?? [])],
    scope: step.scope ?? null,
    alternatives: [],
  }));
  const apart = proof.steps.filter(({ alternatives = [] }) => alternatives.length > 0).map(({ id }) => id);
  const folded = withFoldedChains({ roots: [...proof.roots], steps, truncated: false }, new Set(apart));
  if (folded.hidden.length === 0) return proof;
  const given = stepsOf(proof);
  return {
    ...proof,
    steps: folded.steps.map(({ id, atom, kind, premises, chain }) => ({
      ...(given.get(id) ?? { id, atom, kind }),
      premises,
      chain,
    })),
  };
}

/** True if a step rests on another that has premises, as those of a chain do: proofs of very many answers mostly have none. */
function hasSteppedPremise({ steps }: TextProof): boolean {
  const stepped = new Set<number>();
  for (const { id, premises = [] } of steps) if (premises.length > 0) stepped.add(id);
  return steps.some(({ premises = [] }) => premises.some((id) => stepped.has(id)));
}

const moreSteps = 'The proof has more steps: ask a premise to see its own.';
const noneHidden: ReadonlyMap<number, number> = new Map();

/**
 * Returns the lines of the proofs of all answers, in their order: each step indented under the one it is a premise of.
 * `hiddenUnder`: number of premises omitted per step.
 */
export function proofOutline(proof: TextProof, hiddenUnder = noneHidden): string[] {
  const steps = stepsOf(proof);
  const depthOf = new Map<number, number>();
  /** Ids of the steps from the root to the last one shown, by depth. */
  const path: number[] = [];
  const lines: string[] = [];
  const waiting = proof.roots.toReversed().map((id) => ({ id, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { id, depth } = next;
    const step = steps.get(id);
    if (step === undefined) continue;
    const { premises = [] } = step;
    const shownAt = depthOf.get(id);
    const isRepeated = shownAt !== undefined && premises.length > 0;
    const isCircle = isRepeated && shownAt < depth && path[shownAt] === id;
    const hidden = hiddenUnder.get(id) ?? 0;
    const reason = isRepeated ? elsewhere(isCircle) : `${reasonOf(step)}${scopeOf(step)}`;
    const note = isRepeated || hidden === 0 ? '' : `, ${hidden} known hidden`;
    lines.push(`${indentation(depth)}${step.atom}  [${reason}${note}]`);
    if (isRepeated) continue;
    depthOf.set(id, depth);
    path[depth] = id;
    for (const premise of premises.toReversed()) waiting.push({ id: premise, depth: depth + 1 });
  }
  if (proof.truncated === true) lines.push(moreSteps);
  return lines;
}

const deepestIndented = 40;

/** Two spaces per level; beyond the deepest readable level, the level as a number. */
function indentation(depth: number): string {
  return depth <= deepestIndented ? '  '.repeat(depth) : `${'  '.repeat(deepestIndented)}${depth}: `;
}

function reasonOf({ kind, rule, chain }: TextStep): string {
  if (rule) return `by ${rule}${chain === undefined ? '' : `, ${chainInWords(chain)}`}`;
  // A question of several literals is proved by its parts, without a rule.
  return kind === 'rule' ? 'from its parts' : wordOf(kind);
}

function wordOf(kind: string): string {
  return kind === 'fact' ? 'stored' : stepWords[kind as ProofStep['kind']].word;
}

function scopeOf({ scope }: TextStep): string {
  return scope ? ` in scope ${scope}` : '';
}

type Steps = ReadonlyMap<number, TextStep>;

function stepsOf({ steps }: TextProof): Steps {
  return new Map(steps.map((step) => [step.id, step]));
}

/** Maximum number of characters of an atom named as a premise. */
export const maxPremiseCharacters = 240;

/**
 * Returns a line for each result, then one for each conclusion, and each long premise, that the results use. A rule
 * used repeatedly is written out once.
 */
export function proofSentences(results: readonly string[], proof: TextProof | undefined): string[] {
  const steps = proof === undefined ? new Map<number, TextStep>() : stepsOf(proof);
  const roots = results.map((_, index) => steps.get(proof?.roots[index] ?? -1));
  const inner = innerSteps(roots, steps);
  const ruleOf = ruleNames([...roots, ...inner]);
  const lines = results.map((result, index) => {
    const root = roots[index];
    return root === undefined ? result : `${result} ${sentence(root, steps, ruleOf)}`;
  });
  if (inner.length > 0) lines.push('where');
  for (const step of inner) lines.push(`${step.atom} ${sentence(step, steps, ruleOf)}`);
  if (proof?.truncated === true) lines.push(moreSteps);
  return lines;
}

/** The steps below the results that need their own line, each once, those near the results first. */
function innerSteps(roots: readonly (TextStep | undefined)[], steps: Steps): TextStep[] {
  const seen = new Set(roots.map((root) => root?.id));
  const waiting = roots.flatMap((root) => root?.premises ?? []);
  const found: TextStep[] = [];
  for (let at = 0; at < waiting.length; at++) {
    const step = steps.get(waiting[at] ?? -1);
    if (step === undefined || seen.has(step.id)) continue;
    seen.add(step.id);
    // A premise is written where it is used, and has its own line only if that does not say everything about it.
    const isSaid =
      step.kind !== 'rule' && step.kind !== 'aggregate' && step.atom.length <= maxPremiseCharacters;
    if (isSaid) continue;
    found.push(step);
    for (const premise of step.premises ?? []) waiting.push(premise);
  }
  return found;
}

/** The names of rules in the lines of these steps, in order: a repeated rule is written out once. */
function ruleNames(shown: readonly (TextStep | undefined)[]): (rule: string) => string {
  const uses = new Map<string, number>();
  for (const step of shown) if (step?.rule) uses.set(step.rule, (uses.get(step.rule) ?? 0) + 1);
  const numbers = new Map<string, number>();
  return (rule) => {
    if ((uses.get(rule) ?? 0) < 2) return rule;
    const known = numbers.get(rule);
    if (known !== undefined) return `rule ${known}`;
    numbers.set(rule, numbers.size + 1);
    return `rule ${numbers.size} (${rule})`;
  };
}

/** How a step was derived: by which rule, from which premises. */
function sentence(step: TextStep, steps: Steps, ruleOf: (rule: string) => string): string {
  const { kind, rule, premises = [], alternatives = [], chain } = step;
  const others = alternatives.map((other) => `, also by ${ruleOf(other.rule)}`).join('');
  const from = premises
    .map((id) => cutText(steps.get(id)?.atom ?? `step ${id}`, maxPremiseCharacters))
    .join(', ');
  const times = chain === undefined ? '' : ` ${chainInWords(chain)}`;
  if (rule) return `by ${ruleOf(rule)}${times}${from === '' ? '' : ` from ${from}`}${scopeOf(step)}${others}`;
  return from === '' ? `(${wordOf(kind)}${scopeOf(step)})${others}` : `from ${from}`;
}

/** Returns the text, cut after `most` characters with an ellipsis, never within a character. */
export function cutText(text: string, most: number): string {
  // A cut between the halves of a surrogate pair would not be text.
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
