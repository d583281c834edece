import { expect, onTestFinished, test, vi } from 'vitest';
import type { Moment } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import { optimizeInputSchema, type WindowDiff, windowDiffInputSchema } from '../contract/context.ts';
import { explainInputSchema, traceInputSchema, whatIfInputSchema } from '../contract/explanation.ts';
import { forgetEntitySchema } from '../contract/history.ts';
import { askInputSchema } from '../contract/inference.ts';
import { recallInputSchema } from '../contract/memory.ts';
import type { KnownAt } from '../contract/moments.ts';
import { predicateGraphQuerySchema } from '../contract/predicate-graph.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import {
  chainOf,
  type Fields,
  hour,
  refusal,
  type Session,
  sessionOf,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { maxPiecesUnderWay, type ToReasoningThread } from './messages.ts';
import { pastThreads, type ThreadsInProcess } from '../testing/threads-in-process.ts';

/** Earlier knowledge on a reasoning thread: what it answers, and what becomes of its copies. */

interface Opened {
  readonly session: Session;
  readonly threads: ThreadsInProcess;
  readonly backend: MemoryBackend;
  readonly warned: string[];
}

async function opened(options: Fields = {}, backend = memoryBackend()): Promise<Opened> {
  const clock = new ManualClock(startTime);
  const key = typeof options['encryptionKey'] === 'string' ? options['encryptionKey'] : null;
  const threads = pastThreads(backend, key);
  const warned: string[] = [];
  const bugs: unknown[] = [];
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    threadHost: threads,
    onWarn: (message) => warned.push(message),
    onBug: (error) => bugs.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await engine.close();
    expect(bugs).toEqual([]);
  });
  return { session: sessionOf(engine, clock, testCaller()), threads, backend, warned };
}

/** Generation 2 knows a chain of ten; 3 has lost a link, with a snapshot before it. */
async function chained(options: Fields = {}): Promise<Opened> {
  const at = await opened(options);
  const { session } = at;
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  session.clock.advance(hour);
  await session.tellAll(chainOf(10));
  await session.engine.snapshot();
  session.clock.advance(hour);
  await session.forget('edge(n4, n5)');
  session.clock.advance(hour);
  await session.tell('edge(n10, n11)');
  return at;
}

const generation = (number: number): KnownAt => ({ kind: 'generation', generation: number });
const known = (session: Session, asKnown: KnownAt, changes: Partial<Moment> = {}): Session =>
  session.as({ moment: { asOf: null, asKnown, ...changes } });
/** The answer but for the time that it took. */
const written = (answer: unknown): string =>
  JSON.stringify(answer, (key, value: unknown) =>
    key === 'elapsedMs' || key === 'rows' || key === 'windowId' ? 0 : value,
  );
const posted = ({ threads }: Opened, kind: string): number =>
  threads.posted.filter((message) => message.kind === kind).length;

const atom = { predicate: 'path', args: ['n0', '?y'] };

/** Everything that reads a moment of knowledge. */
const readings: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  ask: (session) => session.ask('path(?x, ?y)', { withProof: true }),
  askForText: ({ engine, caller }) =>
    engine.askForText(caller, askInputSchema.parse({ text: 'path(?x, ?y)' })),
  query: (session) => session.query('edge(?x, ?y)'),
  why: ({ engine, caller }) => engine.explain(caller, explainInputSchema.parse({ ...atom, mode: 'why' })),
  whyNot: ({ engine, caller }) =>
    engine.explain(caller, explainInputSchema.parse({ ...atom, args: ['n9', 'n0'], mode: 'whyNot' })),
  aggregate: ({ engine, caller }) =>
    engine.aggregate(
      caller,
      aggregateInputSchema.parse({ predicate: 'path', operation: 'COUNT', infer: true }),
    ),
  whatIf: ({ engine, caller }) =>
    engine.whatIf(
      caller,
      whatIfInputSchema.parse({ assert: [{ predicate: 'edge', args: ['n10', 'n0'] }], goals: [atom] }),
    ),
  facts: (session) => session.list({ limit: '3' }),
  rules: ({ engine, caller }) => engine.rules(caller),
  predicates: ({ engine, caller }) => engine.predicates(caller),
  predicateGraph: ({ engine, caller }) => engine.predicateGraph(caller, predicateGraphQuerySchema.parse({})),
  trace: ({ engine, caller }) => engine.trace(caller, traceInputSchema.parse({ text: 'path(n0, ?y)' })),
  plan: ({ engine, caller }) => engine.plan(caller, askInputSchema.parse({ text: 'path(n0, ?y)' })),
  scopes: ({ engine, caller }) => engine.scopes(caller),
  window: ({ engine, caller }) =>
    engine.optimizeContext(caller, optimizeInputSchema.parse({ goals: [atom], includeInferred: true })),
  recall: ({ engine, caller }) =>
    engine.recall(caller, recallInputSchema.parse({ includeInferred: true, query: 'n4' })),
  export: (session) => exported(session),
};

