import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../engine/contract/inference.ts';
import { withFoldedChains, withUnfoldedChains } from './chains.ts';

/** Well-founded proofs of links of recursion and arbitrary steps between them, and steps to keep apart. */
const proofs = fc.integer({ min: 1, max: 30 }).chain((count) =>
  fc.record({
    roots: fc.array(fc.nat({ max: 2 * count - 1 }), { maxLength: 1 }),
    apart: fc.array(fc.nat({ max: 2 * count - 1 }), { maxLength: 2 }),
    isRight: fc.boolean(),
    drawn: fc.array(
      fc.option(
        fc.record({
          back: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 3 }),
          predicate: fc.constantFrom('p', 'q', '-p'),
          rule: fc.constantFrom('a', 'b'),
        }),
        // Mostly links, so that there is something to fold.
        { nil: undefined, freq: 1 },
      ),
      { minLength: count, maxLength: count },
    ),
  }),
);

type Drawn = typeof proofs extends fc.Arbitrary<infer Of> ? Of : never;

function stepOf(id: number, atom: string, rule: string, premises: readonly number[]): ProofStep {
  const known = premises.filter((premise) => premise >= 0);
  const by = known.length === 0 ? null : rule;
  return {
    id,
    atom,
    kind: by === null ? 'fact' : 'rule',
    rule: by,
    ruleId: by,
    premises: known,
    scope: null,
  };
}

function proofOf({ roots, isRight, drawn }: Drawn): Proof {
  const steps = drawn.flatMap((wild, at) => {
    const id = 2 * at + 1;
    const fact = stepOf(id - 1, `next(${at})`, '', []);
    if (wild !== undefined) {
      const premises = wild.back.map((by) => id - by);
      return [fact, stepOf(id, `${wild.predicate}(${at})`, wild.rule, premises)];
    }
    const premises = isRight ? [id - 1, id - 2] : [id - 2, id - 1];
    return [fact, stepOf(id, `p(${at})`, at === 0 ? 'b' : 'a', premises)];
  });
  return { roots: [2 * drawn.length - 1, ...roots], steps };
}

function reached(roots: readonly number[], steps: readonly ProofStep[]): Set<number> {
  const found = new Set<number>();
  const visit = (id: number) => {
    if (found.has(id)) return;
    found.add(id);
    for (const premise of steps.find((step) => step.id === id)?.premises ?? []) visit(premise);
  };
  for (const root of roots) visit(root);
  return found;
}

test('a folded proof refers to no step that it lacks, and unfolds to the same proof', () => {
  let folds = 0;
  fc.assert(
    fc.property(proofs, (drawn) => {
      const proof = proofOf(drawn);
      const apart = new Set(drawn.apart);
      const folded = withFoldedChains(proof, apart);
      expect(withUnfoldedChains(folded)).toEqual(proof);
      const kept = new Set(folded.steps.map(({ id }) => id));
      const used = reached(proof.roots, folded.steps);
      for (const id of used) expect(kept).toContain(id);
      const whole = reached(proof.roots, proof.steps);
      for (const id of [...proof.roots, ...drawn.apart])
        if (whole.has(id) && !folded.steps.some(({ chain }) => chain?.members.includes(id))) {
          // A step apart is shown unless a fold above hides all that uses it.
          expect(kept.has(id)).toBe(used.has(id));
        }
      for (const { chain, id } of folded.steps) {
        if (chain === undefined) continue;
        folds += 1;
        expect(chain.members[0]).toBe(id);
        expect(chain.members.some((member) => apart.has(member))).toBe(false);
        expect(chain.members.slice(1).some((member) => kept.has(member))).toBe(false);
      }
    }),
    { numRuns: 1_000 },
  );
  // Otherwise the property says nothing.
  expect(folds).toBeGreaterThan(100);
});
