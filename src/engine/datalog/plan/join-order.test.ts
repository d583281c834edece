import { expect, test } from 'vitest';
import { KeptFacts } from '../../testing/kept-facts.ts';
import { Prng } from '../../testing/prng.ts';
import { StoredRelation } from '../../store/stored-relation.ts';
import { Selectivity } from './join-order.ts';

/** The order in which atoms pass bindings on: this affects only cost, so the tests inspect the demand. */

const persons = Array.from({ length: 100 }, (_, at) => `p${at}`);
const type = ['type(?x, ?c) :- kind(?x, ?c)', 'type(?x, ?d) :- type(?x, ?c), subclass(?c, ?d)'];
const kinds = ['subclass(graduate, student)', ...persons.map((each) => `kind(${each}, graduate)`)];

/** How many keys of each table were demanded. */
async function keysOf(rules: readonly string[], facts: readonly string[], goal: string, answers: number) {
  const world = new KeptFacts(rules);
  for (const fact of facts) world.tell(fact);
  expect(await world.ask(goal, false)).toBe(answers);
  const tables = [...(await world.tables())];
  return new Map(tables.map(([name, { demand }]) => [name, demand.rows.count]));
}

test('joins an atom that shares no variable with the joined ones after those that do', async () => {
  const keys = await keysOf(
    [
      ...type,
      'member(?x, ?u) :- works_for(?x, ?u)',
      'member(?x, ?u) :- studies_in(?x, ?u)',
      'pick(?x) :- part_of(?u, country), type(?x, student), member(?x, ?u)',
    ],
    [
      ...kinds,
      ...[0, 1, 2, 3, 4].map((at) => `part_of(u${at}, country)`),
      ...persons.map((each, at) => `studies_in(${each}, u${at % 5})`),
    ],
    'pick(?x)',
    100,
  );
  expect(keys.get('member/2 1')).toBe(5);
  expect(keys.get('member/2 0,1')).toBeUndefined();
});

test('joins stored facts unique to each binding before a derived key, and that before a recursive one', async () => {
  const keys = await keysOf(
    [
      ...type,
      'taught(?s, ?p) :- takes(?s, ?c), teaches(?p, ?c)',
      'pick(?s, ?p) :- here(?s), type(?s, student), taught(?s, ?p), advisor(?s, ?p)',
    ],
    [
      ...kinds,
      ...persons.flatMap((each, at) => [`here(${each})`, `advisor(${each}, t${at})`]),
      ...[1, 2, 3].flatMap((at) => [`takes(p${at}, c${at})`, `teaches(t${at}, c${at})`]),
    ],
    'pick(?s, ?p)',
    3,
  );
  expect(keys.get('taught/2 0,1')).toBe(100);
  expect(keys.get('type/2 0,1')).toBe(3);
});

test('joins an atom with a constant of the question before unrelated stored facts', async () => {
  const keys = await keysOf(
    [
      'path(?x, ?y) :- edge(?x, ?y)',
      'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)',
      'found(?y, ?l) :- path(p0, ?y), label(?y, ?l)',
    ],
    [
      'edge(p0, p1)',
      'edge(p1, p2)',
      ...persons.flatMap((each) => [`label(${each}, a)`, `label(${each}, b)`]),
    ],
    'found(?y, ?l)',
    4,
  );
  expect(keys.get('path/2 0')).toBe(1);
  expect(keys.get('path/2 0,1')).toBeUndefined();
});

test.each([
  ['a key each', 20_000, 20_000],
  ['one value', 5000, 1],
  ['few values', 5000, 40],
  ['hundreds of values', 50_000, 700],
  ['thousands of values', 50_000, 9000],
  ['fewer rows than are sampled', 300, 60],
])('how often a value comes is estimated within a third (%s)', (_, rows, values) => {
  const prng = new Prng(5);
  const relation = new StoredRelation('p', 2, false);
  for (let row = 0; row < rows; row++)
    relation.append(
      Int32Array.of(row, rows === values ? row : prng.below(values), 0),
      1,
      row,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      null,
    );
  const ratio = new Selectivity().of(relation, 1) / (rows / values);
  expect(ratio).toBeGreaterThan(2 / 3);
  expect(ratio).toBeLessThan(3 / 2);
});

test('an empty relation has no rows for a value', () => {
  expect(new Selectivity().of(new StoredRelation('p', 1, false), 0)).toBe(0);
});