/** The text of everything; `taken` is waited for after each part. */
async function exported(
  { engine, caller }: Session,
  taken: (parts: readonly string[]) => Promise<void> = async () => {},
): Promise<string> {
  const parts: string[] = [];
  const choice = { scope: null, unscoped: false, predicate: null, rules: true };
  const { omitted } = await engine.export(caller, { choice, format: 'ntriples' }, async (part) => {
    parts.push(typeof part === 'string' ? part : new TextDecoder().decode(part));
    await taken(parts);
  });
  return `${parts.join('')}${omitted}`;
}

/** Generation 1 has many long facts, of which an export takes more pieces than may be under way. */
async function withManyPieces(): Promise<{ at: Opened; past: Session; text: string }> {
  const at = await opened();
  const { session, threads } = at;
  await session.tellAll(
    Array.from({ length: 1000 }, (_, each) => `item("${'x'.repeat(1000)}${each}", erased)`),
  );
  await session.tell('item(later)');
  const past = known(session, generation(1));
  threads.afterMs = Number.POSITIVE_INFINITY;
  const text = await exported(past);
  threads.afterMs = 0;
  expect(text).not.toContain('later');
  return { at, past, text };
}

test.each(Object.keys(readings))('%s of earlier knowledge is answered on a thread as here', async (name) => {
  const at = await chained();
  const { session, threads } = at;
  const read = readings[name] as (typeof readings)[string];
  const then = known(session, generation(3));
  const there = written(await read(then));
  expect(posted(at, 'askPast')).toBe(1);
  threads.afterMs = Number.POSITIVE_INFINITY;
  expect(there).toBe(written(await read(then)));
  expect(posted(at, 'askPast')).toBe(1);
});

test('a copy is rebuilt once, and asked at any instant and by any tenant', async () => {
  const at = await chained();
  const { session } = at;
  const then = known(session, generation(3));
  const answers = await Promise.all([1, 2, 3].map(() => then.results('path(n0, ?y)')));
  expect(answers.map(({ length }) => length)).toEqual([10, 10, 10]);
  const instant = { kind: 'instant', time: startTime + hour } as const;
  expect(await known(session, instant).results('path(n4, ?y)')).toHaveLength(6);
  expect(await then.as({ tenant: 'other' }).results('path(n4, ?y)')).toEqual([]);
  expect(posted(at, 'foldPast')).toBe(1);
  expect(session.engine.figures().reasoning.bytes).toBeGreaterThan(1000);
});

test('what reads the latest knowledge stays on the serving thread', async () => {
  const at = await chained();
  const { session } = at;
  await session.as({ moment: { asOf: startTime + hour, asKnown: null } }).ask('path(?x, ?y)');
  await known(session, generation(5)).ask('path(?x, ?y)');
  expect(posted(at, 'askPast')).toBe(0);
});

test('a window of earlier knowledge is the last one of its session, wherever it was read', async () => {
  const at = await chained();
  const { engine, caller } = known(at.session, generation(3));
  const input = optimizeInputSchema.parse({ maxFacts: 100, includeInferred: true, sessionId: 's' });
  expect((await engine.optimizeContext(caller, input)).entries.length).toBeGreaterThan(10);
  expect(posted(at, 'askPast')).toBe(1);
  const { removed } = (await engine.diffContext(
    at.session.caller,
    windowDiffInputSchema.parse({ sessionId: 's' }),
  )) as WindowDiff;
  expect(removed.map(({ key }) => key)).toContain('edge/n4/n5');
});

