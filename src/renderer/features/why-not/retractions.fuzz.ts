import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import type { Atom } from '../../../engine/contract/language.ts';
import type { Remedy } from './change-sets.ts';
import { findRetractions } from './retractions.ts';

/** A rule without variables: `p5 :- p0, p6`. Rules may be recursive. */
interface Clause {
  readonly head: number;
  readonly body: readonly number[];
}

const COUNT = 8;
const STORED = 4;

const worlds = fc.record({
  stored: fc.subarray(Array.from({ length: STORED }, (_, index) => index)),
  clauses: fc.array(
    fc.record({
      // Also what is stored may be concluded.
      head: fc.nat({ max: COUNT - 1 }),
      body: fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 10 },
  ),
});

const atomOf = (index: number): Atom => ({ predicate: `p${index}`, args: [], negated: false });
const indexOf = ({ predicate }: Atom): number => Number(predicate.slice(1));

function modelOf(stored: readonly number[], clauses: readonly Clause[]): Set<number> {
  const model = new Set(stored);
  for (let before = -1; before !== model.size; ) {
    before = model.size;
    for (const { head, body } of clauses) if (body.every((index) => model.has(index))) model.add(head);
  }
  return model;
}

/** All derivations of all that is true: as the service shows a proof with its alternatives. */
function proofOf(goal: number, stored: readonly number[], clauses: readonly Clause[]): Proof {
  const model = modelOf(stored, clauses);
  const steps = [...model].map((id): ProofStep => {
    const derivations = clauses
      .filter(({ head, body }) => head === id && body.every((index) => model.has(index)))
      .map(({ body }) => ({ rule: '', ruleId: '', premises: [...body] }));
    const isStored = stored.includes(id);
    const [first, ...others] = derivations;
    return {
      id,
      atom: `p${id}()`,
      kind: isStored ? 'fact' : 'rule',
      rule: null,
      ruleId: null,
      premises: isStored ? [] : (first?.premises ?? []),
      scope: null,
      alternatives: isStored ? derivations : others,
    };
  });
  return { roots: [goal], steps };
}

const written = (set: Remedy): string =>
  set
    .map(({ atom }) => indexOf(atom))
    .sort((one, other) => one - other)
    .join(' ');

test('finds exactly the minimal retractions, through alternatives and cycles', async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(worlds, fc.nat({ max: COUNT - 1 }), async ({ stored, clauses }, goal) => {
      if (!modelOf(stored, clauses).has(goal)) return;
      const ends = (gone: readonly number[]) =>
        !modelOf(
          stored.filter((index) => !gone.includes(index)),
          clauses,
        ).has(goal);
      const { sets, isCut } = await findRetractions(
        atomOf(goal),
        {
          proofOf: async () => proofOf(goal, stored, clauses),
          holdsWith: async (changes) => !ends(changes.map(({ atom }) => indexOf(atom))),
        },
        () => true,
      );
      const all = Array.from({ length: 2 ** STORED }, (_, bits) =>
        stored.filter((index) => (bits & (1 << index)) !== 0),
      );
      const expected = new Set(
        all
          .filter((gone) => ends(gone) && gone.every((one) => !ends(gone.filter((each) => each !== one))))
          .map((gone) => gone.join(' ')),
      );
      expect(new Set(sets.map(written))).toEqual(expected);
      expect(isCut).toBe(false);
      found += sets.length;
    }),
    { numRuns: 1_500 },
  );
  expect(found).toBeGreaterThan(200);
});
