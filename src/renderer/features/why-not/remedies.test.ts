import { expect, test } from 'vitest';
import type { Atom } from '../../../engine/contract/language.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { findRemedies, type RemedyWorld } from './remedies.ts';

const goal: Atom = { predicate: 'goal', args: ['a'], negated: false };

function world(over: Partial<RemedyWorld>): RemedyWorld {
  return {
    whyNot: async () => [],
    factsBehind: async (atom) => [atom],
    matches: async () => [],
    holdsWith: async () => true,
    ...over,
  };
}

const anything = () => true;

test('says what no fact could make true, and what lacks a value', async () => {
  const found = await findRemedies(
    goal,
    world({
      whyNot: async (atom) =>
        atom === goal ? [{ missing: ['3 < 2'] }, { missing: ['p(a, ?y)'] }, { missing: ['q(a)'] }] : [],
    }),
    ({ predicate }) => predicate !== 'goal',
  );
  expect(found.sets.map((set) => set.map(({ kind, atom }) => `${kind} ${renderAtom(atom)}`))).toEqual([
    ['assert q(a)'],
  ]);
  expect(found.outOfReach).toEqual(['3 < 2', 'p(a, ?y)']);
  expect(found.isCut).toBe(false);
});

test('ends a search without end, and says so', async () => {
  const endless = world({
    whyNot: async ({ args }) => [{ missing: [`goal(${args[0]}x)`] }, { missing: [`goal(${args[0]}y)`] }],
  });
  const found = await findRemedies(goal, endless, () => false);
  expect(found).toMatchObject({ sets: [], isCut: true });
});

test('shows no set that does not help when it is tried', async () => {
  const found = await findRemedies(goal, world({ holdsWith: async () => false }), anything);
  expect(found.sets).toEqual([]);
});

test('retracts one fact of each proof that an absence is contradicted by', async () => {
  const bad = (id: string): Atom => ({ predicate: 'bad', args: [id], negated: false });
  const found = await findRemedies(
    goal,
    world({
      whyNot: async () => [{ missing: ['not bad(?_)'] }],
      matches: async () => [bad('1'), bad('2')],
      holdsWith: async (set) => set.length === 2,
    }),
    ({ predicate }) => predicate === 'bad',
  );
  expect(found.sets).toHaveLength(1);
  expect(found.sets[0]?.map(({ kind, atom }) => `${kind} ${renderAtom(atom)}`)).toEqual([
    'retract bad(1)',
    'retract bad(2)',
  ]);
});

test('fills in values that the predicate has, everywhere in the body, and leaves comparisons to the trial', async () => {
  const price = (of: string, value: string): Atom => ({
    predicate: 'price',
    args: [of, value],
    negated: false,
  });
  const found = await findRemedies(
    goal,
    world({
      whyNot: async (atom) => (atom === goal ? [{ missing: ['price(a, ?p)', 'offered(?p)', '?p < 5'] }] : []),
      // `a` has no price, others have.
      matches: async ({ args }) => (args[0] === 'a' ? [] : [price('b', '3'), price('c', '9')]),
      holdsWith: async (set) => set.length === 2 && set.every(({ atom }) => atom.args.includes('3')),
    }),
    ({ predicate }) => predicate !== 'goal',
  );
  expect(found.sets.map((set) => set.map(({ atom }) => renderAtom(atom)))).toEqual([
    ['price(a, 3)', 'offered(3)'],
  ]);
});
