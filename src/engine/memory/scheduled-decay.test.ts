import { DerivedMemory } from '../session/derived-memory.ts';
import { expect, onTestFinished, test } from 'vitest';
import { apply } from '../state/apply.ts';
import { ManualClock } from '../base/clock.ts';
import { unshared } from '../base/scheduler.ts';
import type { Change } from '../session/change-feed.ts';
import { createEngine } from '../operations/engine.ts';
import { State } from '../state/state.ts';
import { openLog } from '../log/open-log.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import { day, openSession, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { logOptions, logRecord } from '../testing/log-fixtures.ts';
import { storedAtoms } from '../testing/memory-calls.ts';

/** MEMORY_DECAY_INTERVAL_MS runs decay periodically: contract section 8. */

const year = 366 * day;

test('decays every database and tenant periodically, with its defaults', async () => {
  const session = await openSession({ decayIntervalMs: 20 });
  const { engine, caller, clock } = session;
  await engine.createDatabase(caller, 'other');
  const places = [session, session.as({ tenant: 'two' }), session.as({ database: 'other' })];
  for (const place of places) {
    await place.tellAll(['p(a)', 'p(b)']);
    await place.tell('kept(a)', { metadata: { pinned: true } });
    await place.tell('short(a)', { ttl: 10, scope: 's' });
  }
  const changes: Change[] = [];
  onTestFinished(engine.subscribe((change) => void changes.push(change)));
  clock.advance(year);
  await expect.poll(() => engine.counters().factsEvicted).toBe(9);
  for (const place of places) expect(await storedAtoms(place)).toEqual(['kept(a)']);
  const evicted = changes.filter(({ kind }) => kind === 'memory.evicted');
  expect(new Set(evicted.map(({ data }) => data.requestId))).toEqual(new Set(['scheduled-decay']));
});

test('writes nothing if a run finds nothing', async () => {
  const session = await openSession({ decayIntervalMs: 5 });
  await session.tell('p(a)');
  const { records } = session.engine.counters();
  for (let passed = 0; passed < 10; passed++) {
    session.clock.advance(1000);
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
  expect(session.engine.counters().records).toBe(records);
});

test('is off by default', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  session.clock.advance(10 * year);
  await new Promise((resolve) => void setTimeout(resolve, 50));
  expect(session.engine.counters().factsEvicted).toBe(0);
});

test('reports a run that meets a full disk, and a later one evicts once there is space', async () => {
  const backend = crashBackend();
  const { log } = await openLog(backend, logOptions());
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const warnings: string[] = [];
  const clock = new ManualClock(startTime);
  const engine = createEngine({
    state,
    log,
    openJournal: () => expect.unreachable('nothing is kept beside the log here'),
    lock: null,
    clock,
    derived: new DerivedMemory(1e9, 1e9),
    snapshotIntervalMs: 3_600_000,
    decayIntervalMs: 20,
    endedIntervalMs: null,
    leaderUrl: null,
    onWarn: (message) => void warnings.push(message),
    tallies: new Map(),
    scheduler: unshared(() => new Promise((resolve) => void setImmediate(resolve))),
    onBug: (error) => {
      throw error;
    },
  });
  onTestFinished(() => engine.close());
  const session = sessionOf(engine, clock, testCaller());
  await session.tell('p(a)');
  await session.as({ tenant: 'two' }).tell('p(a)');
  backend.faults = (step) => (step === 'write' ? { code: 'ENOSPC' } : null);
  clock.advance(year);
  await expect.poll(() => warnings.length).toBe(1);
  expect(warnings[0]).toMatch(/^Scheduled decay evicted nothing more: /);
  expect(await storedAtoms(session)).toEqual(['p(a)']);
  backend.faults = () => null;
  await expect
    .poll(async () => {
      clock.advance(1000);
      return engine.counters().factsEvicted;
    })
    .toBe(2);
});

test('waits at the end of the engine for the current run, which evicts all or nothing of a tenant', async () => {
  const session = await openSession({ decayIntervalMs: 20 });
  const { engine, clock } = session;
  await session.tellAll(Array.from({ length: 2000 }, (_, at) => `p(${at})`));
  clock.advance(year);
  await new Promise((resolve) => void setTimeout(resolve, 25));
  await engine.close();
  expect([0, 2000]).toContain(engine.counters().factsEvicted);
});
