import { expect, onTestFinished, test, vi } from 'vitest';
import { Scheduler } from '../base/scheduler.ts';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import { optimizeInputSchema } from '../contract/context.ts';
import { explainInputSchema, traceInputSchema, whatIfInputSchema } from '../contract/explanation.ts';
import { askInputSchema } from '../contract/inference.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { searchInputSchema } from '../contract/search.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { forgetEntitySchema } from '../contract/history.ts';
import { forkInputSchema } from '../contract/scopes.ts';
import type { EngineOptions } from '../open-part.ts';
import { chainOf, openSession, refusal, type Session, startTime } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { type ThreadsInProcess, threadsInProcess } from '../testing/threads-in-process.ts';
import type { FromReasoningThread } from './messages.ts';
import { ReasoningThread } from './reasoning-thread.ts';

/** What becomes of questions if their thread, their copy, their tenant or their time is gone. */

async function open(
  facts: readonly string[],
  options: Partial<EngineOptions> = {},
): Promise<{ session: Session; threads: ThreadsInProcess; warnings: string[] }> {
  const threads = threadsInProcess();
  const warnings: string[] = [];
  const onWarn = (message: string): void => void warnings.push(message);
  const session = await openSession({ threadHost: threads, onWarn, ...options });
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await session.tellAll([...facts]);
  return { session, threads, warnings };
}

/** From now on every look at the clock ends a slice; returns the time of the clock. */
function hasteClock(): () => number {
  let now = performance.now();
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 7));
  onTestFinished(() => time.mockRestore());
  return () => now;
}

/** Waits without timers, which may be the test's. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

async function untilPosted(threads: ThreadsInProcess, kind: string): Promise<void> {
  await until(() => threads.posted.some((each) => each.kind === kind));
}

const explain = (session: Session, fields: object): Promise<unknown> =>
  session.engine.explain(session.caller, explainInputSchema.parse(fields));
const aggregate = (session: Session, fields: object): Promise<unknown> =>
  session.engine.aggregate(session.caller, aggregateInputSchema.parse(fields));
const whatIf = (session: Session, fields: object): Promise<unknown> =>
  session.engine.whatIf(session.caller, whatIfInputSchema.parse(fields));

const anyGeneration = /"(generation|knowledgeGeneration)":\d+/;

/** The time of a question whose thread is stuck, by timers of the test: a busy machine takes some of it. */
const lateMs = 5_000;

const atom = { predicate: 'path', args: ['?x', '?y'] };
const kinds: Readonly<Record<string, (session: Session, timeoutMs: number) => Promise<unknown>>> = {
  ask: (session, timeoutMs) => session.ask('path(?x, ?y)', { timeoutMs }),
  explain: (session, timeoutMs) => explain(session, { ...atom, mode: 'why', timeoutMs }),
  whyNot: (session, timeoutMs) =>
    explain(session, { ...atom, args: ['n3', 'n0'], mode: 'whyNot', timeoutMs }),
  aggregate: (session, timeoutMs) =>
    aggregate(session, { ...atom, operation: 'COUNT', infer: true, timeoutMs }),
  query: (session) => session.query('edge(?x, ?y)'),
  whatIf: (session, timeoutMs) =>
    whatIf(session, { assert: [{ predicate: 'edge', args: ['n3', 'n0'] }], timeoutMs }),
  plan: (session, timeoutMs) =>
    session.engine.plan(session.caller, askInputSchema.parse({ ...atom, timeoutMs })),
  trace: (session, timeoutMs) =>
    session.engine.trace(session.caller, traceInputSchema.parse({ ...atom, timeoutMs })),
  window: (session, timeoutMs) =>
    session.engine.optimizeContext(
      session.caller,
      optimizeInputSchema.parse({ goals: [atom], unscoped: true, timeoutMs }),
    ),
  recall: (session, timeoutMs) =>
    session.engine.recall(
      session.caller,
      recallInputSchema.parse({ includeInferred: true, unscoped: true, timeoutMs }),
    ),
  search: (session) => session.engine.search(session.caller, searchInputSchema.parse({ text: 'path of n1' })),
};

