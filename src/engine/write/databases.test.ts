import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import type { Change } from '../session/change-feed.ts';
import {
  chainOf,
  day,
  gate,
  openSession,
  refusal,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** Managing databases and tenants: contract section 9. */

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-databases-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A database `second` with two facts of `tenant`, one of `other`, and a rule. */
async function filled(options: Parameters<typeof openSession>[0] = {}): Promise<Session> {
  const session = await openSession(options);
  await session.engine.createDatabase(session.caller, 'second');
  const second = session.as({ database: 'second' });
  await second.tellAll(['edge(a, b)', 'edge(b, c)']);
  await second.as({ tenant: 'other' }).tell('edge(x, y)');
  await second.teach('reach(?x, ?y) :- edge(?x, ?y)');
  return session;
}

/** All changes published from now on. */
function listening(session: Session): Change[] {
  const told: Change[] = [];
  onTestFinished(session.engine.subscribe((change) => told.push(change)));
  return told;
}

test('deletes a database with its tenants, facts and rules, and returns their counts', async () => {
  const { engine, caller, as } = await filled();
  const second = as({ database: 'second' });
  expect(await engine.deleteDatabase(caller, 'second')).toEqual({
    name: 'second',
    status: 'deleted',
    facts: 3,
    rules: 1,
  });
  expect((await engine.databases(caller)).databases.map(({ name }) => name)).toEqual(['default']);
  expect(engine.hasDatabase('second')).toBe(false);
  expect((await refusal(second.ask('edge(?x, ?y)'))).code).toBe('DatabaseNotFound');
  expect((await refusal(second.tell('p(a)'))).code).toBe('DatabaseNotFound');
  expect((await refusal(engine.deleteDatabase(caller, 'second'))).code).toBe('DatabaseNotFound');
});

test('refuses to delete the database default', async () => {
  const { engine, caller } = await openSession();
  expect((await refusal(engine.deleteDatabase(caller, 'default'))).code).toBe('Conflict');
});

test('starts a reused name empty and continues the generation, so that no id repeats', async () => {
  const { engine, caller, as, clock } = await filled();
  const second = as({ database: 'second' });
  const old = (await second.list()).facts.map(({ id }) => id);
  const before = (await second.tell('p(a)')).generation;
  await engine.deleteDatabase(caller, 'second');
  clock.advance(5);
  const { createdAt } = await engine.createDatabase(caller, 'second');
  expect(createdAt).toBe(startTime + 5);
  expect((await second.list()).facts).toEqual([]);
  expect(await engine.rules(second.caller)).toEqual([]);
  const first = await second.tell('p(a)');
  expect(first.status).toBe('asserted');
  expect(first.generation).toBeGreaterThan(before);
  expect(old).not.toContain(first.id);
  const detail = await engine.fact(second.caller, first.id);
  expect(detail).toMatchObject({ createdAt: startTime + 5, updatedAt: startTime + 5 });
});

test('nukes a database: its tenants remain, without facts and rules', async () => {
  const { engine, caller, as } = await filled();
  const second = as({ database: 'second' });
  expect(await second.results('reach(a, ?y)')).toEqual(['reach(a, b)']);
  const before = await engine.tenants(caller, 'second');
  expect(await engine.nukeDatabase(caller, 'second')).toEqual({
    status: 'nuked',
    facts: 3,
    rules: 1,
    generation: 4,
  });
  const after = await engine.tenants(caller, 'second');
  expect(after.tenants).toEqual(before.tenants.map((tenant) => ({ ...tenant, facts: 0 })));
  expect(await second.results('reach(?x, ?y)')).toEqual([]);
  await second.tell('edge(a, b)');
  expect(await second.results('reach(?x, ?y)')).toEqual([]);
  await second.teach('reach(?x, ?y) :- edge(?y, ?x)');
  expect(await second.results('reach(?x, ?y)')).toEqual(['reach(b, a)']);
});

test('keeps the generation when it nukes something empty', async () => {
  const { engine, caller, as, tell, forget } = await openSession();
  await engine.createTenant(caller, 'default', 'empty');
  await tell('p(a)');
  await forget('p(a)');
  const empty = { status: 'nuked', facts: 0, rules: 0, generation: 2 };
  expect(await engine.nukeTenant(caller, 'default', 'tenant')).toEqual(empty);
  expect(await engine.nukeTenant(caller, 'default', 'empty')).toEqual(empty);
  expect(await engine.nukeDatabase(caller, 'default')).toEqual(empty);
  expect(await as({ tenant: 'empty' }).tell('p(a)')).toMatchObject({ generation: 3 });
});

test('keeps the creation time of a nuked tenant, and creates a deleted one anew with its next write', async () => {
  const { engine, caller, tell, tellAll, clock, list } = await openSession();
  await tellAll(['p(a)', 'p(b)', '-p(c)']);
  clock.advance(7);
  const nuked = await engine.nukeTenant(caller, 'default', 'tenant');
  expect(nuked).toEqual({ status: 'nuked', facts: 3, rules: 0, generation: 2 });
  expect((await engine.tenants(caller, 'default')).tenants).toEqual([
    { name: 'tenant', createdAt: startTime, facts: 0 },
  ]);
  expect((await list()).facts).toEqual([]);
  const again = await tell('p(a)');
  expect(again).toMatchObject({ status: 'asserted', generation: 3, id: 'f3-0' });
  const deleted = await engine.deleteTenant(caller, 'default', 'tenant');
  expect(deleted).toEqual({ status: 'deleted', facts: 1, rules: 0, generation: 4 });
  expect((await engine.tenants(caller, 'default')).tenants).toEqual([]);
  await tell('p(b)');
  expect((await engine.tenants(caller, 'default')).tenants).toEqual([
    { name: 'tenant', createdAt: startTime + 7, facts: 1 },
  ]);
});

test('creates a tenant once', async () => {
  const { engine, caller, as, clock } = await openSession();
  clock.advance(3);
  expect(await engine.createTenant(caller, 'default', '~/%2F?#')).toEqual({
    name: '~/%2F?#',
    createdAt: startTime + 3,
  });
  expect((await refusal(engine.createTenant(caller, 'default', '~/%2F?#'))).code).toBe('Conflict');
  await as({ tenant: 'written' }).tell('p(a)');
  expect((await refusal(engine.createTenant(caller, 'default', 'written'))).code).toBe('Conflict');
  expect((await refusal(engine.createTenant(caller, 'none', 'new'))).code).toBe('DatabaseNotFound');
});

test('refuses to clear an unknown tenant or database', async () => {
  const { engine, caller } = await openSession();
  for (const call of ['nukeTenant', 'deleteTenant'] as const) {
    expect((await refusal(engine[call](caller, 'default', 'none'))).code).toBe('TenantNotFound');
    expect((await refusal(engine[call](caller, 'none', 'tenant'))).code).toBe('DatabaseNotFound');
  }
  expect((await refusal(engine.nukeDatabase(caller, 'none'))).code).toBe('DatabaseNotFound');
  expect((await refusal(engine.tenants(caller, 'none'))).code).toBe('DatabaseNotFound');
});

test('does not count expired facts among the removed ones', async () => {
  const { engine, caller, tell, clock } = await openSession();
  await tell('p(a)', { ttl: 10 });
  await tell('p(b)', { validFrom: startTime + day });
  await tell('p(c)');
  clock.advance(20);
  expect(await engine.nukeTenant(caller, 'default', 'tenant')).toMatchObject({ facts: 2 });
});

test('lists what the credential covers, and forbids everything else whether it exists or not', async () => {
  const { engine, caller } = await filled();
  const limited = { ...caller, databases: ['second', 'missing'], tenants: ['other', 'new'] };
  expect((await engine.databases(limited)).databases).toMatchObject([
    { name: 'second', tenants: 1, facts: 1, rules: 1 },
  ]);
  expect((await engine.tenants(limited, 'second')).tenants).toMatchObject([{ name: 'other', facts: 1 }]);
  const codes = await Promise.all(
    [
      engine.tenants(limited, 'default'),
      engine.tenants(limited, 'nowhere'),
      engine.createDatabase(limited, 'third'),
      engine.nukeDatabase(limited, 'default'),
      engine.deleteDatabase(limited, 'nowhere'),
      engine.createTenant(limited, 'second', 'tenant'),
      engine.nukeTenant(limited, 'second', 'tenant'),
      engine.deleteTenant(limited, 'second', 'nobody'),
    ].map(async (call) => (await refusal(call)).code),
  );
  expect(new Set(codes)).toEqual(new Set(['Forbidden']));
  expect((await refusal(engine.tenants(limited, 'missing'))).code).toBe('DatabaseNotFound');
  expect(await engine.createTenant(limited, 'second', 'new')).toMatchObject({ name: 'new' });
});

test('sends subscribers of what was removed a reset, and continues a stream when its deleted database is created again', async () => {
  const session = await filled();
  const { engine, caller, as } = session;
  const second = as({ database: 'second' });
  const ending = new AbortController();
  const stream = engine.changes({ ...second.caller, signal: ending.signal }, null)[Symbol.asyncIterator]();
  const told = listening(session);
  await engine.nukeTenant(caller, 'second', 'other');
  await engine.nukeDatabase(caller, 'second');
  await engine.deleteDatabase(caller, 'second');
  expect(told.map(({ kind, database, tenant, id }) => ({ kind, database, tenant, id }))).toEqual([
    { kind: 'reset', database: 'second', tenant: 'other', id: '4.0' },
    { kind: 'reset', database: 'second', tenant: null, id: '5.0' },
    { kind: 'reset', database: 'second', tenant: null, id: '6.0' },
  ]);
  await engine.createDatabase(caller, 'second');
  await second.tell('p(a)');
  const heard = [await stream.next(), await stream.next(), await stream.next()];
  expect(heard.map(({ value }) => (value as Change).id)).toEqual(['5.0', '6.0', '7.0']);
  ending.abort();
});

test('answers a question from its initial state if that is nuked or deleted meanwhile', async () => {
  const held = gate();
  const { engine, caller, as } = await filled({ pause: held.pause });
  const second = as({ database: 'second' });
  await second.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  await second.teach('path(?x, ?y) :- edge(?x, ?y)');
  await second.tellAll(chainOf(400));
  for (const clear of [
    () => engine.nukeTenant(caller, 'second', 'tenant'),
    () => engine.deleteDatabase(caller, 'second'),
  ]) {
    if (engine.hasDatabase('second')) await second.tellAll(chainOf(400));
    const isHeld = held.hold();
    const asked = second.results('path(?x, ?y)');
    await isHeld;
    const cleared = clear();
    held.release();
    expect(await cleared).toMatchObject({ facts: expect.any(Number) as number });
    expect((await asked).length).toBeGreaterThanOrEqual(400 * 200);
  }
});

test('refuses a write that waits behind the deletion of its database, and logs nothing of it', async () => {
  const storageDir = await temporaryFolder();
  const { engine, caller, as } = await filled({ storageDir });
  const second = as({ database: 'second' });
  const deleted = engine.deleteDatabase(caller, 'second');
  const writes = [
    second.tell('p(a)'),
    second.tell('p(b)', { validUntil: startTime + day }),
    second.teach('q(?x) :- p(?x)'),
    second.forget('edge(a, b)'),
    second.tellAll(chainOf(1000)),
  ].map(async (write) => (await refusal(write)).code);
  expect(await deleted).toMatchObject({ facts: 3, rules: 1 });
  expect(new Set(await Promise.all(writes))).toEqual(new Set(['DatabaseNotFound']));
  const { records } = engine.counters();
  await engine.createDatabase(caller, 'second');
  expect(engine.counters().records).toBe(records + 1);
  expect(await second.query('p(?x)')).toEqual([]);
});

test('answers a retraction whose tenant is nuked during the search for its dependents', async () => {
  const held = gate();
  const { engine, caller, teach, tellAll, results, forget } = await openSession({ pause: held.pause });
  await teach('path(?x, ?y) :- edge(?x, ?y)');
  await teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await tellAll(chainOf(200));
  await results('path(?x, ?y)');
  const isHeld = held.hold();
  const retracted = forget('edge(n100, n101)', { dependents: 'all' });
  await isHeld;
  const nuked = engine.nukeTenant(caller, 'default', 'tenant');
  held.release();
  expect(await nuked).toMatchObject({ facts: 199 });
  expect(await retracted).toMatchObject({ status: 'retracted', retracted: 1, generation: 4 });
  expect(await results('path(?x, ?y)')).toEqual([]);
});

test('answers a retraction that waits for a question even if its database is deleted meanwhile', async () => {
  const held = gate();
  const { engine, caller, as } = await filled({ pause: held.pause });
  const second = as({ database: 'second' });
  await second.teach('path(?x, ?y) :- edge(?x, ?y)');
  await second.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await second.tellAll(chainOf(400));
  expect(await second.results('path(n0, n1)')).toEqual(['path(n0, n1)']);
  const isHeld = held.hold();
  const asked = second.results('path(?x, ?y)');
  await isHeld;
  const retracted = second.forget('edge(n100, n101)');
  const deleted = engine.deleteDatabase(caller, 'second');
  expect(await deleted).toMatchObject({ status: 'deleted' });
  setTimeout(() => held.release(), 30);
  expect(await retracted).toMatchObject({ status: 'retracted', retracted: 1 });
  expect((await asked).length).toBeGreaterThan(400 * 200);
});

test('counts a fact removed with its tenant as changed, for a conditional write', async () => {
  const { engine, caller, tell, as, forget } = await filled();
  await tell('p(a)');
  await engine.nukeTenant(caller, 'default', 'tenant');
  expect((await refusal(tell('p(a)', { ifGeneration: 1 }))).message).toMatch(/in generation 2/);
  expect((await refusal(forget('p(a)', { ifGeneration: 1 }))).code).toBe('Conflict');
  expect(await tell('p(a)', { ifGeneration: 2 })).toMatchObject({ status: 'asserted', generation: 3 });
  await engine.deleteTenant(caller, 'default', 'tenant');
  expect((await refusal(tell('p(a)', { ifGeneration: 3 }))).message).toMatch(/in generation 4/);
  const second = as({ database: 'second' });
  await engine.deleteDatabase(caller, 'second');
  await engine.createDatabase(caller, 'second');
  expect((await refusal(second.tell('edge(a, b)', { ifGeneration: 3 }))).code).toBe('Conflict');
  expect(await second.tell('edge(a, b)', { ifGeneration: 4 })).toMatchObject({ status: 'asserted' });
});

test('does not publish the end of a validity in what was nuked', async () => {
  const clock = new ManualClock(startTime);
  const session = await openSession({ clock });
  const { engine, caller, tell, results } = session;
  await tell('p(a)', { ttl: 10 });
  await tell('q(a)', { ttl: 10 });
  await engine.nukeTenant(caller, 'default', 'tenant');
  await tell('p(a)', { ttl: 20 });
  const told = listening(session);
  clock.advance(10);
  expect(await results('p(?x)')).toEqual(['p(a)']);
  expect(told).toEqual([]);
  clock.advance(10);
  expect(await results('p(?x)')).toEqual([]);
  expect(told.map(({ kind, data }) => `${kind} ${data.atom}`)).toEqual(['fact.retracted p(a)']);
});

test('restores everything from the log', async () => {
  const storageDir = await temporaryFolder();
  const first = await filled({ storageDir });
  const { engine, caller, as } = first;
  await engine.createTenant(caller, 'second', 'made');
  await engine.nukeTenant(caller, 'second', 'tenant');
  await as({ database: 'second' }).tell('edge(d, e)');
  await engine.deleteTenant(caller, 'second', 'other');
  await engine.createDatabase(caller, 'third');
  await as({ database: 'third' }).tell('p(a)');
  await engine.deleteDatabase(caller, 'third');
  await engine.createDatabase(caller, 'third');
  await as({ database: 'third' }).tell('p(b)');
  await engine.nukeDatabase(caller, 'default');
  const everything = async ({ engine: each, caller: who, as: asOther }: Session) => [
    await each.databases(who),
    await each.tenants(who, 'second'),
    await each.rules({ ...who, database: 'second' }),
    await asOther({ database: 'second' }).list(),
    await asOther({ database: 'third' }).list(),
  ];
  const generationOf = async ({ as: asOther }: Session) =>
    (await asOther({ database: 'third' }).ask('p(?x)')).generation;
  const before = await everything(first);
  await engine.close();
  const second = await openSession({ storageDir });
  expect(await everything(second)).toEqual(before);
  expect(await generationOf(second)).toBe(3);
});
