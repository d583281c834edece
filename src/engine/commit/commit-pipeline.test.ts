import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { unshared } from '../base/scheduler.ts';
import { factToStore } from './prepare-facts.ts';
import { apply } from '../state/apply.ts';
import type { Operation } from '../state/operation.ts';
import { present } from '../base/assert.ts';
import { State } from '../state/state.ts';
import type { Log } from '../log/log.ts';
import { openLog } from '../log/open-log.ts';
import { doubtfulLog } from '../testing/doubtful-log.ts';
import { crashBackend, type CrashBackend } from '../testing/crash-backend.ts';
import { factInput, refusal, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { allRecords, logOptions, logRecord } from '../testing/log-fixtures.ts';
import { type Write, CommitPipeline } from './commit-pipeline.ts';

interface Bench {
  readonly pipeline: CommitPipeline;
  readonly state: State;
  readonly log: Log;
  readonly clock: ManualClock;
  readonly backend: CrashBackend;
  /** The asserted names, in the order of their application. */
  readonly applied: string[];
}

/** A pipeline with the database `default` over a log on a disk that can fail. */
async function bench(): Promise<Bench> {
  const backend = crashBackend();
  const { log } = await openLog(backend, logOptions());
  onTestFinished(() => log.close());
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const clock = new ManualClock(startTime);
  const applied: string[] = [];
  const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const pipeline = new CommitPipeline(state, log, clock, unshared(pause), {
    applying: () => {},
    applied: (record) => {
      const operation = record.operation as Operation;
      if (operation.kind === 'assert')
        applied.push(Array.from(operation.facts, (fact) => fact.args[0]).join(' '));
    },
  });
  return { pipeline, state, log, clock, backend, applied };
}

function tell(name: string, changes: Partial<Write> = {}): Write {
  const facts = [factToStore(factInput(`p(${name})`), startTime)];
  const operation: Operation = { kind: 'assert', tenant: 't', facts };
  return { caller: testCaller(), database: 'default', operation, ...changes };
}

/** A promise whose state can be inspected. */
function watched(promise: Promise<unknown>): { readonly isSettled: () => boolean } {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return { isSettled: () => isSettled };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

test('applies and logs writes in the order of the calls', async () => {
  const { pipeline, log, applied } = await bench();
  const reports = await Promise.all(names(200).map((name) => pipeline.write(tell(name))));
  expect(applied).toEqual(names(200));
  expect(reports.map((report) => report.generation)).toEqual(names(200).map((_, index) => index + 1));
  const logged = (await allRecords(log)).slice(1).map(({ operation }) => operation as Operation);
  expect(logged.map((each) => (each.kind === 'assert' ? each.facts.at(0)?.args[0] : null))).toEqual(
    names(200),
  );
});

test('groups writes that cannot fail on the state into one commit', async () => {
  const { pipeline, log } = await bench();
  const before = log.statistics().commits;
  await Promise.all(names(200).map((name) => pipeline.write(tell(name))));
  expect(log.statistics().commits - before).toBeLessThan(200);
});

test('answers a write after it is applied, and applies it after it is durable', async () => {
  const { pipeline, log, applied } = await bench();
  const lastAtApply: number[] = [];
  const before = (): void => void lastAtApply.push(log.lastSequence);
  await pipeline.write(tell('a', { before }));
  expect(lastAtApply).toEqual([2]);
  expect(applied).toEqual(['a']);
});

test('checks a write that can fail on the state after all earlier writes and before all later ones', async () => {
  const { pipeline, applied } = await bench();
  const seen: string[] = [];
  const check = (): void => void seen.push(applied.join(' '));
  await Promise.all([
    pipeline.write(tell('a')),
    pipeline.write(tell('b')),
    pipeline.write(tell('c', { check })),
    pipeline.write(tell('d')),
    pipeline.write(tell('e', { check })),
    pipeline.write(tell('f', { check })),
    pipeline.write(tell('g')),
  ]);
  expect(seen).toEqual(['a b', 'a b c d', 'a b c d e']);
  expect(applied).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
});

test('refuses the second of two conflicting writes', async () => {
  const { pipeline, applied, log } = await bench();
  const check = (): void => {
    if (applied.length > 0) throw new EngineError('Conflict', 'somebody was first');
  };
  const outcomes = await Promise.allSettled(names(5).map((name) => pipeline.write(tell(name, { check }))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', ...Array(4).fill('rejected')]);
  expect(applied).toEqual(['n0']);
  expect(log.lastSequence).toBe(2);
});

test('logs nothing of a refused write, and later ones continue', async () => {
  const { pipeline, applied, log } = await bench();
  const check = (): void => {
    throw new EngineError('RuleNotFound', 'gone');
  };
  const [refused, ...others] = [
    pipeline.write(tell('a', { check })),
    pipeline.write(tell('b')),
    pipeline.write(tell('c')),
  ];
  expect((await refusal(refused as Promise<unknown>)).code).toBe('RuleNotFound');
  await Promise.all(others);
  expect(applied).toEqual(['b', 'c']);
  expect(log.lastSequence).toBe(3);
});

test('refuses a write to an unknown database', async () => {
  const { pipeline } = await bench();
  expect((await refusal(pipeline.write(tell('a', { database: 'nowhere' })))).code).toBe('DatabaseNotFound');
  expect((await pipeline.write(tell('b'))).generation).toBe(1);
});

test('does not apply a write that does not fit on the disk, and applies later ones', async () => {
  const { pipeline, backend, applied, state } = await bench();
  backend.faults = (step) => (step === 'write' ? { code: 'ENOSPC', written: 10 } : null);
  const failed = await Promise.allSettled(names(3).map((name) => pipeline.write(tell(name))));
  expect(failed.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  expect((await refusal(pipeline.write(tell('x', { check: () => {} })))).code).toBe('StorageUnavailable');
  expect(applied).toEqual([]);
  expect(state.sequence).toBe(1);
  backend.faults = () => null;
  const { generation } = await pipeline.write(tell('y', { check: () => {} }));
  expect(generation).toBe(1);
  expect((await pipeline.write(tell('z'))).generation).toBe(2);
  expect(applied).toEqual(['y', 'z']);
});

test('writes nothing more after a failed sync', async () => {
  const { pipeline, backend, applied } = await bench();
  backend.faults = (step) => (step === 'sync' ? { code: 'EIO' } : null);
  expect((await refusal(pipeline.write(tell('a')))).code).toBe('StorageUnavailable');
  backend.faults = () => null;
  expect((await refusal(pipeline.write(tell('b')))).code).toBe('StorageUnavailable');
  expect((await refusal(pipeline.write(tell('c', { check: () => {} })))).code).toBe('StorageUnavailable');
  expect(applied).toEqual([]);
});

test('never decreases stamps, whatever the clock does', async () => {
  const { pipeline, clock, log, state } = await bench();
  for (const time of [startTime + 10, startTime + 5, startTime - 1000, startTime + 7, startTime + 11]) {
    clock.set(time);
    await pipeline.write(tell(`n${time}`));
  }
  const times = (await allRecords(log)).map((record) => record.time - startTime);
  expect(times).toEqual([0, 10, 10, 10, 10, 11]);
  expect(state.time).toBe(startTime + 11);
});

test('runs the hook before a write in the turn of the write, with the state before it', async () => {
  const { pipeline, state, applied } = await bench();
  const seen: unknown[] = [];
  const before = (time: number): void => {
    seen.push([time, state.sequence, applied.join(' ')]);
  };
  await Promise.all([
    pipeline.write(tell('a')),
    pipeline.write(tell('b', { before })),
    pipeline.write(tell('c')),
  ]);
  expect(seen).toEqual([[startTime, 2, 'a']]);
});

test('applies a durable record even if its hook throws', async () => {
  const { pipeline, applied } = await bench();
  const before = (): void => {
    throw new Error('a bug beside it');
  };
  await expect(pipeline.write(tell('a', { before }))).rejects.toThrow('a bug beside it');
  await pipeline.write(tell('b'));
  expect(applied).toEqual(['a', 'b']);
});

test('waits at close for writes in progress and refuses later ones', async () => {
  const { pipeline, applied } = await bench();
  const written = pipeline.write(tell('a'));
  // A write is stamped a few microtasks after the call.
  await new Promise((resolve) => void setImmediate(resolve));
  const closed = pipeline.close();
  const later = pipeline.write(tell('b'));
  expect((await refusal(later)).code).toBe('NotReady');
  await Promise.all([written, closed]);
  expect(applied).toEqual(['a']);
});

test('holds back later writes during an exclusive commit on a slow disk', async () => {
  const { pipeline, applied } = await bench();
  const first = pipeline.write(tell('a'));
  const barrier = pipeline.write(tell('b', { check: () => expect(applied).toEqual(['a']) }));
  const later = watched(pipeline.write(tell('c')));
  await first;
  expect(later.isSettled()).toBe(false);
  await barrier;
  await pipeline.write(tell('d'));
  expect(later.isSettled()).toBe(true);
  expect(applied).toEqual(['a', 'b', 'c', 'd']);
});

test('shows an exclusive commit all earlier writes, and stamps nothing meanwhile', async () => {
  const { pipeline, state, applied } = await bench();
  const seen: string[][] = [];
  const before = names(20).map((name) => pipeline.write(tell(name)));
  const decided = pipeline.write({
    ...tell('x'),
    operation: async () => {
      seen.push([...applied]);
      await new Promise((resolve) => void setTimeout(resolve, 5));
      seen.push([...applied]);
      const { operation } = tell('decided');
      return typeof operation === 'function' ? null : { operation };
    },
  });
  const after = pipeline.write(tell('after'));
  await Promise.all([...before, decided, after]);
  expect(seen).toEqual([names(20), names(20)]);
  expect(applied).toEqual([...names(20), 'decided', 'after']);
  expect(state.databases.get('default')?.lastGeneration).toBe(22);
});

test('logs nothing for a write without effect and returns the generation', async () => {
  const { pipeline, log } = await bench();
  await pipeline.write(tell('first'));
  const { records } = log.statistics();
  const report = await pipeline.write({ ...tell('x'), operation: async () => null });
  expect(report).toMatchObject({
    generation: 1,
    outcome: { kind: 'nothing', generation: 1 },
    isRepeated: false,
  });
  expect(log.statistics().records).toBe(records);
  expect(await pipeline.write(tell('last'))).toMatchObject({ generation: 2 });
});

test('returns a refused decision as the answer, and later writes continue', async () => {
  const { pipeline } = await bench();
  const operation = () => Promise.reject(new EngineError('FactNotFound', 'no such fact'));
  expect((await refusal(pipeline.write({ ...tell('x'), operation }))).code).toBe('FactNotFound');
  expect(await pipeline.write(tell('last'))).toMatchObject({ generation: 1 });
});

test('a write in doubt is answered, holds back what it excludes, and is applied once it is known to be stored', async () => {
  const { log, fail, answer } = await doubtfulLog();
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const observer = { applying: () => {}, applied: () => {} };
  const pipeline = new CommitPipeline(state, log, new ManualClock(startTime), unshared(pause), observer);
  const write = (name: string, check: () => void) => pipeline.write(tell(name, { check }));
  const generation = (): number => state.database('default').lastGeneration;
  const before = generation();
  fail(true);
  expect((await refusal(write('a', () => {}))).code).toBe('OutcomeUnknown');
  expect(generation()).toBe(before);
  // Refused before it is checked against a state that lacks the write in doubt.
  const seen: number[] = [];
  expect((await refusal(write('b', () => void seen.push(generation())))).code).toBe('NoOwner');
  expect(seen).toEqual([]);
  answer();
  await expect.poll(generation).toBe(before + 1);
  await write('c', () => void seen.push(generation()));
  expect(seen).toEqual([before + 1]);
  await pipeline.close();
});

test('leaves out a check that is not needed, also if the write is exclusive for its judge', async () => {
  const { state, log, clock } = await bench();
  const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const judged: string[] = [];
  const judge = {
    concerns: () => true,
    admit: () => null,
    judge: (_: unknown, operation: Operation) => Promise.resolve(void judged.push(operation.kind)),
  };
  const observer = { applying: () => {}, applied: () => {} };
  const pipeline = new CommitPipeline(state, log, clock, unshared(pause), observer, undefined, judge);
  const checked: string[] = [];
  const write = (name: string, isNeeded: boolean): Write =>
    tell(name, { check: () => void checked.push(name), needsCheck: () => isNeeded });
  await pipeline.write(write('spared', false));
  await pipeline.write(write('needed', true));
  expect(checked).toEqual(['needed']);
  expect(judged).toEqual(['assert', 'assert']);
  await pipeline.close();
});

test('a write that was judged before another node had the log is not appended after', async () => {
  const { log, lose } = await doubtfulLog();
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const observer = { applying: () => {}, applied: () => {} };
  const pipeline = new CommitPipeline(state, log, new ManualClock(startTime), unshared(pause), observer);
  let judged = (): void => {};
  const judging = new Promise<void>((resolve) => {
    judged = resolve;
  });
  let isJudging = (): void => {};
  const begun = new Promise<void>((resolve) => {
    isJudging = resolve;
  });
  const check = (): Promise<void> => {
    isJudging();
    return judging;
  };
  const refused = refusal(pipeline.write(tell('a', { check })));
  await begun;
  lose();
  expect((await refusal(log.confirm())).code).toBe('NoOwner');
  const shared = present(log.shared, 'the log is in a store');
  expect(shared.role).toBe('copy');
  expect(await shared.own(await shared.look())).toBe(true);
  judged();
  expect((await refused).code).toBe('NoOwner');
  expect(log.lastSequence).toBe(1);
  await pipeline.write(tell('b'));
  expect(log.lastSequence).toBe(2);
});
