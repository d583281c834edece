/**
 * Linear recursion in a proof, folded: a chain of steps of one rule, each with one premise of the rule's own predicate,
 * becomes one step that says how often the rule was applied, and along which premises. So does a chain of a few rules that
 * take turns (mutual recursion), each step with one derived premise.
 *
 * A folded proof is a proof again: outline, diagram and texts treat it like any other. Steps that something else uses
 * are never inside a fold, so no reference leads to a step that is not there. Nothing recurses.
 */
import type { Proof, ProofStep } from '../engine/contract/inference.ts';

/** What a folded step stands for. */
export interface StepChain {
  /** How often the rule, or the round of rules, was applied. */
  readonly times: number;
  /** Number of rules that take turns; 1: one rule. */
  readonly rules: number;
  /** The first and the last other premise, in the order in which the recursion goes through them; empty without any. */
  readonly along: readonly string[];
  /** Ids of the steps that the rules concluded, the conclusion first, the base last if the fold contains it. */
  readonly members: readonly number[];
  /** The conclusion's step before it was folded. */
  readonly original: ProofStep;
}

/** A step of a proof, possibly folded. Its premises are then those of the chain's far end. */
export interface ChainedStep extends ProofStep {
  readonly chain?: StepChain;
}

/** A proof whose chains are folded. */
export interface FoldedProof extends Proof {
  readonly steps: ChainedStep[];
  /** The steps that only folded chains use, with their positions in the proof. */
  readonly hidden: readonly { readonly step: ProofStep; readonly position: number }[];
}

/** Shorter chains are as readable as their fold. */
export const MIN_CHAIN = 6;

/** With more rules in turn, a round is a proof of its own, which is read and not counted. */
const MAX_RULES_IN_TURN = 4;
/** With fewer rounds it may be by chance that rules take turns. */
const MIN_ROUNDS = 3;

type Steps = ReadonlyMap<number, ProofStep>;

/** Predicate and sign of an atom as rendered: a predicate contains no parenthesis. */
function predicateOf(atom: string): string {
  const end = atom.indexOf('(');
  return end < 0 ? atom : atom.slice(0, end);
}

/** The one premise of the step's own predicate; null if there is none, or several. */
function recursivePremise({ atom, kind, rule, premises }: ProofStep, steps: Steps): ProofStep | null {
  if (kind !== 'rule' || rule === null) return null;
  const own = predicateOf(atom);
  const same = premises.filter((id) => {
    const premise = steps.get(id);
    return premise !== undefined && predicateOf(premise.atom) === own;
  });
  const [only] = same;
  return same.length === 1 && only !== undefined ? (steps.get(only) ?? null) : null;
}

/** The premise along which a chain may go on: that of the step's own predicate, else the only derived one. */
function nextOf(step: ProofStep, steps: Steps): ProofStep | null {
  const own = recursivePremise(step, steps);
  if (own !== null || step.kind !== 'rule' || step.rule === null) return own;
  const derived = step.premises.filter((id) => steps.get(id)?.kind === 'rule');
  const [only] = derived;
  return derived.length === 1 && only !== undefined ? (steps.get(only) ?? null) : null;
}

function isSameRule(left: ProofStep, right: ProofStep): boolean {
  return (
    left.ruleId === right.ruleId &&
    left.rule === right.rule &&
    left.scope === right.scope &&
    predicateOf(left.atom) === predicateOf(right.atom)
  );
}

function reachedFrom(roots: readonly number[], steps: Steps): Set<number> {
  const reached = new Set<number>();
  const waiting = [...roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const step = steps.get(id);
    if (step === undefined || reached.has(id)) continue;
    reached.add(id);
    waiting.push(...step.premises);
  }
  return reached;
}

/** The steps that may be inside a fold: used by one step, once, and not a root. */
function usedOnce({ roots }: Proof, steps: Steps): Set<number> {
  const uses = new Map<number, number>(roots.map((id) => [id, 2]));
  for (const id of reachedFrom(roots, steps))
    for (const premise of steps.get(id)?.premises ?? []) uses.set(premise, (uses.get(premise) ?? 0) + 1);
  return new Set([...uses].filter(([, count]) => count === 1).map(([id]) => id));
}

/** A chain: its steps, the conclusion first, and the premise of the last one that is not such a step. */
interface Run {
  readonly links: readonly ProofStep[];
  readonly base: ProofStep;
  readonly rules: number;
}

/** The longest chain of so many rules in turn that begins with a step; null if it is too short. */
function runOf(rules: number, top: ProofStep, steps: Steps, isInner: (id: number) => boolean): Run | null {
  const followed = (step: ProofStep) => (rules === 1 ? recursivePremise(step, steps) : nextOf(step, steps));
  const links: ProofStep[] = [top];
  const met = new Set([top.id]);
  let next = followed(top);
  if (next === null) return null;
  while (isInner(next.id) && !met.has(next.id)) {
    const before = links[links.length - rules];
    if (before !== undefined && !isSameRule(before, next)) break;
    const further = followed(next);
    if (further === null) break;
    links.push(next);
    met.add(next.id);
    next = further;
  }
  // Whole rounds only.
  const whole = links.length - (links.length % rules);
  if (whole < MIN_CHAIN || (rules > 1 && whole < MIN_ROUNDS * rules)) return null;
  return { links: links.slice(0, whole), base: links[whole] ?? next, rules };
}

function runFrom(top: ProofStep, steps: Steps, isInner: (id: number) => boolean): Run | null {
  for (let rules = 1; rules <= MAX_RULES_IN_TURN; rules++) {
    const run = runOf(rules, top, steps, isInner);
    if (run !== null) return run;
  }
  return null;
}

