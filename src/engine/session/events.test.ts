import { expect, test } from 'vitest';
import type { Change } from './change-feed.ts';
import {
  factInput,
  hour,
  openSession,
  type Session,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';

/** The engine's part of GET /events: contract section 9. */

/** The next events of a stream. */
async function take(stream: AsyncIterable<Change>, count: number): Promise<Change[]> {
  const iterator = stream[Symbol.asyncIterator]();
  const found: Change[] = [];
  while (found.length < count) {
    const next = await iterator.next();
    if (next.done === true) break;
    found.push(next.value);
  }
  return found;
}

function follow({ engine, caller }: Session, lastEventId: string | null = null): AsyncIterable<Change> {
  return engine.changes(caller, lastEventId);
}

const shown = (changes: readonly Change[]): string[] =>
  changes.map(({ id, kind, data }) => `${id} ${kind} ${data.atom ?? data.rule ?? ''}`.trim());

test('publishes asserted, updated and retracted facts, each write under its generation', async () => {
  const session = await openSession();
  const changes = follow(session);
  const { tell, tellAll, forgetPattern } = session;
  await tell('p(a)');
  await tell('p(a)');
  await tell('p(a)', { metadata: { x: 1 } });
  await tellAll(['-p(b)', 'p(a)', 'p(c)']);
  await forgetPattern('p(?x)', { truthVal: true });
  expect(shown(await take(changes, 6))).toEqual([
    '1.0 fact.asserted p(a)',
    '2.0 fact.asserted p(a)',
    '3.0 fact.asserted -p(b)',
    '3.1 fact.asserted p(c)',
    '4.0 fact.retracted p(a)',
    '4.1 fact.retracted p(c)',
  ]);
});

test('includes in a change its time, its request, and the id and scope of its fact', async () => {
  const session = await openSession();
  const changes = follow(session);
  session.clock.advance(hour);
  const { id } = await session.as({ requestId: 'who asked' }).tell('p(a)', { scope: 's' });
  expect(await take(changes, 1)).toEqual([
    {
      id: '1.0',
      kind: 'fact.asserted',
      database: 'default',
      tenant: 'tenant',
      data: { generation: 1, time: startTime + hour, requestId: 'who asked', atom: 'p(a)', id, scope: 's' },
    },
  ]);
});

test('publishes taught, changed and deleted rules to every tenant', async () => {
  const session = await openSession();
  const streams = [follow(session), follow(session.as({ tenant: 'other' }))];
  const { id } = await session.teach('q(?x) :- p(?x)', { scope: 's' });
  await session.teach('q(?y) :- p(?y)', { scope: 's' });
  await session.changeRule(id, { enabled: false });
  await session.engine.forgetRule(session.caller, id);
  for (const stream of streams) {
    const changes = await take(stream, 3);
    expect(shown(changes)).toEqual([1, 2, 3].map((each) => `${each}.0 rule.changed q(?x) :- p(?x)`));
    expect(changes[0]).toMatchObject({ tenant: null, data: { id, scope: 's' } });
  }
});

test('sends a tenant only its own facts, and a database only its own', async () => {
  const session = await openSession();
  await session.engine.createDatabase(session.caller, 'second');
  const others = [session.as({ tenant: 'other' }), session.as({ database: 'second' })];
  const changes = follow(session);
  for (const other of others) {
    await other.tell('p(theirs)');
    await other.teach('q(theirs) :- p(?x)', { scope: other.caller.tenant });
  }
  await session.tell('p(mine)');
  const told = shown(await take(changes, 2)).map((each) => each.replace(/^\S+ /, ''));
  expect(told).toEqual(['rule.changed q(theirs) :- p(?x)', 'fact.asserted p(mine)']);
});

test('does not publish refused writes, dry runs and writes that change nothing', async () => {
  const session = await openSession();
  const changes = follow(session);
  await session.tell('p(a)');
  await session.forget('p(a)', { dryRun: true });
  await session.forget('p(b)');
  await session.tell('p(a)', { ifGeneration: 0 }).catch(() => 'refused');
  await session.results('p(?x)');
  await session.tell('p(b)');
  expect(shown(await take(changes, 2))).toEqual(['1.0 fact.asserted p(a)', '2.0 fact.asserted p(b)']);
});

test('sends a returning subscriber everything after its last id, or a reset', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)']);
  await session.tell('p(c)');
  expect(shown(await take(follow(session, '1.0'), 2))).toEqual([
    '1.1 fact.asserted p(b)',
    '2.0 fact.asserted p(c)',
  ]);
  const [first] = await take(follow(session, '77.0'), 1);
  expect(first).toMatchObject({ kind: 'reset', data: { generation: 2, requestId: null } });
});

