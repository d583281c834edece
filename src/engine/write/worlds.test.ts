import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { commitInputSchema } from '../contract/transactions.ts';
import { diffInputSchema, forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import { explainInputSchema, traceInputSchema, whatIfInputSchema } from '../contract/explanation.ts';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import type { Engine } from '../operations/engine.ts';
import type { EngineOptions } from '../open-part.ts';
import {
  askInput,
  chainOf,
  factInput,
  gate,
  openSession,
  patternInput,
  retractInput,
  retractPatternInput,
  ruleInput,
  type Session,
} from '../testing/engine-fixtures.ts';

/** Interactions of transactions, scopes, databases, tenants and snapshots. */

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-worlds-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function reopened({ engine, clock }: Session, options: Partial<EngineOptions>): Promise<Session> {
  await engine.close();
  return openSession({ ...options, clock });
}

/** The code of the error, or `answered`. */
async function endOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'answered';
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

const fork = (source: string | null, target: string | null) => forkInputSchema.parse({ source, target });
const merge = (source: string | null, target: string | null) =>
  mergeInputSchema.parse({ source, target, strategy: 'SOURCE_WINS' });

/** A transaction of these facts, and its commit. */
async function begunWith({ engine, caller }: Session, facts: readonly string[]) {
  const { id } = await engine.begin(caller);
  if (facts.length > 0)
    await engine.within({ ...caller, transaction: id }).tellAll(facts.map((text) => factInput(text)));
  return { id, commit: () => engine.commit(caller, id, false) };
}

/** Everything visible that a restart does not change. */
async function seen({ engine, caller, list }: Session): Promise<unknown> {
  const rules = (await engine.rules(caller)).map(({ fired: _fired, ...rule }) => rule);
  return [
    await engine.databases(caller),
    await engine.tenants(caller, caller.database),
    await list({ limit: '1000' }),
    await engine.scopes(caller),
    rules,
  ];
}

const calls: Record<string, (engine: Engine, caller: Session['caller']) => Promise<unknown>> = {
  tell: (engine, caller) => engine.tell(caller, { ...factInput('p(a)'), ifGeneration: null }),
  tellAll: (engine, caller) => engine.tellAll(caller, [factInput('p(a)')]),
  forget: (engine, caller) => engine.forget(caller, retractInput('p(a)')),
  'forget, tried': (engine, caller) => engine.forget(caller, retractInput('p(a)', { dryRun: true })),
  forgetById: (engine, caller) => engine.forgetById(caller, 'f1-0'),
  facts: (engine, caller) => engine.predicates(caller),
  fact: (engine, caller) => engine.fact(caller, 'f1-0'),
  teach: (engine, caller) => engine.teach(caller, ruleInput({ text: 'q(?x) :- p(?x)' })),
  forgetRule: (engine, caller) => engine.forgetRule(caller, 'r1'),
  rules: (engine, caller) => engine.rules(caller),
  rule: (engine, caller) => engine.rule(caller, 'r1'),
  validateRules: (engine, caller) => engine.validateRules(caller, 'p(a).'),
  ask: (engine, caller) => engine.ask(caller, askInput('p(?x)')),
  aggregate: (engine, caller) =>
    engine.aggregate(caller, aggregateInputSchema.parse({ operation: 'COUNT', predicate: 'p' })),
  explain: (engine, caller) =>
    engine.explain(caller, explainInputSchema.parse({ predicate: 'p', args: ['a'], mode: 'why' })),
  whatIf: (engine, caller) => engine.whatIf(caller, whatIfInputSchema.parse({})),
  trace: (engine, caller) => engine.trace(caller, traceInputSchema.parse({ predicate: 'p', args: ['?x'] })),
  begin: (engine, caller) => engine.begin(caller),
  within: (engine, caller) => engine.within({ ...caller, transaction: 't' }).tellAll([factInput('p(a)')]),
  'ask within': (engine, caller) => engine.ask({ ...caller, transaction: 't' }, patternInput('p(?x)')),
  commit: (engine, caller) => engine.commit(caller, 't', commitInputSchema.parse({}).dryRun),
  rollback: (engine, caller) => engine.rollback(caller, 't'),
  scopes: (engine, caller) => engine.scopes(caller),
  fork: (engine, caller) => engine.fork(caller, fork(null, 's')),
  diff: (engine, caller) => engine.diff(caller, diffInputSchema.parse({ source: null, target: 's' })),
  merge: (engine, caller) => engine.merge(caller, merge(null, 's')),
  'merge, tried': (engine, caller) => engine.merge(caller, { ...merge(null, 's'), dryRun: true }),
  deleteScope: (engine, caller) => engine.deleteScope(caller, 's'),
  databases: (engine, caller) => engine.databases(caller),
  createDatabase: (engine, caller) => engine.createDatabase(caller, 'one'),
  deleteDatabase: (engine, caller) => engine.deleteDatabase(caller, 'one'),
  nukeDatabase: (engine, caller) => engine.nukeDatabase(caller, 'default'),
  tenants: (engine, caller) => engine.tenants(caller, 'default'),
  createTenant: (engine, caller) => engine.createTenant(caller, 'default', 't'),
  deleteTenant: (engine, caller) => engine.deleteTenant(caller, 'default', 't'),
  nukeTenant: (engine, caller) => engine.nukeTenant(caller, 'default', 't'),
  snapshot: (engine) => engine.snapshot(),
};

test('returns NotReady for every call to a closed engine', async () => {
  const { engine, caller, tell } = await openSession();
  await tell('p(a)');
  await engine.close();
  const ends = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => [name, await endOf(call(engine, caller))]),
  );
  expect(ends).toEqual(Object.keys(calls).map((name) => [name, 'NotReady']));
  expect(() => engine.changes(caller, null)).toThrow(EngineError);
});

