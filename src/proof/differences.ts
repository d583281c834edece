/** Two proofs of one answer compared, statement by statement. */
import type { ProofTree } from './proof-tree.ts';

/** How a statement of one proof stands in the other. */
export type ProofDifference = 'only' | 'otherwise';

/** The differing statements of both proofs. What is not listed is derived alike in both. */
export interface ProofDifferences {
  /** `only`: the other proof does not have it; `otherwise`: it has it by another rule or from other premises. */
  readonly left: ReadonlyMap<string, ProofDifference>;
  readonly right: ReadonlyMap<string, ProofDifference>;
}

/** The derivations in a tree, as text by statement. */
function derivationsIn({ steps, positionOf }: ProofTree): Map<string, string> {
  const found = new Map<string, string>();
  for (const id of positionOf.keys()) {
    const step = steps.get(id);
    if (step === undefined) continue;
    const premises = step.premises.map((premise) => steps.get(premise)?.atom ?? '');
    found.set(step.atom, JSON.stringify([step.kind, step.rule, premises]));
  }
  return found;
}

function against(
  own: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): Map<string, ProofDifference> {
  const found = new Map<string, ProofDifference>();
  for (const [atom, derivation] of own) {
    const there = other.get(atom);
    if (there === undefined) found.set(atom, 'only');
    else if (there !== derivation) found.set(atom, 'otherwise');
  }
  return found;
}

/** Compares two proofs with all their steps: fold them afterwards. */
export function proofDifferences(left: ProofTree, right: ProofTree): ProofDifferences {
  const [ofLeft, ofRight] = [derivationsIn(left), derivationsIn(right)];
  return { left: against(ofLeft, ofRight), right: against(ofRight, ofLeft) };
}

/** Returns how many statements only the left proof has, only the right one, and both by other derivations. */
export function differencesInNumbers({ left, right }: ProofDifferences): {
  readonly onlyLeft: number;
  readonly onlyRight: number;
  readonly otherwise: number;
} {
  const count = (of: ReadonlyMap<string, ProofDifference>, difference: ProofDifference) =>
    [...of.values()].filter((each) => each === difference).length;
  return {
    onlyLeft: count(left, 'only'),
    onlyRight: count(right, 'only'),
    otherwise: count(left, 'otherwise'),
  };
}
