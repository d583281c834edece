import { expect, onTestFinished, test, vi } from 'vitest';
import { present } from '../base/assert.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError, invalid } from '../base/errors.ts';
import { unshared } from '../base/scheduler.ts';
import { runAtOnce, Slices } from '../base/slices.ts';
import type { LogRecord } from '../log/codec.ts';
import { openLog } from '../log/open-log.ts';
import { apply } from '../state/apply.ts';
import { planMerge } from '../state/merge-plan.ts';
import type { MergeScopes, Operation } from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import { State } from '../state/state.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import { factInput, ruleInput, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { allRecords, logOptions, logRecord } from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { loggedTold } from '../testing/told-state.ts';
import { overSeeds } from '../testing/twin.ts';
import { CommitPipeline, type DecidedWrite } from './commit-pipeline.ts';
import { factToStore } from './prepare-facts.ts';
import { ruleToStore } from './prepare-rules.ts';

/** Large writes of a tenant are applied between the writes of others, in generations that they take before. */

const tenants = ['a', 'b', 'c'];
const large = 2000;

/** A pipeline with three tenants whose sliced applications wait for `pause` after every slice. */
async function bench(pause: () => Promise<void>) {
  const isOver = vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  onTestFinished(() => isOver.mockRestore());
  const { log } = await openLog(crashBackend(), logOptions());
  onTestFinished(() => log.close());
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const clock = new ManualClock(startTime);
  const reports = new Map<number, Report>();
  const shown: string[] = [];
  const pipeline = new CommitPipeline(state, log, clock, unshared(pause), {
    applying: () => {},
    applied: (record, report) => {
      reports.set(record.sequence, report);
      shown.push(nameOf(record));
    },
  });
  const write = (operation: Operation): Promise<Report> =>
    pipeline.write({
      caller: testCaller({ tenant: 'tenant' in operation ? (operation.tenant ?? 'a') : 'a' }),
      ...(operation.kind === 'mergeScopes'
        ? { operation: () => Promise.resolve(decidedMerge(state, operation)), isOfTenant: true }
        : { operation }),
      ...(operation.kind === 'assert' ? {} : { check: () => refuseFork(state, operation) }),
    });
  for (const tenant of tenants) await write(assertion(tenant, 1));
  return { pipeline, state, log, clock, reports, shown, write };
}

/** A fork needs a scope without facts. */
function refuseFork(state: State, operation: Operation): void {
  if (operation.kind !== 'forkScope') return;
  const { facts } = present(state.database('default').tenants.get(operation.tenant), 'it is there');
  const known = facts.scopes.get(facts.scopeNumber(operation.target));
  if (known !== null && (known.held > 0 || known.isForked)) throw invalid('target', 'exists');
}

/** The merge as it is decided: planned, so that it is known to make a generation. */
function decidedMerge(state: State, operation: MergeScopes): DecidedWrite {
  const database = state.database('default');
  const { facts } = present(database.tenants.get(operation.tenant), 'it is there');
  const moment = { generation: database.generationOf(operation.tenant), time: startTime };
  const { retracted, stored } = runAtOnce(planMerge(facts, operation, null, moment, database.declarations));
  return { operation, isCertain: retracted.length + stored.length > 0 };
}

function nameOf({ operation }: LogRecord): string {
  const about = operation as Operation;
  return 'tenant' in about ? `${about.kind} ${about.tenant}` : about.kind;
}

function assertion(tenant: string, count: number, from = 0, scope: string | null = null): Operation {
  const facts = Array.from({ length: count }, (_, at) =>
    factToStore({ ...factInput(`p(n${from + at})`), scope }, startTime),
  );
  return { kind: 'assert', tenant, facts };
}

function merge(tenant: string, source: string, target: string | null): MergeScopes {
  const settled = { strategy: 'SOURCE_WINS', base: null, resolutions: [], revision: 3 } as const;
  return { kind: 'mergeScopes', tenant, source, target, ...settled };
}

function teaching(body: string): Operation {
  return { kind: 'teach', rule: ruleToStore(ruleInput({ text: `q(?x) :- ${body}(?x)` })) };
}

