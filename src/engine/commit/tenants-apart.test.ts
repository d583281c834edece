import { expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Scheduler, unshared } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import { noQuota } from '../contract/quotas.ts';
import type { LogRecord } from '../log/codec.ts';
import { openLog } from '../log/open-log.ts';
import { apply } from '../state/apply.ts';
import type { Operation } from '../state/operation.ts';
import { State } from '../state/state.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import { factInput, ruleInput, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { allRecords, logOptions, logRecord } from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { loggedTold } from '../testing/told-state.ts';
import { overSeeds } from '../testing/twin.ts';
import { CommitPipeline, type Write } from './commit-pipeline.ts';
import { factToStore } from './prepare-facts.ts';
import { ruleToStore } from './prepare-rules.ts';

/** Writes of several tenants of one database, of which some are checked for long. */

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function bench(scheduler = unshared(nextTurn)) {
  const { log } = await openLog(crashBackend(), logOptions());
  onTestFinished(() => log.close());
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const clock = new ManualClock(startTime);
  const applied: LogRecord[] = [];
  const pipeline = new CommitPipeline(state, log, clock, scheduler, {
    applying: () => {},
    applied: (record) => void applied.push(record),
  });
  return { pipeline, state, log, clock, applied };
}

function assertion(tenant: string, name: string): Operation {
  return { kind: 'assert', tenant, facts: [factToStore(factInput(`p(${name})`), startTime)] };
}

function tell(tenant: string, name: string, changes: Partial<Write> = {}): Write {
  return { caller: testCaller({ tenant }), operation: assertion(tenant, name), ...changes };
}

function teach(changes: Partial<Write> = {}, scope: string | null = null): Write {
  const rule = ruleToStore(ruleInput({ text: 'q(?x) :- p(?x)', scope }));
  return { caller: testCaller(), operation: { kind: 'teach', rule }, check: () => {}, ...changes };
}

