import { expect, test } from 'vitest';
import { day, openSession, startTime } from '../testing/engine-fixtures.ts';

/** POST /query: contract section 3. */

test('returns only stored visible facts, no conclusions', async () => {
  const { tell, teach, query } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tell('p(a)');
  await tell('q(b)');
  await tell('q(soon)', { validFrom: startTime + day });
  expect(await query('q(?x)')).toEqual([{ predicate: 'q', args: ['b'], truthVal: true }]);
});

test('returns both truth values unless one is given', async () => {
  const { tellAll, query } = await openSession();
  await tellAll(['p(a)', '-p(a)', '-p(b)']);
  expect((await query('p(?x)')).map(({ args, truthVal }) => [args[0], truthVal])).toEqual([
    ['a', true],
    ['a', false],
    ['b', false],
  ]);
  expect(await query('p(?x)', { truthVal: true })).toHaveLength(1);
  expect(await query('p(?x)', { truthVal: false })).toHaveLength(2);
});

test('orders answers by their arguments by code point', async () => {
  const { tellAll, query } = await openSession();
  await tellAll(['p(b, a)', 'p(a, z)', 'p(B, a)', 'p(a, \u{1f600})', 'p(a, \uffee)', 'p(a, 10)', 'p(a, 9)']);
  expect((await query('p(?x, ?y)')).map(({ args }) => args.join(' '))).toEqual([
    'B a',
    'a 10',
    'a 9',
    'a z',
    'a \uffee',
    'a \u{1f600}',
    'b a',
  ]);
});

test('returns any page of the ordered answers by limit and offset', async () => {
  const { tellAll, query } = await openSession();
  await tellAll(['e', 'c', 'a', 'd', 'b'].map((name) => `p(${name})`));
  const page = async (fields: object): Promise<string> =>
    (await query('p(?x)', { ...fields })).map(({ args }) => args[0]).join('');
  expect(await page({})).toBe('abcde');
  expect(await page({ limit: 2 })).toBe('ab');
  expect(await page({ limit: 2, offset: 3 })).toBe('de');
  expect(await page({ limit: 2, offset: 4 })).toBe('e');
  expect(await page({ offset: 2 })).toBe('cde');
  expect(await page({ offset: 5 })).toBe('');
  expect(await page({ limit: 100_000, offset: 1000 })).toBe('');
});

test('filters by constants, repeated variables and ?_', async () => {
  const { tellAll, query } = await openSession();
  await tellAll(['p(a, a)', 'p(a, b)', 'p(b, b)', 'p(1, 1.0)']);
  expect(await query('p(?x, ?x)')).toHaveLength(2);
  expect(await query('p(a, ?x)')).toHaveLength(2);
  expect(await query('p(?_, ?_)')).toHaveLength(4);
  expect(await query('p(a, b)')).toHaveLength(1);
  expect(await query('p(b, a)')).toEqual([]);
  expect(await query('p(?x)')).toEqual([]);
  expect(await query('nothing(?x)')).toEqual([]);
});

test('returns an atom of several scopes once, in order, however many facts match', async () => {
  // Few facts are compared pairwise, many are hashed: the same on both sides of the threshold.
  for (const count of [1, 2, 10, 11, 16, 17, 40]) {
    const { tell, query } = await openSession();
    const names = Array.from({ length: count }, (_, at) => `n${(at * 7) % count}`);
    for (const name of names) {
      await tell(`p(${name}, b)`);
      await tell(`p(${name}, b)`, { scope: 's' });
      await tell(`-p(${name}, b)`);
    }
    const expected = [...names].sort().flatMap((name) => [
      { predicate: 'p', args: [name, 'b'], truthVal: true },
      { predicate: 'p', args: [name, 'b'], truthVal: false },
    ]);
    expect(await query('p(?x, ?y)'), `${count} names`).toEqual(expected);
    const page = await query('p(?x, ?y)', { offset: 1, limit: 5 });
    expect(page, `${count} names`).toEqual(expected.slice(1, 6));
  }
});

test('finds facts without arguments', async () => {
  const { tellAll, query } = await openSession();
  await tellAll(['-raining()', 'raining()']);
  expect(await query('raining()')).toEqual([
    { predicate: 'raining', args: [], truthVal: true },
    { predicate: 'raining', args: [], truthVal: false },
  ]);
  expect(await query('raining()', { limit: 1, offset: 1 })).toEqual([
    { predicate: 'raining', args: [], truthVal: false },
  ]);
});

test('finds facts of 64 arguments', async () => {
  const { tell, query } = await openSession();
  const args = Array.from({ length: 64 }, (_, at) => `a${at}`);
  await tell(`wide(${args.join(', ')})`);
  const pattern = args.map((arg, at) => (at % 2 === 0 ? arg : `?v${at}`)).join(', ');
  expect(await query(`wide(${pattern})`)).toEqual([{ predicate: 'wide', args, truthVal: true }]);
});

test('counts appearance in the page of answers as one use, in every scope that answered', async () => {
  const { tell, query, engine, caller, clock } = await openSession();
  const ids = [
    (await tell('p(a)')).id,
    (await tell('p(a)', { scope: 's' })).id,
    (await tell('p(b)')).id,
    (await tell('-p(a)')).id,
  ];
  clock.advance(day);
  await query('p(?x)', { limit: 1, truthVal: true });
  const uses = await Promise.all(
    ids.map(async (id) => (await engine.fact(caller, id)).salienceBreakdown.uses),
  );
  expect(uses).toEqual([2, 2, 1, 1]);
});

test("does not raise the generation by a question's uses", async () => {
  const { tell, query, results, engine, caller } = await openSession();
  await tell('p(a)');
  await query('p(?x)');
  await results('p(?x)');
  expect((await tell('p(b)')).generation).toBe(2);
  const { facts } = await engine.facts(caller, {
    predicate: null,
    scope: null,
    unscoped: false,
    q: null,
    truthVal: null,
    derived: false,
    sort: 'predicate',
    order: 'asc',
    limit: 10,
    cursor: null,
    offset: null,
  });
  expect(facts).toHaveLength(2);
});

test('returns the same answer for the same question, byte for byte, whatever the order of assertion', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `p(n${(at * 37) % 50}, m${at % 7})`);
  const answers: string[] = [];
  for (const order of [names, [...names].reverse()]) {
    const { tellAll, query } = await openSession();
    await tellAll(order);
    answers.push(JSON.stringify(await query('p(?x, ?y)', { limit: 30, offset: 7 })));
  }
  expect(answers[0]).toBe(answers[1]);
});