/** Pauses that last until `release`. */
function held() {
  let isHeld = false;
  let waiting: (() => void)[] = [];
  let onHeld = (): void => {};
  return {
    pause: (): Promise<void> =>
      isHeld
        ? new Promise((resolve) => {
            waiting.push(resolve);
            onHeld();
          })
        : Promise.resolve(),
    /** Holds applications from now on; resolves when one pauses. */
    hold: (): Promise<void> => {
      isHeld = true;
      return new Promise((resolve) => {
        onHeld = resolve;
      });
    },
    release: (): void => {
      isHeld = false;
      const all = waiting;
      waiting = [];
      for (const resolve of all) resolve();
    },
  };
}

function onlyRefused(error: unknown): void {
  if (!(error instanceof EngineError)) throw error;
}

/** What readers of the tenant see: the numbers of facts, with the generations of their versions. */
function visible(state: State, tenant: string): string[] {
  const database = state.database('default');
  const facts = database.tenants.get(tenant)?.facts;
  if (facts === undefined) return [];
  const generation = database.generationOf(tenant);
  const told: string[] = [];
  for (const relation of facts.relations.values())
    for (let row = 0; row < relation.count; row++)
      if (relation.isHeld(row, generation, startTime))
        told.push(`${relation.number[row]} in ${relation.bornIn(row)}`);
  return told;
}

/** The state that a start would recover, and the report of every record. */
async function replayed(log: Parameters<typeof allRecords>[0]) {
  const state = new State();
  const outcomes = new Map<number, Report['outcome']>();
  for (const record of await allRecords(log)) outcomes.set(record.sequence, apply(state, record).outcome);
  return { told: loggedTold(state), outcomes };
}

test('a small write of another tenant is applied and seen while a large one is applied, in the generation after it', async () => {
  const { pause, hold, release } = held();
  const { state, log, write } = await bench(pause);
  const paused = hold();
  const first = write(assertion('a', large));
  await paused;
  const before = visible(state, 'a');
  const database = state.database('default');
  expect((await write(assertion('b', 2))).generation).toBe(5);
  expect(visible(state, 'b')).toEqual(['0 in 2', '1 in 5']);
  const scope = { kind: 'all' } as const;
  const pattern = { predicate: 'p', args: ['?x'], truthVal: null, scope };
  expect((await write({ kind: 'retract', tenant: 'c', pattern })).generation).toBe(6);
  expect(visible(state, 'c')).toEqual([]);
  // Readers of the large write's tenant see nothing of it, and the state before.
  expect(visible(state, 'a')).toEqual(before);
  expect([database.generationOf('a'), database.generationOf('b'), database.shownGeneration]).toEqual([
    3, 6, 3,
  ]);
  // A write that changes nothing makes no generation.
  expect(await write(assertion('b', 1))).toMatchObject({ generation: 6, unchanged: 1 });
  release();
  expect((await first).generation).toBe(4);
  expect([database.generationOf('a'), database.shownGeneration]).toEqual([6, 6]);
  expect(visible(state, 'a')).toHaveLength(large);
  expect(loggedTold(state)).toEqual((await replayed(log)).told);
});

test('a small write of another tenant is applied while a merge is planned anew', async () => {
  const { pause, hold, release } = held();
  const { state, log, write } = await bench(pause);
  await write(assertion('a', large, 0, 's'));
  const paused = hold();
  const first = write(merge('a', 's', 't'));
  await paused;
  // It is still being planned: the target has no name yet.
  const { facts } = present(state.database('default').tenants.get('a'), 'it is there');
  expect(facts.scopeNumber('t')).toBe(-1);
  expect((await write(assertion('b', 2))).generation).toBe(6);
  expect(visible(state, 'b')).toHaveLength(2);
  release();
  expect((await first).generation).toBe(5);
  expect(loggedTold(state)).toEqual((await replayed(log)).told);
});