test('a thread that ends while it rebuilds or answers costs the caller nothing', async () => {
  const at = await chained();
  const { session, threads } = at;
  const then = known(session, generation(3));
  for (const kind of ['foldPast', 'askPast'] as const) {
    let left = 1;
    threads.filter = (message) => {
      if (message.kind !== kind || left-- === 0) return true;
      queueMicrotask(() => threads.kill());
      return false;
    };
    expect(await then.results('path(n0, ?y)')).toHaveLength(10);
  }
  expect(session.engine.counters().reasoning.replacedThreads).toBe(2);
  expect(posted(at, 'foldPast')).toBe(3);
});

test('a question whose thread ends again and again is refused', async () => {
  const { session, threads } = await chained();
  threads.filter = (message) => {
    if (message.kind === 'askPast') queueMicrotask(() => threads.kill());
    return message.kind !== 'askPast';
  };
  expect(await refusal(known(session, generation(3)).ask('path(n0, ?y)'))).toMatchObject({
    code: 'InferenceLimitExceeded',
    members: { limit: 'memory' },
  });
});

test('where no thread starts, the past is read here', async () => {
  const { session, threads } = await chained();
  threads.filter = (message) => {
    if (message.kind === 'foldPast') queueMicrotask(() => threads.kill());
    return false;
  };
  const start = threads.start.bind(threads);
  threads.start = (on) => start({ ...on, message: () => undefined });
  expect(await known(session, generation(3)).results('path(n0, ?y)')).toHaveLength(10);
});

test('an erasure is acknowledged when no thread has a copy any more', async () => {
  const at = await chained();
  const { session, threads } = at;
  const { engine, caller } = session;
  const then = known(session, generation(3));
  expect(await then.results('path(n0, ?y)')).toHaveLength(10);
  let isHeld = true;
  const held: (() => void)[] = [];
  const dropped = new Promise<void>((resolve) => {
    threads.filter = (message) => {
      if (message.kind !== 'dropPast' || !isHeld) return true;
      isHeld = false;
      held.push(() => threads.pass(message));
      resolve();
      return false;
    };
  });
  let isAcknowledged = false;
  const erased = engine
    .forgetEntity(caller, forgetEntitySchema.parse({ tenant: caller.tenant, entity: 'n7' }))
    .then(() => (isAcknowledged = true));
  await dropped;
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAcknowledged).toBe(false);
  for (const pass of held) pass();
  await erased;
  expect(await then.results('path(n0, ?y)')).toHaveLength(6);
  await engine.nukeTenant(caller, 'default', caller.tenant);
  expect((await refusal(then.ask('path(n0, ?y)'))).code).toBe('HistoryGone');
  expect(session.engine.figures().reasoning.copies).toBe(0);
});

test.each(['foldPast', 'askPast'] as const)(
  'a question goes on while something is erased, which no later answer has (%s)',
  async (kind) => {
    const { session, threads } = await chained();
    const { engine, caller } = session;
    const input = forgetEntitySchema.parse({ tenant: caller.tenant, entity: 'n7' });
    const erasing: Promise<unknown>[] = [];
    const held: ToReasoningThread[] = [];
    threads.filter = (message) => {
      if (message.kind === kind && erasing.length === 0) {
        erasing.push(engine.forgetEntity(caller, input));
        held.push(message);
        return false;
      }
      if (message.kind === 'dropPast') for (const each of held.splice(0)) threads.pass(each);
      return true;
    };
    const then = known(session, generation(3));
    // Until the erasure is acknowledged, both are true.
    expect([8, 10]).toContain((await then.results('edge(?x, ?y)')).length);
    await Promise.all(erasing);
    expect(await then.results('edge(?x, ?y)')).toHaveLength(8);
    expect(engine.figures().reasoning.copies).toBe(1);
  },
);

