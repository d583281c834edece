import { expect, test } from 'vitest';
import { parseAtom, parseRule } from '../../language/parse.ts';
import { renderRule, ruleIdentity } from '../../language/print.ts';
import { KeptFacts } from '../../testing/kept-facts.ts';
import { Program } from '../model/program.ts';
import { derivedRows, derivedValues } from './derived-rows.ts';
import { Selectivity } from './join-order.ts';

const rules = [
  'type(?x, ?c) :- kind(?x, ?c)',
  'type(?x, ?d) :- type(?x, ?c), subclass(?c, ?d)',
  'type(?x, busy) :- takes(?x, ?_)',
  'pair(?x, ?y) :- type(?x, ?c), type(?y, ?c)',
];
const about = { name: null, description: null, createdAt: 0, scope: null, enabled: true, changedIn: 0 };
const program = new Program(
  rules.map((text, at) => {
    const rule = parseRule(text);
    return { ...about, id: `r${at}`, rule, text: renderRule(rule), identity: ruleIdentity(rule) };
  }),
);
const { facts } = factsOf([
  ...Array.from({ length: 30 }, (_, at) => `kind(s${at}, student)`),
  ...Array.from({ length: 10 }, (_, at) => `kind(t${at}, teacher)`),
  ...Array.from({ length: 60 }, (_, at) => `kind(c${at}, course)`),
  ...Array.from({ length: 90 }, (_, at) => `takes(s${at % 30}, c${at % 45})`),
  'subclass(student, person)',
  'subclass(teacher, staff)',
  'subclass(staff, person)',
  'subclass(busy, person)',
]);
const known = { program, facts, selectivity: new Selectivity() };
const view = { kind: 'all' } as const;

function factsOf(atoms: readonly string[]): KeptFacts {
  const world = new KeptFacts([]);
  for (const atom of atoms) world.tell(atom);
  return world;
}

const rowsOf = (atom: string): number =>
  Math.round(derivedRows({ view, literal: { ...parseAtom(atom), naf: false } }, known));

test('follows the constants of an atom down the rules, and through a recursion over few facts', () => {
  expect(rowsOf('type(?x, course)')).toBe(60);
  expect(rowsOf('type(?x, staff)')).toBeLessThan(12);
  // Students, teachers, and those who take something, of whom there are thirty.
  expect(rowsOf('type(?x, person)')).toBeGreaterThanOrEqual(70);
  expect(rowsOf('type(?x, person)')).toBeLessThan(75);
});

test('does not guess at a rule of several derived atoms', () => {
  expect(rowsOf('pair(s1, ?y)')).toBe(Infinity);
});

test('counts the values of an argument by the facts from which they come', () => {
  const valuesAt = (position: number): number =>
    derivedValues({ view, literal: { ...parseAtom('type(?x, ?c)'), naf: false } }, position, known);
  expect([valuesAt(0), valuesAt(1)]).toEqual([130, 6]);
});
