import { expect, test } from 'vitest';
import { day, factInput, openSession, refusal, second, startTime } from '../testing/engine-fixtures.ts';

/** Asserting, updating and finding facts: contract section 3. */

test('returns the atom, an id and the generation of an asserted fact', async () => {
  const { tell } = await openSession();
  expect(await tell('parent(alice, "b, c")')).toEqual({
    status: 'asserted',
    atom: 'parent(alice, "b, c")',
    id: 'f1-0',
    generation: 1,
  });
  expect(await tell('-parent(bob, alice)')).toMatchObject({ atom: '-parent(bob, alice)', generation: 2 });
  expect(await tell('raining()')).toMatchObject({ atom: 'raining()', generation: 3 });
});

test('never duplicates an existing fact that is asserted again, and keeps the generation', async () => {
  const { tell, query } = await openSession();
  const first = await tell('p(a)');
  expect(await tell('p(a)')).toEqual({ ...first, status: 'unchanged' });
  expect(await query('p(?x)')).toHaveLength(1);
  expect((await tell('p(b)')).generation).toBe(2);
});

test('counts a repeated assertion as a use', async () => {
  const { tell, engine, caller, clock } = await openSession();
  const { id } = await tell('p(a)');
  clock.advance(day);
  const faded = await engine.fact(caller, id);
  expect(faded.salience).toBe(0.5);
  await tell('p(a)');
  await tell('p(a)', { metadata: { source: 'again' } });
  const { salienceBreakdown } = await engine.fact(caller, id);
  expect(salienceBreakdown).toMatchObject({ uses: 3, lastUsedAt: startTime + day });
});

test('replaces validity and metadata if given and keeps each otherwise, metadata as a whole', async () => {
  const { tell, engine, caller } = await openSession();
  const until = startTime + day;
  const { id } = await tell('p(a)', { validUntil: until, metadata: { a: 1, b: 2 } });
  expect(await tell('p(a)', { metadata: { c: 3 } })).toMatchObject({ status: 'updated', id, generation: 2 });
  expect(await engine.fact(caller, id)).toMatchObject({ validUntil: until, metadata: { c: 3 } });
  await tell('p(a)', { validFrom: startTime - day });
  expect(await engine.fact(caller, id)).toMatchObject({
    validFrom: startTime - day,
    validUntil: until,
    metadata: { c: 3 },
  });
});

test('clears the bounds of validity by "never" and "always", and metadata by {}', async () => {
  const { tell, engine, caller } = await openSession();
  const bounds = { validFrom: startTime - 1, validUntil: startTime + 1 };
  const { id } = await tell('p(a)', { ...bounds, metadata: { a: 1 } });
  await tell('p(a)', { validUntil: 'never' });
  expect(await engine.fact(caller, id)).toMatchObject({ validFrom: startTime - 1, validUntil: null });
  await tell('p(a)', { validFrom: 'always', metadata: {} });
  expect(await engine.fact(caller, id)).toMatchObject({ validFrom: null, validUntil: null, metadata: {} });
});

