import { describe, expect, test } from 'vitest';
import { parseAtom, parseConstraint } from '../../../engine/language/parse.ts';
import { renderAtom, renderBody } from '../../../engine/language/print.ts';
import {
  assertionsOf,
  boundBody,
  findMends,
  type Mend,
  type MendChange,
  mendsOfDeclaration,
  retractionsOf,
  type TryMend,
} from './mends.ts';

const retract = (text: string): MendChange => ({ kind: 'retract', atom: parseAtom(text), scope: null });

function proofOf(...facts: string[]) {
  return {
    roots: [facts.length - 1],
    steps: facts.map((atom, id) => ({
      id,
      atom,
      kind: 'fact' as const,
      rule: null,
      ruleId: null,
      premises: [],
      scope: null,
    })),
  };
}

const textOf = (set: Mend) => set.map(({ atom }) => renderAtom(atom)).toSorted();
/** Sets as texts, in order. */
const inOrder = (sets: readonly (readonly string[])[]) => sets.map((set) => set.join(' ')).toSorted();

/** A world in which the violation has these proofs: it is mended once none has all of its facts. */
function worldOf(...proofs: string[][]): TryMend {
  return async (set) => {
    const gone = new Set(set.map(({ atom }) => renderAtom(atom)));
    const left = proofs.find((facts) => !facts.some((each) => gone.has(each)));
    return left === undefined ? 'mended' : { proof: proofOf(...left) };
  };
}

/** The minimal sets of at most three facts that hit every proof, by trying all of them. */
function naiveMends(proofs: readonly (readonly string[])[]): string[] {
  const facts = [...new Set(proofs.flat())].toSorted();
  const sets: string[][] = [];
  const all: string[][] = [[]];
  for (const each of facts) all.push(...all.map((set) => [...set, each]));
  for (const set of all
    .filter(({ length }) => length > 0 && length <= 3)
    .toSorted((a, b) => a.length - b.length))
    if (proofs.every((proof) => proof.some((each) => set.includes(each))))
      if (!sets.some((smaller) => smaller.every((each) => set.includes(each)))) sets.push(set);
  return inOrder(sets.map((set) => set.toSorted()));
}

describe('mends of a constraint', () => {
  test('are single facts of its only proof', async () => {
    const { sets, isCut } = await findMends([retract('p(a)'), retract('q(a)')], worldOf(['p(a)', 'q(a)']));
    expect(sets.map(textOf)).toEqual([['p(a)'], ['q(a)']]);
    expect(isCut).toBe(false);
  });

  test('are sets where it has several proofs, whose facts are found on the way', async () => {
    const proofs = [
      ['p(a)', 'q(a)'],
      ['p(a)', 'r(a)'],
      ['p(a)', 's(a)'],
    ];
    const { sets } = await findMends([retract('p(a)'), retract('q(a)')], worldOf(...proofs));
    expect(inOrder(sets.map(textOf))).toEqual(naiveMends(proofs));
  });

  test('are all minimal sets of up to three facts, whatever the proofs', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `p(${name})`);
    for (let seed = 1; seed < 120; seed++) {
      const proofs = [seed, seed * 7, seed * 13]
        .map((bits) => names.filter((_, at) => (bits >> at) % 2 === 1))
        .filter((facts) => facts.length > 0);
      if (proofs.length === 0) continue;
      const [first = []] = proofs;
      const { sets } = await findMends(first.map(retract), worldOf(...proofs));
      expect(inOrder(sets.map(textOf)), `seed ${seed}: ${JSON.stringify(proofs)}`).toEqual(
        naiveMends(proofs),
      );
    }
  });

  test('say that the search was cut where it was', async () => {
    const never: TryMend = async () => ({ proof: null });
    const many = Array.from({ length: 30 }, (_, at) => retract(`p(${at})`));
    expect(await findMends(many, never)).toEqual({ sets: [], isCut: true });
  });
});

test('what the body says is absent can be asserted where it is ground', () => {
  const { literals } = parseConstraint('!- person(?x), not email(?x, ?_), not known(?x), not -banned(?x)');
  const asserted = assertionsOf({ body: literals }, { x: 'ann' }, 'plan');
  expect(asserted.map(({ atom, scope }) => [renderAtom(atom), scope])).toEqual([
    ['known(ann)', 'plan'],
    ['-banned(ann)', 'plan'],
  ]);
});

test('the instance of a body keeps what its aggregates count over', () => {
  const { literals } = parseConstraint('!- team(?t), ?n = count { ?m : member(?m, ?t) }, ?n > 5');
  expect(renderBody(boundBody(literals, { t: 'red', m: 'nobody' }))).toBe(
    'team(red), ?n = count { ?m : member(?m, red) }, ?n > 5',
  );
});

test('the facts of a proof are retracted in their scopes, each once', () => {
  const proof = proofOf('p(a)', 'q(a)');
  const [first] = proof.steps;
  if (first === undefined) throw new Error('a step');
  const steps = [
    ...proof.steps,
    { ...first, id: 2 },
    { ...first, id: 3, scope: 'plan' },
    { ...first, id: 4, kind: 'rule' as const },
  ];
  expect(retractionsOf({ ...proof, steps }).map(({ atom, scope }) => [renderAtom(atom), scope])).toEqual([
    ['p(a)', null],
    ['q(a)', null],
    ['p(a)', 'plan'],
  ]);
});

test('of facts that share a key one stays; a fact of another type goes', () => {
  const facts = ['at(a, x)', 'at(a, y)', 'at(a, z)'].map((atom, at) => ({
    id: `f${at}`,
    atom,
    validFrom: null,
    validUntil: null,
  }));
  const violation = {
    kind: 'key' as const,
    predicate: 'at',
    arity: 2,
    scope: null,
    bindings: {},
    message: '',
    facts,
    proof: proofOf(),
  };
  expect(mendsOfDeclaration(violation).map(textOf)).toEqual([
    ['at(a, y)', 'at(a, z)'],
    ['at(a, x)', 'at(a, z)'],
    ['at(a, x)', 'at(a, y)'],
  ]);
  expect(mendsOfDeclaration({ ...violation, kind: 'shape', facts: facts.slice(0, 1) }).map(textOf)).toEqual([
    ['at(a, x)'],
  ]);
});
