import { expect, test } from 'vitest';
import type { PredicateRow } from '../../api/declared.ts';
import { predicateOf, predicateText, schemaSearchOf } from './schema-search.ts';
import { countsOf, listedPredicates } from './use-schema.ts';

test('the address has what is known and drops the rest', () => {
  const whole = {
    part: 'violations',
    q: 'a',
    show: 'declared',
    predicate: 'p/2',
    constraint: 'c1',
    kind: 'key',
    limit: '500',
  };
  expect(schemaSearchOf(whole)).toEqual(whole);
  expect(
    schemaSearchOf({ part: 'predicates', q: '', show: 'all', kind: 'other', limit: '0', predicate: 7 }),
  ).toEqual({});
});

test('a predicate is its name and arity', () => {
  for (const text of ['born/2', 'a/b/3', 'p/0', 'p/64']) {
    const of = predicateOf(text);
    expect(of === null ? null : predicateText(of)).toBe(text);
  }
  for (const text of [undefined, '-', 'born', 'born/', '/2', 'p/65', 'p/123'])
    expect(predicateOf(text)).toBeNull();
});

test('violations count for their predicate or their constraint', () => {
  const about = { scope: null, bindings: {}, message: '', facts: [], proof: { roots: [], steps: [] } };
  const counts = countsOf(
    [
      { ...about, kind: 'key', predicate: 'p', arity: 2 },
      { ...about, kind: 'shape', predicate: 'p', arity: 2 },
      {
        kind: 'constraint',
        constraint: 'c1',
        name: 'n',
        mode: 'warn',
        scope: null,
        bindings: {},
        instance: '',
        proof: null,
      },
    ],
    9,
  );
  expect(counts).toMatchObject({ total: 9, isWhole: false });
  expect([...counts.byPredicate, ...counts.byConstraint]).toEqual([
    ['p/2', 2],
    ['c1', 1],
  ]);
});

test('the list of predicates is filtered by name, by names of arguments, and by what is declared', () => {
  const row = (name: string, argument?: string): PredicateRow => ({
    name,
    arity: 1,
    facts: 0,
    derived: 0,
    derivedComplete: true,
    rules: 0,
    scopes: [],
    example: null,
    ...(argument === undefined
      ? {}
      : {
          declaration: {
            name,
            arity: 1,
            description: null,
            arguments: [{ name: argument, description: null, type: 'any' }],
            key: [],
            onConflict: 'warn',
            check: 'warn',
          },
        }),
  });
  const rows = [row('born', 'person'), row('plain')];
  const names = (search: Parameters<typeof listedPredicates>[1]) =>
    listedPredicates(rows, search).map(({ name }) => name);
  expect(names({})).toEqual(['born', 'plain']);
  expect(names({ q: 'PERS' })).toEqual(['born']);
  expect(names({ show: 'undeclared' })).toEqual(['plain']);
  expect(names({ q: 'in/1' })).toEqual(['plain']);
});