for (const [kind, read] of Object.entries(kinds).filter(([each]) => each !== 'query' && each !== 'search'))
  test(`if a thread is stuck in ${kind}, its caller is answered in time, and others do not notice`, async () => {
    const { session, threads, warnings } = await open(chainOf(3));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isStuck = true;
    threads.filter = () => !isStuck;
    const late = refusal(read(session, lateMs));
    await until(() => threads.asked === 1);
    const others = [session.ask('path(?x, n3)'), session.query('edge(?x, ?y)')];
    await until(() => threads.asked === 3);
    await vi.advanceTimersByTimeAsync(lateMs + 50);
    expect((await late).members['limit']).toBe('timeoutMs');
    expect(threads.started).toBe(1);
    isStuck = false;
    await vi.advanceTimersByTimeAsync(1000);
    const [asked, queried] = await Promise.all(others);
    expect(asked).toMatchObject({ count: 3 });
    expect(queried).toHaveLength(3);
    expect(threads.started).toBe(2);
    expect(warnings.join()).toContain('was replaced');
  });

for (const [kind, read] of Object.entries(kinds))
  test(`a thread that ends in the middle of ${kind} is replaced, and it answers as before`, async () => {
    const { session, threads } = await open(chainOf(3));
    const written = (answer: unknown): string =>
      JSON.stringify(answer, (key, value: unknown) =>
        key === 'elapsedMs' || key === 'windowId' ? 0 : value,
      );
    const before = written(await read(session, 600_000));
    let isKilled = false;
    threads.filter = (message) => {
      // It has begun by then.
      if (message.kind === 'ask' && !isKilled) setImmediate(() => threads.kill());
      isKilled ||= message.kind === 'ask';
      return true;
    };
    await session.tell('other(a)', { scope: 'elsewhere' });
    const after = written(await read(session, 600_000));
    expect(after.replace(anyGeneration, '')).toBe(before.replace(anyGeneration, ''));
    expect(isKilled).toBe(true);
  });

test('a question begins again however often other questions cost it its thread', async () => {
  const { session, threads } = await open(chainOf(3));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isStuck = true;
  threads.filter = () => !isStuck;
  const patient = session.ask('path(?x, n3)');
  for (let round = 1; round <= 5; round++) {
    const late = refusal(session.ask('path(?x, ?y)', { timeoutMs: lateMs, limit: round }));
    await until(() => threads.asked === 2 * round);
    await vi.advanceTimersByTimeAsync(lateMs + 50);
    expect((await late).members['limit']).toBe('timeoutMs');
    isStuck = round < 5;
    await vi.advanceTimersByTimeAsync(1000);
    await until(() => threads.started === round + 1);
  }
  expect((await patient).count).toBe(3);
});

test('a question that is cancelled while its copy is taken in is replied to at once', () => {
  hasteClock();
  const replies: FromReasoningThread[] = [];
  const thread = new ReasoningThread({
    retained: null,
    readings: {},
    // The first pause lasts for ever.
    scheduler: new Scheduler({ poll: () => new Promise(() => undefined), isShared: false }),
    memoryBytes: 2 ** 30,
    questionBytes: 2 ** 28,
    heap: null,
    post: (message) => void replies.push(message),
    write: async function* write() {
      yield '';
    },
  });
  const count = 5000;
  const limits = { timeoutMs: 1000, maxDerivations: 1000, lightMs: 15, askedAt: 0 };
  const task = { kind: 'query', input: queryInputSchema.parse({ predicate: 'p', args: ['?x'] }) } as const;
  thread.take({ kind: 'open', copy: 1, database: 'default', tenant: 'tenant' });
  const shape = { predicate: 'p', arity: 1, negated: false, count, hasLives: false };
  const births = { rows: Int32Array.of(0), generations: Float64Array.of(1) };
  const columns = [new Int32Array(count), new Int32Array(count)];
  const number = Int32Array.from({ length: count }, (_, at) => at);
  const bounds = { validFrom: null, validUntil: null };
  thread.take({ kind: 'relation', copy: 1, ...shape, births, columns, number, ...bounds });
  const moment = { generation: 1, time: 0, goals: [], writes: null };
  thread.take({ kind: 'ask', id: 7, copy: 1, ...moment, ...limits, task });
  expect(replies.map(({ kind }) => kind)).toEqual(['started']);
  thread.take({ kind: 'cancel', id: 7 });
  expect(replies.at(-1)).toMatchObject({ kind: 'cancelled', id: 7 });
  thread.take({ kind: 'cancel', id: 7 });
  expect(replies).toHaveLength(2);
});

