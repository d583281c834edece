import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { forgetEntitySchema, historyQuerySchema } from '../contract/history.ts';

import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { type OpenedEngine, openEngineOn } from '../open-engine.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';

const clock = new ManualClock(startTime);
let requests = 0;

interface Opened {
  readonly engine: OpenedEngine['engine'];
  readonly session: Session;
}

async function opened(backend: MemoryBackend, options: object = {}): Promise<Opened> {
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    segmentBytes: 2000,
    snapshotIntervalMs: 2 ** 30,
    ...options,
  });
  return { engine, session: sessionOf(engine, clock, testCaller()) };
}

/** The names of the files that have these bytes. */
async function filesWith(backend: MemoryBackend, text: string): Promise<string[]> {
  const names = await backend.list();
  return names.filter((name) => Buffer.from(backend.contents(name)).includes(text));
}

function forgetting({ engine, session }: Opened, entity: string, fields: object = {}) {
  const { tenant } = session.caller;
  const caller = { ...session.caller, requestId: `forget-${++requests}` };
  return engine.forgetEntity(caller, forgetEntitySchema.parse({ tenant, entity, ...fields }));
}

async function generationsOf({ engine, session }: Opened, query: object = {}) {
  return (await engine.history(session.caller, historyQuerySchema.parse(query))).generations;
}

/** An entity with an alias in snapshots and segments, stored and retracted, between facts about others. */
async function withSecret(backend: MemoryBackend): Promise<Opened> {
  const at = await opened(backend);
  const { engine, session } = at;
  await session.tellAll(['knows(alice, bob)', 'knows(carol, dave)', 'salary(alice, 90001)']);
  await session.tell('likes(bob, alice)');
  await engine.addAlias(session.caller, { entity: 'alice', alias: 'alicia' });
  await engine.snapshot();
  clock.advance(1000);
  await session.forget('salary(alice, 90001)');
  await session.tell('knows(bob, dave)');
  await engine.snapshot();
  clock.advance(1000);
  await session.tellAll(['salary(alice, 90002)', 'salary(carol, 90003)']);
  await session.teach('rich(?x) :- salary(?x, ?_)');
  return at;
}

test('forgetting an entity leaves none of its names in the folder, and the history of others', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const before = await generationsOf(at);
  expect(await filesWith(backend, 'alice')).not.toEqual([]);
  expect(await filesWith(backend, '90001')).not.toEqual([]);
  const answer = await forgetting(at, 'alicia');
  expect(answer).toMatchObject({
    status: 'forgotten',
    facts: 3,
    pastFacts: 1,
    rulesMentioning: [],
    generation: before[0]!.generation + 1,
  });
  for (const text of ['alic', '90001', '90002']) expect(await filesWith(backend, text)).toEqual([]);
  expect(await filesWith(backend, 'carol')).not.toEqual([]);
  expect(await at.session.results('knows(?x, ?y)')).toEqual(['knows(bob, dave)', 'knows(carol, dave)']);
  await at.engine.close();
});

test('generations keep their numbers, times and ids, and count what they lost', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const before = await generationsOf(at);
  await forgetting(at, 'alice');
  const [own, ...after] = await generationsOf(at);
  expect(own).toMatchObject({ operation: 'forget', redacted: 4, added: { count: 0 }, removed: { count: 0 } });
  expect(after.map(({ generation, time, operation }) => ({ generation, time, operation }))).toEqual(
    before.map(({ generation, time, operation }) => ({ generation, time, operation })),
  );
  expect(after.map(({ redacted, added, removed }) => [added.facts, removed.facts, redacted])).toEqual([
    [[], [], 0],
    [['salary(carol, 90003)'], [], 1],
    [['knows(bob, dave)'], [], 0],
    [[], [], 1],
    [[], [], 1],
    [[], [], 1],
    [['knows(carol, dave)'], [], 2],
  ]);
  // The id of a fact that came after an erased one in the same write.
  expect(await at.engine.factLives(at.session.caller, 'f1-1')).toMatchObject({ atom: 'knows(carol, dave)' });
  await at.engine.close();
});