/** What a check waits for. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait: () => opened, open: () => open() };
}

const kindsOf = (records: readonly LogRecord[]): string[] =>
  records.map(({ operation }) => {
    const about = operation as Operation;
    return 'tenant' in about ? `${about.kind} ${about.tenant}` : about.kind;
  });

async function replayed(log: Parameters<typeof allRecords>[0]): Promise<unknown> {
  const state = new State();
  for (const record of await allRecords(log)) apply(state, record);
  return loggedTold(state);
}

test('a write that is checked for long holds back the writes of its tenant, and no others', async () => {
  const { pipeline, state, log, applied, clock } = await bench();
  const { wait, open } = gate();
  const checked = pipeline.write(tell('a', 'checked', { check: () => wait() }));
  const decided = pipeline.write({
    ...tell('b', 'x'),
    isOfTenant: true,
    operation: async () => {
      await wait();
      return { operation: assertion('b', 'decided') };
    },
  });
  const held = pipeline.write(tell('a', 'later'));
  await nextTurn();
  clock.advance(1000);
  expect((await pipeline.write(tell('c', 'first'))).generation).toBe(1);
  expect((await pipeline.write(tell('c', 'second', { check: () => {} }))).generation).toBe(2);
  expect(kindsOf(applied)).toEqual(['assert c', 'assert c']);
  open();
  await Promise.all([checked, decided, held]);
  const inA = applied
    .map(({ operation }) => operation as Operation)
    .filter((each) => 'tenant' in each && each.tenant === 'a');
  expect(inA).toEqual([assertion('a', 'checked'), assertion('a', 'later')]);
  // Judged before the others, and logged after them.
  expect(applied.map(({ time }) => time)).toEqual(Array(5).fill(startTime + 1000));
  expect(applied.filter(({ wall }) => wall === startTime)).toHaveLength(2);
  const database = state.database('default');
  expect([1, 2, 3, 4, 5].map((generation) => database.timeOf(generation))).toEqual(
    Array(5).fill(startTime + 1000),
  );
  expect(loggedTold(state)).toEqual(await replayed(log));
});

test('a change of rules waits for the checks of all tenants, and later writes for it', async () => {
  const { pipeline, applied } = await bench();
  const { wait, open } = gate();
  const writes = [
    pipeline.write(tell('a', 'checked', { check: () => wait() })),
    pipeline.write(teach()),
    pipeline.write(tell('b', 'later')),
  ];
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  expect(applied).toEqual([]);
  open();
  await Promise.all(writes);
  expect(kindsOf(applied)).toEqual(['assert a', 'teach', 'assert b']);
});

test('writes that may change or copy rules exclude all tenants', async () => {
  const { pipeline, applied } = await bench();
  const withRules = true;
  await pipeline.write(teach({}, 's'));
  const operations: Operation[] = [
    { kind: 'forkScope', tenant: 'a', source: 's', target: 't', withRules },
    { kind: 'deleteScope', tenant: 'a', scope: 's', withRules },
  ];
  for (const operation of operations) {
    const { wait, open } = gate();
    const before = applied.length;
    const checked = pipeline.write({ caller: testCaller({ tenant: 'a' }), operation, check: () => wait() });
    const other = pipeline.write(tell('b', operation.kind));
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    expect(applied).toHaveLength(before);
    open();
    await Promise.all([checked, other]);
    expect(kindsOf(applied).slice(before)).toEqual([`${operation.kind} a`, 'assert b']);
  }
});

test('a fork without rules and a transaction without rules hold back their tenant only', async () => {
  const { pipeline, applied } = await bench();
  const operations: Operation[] = [
    { kind: 'forkScope', tenant: 'a', source: null, target: 't', withRules: true },
    { kind: 'commit', tenant: 'a', retract: [], assert: [], rules: [], operations: 0 },
    { kind: 'deleteScope', tenant: 'a', scope: 't', withRules: true },
  ];
  for (const operation of operations) {
    const { wait, open } = gate();
    const checked = pipeline.write({ caller: testCaller({ tenant: 'a' }), operation, check: () => wait() });
    await pipeline.write(tell('b', operation.kind));
    expect(kindsOf(applied).at(-1)).toBe('assert b');
    open();
    await checked;
  }
});

test('with a quota of the database a checked write holds back all tenants, whose growth is judged together', async () => {
  const { pipeline, applied } = await bench();
  const operation: Operation = { kind: 'setQuota', tenant: null, quota: { ...noQuota, facts: 10 } };
  await pipeline.write({ caller: testCaller(), operation, check: () => {} });
  const { wait, open } = gate();
  const checked = pipeline.write(tell('a', 'checked', { check: () => wait() }));
  const other = pipeline.write(tell('b', 'other'));
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  expect(applied).toHaveLength(1);
  open();
  await Promise.all([checked, other]);
  expect(kindsOf(applied).slice(1)).toEqual(['assert a', 'assert b']);
});

test('a refused check lets those go on that waited for it', async () => {
  const { pipeline, applied } = await bench();
  const refused = pipeline.write(
    tell('a', 'refused', {
      check: () => {
        throw new Error('no');
      },
    }),
  );
  const later = [tell('a', 'n'), teach(), tell('b', 'n')].map((write) => pipeline.write(write));
  await expect(refused).rejects.toThrow('no');
  await Promise.all(later);
  expect(kindsOf(applied)).toEqual(['assert a', 'teach', 'assert b']);
});

test('in whatever order checks end, what excludes each other never overlaps, and a start finds the same state', async () => {
  await overSeeds({ name: 'tenants apart', few: 40, many: 400 }, async (seed) => {
    const prng = new Prng(seed);
    const { pipeline, state, log, applied, clock } = await bench();
    /** What is being checked: a tenant, or '' for all. */
    const underWay: string[] = [];
    const asked: string[] = [];
    const pauses = async (of: string): Promise<void> => {
      expect(underWay.filter((other) => of === '' || other === '' || other === of)).toEqual([]);
      underWay.push(of);
      for (let left = prng.below(6); left > 0; left--) await nextTurn();
      underWay.splice(underWay.indexOf(of), 1);
    };
    const writes: Promise<unknown>[] = [];
    for (let at = 0; at < 30; at++) {
      const tenant = prng.pick(['a', 'b', 'c']);
      const name = `n${at}`;
      if (prng.chance(0.1)) writes.push(pipeline.write(teach({ check: () => pauses('') })));
      else {
        asked.push(`${tenant} ${name}`);
        const check = prng.chance(0.5) ? { check: () => pauses(tenant) } : {};
        writes.push(pipeline.write(tell(tenant, name, check)));
      }
      if (prng.chance(0.3)) await nextTurn();
      clock.advance(prng.below(100));
    }
    await Promise.all(writes);
    const told = applied.flatMap(({ operation }) => {
      const about = operation as Operation;
      return about.kind === 'assert' ? [`${about.tenant} ${about.facts.at(0)?.args[0]}`] : [];
    });
    for (const tenant of ['a', 'b', 'c']) {
      const of = (list: readonly string[]): string[] => list.filter((each) => each.startsWith(tenant));
      expect(of(told)).toEqual(of(asked));
    }
    const database = state.database('default');
    for (let generation = 2; generation <= database.lastGeneration; generation++)
      expect(database.timeOf(generation)).toBeGreaterThanOrEqual(database.timeOf(generation - 1));
    expect(loggedTold(state)).toEqual(await replayed(log));
  });
});

