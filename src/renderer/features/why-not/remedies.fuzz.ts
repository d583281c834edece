import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Atom } from '../../../engine/contract/language.ts';
import type { Remedy } from './change-sets.ts';
import { findRemedies, type RemedyWorld } from './remedies.ts';

/** A rule without variables: `p3 :- p0, not p1`. A rule's premises have smaller numbers, so all is stratified. */
interface Clause {
  readonly head: number;
  readonly body: readonly { readonly of: number; readonly isAbsent: boolean }[];
}

const COUNT = 8;
/** Facts may be asserted and retracted of the first ones; the others are only concluded. */
const STORED = 4;

const worlds = fc.record({
  stored: fc.subarray(Array.from({ length: STORED }, (_, index) => index)),
  clauses: fc.array(
    fc.integer({ min: STORED, max: COUNT - 1 }).chain((head) =>
      fc.record({
        head: fc.constant(head),
        body: fc.uniqueArray(fc.record({ of: fc.nat({ max: head - 1 }), isAbsent: fc.boolean() }), {
          minLength: 1,
          maxLength: 3,
          selector: ({ of }) => of,
        }),
      }),
    ),
    { maxLength: 9 },
  ),
});

const atomOf = (index: number): Atom => ({ predicate: `p${index}`, args: [], negated: false });
const indexOf = ({ predicate }: Atom): number => Number(predicate.slice(1));

function modelOf(stored: readonly number[], clauses: readonly Clause[]): Set<number> {
  const model = new Set(stored);
  for (let head = STORED; head < COUNT; head++)
    if (
      clauses.some(
        (clause) =>
          clause.head === head && clause.body.every(({ of, isAbsent }) => model.has(of) !== isAbsent),
      )
    )
      model.add(head);
  return model;
}

function changed(stored: readonly number[], changes: Remedy): number[] {
  const after = new Set(stored);
  for (const { kind, atom } of changes)
    if (kind === 'assert') after.add(indexOf(atom));
    else after.delete(indexOf(atom));
  return [...after];
}

function factsBehind(index: number, stored: readonly number[], clauses: readonly Clause[]): number[] {
  if (stored.includes(index)) return [index];
  const model = modelOf(stored, clauses);
  const clause = clauses.find(
    ({ head, body }) => head === index && body.every(({ of, isAbsent }) => model.has(of) !== isAbsent),
  );
  return clause?.body.flatMap(({ of, isAbsent }) => (isAbsent ? [] : factsBehind(of, stored, clauses))) ?? [];
}

function worldOf(stored: readonly number[], clauses: readonly Clause[], goal: number): RemedyWorld {
  const model = modelOf(stored, clauses);
  return {
    whyNot: async (atom) =>
      model.has(indexOf(atom))
        ? null
        : clauses
            .filter(({ head }) => head === indexOf(atom))
            .map(({ body }) => ({
              missing: body
                .filter(({ of, isAbsent }) => model.has(of) === isAbsent)
                .map(({ of, isAbsent }) => (isAbsent ? `not p${of}()` : `p${of}()`)),
            })),
    factsBehind: async (atom) => factsBehind(indexOf(atom), stored, clauses).map(atomOf),
    matches: async (atom) => (model.has(indexOf(atom)) ? [atom] : []),
    holdsWith: async (changes) => modelOf(changed(stored, changes), clauses).has(goal),
  };
}

/** All minimal sets of at most two changes of the stored predicates, by trying every one. */
function byTrying(stored: readonly number[], clauses: readonly Clause[], goal: number): string[] {
  const toggles = Array.from({ length: STORED }, (_, index): Remedy[number] => ({
    kind: stored.includes(index) ? 'retract' : 'assert',
    atom: atomOf(index),
  }));
  const helps = (set: Remedy) => modelOf(changed(stored, set), clauses).has(goal);
  const single = toggles.map((change): Remedy => [change]).filter(helps);
  const pairs = toggles
    .flatMap((one, index) => toggles.slice(index + 1).map((other): Remedy => [one, other]))
    .filter((pair) => helps(pair) && !single.some(([only]) => only !== undefined && pair.includes(only)));
  return [...single, ...pairs].map(written).sort();
}

function written(set: Remedy): string {
  return set
    .map(({ kind, atom }) => `${kind} ${atom.predicate}`)
    .sort()
    .join(', ');
}

test('every set makes the goal true, none of its changes can be left out, and single changes are found', async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      worlds,
      fc.integer({ min: STORED, max: COUNT - 1 }),
      async ({ stored, clauses }, goal) => {
        if (modelOf(stored, clauses).has(goal)) return;
        const isPermitted = (atom: Atom) => indexOf(atom) < STORED;
        const { sets, isCut } = await findRemedies(atomOf(goal), worldOf(stored, clauses, goal), isPermitted);
        const expected = byTrying(stored, clauses, goal);
        for (const set of sets) {
          expect(modelOf(changed(stored, set), clauses).has(goal)).toBe(true);
          for (const change of set)
            expect(
              modelOf(
                changed(
                  stored,
                  set.filter((each) => each !== change),
                ),
                clauses,
              ).has(goal),
            ).toBe(false);
          if (set.length <= 2) expect(expected).toContain(written(set));
        }
        found += sets.length;
        // Without negation nothing hides a way: all small sets are found.
        const isPositive = clauses.every(({ body }) => body.every(({ isAbsent }) => !isAbsent));
        if (isPositive && !isCut)
          expect(
            sets
              .filter(({ length }) => length <= 2)
              .map(written)
              .sort(),
          ).toEqual(expected);
      },
    ),
    { numRuns: 1_500 },
  );
  expect(found).toBeGreaterThan(200);
});
