import { expect, test } from 'vitest';
import { present } from '../base/assert.ts';
import { ManualClock } from '../base/clock.ts';
import { forgetEntitySchema } from '../contract/history.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
import { Follower } from '../replication/follower.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { asker } from '../testing/replicating-fixtures.ts';

const clock = new ManualClock(startTime);

async function opened(
  backend: MemoryBackend,
  options: object = {},
): Promise<{ readonly engine: OpenedEngine['engine']; readonly session: Session }> {
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    segmentBytes: 2000,
    snapshotIntervalMs: 2 ** 30,
    ...options,
  });
  return { engine, session: sessionOf(engine, clock, testCaller()) };
}

async function filesWith(backend: MemoryBackend, text: string): Promise<string[]> {
  const names = await backend.list();
  return names.filter((name) => Buffer.from(backend.contents(name)).includes(text));
}

test('a follower that has caught up has none of it after its next snapshot', async () => {
  const at = await opened(memoryBackend());
  await at.session.tellAll(['knows(alice, bob)', 'knows(carol, dave)']);
  await at.engine.snapshot();
  await at.session.tell('knows(bob, dave)');
  const disk = memoryBackend();
  const following = await opened(disk, { leaderUrl: 'leader' });
  const follower = new Follower({
    replica: present(following.engine.replica, 'it follows'),
    leader: {
      records: (after) => at.engine.leader.records(after, asker),
      snapshot: () => at.engine.leader.snapshot(asker),
    },
    now: () => clock.now(),
    pollIntervalMs: 5000,
    onWarn: () => {},
    onInfo: () => {},
    onBug: (error) => {
      throw error;
    },
  });
  const catchUp = async (): Promise<void> => {
    for (let left = 20; left > 0 && (await follower.step()) === 0; left--);
    expect(follower.status().lagRecords).toBe(0);
  };
  await catchUp();
  await following.engine.snapshot();
  expect(await filesWith(disk, 'alice')).not.toEqual([]);
  const { caller } = at.session;
  const input = forgetEntitySchema.parse({ tenant: caller.tenant, entity: 'alice' });
  const forgotten = at.engine.forgetEntity(caller, input);
  while ((await at.session.results('knows(alice, ?x)')).length > 0) await follower.step();
  await catchUp();
  await forgotten;
  await catchUp();
  await following.engine.snapshot();
  expect(await following.session.results('knows(?x, ?y)')).toEqual([
    'knows(bob, dave)',
    'knows(carol, dave)',
  ]);
  expect(await filesWith(disk, 'alice')).toEqual([]);
  await following.engine.close();
  await at.engine.close();
});
