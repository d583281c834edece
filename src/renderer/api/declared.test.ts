import { expect, test } from 'vitest';
import { parseAtom } from '../../engine/language/parse.ts';
import {
  argumentTitle,
  argumentVariables,
  choicesOf,
  declaredVariables,
  isDateField,
  isNumeric,
  misfitOf,
  type PredicateRow,
  typeInWords,
} from './declared.ts';

const born: PredicateRow = {
  name: 'born',
  arity: 2,
  facts: 1,
  derived: 0,
  derivedComplete: true,
  rules: 0,
  scopes: [null],
  example: null,
  declaration: {
    name: 'born',
    arity: 2,
    description: null,
    arguments: [
      { name: 'person', description: null, type: 'entity' },
      { name: 'year', description: null, type: 'integer' },
    ],
    key: ['person'],
    onConflict: 'warn',
    check: 'warn',
  },
};

test('a variable stands for the argument of the first atom that has it', () => {
  const atoms = ['knows(?x, ?y)', 'born(?y, ?b)', 'born(?b, 1990)', 'born(?_)'].map((text) =>
    parseAtom(text),
  );
  const found = declaredVariables(atoms, [born]);
  expect([...found].map(([name, { name: argument }]) => [name, argument])).toEqual([
    ['y', 'person'],
    ['b', 'year'],
  ]);
  expect(declaredVariables(atoms, undefined).size).toBe(0);
});

test('titles and types in words', () => {
  expect(argumentTitle(born.declaration?.arguments[1], 1)).toBe('year');
  expect(argumentTitle(undefined, 1)).toBe('Argument 2');
  expect([isNumeric('integer'), isNumeric('number'), isNumeric('date')]).toEqual([true, true, false]);
  expect(typeInWords('date')).toBe('date');
  expect(typeInWords({ oneOf: ['a', 'b', 'c', 'd', 'e', 'f'] })).toBe('one of a, b, c, d and 2 more');
});

test('an enumeration offers its choices, and the value that is stored though it is none', () => {
  expect(choicesOf({ oneOf: ['a', 'b'] }, '')).toEqual(['a', 'b']);
  expect(choicesOf({ oneOf: ['a', 'b'] }, 'x')).toEqual(['a', 'b', 'x']);
  expect(choicesOf('boolean', 'true')).toEqual(['true', 'false']);
  expect(choicesOf('date', '')).toBeNull();
});

test('a field for dates shows dates only: other text stays visible as text', () => {
  expect(isDateField('date', '')).toBe(true);
  expect(isDateField('date', '2026-02-28')).toBe(true);
  expect(isDateField('date', 'soon')).toBe(false);
  expect(isDateField('text', '')).toBe(false);
  const year = born.declaration?.arguments[1];
  expect(misfitOf(year, 'soon')).toContain('must be an integer');
  expect([misfitOf(year, ''), misfitOf(year, '7'), misfitOf(null, 'soon')]).toEqual([null, null, null]);
});

test('variables are named as the declared arguments', () => {
  expect(argumentVariables([born], 'born', 2)).toEqual(['?person', '?year']);
  expect(argumentVariables([born], 'born', 3)).toEqual(['?x1', '?x2', '?x3']);
  expect(argumentVariables(undefined, 'born', 1)).toEqual(['?x1']);
  const blank = { name: 'p', arity: 2, declaration: declarationOf('_', 'n_1') };
  expect(argumentVariables([blank], 'p', 2)).toEqual(['?x1', '?n_1']);
});

function declarationOf(...names: string[]): NonNullable<PredicateRow['declaration']> {
  const named = names.map((name) => ({ name, description: null, type: 'any' as const }));
  const rest = { description: null, key: [], onConflict: 'warn', check: 'warn' } as const;
  return { name: 'p', arity: names.length, arguments: named, ...rest, key: [] };
}
