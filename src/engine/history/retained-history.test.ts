import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { historyQuerySchema, revertInputSchema } from '../contract/history.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import { day, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';

test('the history of an engine reaches back for its days, and says where it begins', async () => {
  const clock = new ManualClock(startTime);
  const { engine } = await openEngineOn(memoryBackend(), null, {
    clock,
    historyDays: 3,
    segmentBytes: 2000,
    snapshotIntervalMs: 2 ** 30,
  });
  const session = sessionOf(engine, clock, testCaller());
  const { caller } = session;
  const ids: string[] = [];
  for (let at = 0; at < 10; at++) {
    const { id } = await session.tell(`p(${at})`);
    ids.push(id ?? '');
    await engine.snapshot();
    clock.advance(day);
  }
  await engine.snapshot();
  const page = await engine.history(caller, historyQuerySchema.parse({}));
  expect(page.generations.map(({ added }) => added.facts)).toEqual([['p(9)'], ['p(8)']]);
  expect(page.since).toBe(startTime + 7 * day);
  const reverting = (input: object): Promise<unknown> =>
    engine.revert(caller, revertInputSchema.parse({ ...input, dryRun: true }));
  expect(await reverting({ generation: 9 })).toMatchObject({ removed: { facts: ['p(8)'] } });
  for (const early of [{ generation: 3 }, { from: new Date(startTime + day).toISOString(), to: 10 }])
    await expect(reverting(early)).rejects.toMatchObject({
      code: 'HistoryGone',
      members: { earliest: { generation: 8, time: startTime + 7 * day } },
    });
  const between = { from: new Date(startTime + 7.5 * day).toISOString(), to: 10 };
  expect(await reverting(between)).toMatchObject({ removed: { facts: ['p(8)', 'p(9)'] }, from: 8 });
  // Asserted before the history begins: the write is known, its origin not.
  const { lives } = await engine.factLives(caller, ids[2] as string);
  expect(lives).toMatchObject([
    { id: ids[2], from: { generation: 3, time: startTime + 2 * day, actor: null, surface: null }, to: null },
  ]);
  await engine.close();
});