test('commits and forks from 64 clients at once: each commit whole, each scope a copy of one generation', async () => {
  const storageDir = await temporaryFolder();
  const session = await openSession({ storageDir, fsync: 'never' });
  await session.tell('shared(x)');
  const clients = Array.from({ length: 64 }, (_, at) => at);
  const open = await Promise.all(clients.map((at) => begunWith(session, [`a(n${at})`, `b(n${at})`])));
  const { id } = await session.engine.begin(session.caller);
  const shared = await Promise.all(
    clients.slice(0, 8).map(async (at) => {
      const begun = await session.engine.begin(session.caller);
      await session.engine
        .within({ ...session.caller, transaction: begun.id })
        .tell({ ...factInput('shared(x)', { metadata: { at } }), ifGeneration: null });
      return begun.id;
    }),
  );
  const [commits, forks, winners] = await Promise.all([
    Promise.all(open.map(({ commit }) => commit())),
    Promise.all(clients.map((at) => session.engine.fork(session.caller, fork(null, `s${at}`)))),
    Promise.all(shared.map((each) => endOf(session.engine.commit(session.caller, each, false)))),
  ]);
  expect(new Set(commits.map(({ generation }) => generation)).size).toBe(64);
  expect(winners.filter((end) => end === 'answered')).toHaveLength(1);
  expect(winners.filter((end) => end === 'Conflict')).toHaveLength(7);
  for (const [at, { facts, generation }] of forks.entries()) {
    const before = commits.filter((commit) => commit.generation < generation).length;
    expect(facts, `of s${at}`).toBe(1 + 2 * before);
    const scope = `s${at}`;
    expect(await session.results('a(?x), b(?x)', { scope })).toHaveLength(before);
  }
  await session.engine.rollback(session.caller, id);
  const before = await seen(session);
  expect(await seen(await reopened(session, { storageDir }))).toEqual(before);
});

