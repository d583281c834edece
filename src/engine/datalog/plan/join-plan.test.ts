import { expect, test } from 'vitest';
import { parseAtom } from '../../language/parse.ts';
import { type JoinAtom, type JoinSpace, planJoin } from './join-plan.ts';

const needs = {
  kind: 'derived',
  rows: 'needs',
  demand: 'demand',
  boundPositions: [],
  isComplete: false,
} as const;
const space: JoinSpace = {
  isExhaustive: true,
  isMaintained: true,
  isObserved: false,
  matching: () => 1000,
  valuesAt: () => 100,
  estimate: (_view, { predicate }) => (predicate === 'needs' ? 100 : 10),
};

/** The atoms of `needs(?x, ?z) :- needs(?x, ?y), depends(?y, ?z)` in the order in which a proof looks them up, given x and z. */
function orderOf(matching: JoinAtom['matching']): (string | null)[] {
  const atoms: JoinAtom[] = [
    {
      literal: { ...parseAtom('needs(?x, ?y)'), naf: false },
      source: needs,
      ...(matching !== undefined && { matching }),
    },
    { literal: { ...parseAtom('depends(?y, ?z)'), naf: false }, source: { kind: 'stored' } },
  ];
  const [headTerms, demandTerms] = [
    ['?x', '?y', '?z'],
    ['?x', '?z'],
  ];
  const view = { kind: 'all' } as const;
  const rule = { view, headTerms, demand: 'heads', demandTerms, atoms, filters: [], barriers: new Map() };
  const { steps } = planJoin(rule, { kind: 'explain' }, space, { intersects: false, reduces: false });
  return steps.flatMap((step) =>
    step.kind === 'rows' && step.atom !== null ? [(atoms[step.atom] as JoinAtom).literal.predicate] : [],
  );
}

test('a proof begins with the derived atom if that has few rows for what is bound, as they are counted', () => {
  const asked: (readonly number[])[] = [];
  const counted = (positions: readonly number[]): number => {
    asked.push(positions);
    return 4;
  };
  expect(orderOf(counted)).toEqual(['needs', 'depends']);
  expect(asked).toEqual([[0]]);
  expect(orderOf(() => 200)).toEqual(['depends', 'needs']);
  expect(orderOf(undefined)).toEqual(['depends', 'needs']);
});
