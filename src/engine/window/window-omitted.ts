import type { OmissionReason } from '../contract/context.ts';
import type { Candidate, OpenWindow } from './open-window.ts';
import { candidateOf, inOrder, inPrecedence } from './window-candidates.ts';
import type { ContextWindow } from '../contract/context.ts';
import { salientFacts } from '../memory/salient-facts.ts';
import type { ProofBuilder } from '../datalog/explain/proof.ts';

export type Omitted = NonNullable<ContextWindow['omitted']>[number];

/** Maximum number of listed omissions: those with the highest salience. */
const maxOmitted = 10_000;

/** Further reasons for omissions. */
export interface Omissions {
  /** Stored atoms that are also concluded. */
  readonly alsoConcluded: ReadonlySet<string>;
  /** Reasons for conclusions that would otherwise fit. */
  readonly ofConclusions: ReadonlyMap<string, OmissionReason>;
}

/** What the window was asked about but does not contain, highest salience first, each with its reason. */
export async function omittedFrom(window: OpenWindow, omissions: Omissions): Promise<Omitted[]> {
  const { seen, context } = window;
  const conclusions: Candidate[] = [];
  let looked = 0;
  for (const [atom, step] of seen.concluded) {
    if ((++looked & 0xff) === 0) await context.pacer.breathe();
    const { predicate, args, scope, salience } = seen.conclusionAt(step);
    if (!window.has(atom)) conclusions.push({ atom, predicate, args, scope, salience, fact: null, by: null });
  }
  async function* stored(): AsyncGenerator<Candidate> {
    for await (const { fact, salience } of salientFacts(context, seen.view, () => true))
      yield candidateOf(seen, fact, salience);
  }
  const sorted = await inPrecedence(conclusions, context.pacer);
  const omitted: Omitted[] = [];
  const met = new Set<string>();
  for await (const { atom, salience, predicate } of inOrder(stored(), sorted)) {
    const note = (reason: OmissionReason): void => {
      if (omitted.length < maxOmitted) omitted.push({ atom, salience, reason });
    };
    const isCopy = met.has(atom);
    met.add(atom);
    if (isCopy) note('duplicate');
    else if (!window.has(atom)) note(reasonOf(window, omissions, atom, predicate));
    if (!isCopy && omissions.alsoConcluded.has(atom)) note('duplicate');
    if (omitted.length >= maxOmitted) break;
  }
  return omitted;
}

function reasonOf(
  window: OpenWindow,
  { ofConclusions }: Omissions,
  atom: string,
  predicate: string,
): OmissionReason {
  const ofGoal = window.leftOut.get(atom);
  if (ofGoal !== undefined) return ofGoal;
  const refused = window.budget.refusal({ predicate, charCount: atom.length });
  if (refused === 'filtered') return refused;
  if (window.weaker.has(atom)) return 'contradiction';
  return refused ?? ofConclusions.get(atom) ?? 'budget';
}

/** For atoms of refused proofs, the reason of the first refused proof that contains them. */
export async function reasonsOfRefused(
  window: OpenWindow,
  builder: ProofBuilder,
  refused: readonly { readonly step: number; readonly reason: OmissionReason }[],
): Promise<Map<string, OmissionReason>> {
  const reasons = new Map<string, OmissionReason>();
  const steps = new Set<number>();
  for (const { step, reason } of refused) {
    const open = [step];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (steps.has(next)) continue;
      steps.add(next);
      if ((steps.size & 0xff) === 0) await window.context.pacer.breathe();
      const { atom, premises = [] } = builder.steps[next] ?? {};
      if (atom !== undefined && !reasons.has(atom)) reasons.set(atom, reason);
      open.push(...premises);
    }
  }
  return reasons;
}