test('identifies a fact by tenant, scope, predicate, arguments and truth value only', async () => {
  const { tell, as, query } = await openSession();
  const outcomes = [
    await tell('p(a)'),
    await tell('-p(a)'),
    await tell('p(a)', { scope: 's' }),
    await tell('p(a, a)'),
    await as({ tenant: 'other' }).tell('p(a)'),
    await tell('p(a)', { metadata: { x: 1 } }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual([...Array(5).fill('asserted'), 'updated']);
  expect(new Set(outcomes.map(({ id }) => id)).size).toBe(5);
  expect(await query('p(?x)', { truthVal: true })).toEqual([{ predicate: 'p', args: ['a'], truthVal: true }]);
});

test('returns constants exactly as given', async () => {
  const { engine, caller, query } = await openSession();
  const args = [
    '',
    ' x ',
    '\ufeffmark',
    'é',
    'e\u0301',
    '"',
    '\\',
    'a.b',
    '50%',
    '#1',
    '007',
    '1e3',
    '😀',
    '\u2028',
  ];
  await engine.tell(caller, { ...factInput('p(a)'), args });
  const variables = args.map((_, at) => `?v${at}`).join(', ');
  expect(await query(`p(${variables})`)).toEqual([{ predicate: 'p', args, truthVal: true }]);
});

test('makes a fact retracted and asserted again a new one: new id, no history, no metadata, one use', async () => {
  const { tell, forget, engine, caller, clock } = await openSession();
  const old = await tell('p(a)', { metadata: { a: 1 }, validUntil: startTime + day });
  clock.advance(second);
  await forget('p(a)');
  const again = await tell('p(a)');
  expect(again).toMatchObject({ status: 'asserted', generation: 3 });
  expect(again.id).not.toBe(old.id);
  expect(await engine.fact(caller, again.id)).toMatchObject({
    createdAt: startTime + second,
    metadata: {},
    validUntil: null,
    salienceBreakdown: { uses: 1 },
    history: [{ change: 'asserted', generation: 3 }],
  });
  expect((await refusal(engine.fact(caller, old.id))).code).toBe('FactNotFound');
});

test('accepts a write with ifGeneration if the fact is unchanged, and refuses it otherwise', async () => {
  const { tell, forget } = await openSession();
  const { generation } = await tell('p(a)');
  await tell('p(b)');
  expect((await tell('p(a)', { ifGeneration: generation, metadata: { v: 2 } })).status).toBe('updated');
  const late = await refusal(tell('p(a)', { ifGeneration: generation, metadata: { v: 3 } }));
  expect(late.code).toBe('Conflict');
  expect(late.message).toContain('p(a)');
  await forget('p(b)');
  expect((await refusal(tell('p(b)', { ifGeneration: 3 }))).code).toBe('Conflict');
  expect((await tell('p(b)', { ifGeneration: 4 })).status).toBe('asserted');
  expect((await tell('p(never)', { ifGeneration: 0 })).status).toBe('asserted');
});

test('accepts one of several writes with the same ifGeneration', async () => {
  const { tell } = await openSession();
  const { generation } = await tell('counter(0)');
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map((value) => tell('counter(0)', { ifGeneration: generation, metadata: { value } })),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('stores several facts as one write: one generation, and counts of the outcomes', async () => {
  const { tell, tellAll, engine, caller } = await openSession();
  await tell('p(a)');
  await tell('p(b)');
  const facts = [
    factInput('p(a)'),
    factInput('p(b)', { metadata: { x: 1 } }),
    factInput('p(c)'),
    factInput('p(c)'),
  ];
  expect(await engine.tellAll(caller, facts)).toEqual({
    status: 'asserted',
    asserted: 1,
    updated: 1,
    unchanged: 2,
    generation: 3,
  });
  expect(await tellAll(['p(a)', 'p(c)'])).toMatchObject({ unchanged: 2, generation: 3 });
});

test('returns 400 with the position of an invalid fact among many, and stores nothing', async () => {
  const { engine, caller, query, tell } = await openSession();
  const bad = factInput('p(c)', { validFrom: 2000, validUntil: 1000 });
  const refused = await refusal(engine.tellAll(caller, [factInput('p(a)'), factInput('p(b)'), bad]));
  expect(refused.code).toBe('ValidationException');
  expect(refused.members.errors).toEqual([{ path: 'facts.2.validUntil', message: expect.any(String) }]);
  expect(await query('p(?x)')).toEqual([]);
  expect((await tell('p(d)')).generation).toBe(1);
});

test('checks a fact given twice in one write like two writes', async () => {
  const { engine, caller, query } = await openSession();
  const facts = [
    factInput('p(a)', { validUntil: startTime + 10 }),
    factInput('p(a)', { validFrom: startTime + 20 }),
  ];
  const refused = await refusal(engine.tellAll(caller, facts));
  expect(refused.members.errors).toMatchObject([{ path: 'facts.1.validUntil' }]);
  expect(await query('p(?x)')).toEqual([]);
  const mended = [facts[0] as never, factInput('p(a)', { validUntil: 'never' }), facts[1] as never];
  expect(await engine.tellAll(caller, mended)).toMatchObject({ asserted: 1, updated: 2 });
});

test('finds a hundred thousand facts of one write', async () => {
  const { engine, caller, query, results } = await openSession();
  const facts = Array.from({ length: 100_000 }, (_, at) => ({
    ...factInput('edge(a, b)'),
    args: [`n${at}`, `n${(at * 7) % 100_000}`],
  }));
  const outcome = await engine.tellAll(caller, facts);
  expect(outcome).toMatchObject({ asserted: 100_000, generation: 1 });
  expect(await query('edge(n99999, ?x)')).toEqual([
    { predicate: 'edge', args: ['n99999', 'n99993'], truthVal: true },
  ]);
  expect(await results('edge(?x, n7)')).toEqual(['edge(n1, n7)']);
});

test('returns a whole stored fact, with its source and its history', async () => {
  const { clock, engine, caller, as } = await openSession();
  const metadata = { source: 'a book', importance: 1, note: { page: 7 } };
  const { id } = await as({ requestId: 'one' }).tell('-p(a, 3)', { scope: 's', metadata });
  clock.advance(day);
  await as({ requestId: 'two' }).tell('-p(a, 3)', { scope: 's', validUntil: startTime + 9 * day });
  const fact = await engine.fact(caller, id);
  expect(fact).toEqual({
    id,
    predicate: 'p',
    args: ['a', '3'],
    truthVal: false,
    scope: 's',
    validFrom: null,
    validUntil: startTime + 9 * day,
    metadata,
    createdAt: startTime,
    updatedAt: startTime + day,
    importId: null,
    salience: expect.any(Number),
    derived: false,
    provenance: null,
    dependents: [],
    salienceBreakdown: {
      uses: 2,
      lastUsedAt: startTime + day,
      activation: expect.any(Number),
      importance: 1,
      confidence: 1,
      salience: fact.salience,
    },
    history: [
      { time: startTime, generation: 1, requestId: 'one', change: 'asserted' },
      { time: startTime + day, generation: 2, requestId: 'two', change: 'updated' },
    ],
  });
});

test('keeps the last ten changes in the history, the latest last', async () => {
  const { tell, engine, caller } = await openSession();
  const { id } = await tell('p(a)');
  for (let version = 2; version <= 10; version++) await tell('p(a)', { metadata: { version } });
  const ten = (await engine.fact(caller, id)).history;
  expect(ten.map(({ generation, change }) => [generation, change])).toEqual([
    [1, 'asserted'],
    ...[2, 3, 4, 5, 6, 7, 8, 9, 10].map((generation) => [generation, 'updated']),
  ]);
  for (let version = 11; version <= 13; version++) await tell('p(a)', { metadata: { version } });
  const { history } = await engine.fact(caller, id);
  expect(history.map(({ generation }) => generation)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  expect(history.every(({ change }) => change === 'updated')).toBe(true);
});

test('records both changes of a fact asserted and updated in one write', async () => {
  const { engine, caller } = await openSession();
  await engine.tellAll(caller, [factInput('p(a)'), factInput('p(a)', { metadata: { x: 1 } })]);
  const { history, metadata } = await engine.fact(caller, 'f1-0');
  expect(history.map(({ change }) => change)).toEqual(['asserted', 'updated']);
  expect(metadata).toEqual({ x: 1 });
});

test('does not find a fact of another tenant or database by its id', async () => {
  const { tell, engine, caller, as } = await openSession();
  const { id } = await tell('p(a)');
  await engine.createDatabase(caller, 'second');
  const strangers = [
    as({ tenant: 'other' }),
    as({ database: 'second' }),
    as({ tenant: 'other', database: 'second' }),
  ];
  for (const { engine: same, caller: stranger } of strangers) {
    expect((await refusal(same.fact(stranger, id))).code).toBe('FactNotFound');
    expect((await refusal(same.forgetById(stranger, id))).code).toBe('FactNotFound');
  }
  expect((await engine.fact(caller, id)).id).toBe(id);
});

test('refuses an unknown database for reading and writing', async () => {
  const { as } = await openSession();
  const { tell, results, list, query } = as({ database: 'nowhere' });
  for (const call of [tell('p(a)'), results('p(?x)'), list(), query('p(?x)')])
    expect((await refusal(call)).code).toBe('DatabaseNotFound');
});

test('reads an unknown tenant as empty, without creating it', async () => {
  const { as, engine, caller, tell } = await openSession();
  const { results, query, list, forget, engine: same, caller: stranger } = as({ tenant: 'new' });
  expect(await results('p(?x)')).toEqual([]);
  expect(await query('p(?x)')).toEqual([]);
  expect(await list()).toEqual({ facts: [], total: 0, nextCursor: null });
  expect(await forget('p(a)')).toMatchObject({ status: 'absent', retracted: 0 });
  expect((await same.predicates(stranger)).predicates).toEqual([]);
  await tell('p(a)');
  expect((await engine.databases(caller)).databases).toMatchObject([{ tenants: 1, facts: 1 }]);
});
