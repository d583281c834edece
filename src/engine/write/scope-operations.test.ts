import { expect, test } from 'vitest';
import { openSession, refusal } from '../testing/engine-fixtures.ts';

/** Scopes and views: contract section 3. */

test('reads all scopes in a query with scope null, and returns an answer found in several once', async () => {
  const { tell, query, results } = await openSession();
  await tell('p(a)');
  await tell('p(a)', { scope: 's' });
  await tell('p(b)', { scope: 't' });
  expect((await query('p(?x)')).map(({ args }) => args[0])).toEqual(['a', 'b']);
  expect(await results('p(?x)')).toEqual(['p(a)', 'p(b)']);
});

test('reads only facts of the scope in a query with a scope, not unscoped ones', async () => {
  const { tell, query, results } = await openSession();
  await tell('p(a)');
  await tell('p(b)', { scope: 's' });
  expect((await query('p(?x)', { scope: 's' })).map(({ args }) => args[0])).toEqual(['b']);
  expect(await results('p(?x)', { scope: 's' })).toEqual(['p(b)']);
  expect(await results('p(?x)', { scope: 'other' })).toEqual([]);
});

test('reads unscoped facts with unscoped: true', async () => {
  const { tell, query, results, forget } = await openSession();
  await tell('p(a)');
  await tell('p(a)', { scope: 's' });
  await tell('p(b)', { scope: 's' });
  expect(await results('p(?x)', { unscoped: true })).toEqual(['p(a)']);
  expect(await query('p(?x)', { unscoped: true })).toHaveLength(1);
  expect((await forget('p(a)', { unscoped: true })).retracted).toBe(1);
  expect(await results('p(?x)', { unscoped: true })).toEqual([]);
  expect(await results('p(?x)')).toEqual(['p(a)', 'p(b)']);
  expect((await tell('p(c)', { unscoped: true })).status).toBe('asserted');
  expect(await results('p(?x)', { unscoped: true })).toEqual(['p(c)']);
});

test('gives the view of a scope its facts under the unscoped rules and its own', async () => {
  const { tell, teach, results } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('r(?x) :- p(?x)', { scope: 's' });
  await teach('r(?x) :- q(?x)', { scope: 't' });
  await tell('p(none)');
  await tell('p(s)', { scope: 's' });
  await tell('p(t)', { scope: 't' });
  expect(await results('q(?x)', { scope: 's' })).toEqual(['q(s)']);
  expect(await results('r(?x)', { scope: 's' })).toEqual(['r(s)']);
  expect(await results('r(?x)', { scope: 't' })).toEqual(['r(t)']);
  expect(await results('r(?x)', { unscoped: true })).toEqual([]);
  expect(await results('q(?x)', { unscoped: true })).toEqual(['q(none)']);
});

test('joins facts of all scopes under the unscoped rules in the view of everything', async () => {
  const { tell, teach, results } = await openSession();
  await teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await tell('parent(a, b)', { scope: 's' });
  await tell('parent(b, c)', { scope: 't' });
  await tell('parent(c, d)');
  expect(await results('grandparent(?x, ?y)')).toEqual(['grandparent(a, c)', 'grandparent(b, d)']);
  for (const where of [{ scope: 's' }, { scope: 't' }, { unscoped: true }])
    expect(await results('grandparent(?x, ?y)', where)).toEqual([]);
});

test('includes in the view of everything only what a scoped rule concludes in its own scope', async () => {
  const { tell, teach, results } = await openSession();
  await teach('pair(?x, ?y) :- left(?x), right(?y)', { scope: 's' });
  await teach('-pair(?y, ?x) :- pair(?x, ?y)');
  await tell('left(a)', { scope: 's' });
  await tell('right(b)', { scope: 's' });
  await tell('right(c)', { scope: 't' });
  await tell('right(d)');
  expect(await results('pair(?x, ?y)')).toEqual(['pair(a, b)']);
  expect(await results('-pair(?x, ?y)')).toEqual(['-pair(b, a)']);
  expect(await results('pair(?x, ?y)', { scope: 't' })).toEqual([]);
});

test('continues from a conclusion of a scoped rule by the unscoped rules, with facts of other scopes', async () => {
  const { tell, teach, results } = await openSession();
  await teach('trusted(?x) :- vouched(?x)', { scope: 's' });
  await teach('invited(?x) :- trusted(?x), friend(?x)');
  await tell('vouched(a)', { scope: 's' });
  await tell('friend(a)', { scope: 't' });
  expect(await results('invited(?x)')).toEqual(['invited(a)']);
  expect(await results('invited(?x)', { scope: 's' })).toEqual([]);
});

