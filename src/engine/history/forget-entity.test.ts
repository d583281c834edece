import { expect, test } from 'vitest';
import { present } from '../base/assert.ts';
import { ManualClock } from '../base/clock.ts';
import { forgetEntitySchema, historyQuerySchema } from '../contract/history.ts';

import { forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { openLog } from '../log/open-log.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { logOptions } from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';

const isLong = process.env['LONG'] === '1';
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

test('a preview finds the same and changes nothing', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const position = at.engine.position();
  const preview = await forgetting(at, 'alice', { dryRun: true });
  expect(preview).toMatchObject({ dryRun: true, facts: 3, pastFacts: 1, generationsRewritten: 5 });
  expect(at.engine.position()).toEqual(position);
  expect(await filesWith(backend, 'alice')).not.toEqual([]);
  const { facts, pastFacts, generationsRewritten } = await forgetting(at, 'alice');
  expect({ facts, pastFacts, generationsRewritten }).toEqual({
    facts: preview.facts,
    pastFacts: preview.pastFacts,
    generationsRewritten: preview.generationsRewritten,
  });
  await at.engine.close();
});

test('forgetting may be repeated, and an entity that is not known is none', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  await forgetting(at, 'alice');
  expect(await forgetting(at, 'alice')).toMatchObject({ facts: 0, pastFacts: 0, generationsRewritten: 0 });
  await at.session.tell('knows(alice, erin)');
  await at.engine.snapshot();
  // What was told since is knowledge like any other, until it is forgotten in its turn.
  expect(await at.session.results('knows(alice, ?x)')).toEqual(['knows(alice, erin)']);
  expect(await forgetting(at, 'alice')).toMatchObject({ facts: 1, pastFacts: 0, generationsRewritten: 1 });
  expect(await filesWith(backend, 'alice')).toEqual([]);
  await at.engine.close();
});

test('another tenant keeps its facts about an entity of that name; its tenant must exist', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const other = at.session.as({ tenant: 'other' });
  await other.tell('knows(alice, zoe)');
  await forgetting(at, 'alice');
  expect(await other.results('knows(?x, ?y)')).toEqual(['knows(alice, zoe)']);
  await expect(forgetting(at, 'alice', { tenant: 'nowhere' })).rejects.toMatchObject({
    code: 'TenantNotFound',
  });
  await expect(forgetting(at, 'alice', { database: 'nowhere' })).rejects.toMatchObject({
    code: 'DatabaseNotFound',
  });
  const caller = { ...at.session.caller, tenants: ['other'] };
  const input = forgetEntitySchema.parse({ tenant: 'default', entity: 'alice' });
  await expect(at.engine.forgetEntity(caller, input)).rejects.toMatchObject({ code: 'Forbidden' });
  await at.engine.close();
});

test('rules that name the entity are listed and stay', async () => {
  const at = await withSecret(memoryBackend());
  const { id } = await at.session.teach('boss(?x) :- knows(alice, ?x)');
  expect(await forgetting(at, 'alice')).toMatchObject({
    rulesMentioning: [id],
    notChanged: expect.any(Array),
  });
  await at.engine.close();
});

test('outcomes under idempotency keys that name the entity are dropped; a repeat is refused', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const idempotency = { key: 'once', fingerprint: 'f' };
  const keyed = at.session.as({ idempotency });
  const { id } = await at.session.tell('likes(alice, cake)');
  await at.engine.forgetById(keyed.caller, id ?? '');
  await at.engine.snapshot();
  await forgetting(at, 'alice');
  expect(await filesWith(backend, 'alice')).toEqual([]);
  await expect(at.engine.forgetById(keyed.caller, id ?? '')).rejects.toMatchObject({ code: 'Conflict' });
  await at.engine.close();
});