test('refuses writes that wait behind the end of their database, and stores nothing of them', async () => {
  const { engine, caller, as } = await openSession();
  await engine.createDatabase(caller, 'one');
  const one = as({ database: 'one' });
  const { generation } = await one.tell('p(a)');
  const { commit } = await begunWith(one, ['p(b)']);
  const [deleted, ...ends] = await Promise.all([
    endOf(engine.deleteDatabase(caller, 'one')),
    endOf(one.tell('p(c)')),
    endOf(one.tellAll(['p(d)'])),
    endOf(one.teach('q(?x) :- p(?x)')),
    endOf(commit()),
    endOf(engine.fork(one.caller, fork(null, 's'))),
    endOf(engine.merge(one.caller, merge(null, 's'))),
    endOf(one.forget('p(a)')),
    endOf(engine.nukeDatabase(caller, 'one')),
  ]);
  expect(deleted).toBe('answered');
  expect(new Set(ends)).toEqual(new Set(['DatabaseNotFound']));
  await engine.createDatabase(caller, 'one');
  expect((await one.list()).total).toBe(0);
  expect((await one.tell('p(a)')).generation).toBe(generation + 2);
});

test('executes a snapshot, a nuke or an end requested during a large write after it', async () => {
  const storageDir = await temporaryFolder();
  const { hold, release, pause } = gate();
  const session = await openSession({ storageDir, pause, fsync: 'never' });
  const { engine, caller } = session;
  await session.tellAll(chainOf(3000));
  const held = hold();
  const forked = engine.fork(caller, fork(null, 's'));
  await held;
  const order: string[] = [];
  const noted = <Result>(name: string, call: Promise<Result>): Promise<Result> =>
    call.finally(() => order.push(name));
  const snapshot = noted('snapshot', engine.snapshot());
  const told = noted('tell', session.tell('edge(x, y)'));
  const nuked = noted('nuke', engine.nukeTenant(caller, 'default', 'tenant'));
  const late = noted('late', session.tell('p(late)'));
  expect((await session.list()).total).toBe(3000);
  expect(order.filter((name) => name !== 'snapshot')).toEqual([]);
  release();
  expect(await forked).toMatchObject({ facts: 3000, generation: 2 });
  await Promise.all([told, late, snapshot]);
  expect(await nuked).toMatchObject({ facts: 6001, generation: 4 });
  expect(order.filter((name) => name !== 'snapshot')).toEqual(['tell', 'nuke', 'late']);
  expect((await session.list()).facts).toMatchObject([{ predicate: 'p', args: ['late'] }]);
  const before = await seen(session);
  expect(await seen(await reopened(session, { storageDir }))).toEqual(before);
});

test('includes all of a large commit or nothing in a snapshot requested at any moment', async () => {
  let now = 0;
  // Every check of the clock is the last of a slice.
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  onTestFinished(() => {
    time.mockRestore();
  });
  let isReached = true;
  for (let at = 0; isReached; at++) {
    const storageDir = await temporaryFolder();
    let pauses = Number.NEGATIVE_INFINITY;
    let reached = (): void => {};
    isReached = false;
    const moment = new Promise<void>((resolve) => (reached = resolve));
    // The current work is held long enough for the snapshot to begin.
    const pause = (): Promise<void> => {
      if (pauses++ !== at) return new Promise((resolve) => void setImmediate(resolve));
      isReached = true;
      reached();
      return new Promise((resolve) => void setTimeout(resolve, 20));
    };
    const session = await openSession({ storageDir, pause, fsync: 'never' });
    await session.tellAll(chainOf(400), { scope: 's' });
    const { id } = await session.engine.begin(session.caller);
    const within = session.engine.within({ ...session.caller, transaction: id });
    await within.forget(retractPatternInput('edge(?x, ?y)'));
    await within.tellAll(chainOf(400).map((text) => factInput(text, { scope: 'x' })));
    pauses = 0;
    const committed = session.engine.commit(session.caller, id, false);
    await Promise.race([moment, committed]);
    const [snapshot] = await Promise.all([session.engine.snapshot(), session.tell('p(a)'), committed]);
    const before = await seen(session);
    await session.engine.close(0);
    const again = await openSession({ storageDir, clock: session.clock });
    expect(await seen(again), `after ${at} slices, to ${snapshot.position}`).toEqual(before);
    await again.engine.close(0);
  }
});