test('keeps recursion of a scoped rule within its scope', async () => {
  const { tellAll, teach, results } = await openSession();
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)', { scope: 's' });
  await tellAll(['edge(a, b)', 'edge(b, c)'], { scope: 's' });
  await tellAll(['edge(c, d)'], { scope: 't' });
  expect(await results('reach(a, ?y)')).toEqual(['reach(a, b)', 'reach(a, c)']);
  expect(await results('reach(c, ?y)')).toEqual(['reach(c, d)']);
  expect(await results('reach(?x, ?y)', { scope: 't' })).toEqual(['reach(c, d)']);
});

test('shares rules among all tenants of the database, and facts with none', async () => {
  const { as, tell, teach, results } = await openSession();
  const other = as({ tenant: 'other' });
  await teach('q(?x) :- p(?x)');
  await tell('p(mine)');
  await other.tell('p(theirs)');
  expect(await results('q(?x)')).toEqual(['q(mine)']);
  expect(await other.results('q(?x)')).toEqual(['q(theirs)']);
  expect((await other.forget('p(mine)')).status).toBe('absent');
  expect((await other.list()).facts.map(({ args }) => args[0])).toEqual(['theirs']);
  expect(await results('q(?x)')).toEqual(['q(mine)']);
});

test('applies a changed rule in every tenant', async () => {
  const { as, tell, teach, results, engine, caller } = await openSession();
  const other = as({ tenant: 'other' });
  const { id } = await teach('q(?x) :- p(?x)');
  await tell('p(a)');
  await other.tell('p(b)');
  expect([await results('q(?x)'), await other.results('q(?x)')]).toEqual([['q(a)'], ['q(b)']]);
  await engine.forgetRule(caller, id);
  expect([await results('q(?x)'), await other.results('q(?x)')]).toEqual([[], []]);
  await other.teach('q(?x) :- p(?x)');
  expect([await results('q(?x)'), await other.results('q(?x)')]).toEqual([['q(a)'], ['q(b)']]);
});

test('isolates databases: facts, rules, generations and ids', async () => {
  const { as, tell, teach, results, engine, caller } = await openSession();
  await engine.createDatabase(caller, 'second');
  const second = as({ database: 'second' });
  await teach('q(?x) :- p(?x)');
  await tell('p(a)');
  expect(await second.tell('p(b)')).toMatchObject({ id: 'f1-0', generation: 1 });
  expect(await second.results('q(?x)')).toEqual([]);
  expect(await engine.rules(second.caller)).toEqual([]);
  expect(await results('p(?x)')).toEqual(['p(a)']);
});

test('lists databases by name with their counts, and refuses a name in use', async () => {
  const { as, tell, teach, engine, caller, clock } = await openSession();
  clock.advance(5);
  const { createdAt } = await engine.createDatabase(caller, 'a-second');
  expect(createdAt).toBe(clock.now());
  await tell('p(a)');
  await as({ tenant: 'other' }).tell('p(a)');
  await teach('q(?x) :- p(?x)');
  expect((await engine.databases(caller)).databases).toEqual([
    { name: 'a-second', createdAt, tenants: 0, facts: 0, rules: 0 },
    { name: 'default', createdAt: createdAt - 5, tenants: 2, facts: 2, rules: 1 },
  ]);
  expect((await refusal(engine.createDatabase(caller, 'a-second'))).code).toBe('Conflict');
  expect(engine.hasDatabase('a-second')).toBe(true);
  expect(engine.hasDatabase('A-second')).toBe(false);
  const restricted = { ...caller, databases: ['a-second', 'never'] };
  expect((await engine.databases(restricted)).databases.map(({ name }) => name)).toEqual(['a-second']);
});

test('refuses one of two concurrent creations of the same database', async () => {
  const { engine, caller } = await openSession();
  const made = await Promise.allSettled([1, 2, 3].map(() => engine.createDatabase(caller, 'new')));
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
});

test('answers for each of a thousand scopes, and for all together', async () => {
  const { engine, caller, teach, results } = await openSession();
  await teach('q(?x) :- p(?x), mark(?x)');
  const about = {
    truthVal: true,
    unscoped: false,
    ttl: null,
    validFrom: null,
    validUntil: null,
    metadata: null,
  };
  const facts = Array.from({ length: 1000 }, (_, at) => `scope ${at}`).flatMap((scope, at) =>
    ['p', 'mark'].map((predicate) => ({ ...about, predicate, args: [`n${at % 10}`], scope })),
  );
  await engine.tellAll(caller, facts);
  expect(await results('q(?x)')).toHaveLength(10);
  expect(await results('q(?x)', { scope: 'scope 77' })).toEqual(['q(n7)']);
});