test('an export of earlier knowledge goes on if its thread ends in the middle, with a copy made again', async () => {
  const { at, past, text } = await withManyPieces();
  for (const parts of [1, 5]) {
    const { started } = at.threads;
    const again = await exported(past, async ({ length }) => {
      if (length === parts) at.threads.kill();
    });
    expect(again === text).toBe(true);
    expect(at.threads.started).toBe(started + (parts === 1 ? 2 : 1));
  }
  expect(posted(at, 'foldPast')).toBe(3);
});

test('a slow reader of an export of earlier knowledge holds back its thread, and no question', async () => {
  const { at, past, text } = await withManyPieces();
  let goOn = (): void => {};
  const exporting = exported(past, async ({ length }) => {
    if (length === 1) await new Promise<void>((resolve) => (goOn = resolve));
  });
  const pieces = (): number => at.threads.heard.filter(({ kind }) => kind === 'piece').length;
  await vi.waitUntil(() => pieces() === maxPiecesUnderWay);
  expect(await past.query('item(?x, ?y)', { limit: 3 })).toHaveLength(3);
  expect(pieces()).toBe(maxPiecesUnderWay);
  goOn();
  expect((await exporting) === text).toBe(true);
});

test('an export of earlier knowledge ends if something is erased from it meanwhile', async () => {
  const { at, past } = await withManyPieces();
  const { session } = at;
  const ended = await refusal(
    exported(past, async ({ length }) => {
      if (length === 1)
        void session.engine.forgetEntity(
          session.caller,
          forgetEntitySchema.parse({ tenant: 'tenant', entity: 'erased' }),
        );
    }),
  );
  expect(ended.code).toBe('NotReady');
});

test('an encrypted log is read by the thread', async () => {
  const at = await chained({ encryptionKey: 'ab'.repeat(32) });
  expect(await known(at.session, generation(3)).results('path(n0, ?y)')).toHaveLength(10);
  expect(posted(at, 'askPast')).toBe(1);
});

test('a copy that takes more than derived data may is refused, and the service goes on', async () => {
  const { session } = await opened({ memoryBudgetBytes: 200_000 });
  await session.tellAll(chainOf(5000));
  await session.tell('p(a)');
  expect(await refusal(known(session, generation(1)).query('p(?x)'))).toMatchObject({
    code: 'InferenceLimitExceeded',
    members: { limit: 'memory' },
  });
  expect(await session.query('p(?x)')).toHaveLength(1);
});

test('a client that has gone ends its question on the thread', async () => {
  const { session, threads } = await chained();
  const then = known(session, generation(3));
  await then.ask('path(n0, ?y)');
  const ending = new AbortController();
  threads.filter = (message) => {
    if (message.kind === 'askPast') ending.abort();
    return true;
  };
  await expect(then.as({ signal: ending.signal }).ask('path(?x, ?y)')).rejects.toThrow('the client has gone');
  threads.filter = () => true;
  expect(await then.results('path(n0, ?y)')).toHaveLength(10);
  expect(session.engine.counters().reasoning.replacedThreads).toBe(0);
});

test('a question keeps its time, whatever its thread does', async () => {
  const { session, threads } = await chained();
  threads.filter = ({ kind }) => kind !== 'askPast';
  expect(await refusal(known(session, generation(3)).ask('path(?x, ?y)', { timeoutMs: 50 }))).toMatchObject({
    code: 'InferenceLimitExceeded',
    members: { limit: 'timeoutMs' },
  });
});

test.each(['here', 'on a thread'])(
  'a damaged part of the history is gone, and the log says which file (%s)',
  async (place) => {
    const { session, threads, backend, warned } = await chained();
    if (place === 'here') threads.afterMs = Number.POSITIVE_INFINITY;
    await session.engine.snapshot();
    const [name] = (await backend.list()).filter((each) => each.endsWith('.snapshot'));
    const bytes = backend.contents(name as string).slice();
    bytes[200] = (bytes[200] as number) ^ 1;
    backend.put(name as string, bytes);
    expect((await refusal(known(session, generation(3)).ask('path(n0, ?y)'))).code).toBe('HistoryGone');
    expect(warned.join()).toContain(name);
  },
);