test('a later write of the tenant, a change of rules and a look between two records wait until it is applied', async () => {
  const { pause, hold, release } = held();
  const { pipeline, state, shown, write } = await bench(pause);
  shown.length = 0;
  const paused = hold();
  const first = write(assertion('a', large));
  await paused;
  let seen: boolean | null = null;
  const looked = pipeline.between(() => {
    seen = state.isChanging;
  });
  await write(assertion('b', 2));
  const rest = [write(assertion('a', large + 1)), write(teaching('p')), write(assertion('c', 2))];
  expect(shown).toEqual(['assert b']);
  expect(seen).toBeNull();
  release();
  await Promise.all([first, ...rest, looked]);
  expect(shown).toEqual(['assert b', 'assert a', 'assert a', 'teach', 'assert c']);
  expect(seen).toBe(false);
});

test('the first write of a tenant and of an import keeps others waiting, since their order is kept', async () => {
  const { pause, hold, release } = held();
  const { shown, write } = await bench(pause);
  for (const operation of [
    assertion('new', large),
    { ...assertion('a', large, large), importId: 'one' } as Operation,
  ]) {
    shown.length = 0;
    const paused = hold();
    const first = write(operation);
    await paused;
    const second = write(assertion('b', 1));
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    expect(shown).toEqual([]);
    release();
    await Promise.all([first, second]);
  }
});

test('whatever is applied beside what, readers see whole writes, and a start makes the same generations', async () => {
  await overSeeds({ name: 'generations taken', few: 12, many: 400 }, async (seed) => {
    const prng = new Prng(seed);
    const pause = async (): Promise<void> => {
      for (let left = prng.below(4); left > 0; left--) await nextTurn();
    };
    const { pipeline, state, log, clock, reports, write } = await bench(pause);
    const scopes = [null, 's', 't', 'u'];
    const some = (tenant: string): Operation => {
      const scope = prng.pick(scopes);
      const target = prng.pick(['s', 't', 'u']);
      const kind = prng.below(9);
      if (kind < 4) return assertion(tenant, 1 + prng.below(prng.pick([3, 900])), prng.below(500), scope);
      if (kind === 4)
        return {
          kind: 'retract',
          tenant,
          pattern: { predicate: 'p', args: ['?x'], truthVal: null, scope: { kind: 'all' } },
        };
      if (kind === 5) return { kind: 'forkScope', tenant, source: scope, target, withRules: false };
      if (kind === 6) return merge(tenant, prng.pick(['s', 't', 'u']), scope);
      if (kind === 7) return { kind: 'deleteScope', tenant, scope: target, withRules: prng.chance(0.5) };
      return {
        kind: 'commit',
        tenant,
        retract: Array.from({ length: prng.below(400) }, (_, at) => ({
          predicate: 'p',
          args: [`n${at}`],
          truthVal: true,
          scope,
        })),
        assert: Array.from({ length: prng.below(400) }, (_, at) =>
          factToStore({ ...factInput(`p(c${at})`), scope }, startTime),
        ),
        rules: [],
        operations: 1,
      };
    };
    const seen = new Map(tenants.map((tenant) => [tenant, visible(state, tenant)]));
    const writes: Promise<unknown>[] = [];
    const counted = new Map<string, number>();
    for (let at = 0; at < 25; at++) {
      const tenant = prng.pick(tenants);
      if (prng.chance(0.07)) writes.push(write(teaching(`p${at}`)));
      else if (prng.chance(0.05)) writes.push(pipeline.between(() => expect(state.isChanging).toBe(false)));
      else writes.push(write(some(tenant)).catch(onlyRefused));
      if (prng.chance(0.5)) await nextTurn();
      for (const each of tenants) {
        // Between two applied writes of a tenant its readers see the same.
        const applied = [...reports.values()].filter((report) => report.tenant === each).length;
        const now = visible(state, each);
        if (applied === counted.get(each)) expect(now).toEqual(seen.get(each));
        counted.set(each, applied);
        seen.set(each, now);
      }
      clock.advance(prng.below(100));
    }
    await Promise.all(writes);
    const again = await replayed(log);
    expect(loggedTold(state)).toEqual(again.told);
    for (const [sequence, { outcome, tenant, generation, changes }] of reports) {
      expect(outcome).toEqual(again.outcomes.get(sequence));
      if (changes.length > 0) expect(outcome).toMatchObject({ generation });
      expect(tenant === null || tenants.includes(tenant)).toBe(true);
    }
  });
});

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