test('a tenant that is deleted while its copy is posted is asked as it is then, in the time of the question', async () => {
  const { session, threads } = await open(chainOf(3000));
  const now = hasteClock();
  const startedAt = now();
  const asked = session.ask('path(n0, ?y)');
  await untilPosted(threads, 'constants');
  await session.engine.deleteTenant(session.caller, 'default', 'tenant');
  const tookMs = now() - startedAt;
  const { count, elapsedMs } = await asked;
  expect(count).toBe(0);
  expect(elapsedMs).toBeGreaterThanOrEqual(tookMs);
  expect(threads.asked).toBe(0);
  expect(session.engine.figures().reasoning).toMatchObject({ copies: 0, waitingQuestions: 0 });
});

test('a tenant that is emptied or forked while its copy is posted is asked as it is then', async () => {
  const emptied = await open(chainOf(3000));
  hasteClock();
  const asked = emptied.session.ask('path(n2990, ?y)');
  await untilPosted(emptied.threads, 'constants');
  await emptied.session.engine.nukeTenant(emptied.session.caller, 'default', 'tenant');
  expect((await asked).count).toBe(0);
  const { session, threads } = await open([]);
  await session.tellAll(chainOf(3000), { scope: 'main' });
  const forked = (): Promise<{ count: number }> => session.ask('path(n2990, ?y)', { scope: 'draft' });
  const meanwhile = forked();
  await untilPosted(threads, 'constants');
  await session.engine.fork(session.caller, forkInputSchema.parse({ source: 'main', target: 'draft' }));
  // Before the fork, or after it; never a part of it.
  expect([0, 10]).toContain((await meanwhile).count);
  expect((await forked()).count).toBe(10);
});

test('a database that is deleted while a thread answers leaves nothing behind', async () => {
  const { session, threads } = await open([]);
  await session.engine.createDatabase(session.caller, 'second');
  const second = session.as({ database: 'second' });
  await second.teach('path(?x, ?y) :- edge(?x, ?y)');
  await second.tellAll(chainOf(3));
  const asked = second.ask('path(?x, ?y)');
  await until(() => threads.asked === 1);
  const gone = session.engine.deleteDatabase(session.caller, 'second');
  await Promise.allSettled([asked, gone]);
  const { rulesFired } = session.engine.counters();
  expect(rulesFired).toBe(0);
  expect(session.engine.figures().reasoning.copies).toBe(0);
  expect((await refusal(second.ask('path(?x, ?y)'))).code).toBe('DatabaseNotFound');
});

test('an entity that is forgotten is forgotten by the copy', async () => {
  const { session, threads } = await open(chainOf(3));
  await session.ask('path(?x, ?y)');
  const input = forgetEntitySchema.parse({ tenant: 'tenant', entity: 'n3' });
  await session.engine.forgetEntity(session.caller, input);
  expect(threads.posted.at(-1)).toMatchObject({ kind: 'drop' });
  expect((await session.ask('path(?x, ?y)')).count).toBe(3);
  const decoder = new TextDecoder();
  const texts = threads.posted.flatMap((each) =>
    each.kind === 'constants' ? [decoder.decode(each.bytes)] : [],
  );
  expect(texts.at(-1)).not.toContain('n3');
});

test('no question waits for a copy made ahead, whose thread ends, or of which an entity is forgotten', async () => {
  const alone = Array.from({ length: 10_000 }, (_, at) => `edge(a${at}, b${at})`);
  const { session, threads } = await open([...chainOf(400), ...alone]);
  threads.afterMs = 0.001;
  threads.untilMs = 0;
  const results = async (): Promise<number> => (await session.ask('path(?x, ?y)', { limit: 1 })).total;
  // The thread never says that it has the facts.
  threads.filter = (message) => message.kind !== 'ask';
  expect(await results()).toBe(90_200);
  await session.tell('edge(n0, n2)');
  expect(await results()).toBe(90_200);
  expect(threads.asked).toBe(0);
  threads.kill();
  threads.filter = () => true;
  // With other rules it is derived afresh.
  await session.teach('path(?x, ?x) :- edge(?x, ?_), ?x != n1');
  expect(await results()).toBe(100_599);
  await vi.waitFor(() => expect(threads.ahead).toBe(1), { timeout: 60_000, interval: 1 });
  // With the entity, the copy goes.
  const input = forgetEntitySchema.parse({ tenant: 'tenant', entity: 'n400' });
  await session.engine.forgetEntity(session.caller, input);
  await session.teach('path(?x, ?x) :- edge(?x, ?_), ?x = n1');
  expect(await results()).toBe(100_199);
  expect(threads.asked).toBe(0);
  await vi.waitFor(() => expect(threads.ahead).toBe(2), { timeout: 60_000, interval: 1 });
  await session.tell('edge(a, b)');
  expect(await results()).toBe(100_201);
  expect(threads.asked).toBe(1);
});

