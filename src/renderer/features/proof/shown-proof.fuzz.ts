import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { keyOfStep, keysBelow, type OutlineRow, treeOf, visibleRows } from '../../../proof/proof-tree.ts';
import { waysTo, withChosen } from './shown-proof.ts';

/** Proofs whose own derivations are well-founded and whose alternatives are arbitrary, with a choice. */
const chosenProofs = fc.integer({ min: 1, max: 12 }).chain((count) => {
  const anyStep = fc.nat({ max: count - 1 });
  const steps = Array.from({ length: count }, (_, id) =>
    fc.record({
      premises: id === 0 ? fc.constant<number[]>([]) : fc.array(fc.nat({ max: id - 1 }), { maxLength: 3 }),
      others: fc.array(fc.array(anyStep, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
      way: fc.nat({ max: 3 }),
    }),
  );
  return fc.tuple(anyStep, fc.tuple(...steps));
});

function proofOf(root: number, drawn: readonly { premises: number[]; others: number[][] }[]): Proof {
  const steps = drawn.map(
    ({ premises, others }, id): ProofStep => ({
      id,
      atom: `p(${id})`,
      kind: premises.length > 0 ? 'rule' : 'fact',
      rule: premises.length > 0 ? 'own' : null,
      ruleId: null,
      premises,
      scope: null,
      alternatives: others.map((other, way) => ({ rule: `way ${way}`, ruleId: `r${way}`, premises: other })),
    }),
  );
  return { roots: [root], steps };
}

/** The ancestors of a line. */
function above(row: OutlineRow, rows: ReadonlyMap<string, OutlineRow>): OutlineRow[] {
  const found: OutlineRow[] = [];
  for (let at = row.parent; at !== null; at = rows.get(at)?.parent ?? null) {
    const parent = rows.get(at);
    if (parent !== undefined) found.push(parent);
  }
  return found;
}

test('shows each step whole once and marks exactly the cycles, whichever alternatives are chosen', () => {
  fc.assert(
    fc.property(chosenProofs, ([root, drawn]) => {
      const own = proofOf(root, drawn);
      const chosen = new Map(
        own.steps.map((step, index) => [step.id, (drawn[index]?.way ?? 0) % waysTo(step)]),
      );
      const tree = treeOf(withChosen(own, chosen), root);
      const rows = visibleRows([tree], keysBelow(tree, root));
      const byKey = new Map(rows.map((row) => [row.key, row]));
      expect(byKey.size).toBe(rows.length);
      const whole = rows.filter((row) => !row.isReference);
      expect(new Set(whole.map((row) => row.step.id)).size).toBe(whole.length);
      expect(whole).toHaveLength(tree.sizeOf(root));
      for (const row of rows) {
        const isAbove = above(row, byKey).some((other) => other.step.id === row.step.id);
        expect(row.isCircle).toBe(isAbove);
        if (row.isReference) expect(byKey.has(keyOfStep(row.step.id))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
