import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { historyQuerySchema, revertInputSchema } from '../contract/history.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { markErasing } from '../log/erasing.ts';
import { segmentName } from '../log/recovery.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';

const clock = new ManualClock(startTime);

async function opened(backend: MemoryBackend): Promise<{ engine: OpenedEngine['engine']; session: Session }> {
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    segmentBytes: 2000,
    snapshotIntervalMs: 2 ** 30,
  });
  return { engine, session: sessionOf(engine, clock, testCaller()) };
}

/** True if a file of the folder has these bytes. */
async function isAnywhere(backend: MemoryBackend, text: string): Promise<boolean> {
  for (const name of await backend.list())
    if (Buffer.from(backend.contents(name)).includes(text)) return true;
  return false;
}

/** A tenant with a secret in an old snapshot and in old segments, and another tenant. */
async function withSecrets(
  backend: MemoryBackend,
): Promise<{ engine: OpenedEngine['engine']; session: Session }> {
  const { engine, session } = await opened(backend);
  await session.tell('knows(alice, "the secret of alice")');
  await engine.snapshot();
  await session.forget('knows(alice, "the secret of alice")');
  await session.tell('knows(bob, "the secret of bob")');
  await session.as({ tenant: 'other' }).tell('kept(carol)');
  await engine.snapshot();
  return { engine, session };
}

for (const what of ['nuke', 'deletion'] as const)
  test(`after the ${what} of a tenant and the next snapshot nothing of it is in the folder`, async () => {
    const backend = memoryBackend();
    const { engine, session } = await withSecrets(backend);
    expect(await isAnywhere(backend, 'the secret of alice')).toBe(true);
    const { caller } = session;
    if (what === 'nuke') await engine.nukeTenant(caller, 'default', caller.tenant);
    else await engine.deleteTenant(caller, 'default', caller.tenant);
    // Not listed from the moment on, on disk until the snapshot.
    const { generations } = await engine.history(caller, historyQuerySchema.parse({}));
    expect(JSON.stringify(generations)).not.toContain('secret');
    await expect(engine.revert(caller, revertInputSchema.parse({ generation: 1 }))).rejects.toMatchObject({
      code: 'HistoryGone',
    });
    await engine.snapshot();
    expect(await isAnywhere(backend, 'the secret')).toBe(false);
    expect(await isAnywhere(backend, 'carol')).toBe(true);
    await engine.close();
  });

test('a nuke before a restart erases the history with the snapshot after it', async () => {
  const backend = memoryBackend();
  const { engine, session } = await withSecrets(backend);
  await engine.nukeTenant(session.caller, 'default', session.caller.tenant);
  await engine.close(0);
  const again = await opened(backend);
  await again.engine.snapshot();
  expect(await isAnywhere(backend, 'the secret')).toBe(false);
  await again.engine.close();
});

test('a start completes an erasure that the power cut interrupted', async () => {
  const backend = memoryBackend();
  const { engine } = await withSecrets(backend);
  await engine.close();
  expect(await backend.list()).toContain(segmentName(1));
  await markErasing(backend, 3);
  const again = await opened(backend);
  expect(await backend.list()).not.toContain(segmentName(1));
  expect(await backend.list()).not.toContain('erasing');
  await again.engine.close();
});

test('the history of others survives the nuke of a tenant, with its generations', async () => {
  const backend = memoryBackend();
  const { engine, session } = await withSecrets(backend);
  const other = session.as({ tenant: 'other' });
  await other.tell('kept(dave)');
  const pageOf = async () => (await engine.history(other.caller, historyQuerySchema.parse({}))).generations;
  const before = await pageOf();
  expect(before.map(({ added }) => added.facts)).toEqual([['kept(dave)'], ['kept(carol)']]);
  await engine.nukeTenant(session.caller, 'default', session.caller.tenant);
  await engine.snapshot();
  expect(await isAnywhere(backend, 'the secret')).toBe(false);
  expect(await pageOf()).toEqual(before);
  const generation = before[1]?.generation ?? 0;
  const then = other.as({ moment: { asOf: null, asKnown: { kind: 'generation', generation } } });
  expect(await then.results('kept(?x)')).toEqual(['kept(carol)']);
  // The nuke itself is listed for its own tenant.
  const own = await engine.history(session.caller, historyQuerySchema.parse({}));
  expect(own.generations.map(({ operation, redacted }) => [operation, redacted])).toEqual([
    ['nukeTenant', 1],
    ['assert', 1],
    ['retract', 1],
    ['assert', 1],
  ]);
  await engine.close();
});

test('the history of other databases survives the deletion of one', async () => {
  const backend = memoryBackend();
  const { engine, session } = await opened(backend);
  await session.tell('kept(carol)');
  await engine.createDatabase(session.caller, 'gone');
  const gone = session.as({ database: 'gone' });
  await gone.tell('knows(alice, "the secret of alice")');
  await gone.teach('secretive(?x) :- knows(?x, "the secret of a rule")');
  await engine.snapshot();
  await engine.deleteDatabase(session.caller, 'gone');
  await engine.snapshot();
  expect(await isAnywhere(backend, 'the secret')).toBe(false);
  const { generations } = await engine.history(session.caller, historyQuerySchema.parse({}));
  expect(generations.map(({ added }) => added.facts)).toEqual([['kept(carol)']]);
  await engine.close();
});

test('nuking a tenant that never had anything keeps the history', async () => {
  const backend = memoryBackend();
  const { engine, session } = await withSecrets(backend);
  const { caller } = session;
  await engine.createTenant(caller, 'default', 'empty');
  await engine.nukeTenant(caller, 'default', 'empty');
  await engine.snapshot();
  expect(await isAnywhere(backend, 'the secret of alice')).toBe(true);
  await engine.close();
});
