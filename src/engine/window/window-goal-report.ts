import { present } from '../base/assert.ts';
import type { ContextWindow, Goal } from '../contract/context.ts';
import { renderAtom } from '../language/print.ts';
import type { OpenWindow } from './open-window.ts';
import type { ProofBuilder } from '../datalog/explain/proof.ts';
import type { GoalAnswer, GoalProofs } from './window-goals.ts';

/** A goal as the window reports it. */
export type WindowGoal = ContextWindow['goals'][number];

const maxListedAtoms = 20;

/**
 * Reports which goals have a complete proof in the filled window, and what the others would need. Reads the final
 * window, because facts added beside the proofs count too. `answers`: of each goal, in the order in which their proofs
 * were tried.
 */
export async function reportGoals(
  window: OpenWindow,
  builder: ProofBuilder | null,
  { taken }: GoalProofs,
  goals: readonly Goal[],
  answers: readonly (readonly GoalAnswer[])[],
): Promise<WindowGoal[]> {
  const included = builder === null ? null : new IncludedSteps(window, builder);
  await included?.takeIn();
  const reports: WindowGoal[] = [];
  for (const [at, goal] of goals.entries()) {
    const found = answers[at] ?? [];
    let [whole, premises] = [0, 0];
    for (const { atom, step } of found)
      if (taken.has(atom) || (step === null ? window.has(atom) : included?.isWhole(step) === true)) whole++;
      else if (step !== null && included?.hasPremises(step) === true) premises++;
    const [first] = found;
    const isLeftOut = first !== undefined && whole === 0;
    reports.push({
      goal: renderAtom(goal),
      status: first === undefined ? 'no_answer' : statusOf(whole, premises),
      answers: { found: found.length, whole, premises, omitted: found.length - whole - premises },
      atoms: found.slice(0, maxListedAtoms).map(({ atom }) => atom),
      needs: first === undefined ? null : await needsOf(window, builder, first),
      reason: isLeftOut ? (window.leftOut.get(first.atom) ?? null) : null,
    });
  }
  return reports;
}

function statusOf(whole: number, premises: number): WindowGoal['status'] {
  return whole > 0 ? 'proved' : premises > 0 ? 'premises' : 'does_not_fit';
}

/** The size of the answer's canonical proof for an empty window. */
async function needsOf(
  { context }: OpenWindow,
  builder: ProofBuilder | null,
  { atom, step }: GoalAnswer,
): Promise<WindowGoal['needs']> {
  if (builder === null || step === null) return { facts: 1, chars: atom.length, tokens: null };
  const atoms = new Set<string>();
  const steps = new Set([step]);
  for (const each of steps) {
    if ((steps.size & 0xff) === 0) await context.pacer.breathe();
    const { atom: proved, kind, premises } = present(builder.steps[each], 'the step exists');
    if (kind === 'fact' || kind === 'rule') atoms.add(proved);
    for (const premise of premises) steps.add(premise);
  }
  let chars = 0;
  for (const each of atoms) chars += each.length;
  return { facts: atoms.size, chars, tokens: null };
}

/** Which steps of the canonical proofs are in the window, completely or at least by their stored premises. */
class IncludedSteps {
  readonly #window: OpenWindow;
  readonly #builder: ProofBuilder;
  readonly #isWhole: boolean[] = [];
  readonly #hasPremises: boolean[] = [];

  constructor(window: OpenWindow, builder: ProofBuilder) {
    this.#window = window;
    this.#builder = builder;
  }

  /** Processes all steps so far. */
  async takeIn(): Promise<void> {
    for (const { id, atom, kind, premises } of this.#builder.steps) {
      if ((id & 0xff) === 0xff) await this.#window.context.pacer.breathe();
      const isIn = this.#window.has(atom);
      const isEntry = kind === 'fact' || kind === 'rule';
      this.#isWhole.push((!isEntry || isIn) && premises.every((premise) => this.isWhole(premise)));
      this.#hasPremises.push(kind === 'fact' ? isIn : premises.every((premise) => this.hasPremises(premise)));
    }
  }

  isWhole(step: number): boolean {
    return this.#isWhole[step] === true;
  }

  hasPremises(step: number): boolean {
    return this.#hasPremises[step] === true;
  }
}
