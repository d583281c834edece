import { expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { unshared } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import { apply } from '../state/apply.ts';
import { markOf } from '../state/idempotency.ts';
import type { Operation } from '../state/operation.ts';
import { State } from '../state/state.ts';
import { openLog } from '../log/open-log.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import { factInput, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { allRecords, logOptions, logRecord } from '../testing/log-fixtures.ts';
import { loggedTold } from '../testing/told-state.ts';
import { CommitPipeline, type Write } from './commit-pipeline.ts';
import { factToStore } from './prepare-facts.ts';

/** Writes of several databases, one of them being applied in slices that the test holds. */

/** A pipeline with the databases `default`, `a` and `b`, whose sliced applications wait until `release`. */
async function bench() {
  // Every slice ends at the first check of the clock, so that a large write pauses.
  const isOver = vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  onTestFinished(() => isOver.mockRestore());
  const { log } = await openLog(crashBackend(), logOptions());
  onTestFinished(() => log.close());
  const state = new State();
  for (const [at, name] of ['default', 'a', 'b'].entries()) {
    const record = { ...logRecord(at + 1, { kind: 'createDatabase', name }), time: startTime };
    await log.append([record], () => void apply(state, record));
  }
  let isHeld = true;
  let held: (() => void)[] = [];
  let onHeld = (): void => {};
  const pause = (): Promise<void> =>
    isHeld
      ? new Promise((resolve) => {
          held.push(resolve);
          onHeld();
        })
      : Promise.resolve();
  const ignore = { applying: () => {}, applied: () => {} };
  const pipeline = new CommitPipeline(state, log, new ManualClock(startTime), unshared(pause), ignore);
  return {
    pipeline,
    state,
    log,
    /** Resolves when an application pauses. */
    held: (): Promise<void> =>
      held.length > 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onHeld = resolve;
          }),
    release: (): void => {
      isHeld = false;
      const waiting = held;
      held = [];
      for (const resolve of waiting) resolve();
    },
  };
}

function write(database: string, count: number, changes: Partial<Write> = {}): Write {
  const facts = Array.from({ length: count }, (_, at) => factToStore(factInput(`p(n${at})`), startTime));
  const operation: Operation = { kind: 'assert', tenant: 't', facts };
  return { caller: testCaller(), database, operation, ...changes };
}

const large = 2000;

/** The state that a start would recover. */
async function replayed(log: Parameters<typeof allRecords>[0]): Promise<unknown> {
  const state = new State();
  for (const record of await allRecords(log)) apply(state, record);
  return loggedTold(state);
}

test('applies small writes of a database between the slices of a large one of another', async () => {
  const { pipeline, state, log, held, release } = await bench();
  const first = pipeline.write(write('a', large));
  await held();
  expect((await pipeline.write(write('b', 1))).generation).toBe(1);
  expect((await pipeline.write(write('b', 2, { check: () => {} }))).generation).toBe(2);
  expect(state.database('a').lastGeneration).toBe(0);
  // Nothing after the unfinished record counts as applied from the beginning of the log.
  expect(state.sequence).toBe(3);
  expect(state.isChanging).toBe(true);
  release();
  expect((await first).generation).toBe(1);
  expect(state.sequence).toBe(6);
  expect(state.isChanging).toBe(false);
  expect(loggedTold(state)).toEqual(await replayed(log));
});

test('applies the writes of one database in log order', async () => {
  const { pipeline, state, held, release } = await bench();
  const first = pipeline.write(write('a', large));
  await held();
  const order: number[] = [];
  const later = [1, 2, 3].map(async (count) => {
    order.push((await pipeline.write(write('a', count, {}))).unchanged);
  });
  await pipeline.write(write('b', 1));
  expect(order).toEqual([]);
  release();
  await Promise.all([first, ...later]);
  expect(order).toEqual([1, 2, 3]);
  expect(state.sequence).toBe(8);
});

test('an exclusive commit of one database holds back no other', async () => {
  const { pipeline, release } = await bench();
  release();
  let finish = (): void => {};
  const checked = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const exclusive = pipeline.write(write('a', 1, { check: () => checked }));
  expect((await pipeline.write(write('b', 1, { check: () => {} }))).generation).toBe(1);
  finish();
  expect((await exclusive).generation).toBe(1);
});

test('as many writes of a database as may wait hold back no other', async () => {
  const { pipeline, held, release } = await bench();
  const writes = [pipeline.write(write('a', large))];
  await held();
  for (let at = 0; at < 100; at++) writes.push(pipeline.write(write('a', 1)));
  expect((await pipeline.write(write('b', 1))).generation).toBe(1);
  release();
  await Promise.all(writes);
});

test('looks between two records when none is applied in part', async () => {
  const { pipeline, state, held, release } = await bench();
  const first = pipeline.write(write('a', large));
  await held();
  await pipeline.write(write('b', 1));
  let seen: unknown = null;
  const looked = pipeline.between(() => {
    seen = [state.sequence, state.isChanging];
  });
  await pipeline.write(write('b', 2));
  expect(seen).toBeNull();
  release();
  await Promise.all([first, looked]);
  expect(seen).toEqual([6, false]);
});

test('looks even if large writes of several databases never leave a gap', async () => {
  const { pipeline, state, release } = await bench();
  release();
  let isDone = false;
  const stream = async (database: string): Promise<void> => {
    for (let at = 0; at < 100 && !isDone; at++) await pipeline.write(write(database, 300));
  };
  // Two writes of each database overlap, so one is always being applied.
  const streams = ['a', 'b'].flatMap((database) => [stream(database), stream(database)]);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(await pipeline.between(() => state.isChanging)).toBe(false);
  isDone = true;
  await Promise.all(streams);
});

test('finds the outcome of a write at once, and keeps outcomes in log order', async () => {
  const { pipeline, state, log, held, release } = await bench();
  const callerOf = (key: string) => testCaller({ idempotency: { key, fingerprint: key } });
  const found = (key: string) => {
    const caller = callerOf(key);
    const mark = markOf(caller);
    return mark === null ? null : state.idempotency.find(caller.credential, mark, startTime);
  };
  const first = pipeline.write(write('a', large, { caller: callerOf('large') }));
  await held();
  await pipeline.write(write('b', 1, { caller: callerOf('small') }));
  expect(found('small')).toMatchObject({ kind: 'facts', asserted: 1 });
  expect(found('large')).toBeNull();
  release();
  await first;
  expect([...state.idempotency.all()].map(({ mark }) => mark.key)).toEqual(['large', 'small']);
  expect(loggedTold(state)).toEqual(await replayed(log));
});

test('keeps the names of deleted databases in log order', async () => {
  const { pipeline, state, log, held, release } = await bench();
  const deletion = (database: string) =>
    pipeline.write(write(database, 0, { operation: { kind: 'deleteDatabase' } }));
  const first = pipeline.write(write('a', large));
  await held();
  const deletions = [deletion('a'), deletion('b')];
  release();
  await Promise.all([first, ...deletions]);
  expect([...state.goneDatabases.keys()]).toEqual(['a', 'b']);
  expect(loggedTold(state)).toEqual(await replayed(log));
});