/** Tasks of tenant `a` that always want a slice, and the number of slices that they got. */
function busy(scheduler: Scheduler, tasks: number) {
  const got = { slices: 0, isOver: false };
  const pause = scheduler.pauseOf({ database: 'default', tenant: 'a' }, 'busy');
  const ended = Array.from({ length: tasks }, async () => {
    while (!got.isOver) {
      await pause();
      got.slices++;
    }
  });
  const end = (): Promise<unknown> => {
    got.isOver = true;
    return Promise.all(ended);
  };
  return { got, end };
}

test('a large write for which other tenants wait does not share its turns with the questions of its tenant', async () => {
  // Every slice takes as long.
  let now = 0;
  const poll = (): Promise<void> => {
    now += 5;
    return nextTurn();
  };
  const scheduler = new Scheduler({ poll, now: () => now });
  const isOver = vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  onTestFinished(() => isOver.mockRestore());
  const { pipeline, applied } = await bench(scheduler);
  const facts = Array.from({ length: 5000 }, (_, at) => factToStore(factInput(`p(n${at})`), startTime));
  const { got, end } = busy(scheduler, 50);
  const large = pipeline.write(tell('a', '', { operation: { kind: 'assert', tenant: 'a', facts } }));
  while (scheduler.figures().pausedTasks <= 50) await nextTurn();
  const before = got.slices;
  await pipeline.write(tell('b', 'n'));
  // It takes 20 slices: 1,000 of the others would run if they all took turns.
  expect(got.slices - before).toBeLessThan(200);
  await Promise.all([large, end()]);
  expect(kindsOf(applied)).toEqual(['assert a', 'assert b']);
});

test('the first slice of a large write waits for its turn, so that a commit of many holds no turn for long', async () => {
  const { wait, open } = gate();
  const scheduler = new Scheduler({ poll: wait });
  const { pipeline, log, applied } = await bench(scheduler);
  const write = tell('a', 'n');
  const encoded = new TextEncoder().encode(JSON.stringify(write.operation));
  const written = pipeline.write({ ...write, encoded });
  while (log.lastSequence < 2) await nextTurn();
  expect(applied).toEqual([]);
  expect(scheduler.figures().pausedTasks).toBe(1);
  open();
  await written;
  expect(kindsOf(applied)).toEqual(['assert a']);
});