test('no thread starts once the service ends', async () => {
  const { session, threads } = await open(chainOf(400));
  threads.afterMs = 0.001;
  hasteClock();
  const asked = session.ask('path(?x, ?y)').then(
    () => null,
    (error: unknown) => error,
  );
  await session.engine.close();
  await asked;
  expect(threads.started).toBe(0);
});

test('threads that do not start are tried again after a while, later each time, and told of', async () => {
  const threads = threadsInProcess();
  let canStart = false;
  let attempts = 0;
  const warnings: string[] = [];
  const session = await openSession({
    onWarn: (message) => void warnings.push(message),
    threadHost: {
      count: 1,
      readsLog: false,
      afterMs: 0,
      untilMs: 0,
      lateMs: Number.POSITIVE_INFINITY,
      bothBytes: 0,
      bothTimes: 1,
      start(on) {
        attempts++;
        if (canStart) return threads.start(on);
        queueMicrotask(() => on.ended(new Error('no room')));
        return { post: () => undefined, terminate: () => undefined };
      },
    },
  });
  await session.tellAll(chainOf(3));
  let later = 0;
  const now = performance.now.bind(performance);
  const time = vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  onTestFinished(() => time.mockRestore());
  const asked = async (afterMs: number): Promise<number> => {
    later += afterMs;
    const before = attempts;
    expect(await session.query('edge(?x, ?y)', { limit: 10 })).toHaveLength(3);
    return attempts - before;
  };
  expect(await asked(0)).toBe(3);
  expect(await asked(0)).toBe(0);
  expect(await asked(60_000)).toBe(1);
  expect(await asked(60_000)).toBe(0);
  canStart = true;
  expect(await asked(60_000)).toBe(1);
  expect(await asked(0)).toBe(0);
  expect(
    warnings.map((each) => each.replace(/^Reasoning threads (do not start here.* for|start)/, '')),
  ).toEqual([' 60 s: Error: no room.', ' 120 s: Error: no room.', ' again.']);
});

test('nothing can come between the look at a copy and the question about it', async () => {
  for (let depth = 1; depth <= 8; depth++) {
    const { session, threads } = await open(chainOf(3));
    await session.ask('path(?x, ?y)');
    const { clock, engine } = session;
    const now = clock.now.bind(clock);
    let isDone = false;
    // A clock that is set back by an hour, so many reactions later: the copy is dropped then.
    const setBack = (left: number): void => {
      if (left > 0) return queueMicrotask(() => setBack(left - 1));
      if (isDone) return;
      isDone = true;
      clock.now = now;
      clock.set(startTime - 3_600_000);
      engine.figures();
    };
    clock.now = () => {
      setBack(depth);
      return now();
    };
    expect((await session.ask('path(?u, ?v)', { limit: 7 })).count).toBe(6);
    expect(threads.started).toBe(1);
    await engine.close();
  }
});

test('a wall clock that is set takes no time from a question on a thread', async () => {
  const { session, threads } = await open(chainOf(3));
  let now = Date.now();
  const time = vi.spyOn(Date, 'now').mockImplementation(() => (now += 3_600_000));
  onTestFinished(() => time.mockRestore());
  expect((await session.ask('path(?x, ?y)', { timeoutMs: 100_000 })).count).toBe(6);
  expect(threads.asked).toBe(1);
});

test('a question that moves counts each use once', async () => {
  const { session, threads } = await open(chainOf(3000));
  const { id } = await session.tell('edge(a, b)');
  const usesOf = async (): Promise<unknown> =>
    (await session.engine.fact(session.caller, id)).salienceBreakdown;
  threads.afterMs = 0.001;
  let clock = performance.now();
  const prng = new Prng(1);
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (clock += prng.chance(0.2) ? 6 : 0));
  onTestFinished(() => time.mockRestore());
  await session.query('edge(?x, ?y)', { limit: 1 });
  for (let round = 0; round < 12; round++) {
    const before = (await usesOf()) as { uses: number };
    // A shape of its own, so that each begins here.
    const scope = round % 2 === 0 ? {} : { unscoped: true };
    const found = await session.query('edge(?x, ?y)', { ...scope, truthVal: true, limit: 3001 });
    expect(found).toHaveLength(3001);
    expect(await usesOf()).toMatchObject({ uses: before.uses + 1 });
  }
});
