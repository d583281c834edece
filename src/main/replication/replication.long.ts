import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';

const batches = 200;
const batchSize = 5000;

test('a follower catches up from empty with a million facts and gives the same answers', {
  timeout: 1_800_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'replication-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const leader = await startServiceUnderTest({ STORAGE_DIR: join(folder, 'leader') });
  onTestFinished(() => leader.close());
  for (let batch = 0; batch < batches; batch++) {
    const facts = Array.from({ length: batchSize }, (_, index) => {
      const number = batch * batchSize + index;
      return { predicate: 'edge', args: [`n${number}`, `n${number + 1}`] };
    });
    expect((await leader.call('POST', '/assert/facts', { facts })).status).toBe(200);
  }
  await leader.call('POST', '/teach', { text: 'two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)' });
  const startedAt = performance.now();
  const follower = await startServiceUnderTest({
    STORAGE_DIR: join(folder, 'follower'),
    REPLICATION_MODE: 'FOLLOWER',
    LEADER_URL: leader.address,
  });
  onTestFinished(() => follower.close());
  const status = async (): Promise<number> => (await follower.call('GET', '/health/ready')).status;
  await expect.poll(status, { timeout: 600_000, interval: 50 }).toBe(200);
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(`a million facts: caught up from empty in ${seconds.toFixed(1)} s\n`);
  const asked = { predicate: 'two', args: ['n500000', '?x'], withProof: true };
  const queried = { predicate: 'edge', args: ['n777777', '?x'] };
  for (const service of [leader, follower]) await service.call('POST', '/ask', asked);
  const answers = await Promise.all(
    [leader, follower].map(async (service) => {
      const { elapsedMs: _, ...answer } = (await service.call<Record<string, unknown>>('POST', '/ask', asked))
        .body;
      return [answer, (await service.call('POST', '/query', queried)).body, service.engine.position()];
    }),
  );
  expect(answers[1]).toEqual(answers[0]);
});
