import { expect, test } from 'vitest';
import { optimizeInputSchema } from '../contract/context.ts';
import { type Fields, openSession, type Session } from '../testing/engine-fixtures.ts';

/** From the words of a query to goals, sentence by sentence: contract section 13. */

function windowOf({ engine, caller }: Session, query: string, fields: Fields = {}) {
  return engine.optimizeContext(caller, optimizeInputSchema.parse({ query, maxFacts: 1000, ...fields }));
}

async function goalsOf(session: Session, query: string, fields: Fields = {}): Promise<string[]> {
  return (await windowOf(session, query, fields)).goals.map(({ goal }) => goal);
}

async function knowing(facts: readonly string[], rules: readonly string[] = []): Promise<Session> {
  const session = await openSession();
  await session.tellAll([...facts]);
  for (const rule of rules) await session.teach(rule);
  return session;
}

test('goals go over every relation, stored and concluded, and every two places, other places variables', async () => {
  const session = await knowing(
    ['gave(alice, bob, book)', 'met(bob, harbour, alice)', 'knows(bob, alice)'],
    ['friends(?x, ?y) :- knows(?y, ?x)'],
  );
  expect(await goalsOf(session, 'alice and bob')).toEqual([
    'friends(alice, bob)',
    'gave(alice, bob, ?x3)',
    'knows(bob, alice)',
    'met(bob, ?x2, alice)',
  ]);
});

test('mentioned predicates are the goals, in the order of their names; every relation only where none of them holds', async () => {
  const session = await knowing([
    'likes(alice, bob)',
    'hates(bob, alice)',
    'pays(alice, bob)',
    'owns(carol, boat)',
  ]);
  expect(await goalsOf(session, 'does alice like bob, or does he hate her')).toEqual([
    'hates(bob, alice)',
    'likes(alice, bob)',
  ]);
  expect(await goalsOf(session, 'what does carol pay')).toEqual(['owns(carol, ?x2)']);
});

test('one constant makes goals where there is one, or where none with two holds', async () => {
  const session = await knowing(['parent(alice, bob)', 'parent(carol, dora)', 'tall(bob)']);
  expect(await goalsOf(session, 'bob')).toEqual(['parent(?x1, bob)', 'tall(bob)']);
  expect(await goalsOf(session, 'bob and carol')).toEqual([
    'parent(carol, ?x2)',
    'parent(?x1, bob)',
    'tall(bob)',
  ]);
  expect(await goalsOf(session, 'alice, bob and carol')).toEqual(['parent(alice, bob)']);
});

test('the first eight constants count', async () => {
  const names = ['ada', 'ben', 'cleo', 'dirk', 'emma', 'finn', 'gina', 'hugo', 'iris'];
  const session = await knowing(names.map((name) => `present(${name})`));
  const window = await windowOf(session, names.join(' '));
  expect(window.mentions?.map(({ text }) => text)).toEqual(names);
  expect(window.goals.map(({ goal }) => goal)).toEqual(names.slice(0, 8).map((name) => `present(${name})`));
});

test('a hundred goals are kept, and the rest is counted', async () => {
  const session = await knowing(Array.from({ length: 120 }, (_, at) => `rel${at}(alice, bob)`));
  const window = await windowOf(session, 'alice bob');
  expect([window.goals.length, window.goalsLeftOut]).toEqual([100, 20]);
});

test('256 goals of rules are tried, and the rest is counted', async () => {
  const rules = Array.from({ length: 300 }, (_, at) => `r${at}(?x) :- base${at}(?x)`);
  const session = await knowing(['alone(alice)'], rules);
  const window = await windowOf(session, 'alice');
  expect(window.goals.map(({ goal }) => goal)).toEqual(['alone(alice)']);
  expect(window.goalsLeftOut).toBe(44);
});

test('given goals precede and are always listed, beyond the hundred and without an answer', async () => {
  const session = await knowing(Array.from({ length: 120 }, (_, at) => `rel${at}(alice, bob)`));
  const goals = [
    { predicate: 'unheard', args: ['alice', '?x'] },
    { predicate: 'rel0', args: ['alice', 'bob'] },
  ];
  const window = await windowOf(session, 'alice bob', { goals });
  expect(window.goals.slice(0, 3).map(({ goal, status }) => [goal, status])).toEqual([
    ['unheard(alice, ?x)', 'no_answer'],
    ['rel0(alice, bob)', 'proved'],
    ['rel1(alice, bob)', 'proved'],
  ]);
  expect(window.goals).toHaveLength(101);
});

test.each([
  ['we can go on with it', []],
  ['can', ['in(can, ?x2)']],
  ['is "can" in the kitchen', ['in(can, kitchen)']],
  ['a b', []],
  ['b', ['in(b, ?x2)']],
  ["where is 'b'", ['in(b, ?x2)']],
])('function words and single letters are mentions only in quotes or alone: %s', async (query, goals) => {
  const session = await knowing(['in(can, kitchen)', 'in(b, kitchen)', 'in(will, garden)']);
  expect(await goalsOf(session, query)).toEqual(goals);
});

test('predicates are stemmed, constants are not', async () => {
  const session = await knowing(['works_on(ann, paintings)', 'works_on(ann, walls)']);
  expect(await goalsOf(session, 'who is working on paintings')).toEqual(['works_on(?x1, paintings)']);
  expect(await goalsOf(session, 'painting')).toEqual([]);
});

test('proofs come first, then hits, then what is near in the graph, then salience only where asked', async () => {
  const session = await knowing(
    [
      'parent(alice, bob)',
      'parent(bob, carol)',
      'note(n1, "a poem about carol and the sea")',
      'lives_in(bob, oslo)',
      'capital(oslo, norway)',
      'unrelated(x1, x2)',
    ],
    ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)'],
  );
  const predicates = async (fields: Fields): Promise<string[]> =>
    (await windowOf(session, 'how is alice related to carol', fields)).entries.map(
      ({ predicate }) => predicate,
    );
  const found = await predicates({});
  expect(found.slice(0, 3)).toEqual(['parent', 'parent', 'grandparent']);
  expect(found.indexOf('note')).toBe(3);
  expect(found.indexOf('lives_in')).toBeGreaterThan(3);
  expect(found).not.toContain('unrelated');
  expect((await predicates({ fill: true })).at(-1)).toBe('unrelated');
});
