import { expect, test } from 'vitest';
import { day, openSession, refusal, second, startTime } from '../testing/engine-fixtures.ts';

/** When facts are visible, to the instant: contract section 3. */

test('shows a fact from validFrom, inclusive, to validUntil, exclusive', async () => {
  const { tell, query, results, clock } = await openSession();
  await tell('p(a)', { validFrom: startTime + 10, validUntil: startTime + 20 });
  const seen: number[] = [];
  for (const offset of [0, 9, 10, 11, 19, 20, 21]) {
    clock.set(startTime + offset);
    const stored = await query('p(?x)');
    expect((await results('p(?x)')).length).toBe(stored.length);
    if (stored.length > 0) seen.push(offset);
  }
  expect(seen).toEqual([10, 11, 19]);
});

test('sets the end of validity to now + ttl, and the earlier of the two wins', async () => {
  const { tell, engine, caller, clock } = await openSession();
  clock.advance(500);
  const now = startTime + 500;
  const untilOf = async (text: string, fields: object): Promise<number | null> =>
    (await engine.fact(caller, (await tell(text, { ...fields })).id)).validUntil;
  expect(await untilOf('p(a)', { ttl: 1000 })).toBe(now + 1000);
  expect(await untilOf('p(b)', { ttl: 1000, validUntil: now + 300 })).toBe(now + 300);
  expect(await untilOf('p(c)', { ttl: 1000, validUntil: now + 3000 })).toBe(now + 1000);
  expect(await untilOf('p(d)', { ttl: 1000, validUntil: 'never' })).toBe(now + 1000);
});

test('reads times as text, UTC without an offset', async () => {
  const { tell, engine, caller } = await openSession();
  const { id } = await tell('p(a)', { validFrom: '2024-02-01', validUntil: '2024-02-01T12:00:00+02:00' });
  expect(await engine.fact(caller, id)).toMatchObject({
    validFrom: Date.UTC(2024, 1, 1),
    validUntil: Date.UTC(2024, 1, 1, 10),
  });
});

test('rejects a validUntil not after validFrom, checked against stored bounds too', async () => {
  const { tell, query } = await openSession();
  const refused = [
    tell('p(a)', { validFrom: startTime, validUntil: startTime }),
    tell('p(a)', { validFrom: startTime + 1, validUntil: startTime }),
    tell('p(a)', { validFrom: startTime + 5000, ttl: 1000 }),
  ];
  for (const each of refused) {
    const { code, members } = await refusal(each);
    expect(code).toBe('ValidationException');
    expect(members.errors).toMatchObject([{ path: 'validUntil' }]);
  }
  await tell('p(b)', { validFrom: startTime - day, validUntil: startTime + day });
  expect((await refusal(tell('p(b)', { validFrom: startTime + day }))).code).toBe('ValidationException');
  expect((await refusal(tell('p(b)', { validUntil: startTime - day }))).code).toBe('ValidationException');
  expect(await query('p(?x)')).toHaveLength(1);
  expect((await tell('p(b)', { validFrom: startTime + day, validUntil: 'never' })).status).toBe('updated');
});

test('accepts an end in the past and hides the fact', async () => {
  const { tell, query, results, list, engine, caller } = await openSession();
  expect(await tell('p(a)', { validUntil: startTime - 1 })).toMatchObject({
    status: 'asserted',
    generation: 1,
  });
  expect(await tell('p(b)', { validUntil: startTime })).toMatchObject({ status: 'asserted', generation: 2 });
  expect(await query('p(?x)')).toEqual([]);
  expect(await results('p(?x)')).toEqual([]);
  expect((await list()).total).toBe(0);
  expect((await engine.databases(caller)).databases).toMatchObject([{ facts: 0 }]);
});

test('hides an expired fact and its consequences from the instant it ends, and counts it from its begin', async () => {
  const { tell, teach, results, proof, clock } = await openSession();
  await teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await tell('parent(a, b)', { validUntil: startTime + 2 * second });
  await tell('parent(b, c)', { validFrom: startTime + second });
  const all = { atoms: [] as string[][], proofs: [] as number[] };
  for (const offset of [0, 999, 1000, 1999, 2000]) {
    clock.set(startTime + offset);
    all.atoms.push(await results('grandparent(?x, ?y)'));
    all.proofs.push((await proof('grandparent(a, c)')).steps.length);
  }
  const there = ['grandparent(a, c)'];
  expect(all.atoms).toEqual([[], [], there, there, []]);
  expect(all.proofs).toEqual([0, 0, 3, 3, 0]);
});