test('a fork without the facts of its base merges as if they had never been', async () => {
  const backend = memoryBackend();
  const at = await opened(backend);
  const { engine, session } = at;
  await session.tellAll(['p(alice)', 'p(bob)'], { scope: 'main' });
  await engine.fork(session.caller, forkInputSchema.parse({ source: 'main', target: 'branch' }));
  // The fork's base keeps the version that ended.
  await session.forget('p(alice)', { scope: 'main' });
  await session.tell('p(carol)', { scope: 'branch' });
  await forgetting(at, 'alice');
  expect(await filesWith(backend, 'alice')).toEqual([]);
  const merge = mergeInputSchema.parse({ source: 'branch', target: 'main', strategy: 'REJECT' });
  expect(await engine.merge(session.caller, merge)).toMatchObject({ added: 1, conflicts: [] });
  await engine.close();
});

test('readers of the past see nothing of it after the answer, and go on', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const { caller } = at.session;
  const then = at.session.as({ moment: { asOf: null, asKnown: { kind: 'generation', generation: 1 } } });
  expect(await then.results('knows(?x, ?y)')).toEqual(['knows(alice, bob)', 'knows(carol, dave)']);
  const during = Promise.all([
    then.results('salary(?x, ?y)'),
    at.engine.history(caller, historyQuerySchema.parse({})),
    forgetting(at, 'alice'),
    at.session
      .as({ moment: { asOf: null, asKnown: { kind: 'generation', generation: 4 } } })
      .results('p(?x)'),
  ]);
  await during;
  expect(await then.results('knows(?x, ?y)')).toEqual(['knows(carol, dave)']);
  expect(JSON.stringify(await generationsOf(at))).not.toContain('alice');
  expect(await generationsOf(at, { entity: 'alice' })).toEqual([]);
  await at.engine.close();
});

test('without a history the entity is gone too', async () => {
  const backend = memoryBackend();
  const at = await opened(backend, { historyDays: 0 });
  await at.session.tell('knows(alice, bob)');
  expect(await forgetting(at, 'alice')).toMatchObject({ facts: 1, pastFacts: 0, generationsRewritten: 0 });
  expect(await filesWith(backend, 'alice')).toEqual([]);
  await at.engine.close();
});

test('if the history cannot be rewritten, it ends', async () => {
  const backend = memoryBackend();
  const warnings: string[] = [];
  const at = await opened(backend, { onWarn: (message: string) => void warnings.push(message) });
  await at.session.tell('knows(alice, bob)');
  await at.engine.snapshot();
  await at.session.tell('knows(carol, dave)');
  const bytes = backend.contents('0000000001.log');
  bytes.set([0, 0, 0], bytes.length - 8);
  backend.put('0000000001.log', bytes);
  await expect(forgetting(at, 'alice', { dryRun: true })).rejects.toMatchObject({ code: 'HistoryGone' });
  expect(await forgetting(at, 'alice')).toMatchObject({ facts: 1 });
  expect(warnings.join()).toContain('could not be rewritten');
  expect(await filesWith(backend, 'alice')).toEqual([]);
  expect(await generationsOf(at)).toEqual([]);
  await at.engine.close();
});