test('sends a returning subscriber a reset after a restart of the engine', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  const stranger = await openSession();
  const [first] = await take(follow(stranger, '1.0'), 1);
  expect(first?.kind).toBe('reset');
});

test('publishes a write of very many facts as a reset', async () => {
  const session = await openSession();
  const changes = follow(session);
  const facts = Array.from({ length: 1001 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await session.engine.tellAll(session.caller, facts);
  await session.tell('p(last)');
  expect(shown(await take(changes, 2))).toEqual(['1.0 reset', '2.0 fact.asserted p(last)']);
});

test('publishes a write of facts whose constants have more than 8 MiB as a reset', async () => {
  const session = await openSession();
  const changes = follow(session);
  const long = (count: number, name: string): string[] =>
    Array.from({ length: count }, (_, at) => `${name}(${'x'.repeat(60_000)}${at})`);
  await session.tellAll(long(130, 'p'));
  await session.tellAll(long(140, 'q'));
  const events = await take(changes, 131);
  expect(events.map(({ id, kind, data }) => `${id} ${kind} ${data.atom?.[0] ?? ''}`)).toEqual([
    ...Array.from({ length: 130 }, (_, at) => `1.${at} fact.asserted p`),
    '2.0 reset ',
  ]);
});

test('publishes very many withdrawn conclusions as a reset', async () => {
  const session = await openSession();
  await session.teach('q(?x, ?y) :- p(?x), all(?y)');
  const facts = Array.from({ length: 1001 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await session.engine.tellAll(session.caller, facts);
  await session.tell('all(a)');
  await session.results('q(?x, ?y)');
  const changes = follow(session);
  await session.forget('all(a)');
  const [first, second] = await take(changes, 2);
  expect([first?.kind, second?.kind]).toEqual(['fact.retracted', 'reset']);
});

test('ends the stream with the signal of its caller', async () => {
  const session = await openSession();
  const leaving = new AbortController();
  const taken = take(follow(session.as({ signal: leaving.signal })), 5);
  await session.tell('p(a)');
  await new Promise((resolve) => void setImmediate(resolve));
  leaving.abort();
  expect(shown(await taken)).toEqual(['1.0 fact.asserted p(a)']);
});

test('calls a listener of the whole engine for every change of every database in the turn it is made', async () => {
  const { engine, tell, as } = await openSession();
  await engine.createDatabase(testCaller(), 'second');
  const heard: string[] = [];
  const stop = engine.subscribe(({ database, tenant, kind }) => heard.push(`${database} ${tenant} ${kind}`));
  await tell('p(a)');
  await as({ database: 'second', tenant: 'other' }).tell('p(a)');
  stop();
  await tell('p(b)');
  expect(heard).toEqual(['default tenant fact.asserted', 'second other fact.asserted']);
});

test('counts facts asserted and retracted since the start, and those stored now', async () => {
  const { engine, tell, forget, as } = await openSession();
  await tell('p(a)');
  await tell('p(a)');
  await tell('p(b)');
  await as({ tenant: 'other' }).tell('p(a)');
  await forget('p(a)');
  expect(engine.counters()).toMatchObject({ factsAsserted: 3, factsRetracted: 1, facts: 2, rulesFired: 0 });
});

test("publishes a tool call with the call's id, under an event id used for nothing else", async () => {
  const session = await openSession();
  const changes = follow(session);
  await session.tell('p(a)');
  session.engine.tellOfToolCall({ ...session.caller, requestId: 'who called' }, '7');
  session.engine.tellOfToolCall(session.caller, '8');
  await session.tell('p(b)');
  const told = await take(changes, 4);
  expect(shown(told)).toEqual([
    '1.0 fact.asserted p(a)',
    '1.1 mcp.call',
    '1.2 mcp.call',
    '2.0 fact.asserted p(b)',
  ]);
  expect(told[1]).toMatchObject({
    tenant: 'tenant',
    data: { id: '7', generation: 1, requestId: 'who called' },
  });
});

test('creates neither tenant nor database for a tool call in an unknown one', async () => {
  const { engine, caller } = await openSession();
  const before = engine.figures();
  const heard: string[] = [];
  const stop = engine.subscribe(({ id, kind }) => heard.push(`${id} ${kind}`));
  engine.tellOfToolCall({ ...caller, tenant: 'nobody' }, '1');
  engine.tellOfToolCall({ ...caller, database: 'nowhere' }, '2');
  stop();
  expect(heard).toEqual([expect.stringMatching(/^0\.\d+ mcp\.call$/)]);
  expect(engine.figures()).toMatchObject({ tenants: before.tenants, databases: before.databases });
});

test('gives no two events of a database the same id, even if it was deleted and created again', async () => {
  const { engine, caller, as } = await openSession();
  const ids: string[] = [];
  const stop = engine.subscribe(({ id, database }) => database === 'second' && ids.push(id));
  const second = as({ database: 'second' });
  for (let round = 1; round <= 3; round++) {
    await engine.createDatabase(caller, 'second');
    engine.tellOfToolCall(second.caller, `${round}`);
    await second.tell('p(a)');
    engine.tellOfToolCall(second.caller, `${round}`);
    await engine.deleteDatabase(caller, 'second');
  }
  stop();
  expect(ids.length).toBeGreaterThan(9);
  expect(new Set(ids).size).toBe(ids.length);
});

test('does not remember events about a forgotten entity: a subscriber that returns begins with a reset', async () => {
  const session = await openSession();
  const { caller, engine } = session;
  await session.teach('rich(?x) :- owns(?x, gold)');
  await session.tellAll(['owns(ann, gold)', 'owns(bob, gold)']);
  await session.results('rich(?x)');
  const other = { ...caller, tenant: 'other' };
  await engine.tell(other, factInput('owns(ann, cat)'));
  const present = follow(session);
  const last = `${(await session.tell('owns(carol, gold)')).generation}.0`;
  const input = { database: caller.database, tenant: caller.tenant, entity: 'ann', dryRun: false };
  await engine.forgetEntity({ ...caller, requestId: 'forget' }, input);
  // Those who are there are told, so that they show it no longer.
  const told = await take(present, 3);
  expect(told.map(({ kind, data }) => [kind, data.atom])).toEqual([
    ['fact.asserted', 'owns(carol, gold)'],
    ['fact.retracted', 'owns(ann, gold)'],
    ['conclusion.withdrawn', 'rich(ann)'],
  ]);
  for (const id of [last, told[1]?.id, told[2]?.id]) {
    const [first] = await take(follow(session, id), 1);
    expect(first).toMatchObject({ kind: 'reset' });
  }
  const { generation } = await session.tell('owns(dave, gold)');
  await session.tell('owns(erin, gold)');
  const later = await take(follow(session, `${generation}.0`), 1);
  expect(later.map(({ data }) => data.atom)).toEqual(['owns(erin, gold)']);
});