/** The premises of a link beside the recursive one. */
function sideOf(link: ProofStep, next: ProofStep, steps: Steps): ProofStep[] {
  return link.premises
    .filter((id) => id !== next.id)
    .map((id) => steps.get(id))
    .filter((step) => step !== undefined);
}

/** True if the premise comes before the recursive one, so that the recursion ends with the base. */
function isBeforeRecursion(link: ProofStep, next: ProofStep, side: ProofStep): boolean {
  return link.premises.indexOf(side.id) < link.premises.indexOf(next.id);
}

/** True if a base needs no lines below it: all its premises are facts, absences or computed. */
function isShallow(base: ProofStep, steps: Steps): boolean {
  return base.premises.every((id) => (steps.get(id)?.premises.length ?? 0) === 0);
}

function alongOf({ links, base }: Run, isBaseInside: boolean, steps: Steps): string[] {
  const after = (index: number) => links[index + 1] ?? base;
  const sides = links.map((link, index) => sideOf(link, after(index), steps)[0]);
  const [first] = sides;
  const top = links[0];
  if (first === undefined || top === undefined) return [];
  const atoms = sides.flatMap((side) => (side === undefined ? [] : [side.atom]));
  const ofBase = isBaseInside
    ? base.premises
        .map((id) => steps.get(id)?.atom)
        .find((atom) => atom !== undefined && predicateOf(atom) === predicateOf(first.atom))
    : undefined;
  if (ofBase !== undefined) atoms.push(ofBase);
  if (!isBeforeRecursion(top, after(0), first)) atoms.reverse();
  const [start, end] = [atoms[0], atoms.at(-1)];
  return start === undefined || end === undefined || start === end ? atoms.slice(0, 1) : [start, end];
}

function foldedStep(run: Run, steps: Steps, isInner: (id: number) => boolean): ChainedStep | null {
  const { links, base, rules } = run;
  const [top] = links;
  if (top === undefined) return null;
  const isBaseInside = base.kind === 'rule' && isInner(base.id) && isShallow(base, steps);
  return {
    ...top,
    premises: isBaseInside ? [] : [base.id],
    chain: {
      times: links.length / rules,
      rules,
      along: alongOf(run, isBaseInside, steps),
      members: [...links.map(({ id }) => id), ...(isBaseInside ? [base.id] : [])],
      original: top,
    },
  };
}

/**
 * Returns the proof with its chains folded. `apart`: ids of steps that keep their own lines, which splits the chains
 * around them. Alternatives are not looked at: choose first, then fold.
 */
export function withFoldedChains(proof: Proof, apart: ReadonlySet<number> = new Set()): FoldedProof {
  const steps = new Map(proof.steps.map((step) => [step.id, step]));
  const once = usedOnce(proof, steps);
  const isInner = (id: number) => once.has(id) && !apart.has(id);
  const folded = new Map<number, ChainedStep>();
  const met = new Set<number>();
  const waiting = [...proof.roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const step = steps.get(id);
    if (step === undefined || met.has(id)) continue;
    met.add(id);
    const run = apart.has(id) ? null : runFrom(step, steps, isInner);
    const fold = run === null ? null : foldedStep(run, steps, isInner);
    if (fold !== null) folded.set(id, fold);
    waiting.push(...(fold ?? step).premises);
  }
  if (folded.size === 0) return { ...proof, hidden: [] };
  const reached = reachedFrom(proof.roots, steps);
  const isHidden = (id: number) => reached.has(id) && !met.has(id);
  return {
    ...proof,
    steps: proof.steps.filter(({ id }) => !isHidden(id)).map((step) => folded.get(step.id) ?? step),
    hidden: proof.steps.flatMap((step, position) => (isHidden(step.id) ? [{ step, position }] : [])),
  };
}

/** Returns the proof as it was before its chains were folded. */
export function withUnfoldedChains({ steps, hidden, ...proof }: FoldedProof): Proof {
  const shown = steps.map((step): ProofStep => step.chain?.original ?? step);
  const whole: ProofStep[] = [];
  let next = 0;
  // Hidden steps keep their positions; the others fill the gaps in order.
  for (const { step, position } of hidden) {
    while (whole.length < position) whole.push(shown[next++] as ProofStep);
    whole.push(step);
  }
  return { ...proof, steps: [...whole, ...shown.slice(next)] };
}

/** Returns the chain that contains a step, as long as it would be if no step were apart; null if none does. */
export function chainAround(proof: Proof, id: number): readonly number[] | null {
  for (const { chain } of withFoldedChains(proof).steps)
    if (chain?.members.includes(id) === true) return chain.members;
  return null;
}

/** Returns `149 times along next(s0, s1) … next(s149, s150)`, or `75 times 2 rules in turn along …`. */
export function chainInWords({ times, rules, along }: Pick<StepChain, 'times' | 'rules' | 'along'>): string {
  const rounds = rules === 1 ? `${times} times` : `${times} times ${rules} rules in turn`;
  return along.length === 0 ? rounds : `${rounds} along ${along.join(' … ')}`;
}

/**
 * Returns the proof reduced to what the conclusion rests on: the root with all facts, absences and computed steps
 * below it, in the order of the proof, without the steps between. Ids are kept.
 */
export function withFactsOnly(proof: Proof, root: number): Proof {
  const steps = new Map(proof.steps.map((step) => [step.id, step]));
  const reached = reachedFrom([root], steps);
  const leaves = proof.steps.filter(
    ({ id, kind, premises }) => id !== root && reached.has(id) && premises.length === 0 && kind !== 'builtin',
  );
  const top = steps.get(root);
  if (top === undefined) return proof;
  const { alternatives: _alternatives, ...bare } = top;
  return { ...proof, roots: [root], steps: [...leaves, { ...bare, premises: leaves.map(({ id }) => id) }] };
}