test('finishes a large commit that is being applied before it closes', async () => {
  const storageDir = await temporaryFolder();
  const { hold, release, pause } = gate();
  const session = await openSession({ storageDir, pause, fsync: 'never' });
  const { commit } = await begunWith(session, chainOf(3000));
  const held = hold();
  const committed = commit();
  await held;
  const closed = session.engine.close();
  release();
  const end = await endOf(committed);
  await closed;
  const again = await openSession({ storageDir, clock: session.clock });
  expect((await again.list()).total).toBe(end === 'answered' ? 3000 : 0);
});

test('does not count a transaction as idle while its commit runs', async () => {
  const { hold, release, pause } = gate();
  const session = await openSession({ pause });
  const { id, commit } = await begunWith(session, chainOf(3000));
  const held = hold();
  const committed = commit();
  await held;
  session.clock.advance(6 * 60_000);
  expect(await endOf(session.engine.commit(session.caller, 'unknown', false))).toBe('TransactionNotFound');
  release();
  expect(await committed).toMatchObject({ id, status: 'committed', generation: 1 });
  expect(await endOf(session.engine.commit(session.caller, id, false))).toBe('Conflict');
});

test('delays a nuke until a merge is checked, and answers the merge by what it found', async () => {
  const { hold, release, pause } = gate();
  const session = await openSession({ pause });
  const { engine, caller } = session;
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.tellAll(chainOf(3000), { scope: 's' });
  await session.tell('edge(a, b)', { scope: 's' });
  expect(await session.results('reach(a, ?y)')).toEqual(['reach(a, b)']);
  const held = hold();
  const merged = engine.merge(caller, merge('s', 'x'));
  const nuked = engine.nukeDatabase(caller, 'default');
  await held;
  release();
  expect(await merged).toMatchObject({ added: 3001, generation: 4 });
  expect(await nuked).toMatchObject({ facts: 6002, rules: 1, generation: 5 });
  expect(await session.results('reach(a, ?y)')).toEqual([]);
});

test('refuses a commit if a fact that it wrote died meanwhile, and for no other dead rows', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  const churn = async (): Promise<void> => {
    await session.tellAll(chainOf(300));
    await session.forgetPattern('edge(?x, ?y)');
  };
  const before = await engine.begin(caller);
  await session.tell('edge(a, b)');
  await engine.nukeTenant(caller, 'default', 'tenant');
  const first = await engine.begin(caller);
  const second = await engine.begin(caller);
  await churn();
  await churn();
  // Relations are examined again with the next write.
  await session.tell('edge(z, z)');
  const tell = (id: string, text: string): Promise<unknown> =>
    engine.within({ ...caller, transaction: id }).tell({ ...factInput(text), ifGeneration: null });
  await tell(first.id, 'edge(n0, n1)');
  await tell(second.id, 'edge(other, other)');
  expect(await endOf(engine.commit(caller, before.id, false))).toBe('Conflict');
  expect(await endOf(engine.commit(caller, first.id, false))).toBe('Conflict');
  expect(await endOf(engine.commit(caller, second.id, false))).toBe('answered');
});

test('does not compact relations under a write that has found its rows', async () => {
  let now = 0;
  let step = 0.001;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += step));
  onTestFinished(() => {
    time.mockRestore();
  });
  let isReached = true;
  for (let at = 0; isReached; at++) {
    isReached = false;
    let pauses = Number.NEGATIVE_INFINITY;
    // One of the pauses is long enough for background maintenance to finish.
    const pause = (): Promise<void> => {
      if (pauses++ !== at) return new Promise((resolve) => void setImmediate(resolve));
      isReached = true;
      step = 0.001;
      return new Promise((resolve) => void setTimeout(resolve, 50));
    };
    const session = await openSession({ pause });
    await session.teach('q(?x, ?y) :- edge(?x, ?y)');
    await session.tellAll(chainOf(900), { scope: 's' });
    await session.tellAll(chainOf(800), { scope: 'x' });
    await session.results('q(?x, ?y)');
    await session.forgetPattern('edge(?x, ?y)', { scope: 's' });
    pauses = 0;
    // Every check of the clock is the last of a slice.
    step = 6;
    await session.engine.deleteScope(session.caller, 'x');
    step = 0.001;
    expect((await session.list()).total, `held at pause ${at}`).toBe(0);
    await session.engine.close();
  }
});
