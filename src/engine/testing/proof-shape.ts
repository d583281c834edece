/**
 * Makes proofs comparable: two proofs have the same shape exactly if they are the same tree of atoms, kinds and rules,
 * however steps are numbered or shared. Which of several equal stored facts proves an atom does not matter.
 */
import type { Proof } from '../contract/inference.ts';
import type { ProofNode } from './naive-model.ts';

/** Numbers shapes; equal numbers of one instance mean equal shapes. */
export class ProofShapes {
  readonly #numbers = new Map<string, number>();
  readonly #nodes = new Map<ProofNode, number>();

  #number(
    kind: string,
    atom: string,
    ruleId: string | null,
    scope: string | null,
    premises: readonly number[],
  ): number {
    const key = JSON.stringify([kind, atom, ruleId, kind === 'rule' ? scope : null, premises]);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** The shape of a proof of the model. */
  ofNode(node: ProofNode): number {
    let number = this.#nodes.get(node);
    if (number === undefined) {
      const premises = node.premises.map((premise) => this.ofNode(premise));
      number = this.#number(node.kind, node.atom, node.ruleId, node.scope, premises);
      this.#nodes.set(node, number);
    }
    return number;
  }

  /** The shapes of a proof's roots. Throws if a step depends on a later one. */
  ofProof(proof: Proof): number[] {
    const numbers: number[] = [];
    for (const [index, step] of proof.steps.entries()) {
      if (step.id !== index) throw new Error(`step ${index} has the id ${step.id}`);
      const premises = step.premises.map((premise) => {
        const number = numbers[premise];
        if (number === undefined) throw new Error(`step ${index} depends on the later step ${premise}`);
        return number;
      });
      numbers.push(this.#number(step.kind, step.atom, step.ruleId, step.scope, premises));
    }
    return proof.roots.map((root) => {
      const number = numbers[root];
      if (number === undefined) throw new Error(`the root ${root} is not a step`);
      return number;
    });
  }
}

/** A proof as indented lines, for reading a failed comparison. */
export function renderProofNode(node: ProofNode, indent = ''): string {
  const by = node.ruleId === null ? node.kind : `rule ${node.ruleId}`;
  return [
    `${indent}${node.atom}  [${by}]`,
    ...node.premises.map((each) => renderProofNode(each, `${indent}  `)),
  ].join('\n');
}
