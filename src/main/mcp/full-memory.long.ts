/**
 * A process of 384 MB that is filled until it refuses: it answers 507, stays alive and ready, lets facts be retracted, takes
 * knowledge again, and starts again after a crash with as much as it held.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startBuiltService } from './testing/built-service.ts';

const factsInBatch = 64;
const textLength = 60_000;
/** More batches than the process can hold. */
const maxBatches = 200;

test('a process of 384 MB refuses knowledge before it dies', { timeout: 1_800_000 }, async () => {
  const service = await startBuiltService(['--max-old-space-size=384']);
  onTestFinished(() => service.close());
  const call = async (path: string, body: unknown) => {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': service.apiKey,
      'x-tenant-id': 'a',
    };
    const response = await fetch(service.address + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return { status: response.status, answer };
  };
  const fill = (batch: number) =>
    call('/assert/facts', {
      facts: Array.from({ length: factsInBatch }, (_, at) => ({
        predicate: 'p',
        args: [`${batch}-${at}`],
        metadata: { text: `${batch}-${at}`.padEnd(textLength, 'x') },
      })),
    });
  const filled = async (from: number): Promise<number> => {
    for (let batch = from; batch < from + maxBatches; batch++) {
      const { status, answer } = await fill(batch);
      if (status === 200) continue;
      expect({ status, ...answer }).toMatchObject({ status: 507, code: 'QuotaExceeded', quota: 'memory' });
      return batch - from;
    }
    throw new Error('the process was never full');
  };
  const stored = await filled(0);
  expect(stored).toBeGreaterThan(10);
  expect((await fetch(`${service.address}/health/ready`)).status).toBe(200);
  expect((await call('/ask', { predicate: 'p', args: ['0-0'] })).answer).toMatchObject({ count: 1 });
  await service.killAndStartAgain();
  await expect.poll(async () => (await fetch(`${service.address}/health/ready`)).status, polling).toBe(200);
  expect((await call('/ask', { predicate: 'p', args: ['0-0'] })).answer).toMatchObject({ count: 1 });
  await filled(1000);
  const retracted = await call('/retract/pattern', { predicate: 'p', args: ['?x'] });
  expect(retracted.status).toBe(200);
  expect(Number(retracted.answer['retracted'])).toBeGreaterThanOrEqual(stored * factsInBatch);
  // Freeing memory is tried again only after a pause.
  let status = 507;
  for (let tries = 0; status !== 200 && tries < 100; tries++, await wait(1000))
    ({ status } = await fill(2000 + tries));
  expect(status).toBe(200);
  expect(await filled(3000)).toBeGreaterThan(stored / 2);
});

const polling = { timeout: 600_000, interval: 500 };
