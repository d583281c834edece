import { expect, test } from 'vitest';
import { historyQuerySchema, revertInputSchema } from '../contract/history.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { memoryBackend } from '../log/backend.ts';
import { openLog } from '../log/open-log.ts';
import { logOptions } from '../testing/log-fixtures.ts';
import { openSession, refusal, testCaller } from '../testing/engine-fixtures.ts';
import { Replays } from './replay.ts';

const all = historyQuerySchema.parse({});

test('a state that does not fit into the memory for derived data is refused', async () => {
  const { engine, caller, tellAll, query } = await openSession({ memoryBudgetBytes: 200_000 });
  await tellAll(Array.from({ length: 20_000 }, (_, at) => `p(${at}, ${at + 1})`));
  const { code, members } = await refusal(engine.history(caller, all));
  expect([code, members['limit']]).toEqual(['InferenceLimitExceeded', 'memory']);
  // The memory is free again, and everything else works.
  expect(await query('p(7, ?x)')).toHaveLength(1);
});

test('a client that has gone ends its replay', async () => {
  const { engine, caller, tell } = await openSession();
  const { generation } = await tell('p(a)');
  const gone = { ...caller, signal: AbortSignal.abort() };
  await expect(engine.history(gone, all)).rejects.toMatchObject({ name: 'AbortError' });
  const input = revertInputSchema.parse({ generation });
  await expect(engine.revert(gone, input)).rejects.toMatchObject({ name: 'AbortError' });
  expect((await engine.history(caller, all)).generations).toHaveLength(1);
});

test('tenants take turns: one with many replays holds back those of another by one', async () => {
  const { log } = await openLog(memoryBackend(), logOptions());
  const replays = new Replays(log, new MemoryBudget(1e9), () => {});
  const order: string[] = [];
  const run = (tenant: string, name: string): Promise<unknown> =>
    replays.run(
      testCaller({ tenant }),
      () => Promise.resolve(),
      async () => order.push(name),
    );
  const runs = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
  await Promise.all([...runs, run('b', 'b1'), run('b', 'b2')]);
  expect(order.indexOf('b1')).toBeLessThanOrEqual(2);
  expect(order.indexOf('b2')).toBeLessThan(order.indexOf('a4'));
  expect(order).toHaveLength(6);
  await log.close();
});

test('a replay that fails holds back no other', async () => {
  const { log } = await openLog(memoryBackend(), logOptions());
  const replays = new Replays(log, new MemoryBudget(1e9), () => {});
  const pause = (): Promise<void> => Promise.resolve();
  const failed = replays.run(testCaller(), pause, () => Promise.reject(new Error('broken')));
  const next = replays.run(testCaller(), pause, async () => 'done');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('done');
  await log.close();
});