test('treats a change of validity as an update, visible at once in what follows from it', async () => {
  const { tell, teach, results } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tell('p(a)');
  expect(await results('q(?x)')).toEqual(['q(a)']);
  expect((await tell('p(a)', { validFrom: startTime + day })).status).toBe('updated');
  expect(await results('q(?x)')).toEqual([]);
  await tell('p(a)', { validFrom: 'always' });
  expect(await results('q(?x)')).toEqual(['q(a)']);
});

test('treats an expired fact as absent, but by its id: asserted again it is new, retracted it is absent', async () => {
  const { tell, forget, clock, engine, caller, query } = await openSession();
  const { id } = await tell('p(a)', { ttl: 1000, metadata: { old: true } });
  clock.advance(1000);
  expect(await forget('p(a)')).toMatchObject({ status: 'absent', retracted: 0, generation: 1 });
  expect((await refusal(engine.fact(caller, id))).code).toBe('FactNotFound');
  expect(await engine.forgetById(caller, id)).toMatchObject({ status: 'retracted', retracted: 1 });
  expect((await refusal(engine.forgetById(caller, id))).code).toBe('FactNotFound');
  const again = await tell('p(a)');
  expect(again.status).toBe('asserted');
  expect(again.id).not.toBe(id);
  expect(await engine.fact(caller, again.id)).toMatchObject({ metadata: {}, validUntil: null });
  expect(await query('p(?x)')).toHaveLength(1);
});

test('leaves expired facts out of every count', async () => {
  const { tell, clock, engine, caller } = await openSession();
  await tell('p(a)', { ttl: 1000 });
  await tell('p(b)');
  const counts = async () => ({
    database: (await engine.databases(caller)).databases[0]?.facts,
    gauge: engine.counters().facts,
    predicate: (await engine.predicates(caller)).predicates[0]?.facts,
  });
  expect(await counts()).toEqual({ database: 2, gauge: 2, predicate: 2 });
  clock.advance(1000);
  expect(await counts()).toEqual({ database: 1, gauge: 1, predicate: 1 });
});

test('stores a fact that is not valid yet: it can be shown, updated and retracted, but is not visible', async () => {
  const { tell, forget, engine, caller, query, results, clock } = await openSession();
  const { id } = await tell('p(a)', { validFrom: startTime + day });
  await tell('p(b)', { validFrom: startTime + day });
  expect(await query('p(?x)')).toEqual([]);
  expect(await results('p(?x)')).toEqual([]);
  expect((await engine.fact(caller, id)).validFrom).toBe(startTime + day);
  expect((await tell('p(a)', { metadata: { changed: true } })).id).toBe(id);
  expect(await forget('p(b)')).toMatchObject({ status: 'retracted', retracted: 1, dependents: [] });
  clock.advance(day);
  expect(await results('p(?x)')).toEqual(['p(a)']);
});

test('never moves time back for readers, whatever the clock does', async () => {
  const { tell, results, clock, query } = await openSession();
  await tell('p(a)', { ttl: 1000 });
  clock.advance(1000);
  expect(await results('p(?x)')).toEqual([]);
  clock.set(startTime);
  expect(await results('p(?x)')).toEqual([]);
  expect(await query('p(?x)')).toEqual([]);
  await tell('p(b)', { ttl: 1000 });
  expect(await query('p(?x)')).toEqual([{ predicate: 'p', args: ['b'], truthVal: true }]);
});

test('shows each of thousands of expiries at its exact instant', async () => {
  const { engine, caller, tellAll, teach, results, clock, query } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(forever)']);
  const facts = Array.from({ length: 2000 }, (_, at) => ({
    predicate: 'p',
    args: [`n${at}`],
    truthVal: true,
    scope: null,
    unscoped: false,
    ttl: 1 + ((at * 7919) % 2000),
    validFrom: null,
    validUntil: null,
    metadata: null,
  }));
  await engine.tellAll(caller, facts);
  for (const passed of [0, 1, 2, 3, 500, 1000, 1999, 2000]) {
    clock.set(startTime + passed);
    const living = facts.filter(({ ttl }) => ttl > passed).length + 1;
    expect((await results('q(?x)')).length, `after ${passed} ms`).toBe(living);
    expect((await query('p(?x)')).length).toBe(living);
  }
});