test('after a power cut at any moment of it, the start completes it, and the history of others stays', async () => {
  const disk = crashBackend();
  const recorded = await opened(disk as unknown as MemoryBackend);
  await recorded.session.tell('knows(alice, bob)');
  await recorded.engine.snapshot();
  await recorded.session.tell('knows(carol, dave)');
  const begin = disk.steps;
  await forgetting(recorded, 'alice');
  const end = disk.steps;
  await recorded.engine.close(0);
  const prng = new Prng(1);
  let completed = 0;
  const choices = [() => 0, (of: number) => Math.min(1, of - 1), (of: number) => prng.below(of)];
  for (let steps = begin; steps <= end; steps++)
    for (const choose of isLong ? choices : [present(choices[steps % 3], 'there are three')]) {
      const left = disk.afterPowerCut(steps, choose);
      const again = await opened(left);
      const isForgotten = (await again.session.results('knows(alice, ?x)')).length === 0;
      const then = again.session.as({
        moment: { asOf: null, asKnown: { kind: 'generation', generation: 2 } },
      });
      if (isForgotten) {
        await again.engine.snapshot();
        expect(await filesWith(left, 'alice')).toEqual([]);
        const others = await generationsOf(again, { predicate: 'knows' });
        expect(others.map(({ added }) => added.facts)).toEqual([['knows(carol, dave)']]);
        completed++;
      } else expect(await then.results('knows(alice, ?x)')).toEqual(['knows(alice, bob)']);
      // What is left of the history can be read.
      await generationsOf(again);
      await again.engine.close(0);
    }
  expect(completed).toBeGreaterThan(5);
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

test('nothing of it is left behind the encryption of a folder', async () => {
  const backend = memoryBackend();
  const encryptionKey = '5a'.repeat(32);
  const at = await opened(backend, { encryptionKey });
  await at.session.tellAll(['knows(alice, bob)', 'knows(carol, dave)']);
  await at.engine.snapshot();
  await at.session.forget('knows(alice, bob)');
  await at.session.tell('knows(dave, erin)');
  const decrypted = async (): Promise<string> => {
    const copy = memoryBackend(
      new Map((await backend.list()).map((name) => [name, backend.contents(name)] as const)),
    );
    const { log } = await openLog(copy, {
      ...logOptions({}, 1),
      key: folderKeyOf(encryptionKey),
      historyDays: 30,
    });
    const retained = await log.retained();
    const parts: string[] = [];
    for (const { snapshot } of retained.bases)
      if (snapshot !== null)
        for await (const bytes of retained.readSnapshot(snapshot, 'state'))
          parts.push(Buffer.from(bytes).toString('latin1'));
    for await (const record of retained.records(0)) parts.push(JSON.stringify(record));
    await log.close();
    return parts.join('\n');
  };
  expect(await decrypted()).toContain('alice');
  await forgetting(at, 'alice');
  await at.engine.close();
  expect(await decrypted()).not.toContain('alice');
  expect(await decrypted()).toContain('carol');
});

test('a full disk leaves the present without it, and the next snapshot erases the past, after a restart too', async () => {
  const disk = crashBackend();
  const at = await opened(disk as unknown as MemoryBackend);
  await at.session.tell('knows(alice, bob)');
  await at.engine.snapshot();
  await at.session.tell('knows(carol, dave)');
  disk.faults = (step) => (step === 'rename' ? { code: 'ENOSPC' } : null);
  await expect(forgetting(at, 'alice')).rejects.toMatchObject({ code: 'StorageUnavailable' });
  disk.faults = () => null;
  expect(await at.session.results('knows(?x, ?y)')).toEqual(['knows(carol, dave)']);
  expect(await filesWith(disk.now(), 'alice')).not.toEqual([]);
  await at.engine.close(0);
  const left = disk.now();
  const again = await opened(left);
  await again.engine.snapshot();
  expect(await filesWith(left, 'alice')).toEqual([]);
  expect((await generationsOf(again)).map(({ redacted }) => redacted)).toEqual([1, 0, 1]);
  await again.engine.close();
});

test('two at once, with a snapshot between: each counts what it erased, and both are complete', async () => {
  const backend = memoryBackend();
  const at = await withSecret(backend);
  const preview = await forgetting(at, 'alice', { dryRun: true });
  const [first, , second] = await Promise.all([
    forgetting(at, 'alice'),
    at.engine.snapshot(),
    forgetting(at, 'bob'),
  ]);
  for (const name of ['alice', 'bob']) expect(await filesWith(backend, name)).toEqual([]);
  expect(first).toMatchObject({ facts: 3, pastFacts: preview.pastFacts });
  expect(first.generationsRewritten).toBe(preview.generationsRewritten);
  expect(second).toMatchObject({ facts: 1 });
  expect(second.generationsRewritten).toBeGreaterThan(0);
  expect((await generationsOf(at, { predicate: 'knows' })).map(({ added }) => added.facts)).toEqual([
    ['knows(carol, dave)'],
  ]);
  await at.engine.close();
});
