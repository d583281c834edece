import { setImmediate as immediately } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { TextFormatName } from '../read/export-formats.ts';
import { JsonText } from '../base/json-text.ts';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import { optimizeInputSchema } from '../contract/context.ts';
import { aliasInputSchema } from '../contract/entities.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { searchInputSchema } from '../contract/search.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { explainInputSchema, traceInputSchema, whatIfInputSchema } from '../contract/explanation.ts';
import { askInputSchema } from '../contract/inference.ts';
import { ruleUpdateSchema } from '../contract/rules.ts';
import {
  chainOf,
  factInput,
  type Fields,
  hour,
  openSession,
  refusal,
  retractInput,
  ruleInput,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';
import { type ThreadsInProcess, threadsInProcess } from '../testing/threads-in-process.ts';
import { declarationToStore } from '../write/declarations.ts';
import type { ToReasoningThread } from './messages.ts';

/** The reads that move to a reasoning thread: each answers there as here, and sees what was written before. */

async function open(): Promise<{ session: Session; threads: ThreadsInProcess }> {
  const threads = threadsInProcess();
  const session = await openSession({ threadHost: threads });
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await session.tellAll(chainOf(8));
  return { session, threads };
}

const window = (session: Session, fields: Fields): Promise<unknown> =>
  session.engine.optimizeContext(session.caller, optimizeInputSchema.parse({ maxFacts: 12, ...fields }));
const explain = (session: Session, fields: Fields): Promise<unknown> =>
  session.engine.explain(session.caller, explainInputSchema.parse({ timeoutMs: 600_000, ...fields }));
const aggregate = (session: Session, fields: Fields): Promise<unknown> =>
  session.engine.aggregate(session.caller, aggregateInputSchema.parse({ timeoutMs: 600_000, ...fields }));
const whatIf = (session: Session, fields: Fields): Promise<unknown> =>
  session.engine.whatIf(session.caller, whatIfInputSchema.parse({ timeoutMs: 600_000, ...fields }));
/** The answer but for the time that it took. */
const written = (answer: unknown): string =>
  JSON.stringify(answer, (key, value: unknown) =>
    key === 'elapsedMs' || key === 'windowId' ? 0 : value,
  ).replaceAll(/, [\d.]+ ms/g, '');

const exported = async (session: Session, fields: Fields): Promise<string> => {
  const { format = 'ndjson', ...given } = fields as { format?: TextFormatName };
  const choice = { scope: null, unscoped: false, predicate: null, rules: true, ...given };
  let text = '';
  const end = await session.engine.export(session.caller, { choice, format }, async (part) => {
    text += typeof part === 'string' ? part : new TextDecoder().decode(part);
  });
  return `${text}${end.omitted}`;
};

const moving: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'a pattern query': (session) => session.query('edge(?x, ?y)'),
  'a pattern query of one truth value': (session) => session.query('-edge(?x, ?y)'),
  'a proof': (session) => explain(session, { predicate: 'path', args: ['n0', '?y'], mode: 'why' }),
  'what is missing': (session) => explain(session, { predicate: 'path', args: ['n8', 'n0'], mode: 'whyNot' }),
  'what a disabled rule would conclude': (session) =>
    explain(session, { predicate: 'linked', args: ['n1', 'n0'], mode: 'whyNot' }),
  'what would be true': (session) => whatIf(session, { assert: [{ predicate: 'edge', args: ['n8', 'n0'] }] }),
  'what would not be true': (session) =>
    whatIf(session, { retract: [{ predicate: 'edge', args: ['n2', 'n3'] }] }),
  'what another rule would conclude': (session) =>
    whatIf(session, {
      rules: [{ text: 'path(?x, ?y) :- road(?x, ?y)' }],
      goals: [{ predicate: 'path', args: ['n0', '?y'] }],
    }),
  'a figure over facts': (session) =>
    aggregate(session, { predicate: 'edge', args: ['?x', '?y'], operation: 'COUNT', groupBy: ['?x'] }),
  'a figure over conclusions': (session) =>
    aggregate(session, { predicate: 'path', args: ['?x', '?y'], operation: 'COUNT', infer: true }),
  'a figure over every arity': (session) =>
    aggregate(session, { predicate: 'path', operation: 'COUNT', infer: true }),
  'how a question would be evaluated': (session) =>
    session.engine.plan(session.caller, askInputSchema.parse({ predicate: 'path', args: ['n0', '?y'] })),
  'how a question is evaluated': (session) =>
    session.engine.trace(session.caller, traceInputSchema.parse({ predicate: 'path', args: ['?x', 'n8'] })),
  'an answer with its plan': (session) => session.ask('path(?x, n7)', { plan: true }),
  'a window with a goal': (session) =>
    window(session, { goals: [{ predicate: 'path', args: ['n0', '?y'] }] }),
  'a window with conclusions': (session) => window(session, { includeInferred: true, explainOmitted: true }),
  'a window for a query': (session) => window(session, { query: 'the path of n1 to n8' }),
  'recall with conclusions': (session) =>
    session.engine.recall(session.caller, recallInputSchema.parse({ includeInferred: true })),
  'recall for a query': (session) =>
    session.engine.recall(session.caller, recallInputSchema.parse({ query: 'where is n9?' })),
  'a search': (session) =>
    session.engine.search(session.caller, searchInputSchema.parse({ text: 'edge n8 first' })),
  'an export of everything': (session) => exported(session, {}),
  'an export of ended facts too': (session) => exported(session, { ended: true }),
  'an export of a scope': (session) => exported(session, { scope: 'one', format: 'csv' }),
  'an export of a predicate': (session) => exported(session, { predicate: 'edge', format: 'ntriples' }),
};

const writes: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'a fact': (session) => session.tell('edge(n8, n9)', { scope: 'one', metadata: { from: 'here' } }),
  'the same fact in a further scope': (session) => session.tell('edge(n8, n9)', { scope: 'two' }),
  'a fact of a relation that nobody read': (session) => session.tell('road(n9, m)'),
  'a fact with another number of arguments': (session) => session.tell('path(n0, n1, n2)'),
  'a false fact': (session) => session.tell('-edge(n1, n9)'),
  'a fact that is valid later': (session) => session.tell('edge(n8, n0)', { validFrom: startTime + hour }),
  'a use': async (session) => session.query('edge(n2, ?y)', { limit: 1 }),
  'more time': async (session) => session.clock.advance(hour),
  'an alias': (session) =>
    session.engine.addAlias(session.caller, aliasInputSchema.parse({ entity: 'n8', alias: 'first' })),
  'a retraction': (session) => session.forget('edge(n3, n4)', { unscoped: true }),
  'a rule that is disabled': (session) =>
    session.teach('linked(?x, ?y) :- edge(?y, ?x), not closed(?x)', { enabled: false }),
  'a rule': (session) => session.teach('path(?x, ?y) :- road(?x, ?y)'),
  'a declaration': (session) =>
    session.engine.declare(session.caller, {
      ...declarationInputSchema.parse({ arguments: [{ name: 'from' }, { name: 'to' }] }),
      name: 'edge',
      arity: 2,
    }),
};

for (const [what, read] of Object.entries(moving))
  test(`${what} moves to a thread, answers as here, and sees each write before it`, async () => {
    const { session, threads } = await open();
    const both = async (before: string): Promise<void> => {
      const { asked } = threads;
      threads.afterMs = 0;
      const there = await read(session);
      expect(threads.asked, before).toBe(asked + 1);
      threads.afterMs = Number.POSITIVE_INFINITY;
      expect(written(there), before).toBe(written(await read(session)));
    };
    await both('at first');
    for (const [name, write] of Object.entries(writes)) {
      await write(session);
      await both(name);
    }
  });

test('a read of many facts stays while they are copied, or once it has done much, and the next of its shape goes there at once', async () => {
  const { session, threads } = await open();
  threads.afterMs = 0.001;
  threads.untilMs = 0;
  await session.tellAll(Array.from({ length: 60_000 }, (_, at) => `item(i${at})`));
  expect(await session.query('item(?x)', { limit: 2 })).toHaveLength(2);
  await vi.waitFor(() => expect(threads.ahead).toBe(1), { timeout: 60_000, interval: 1 });
  expect(threads.asked).toBe(0);
  expect(await session.query('item(?x)', { limit: 2, unscoped: true })).toHaveLength(2);
  expect(threads.asked).toBe(0);
  expect(await session.query('item(?y)', { limit: 3 })).toHaveLength(3);
  expect(threads.asked).toBe(1);
  // More changes than a question waits for.
  await session.tellAll(Array.from({ length: 2000 }, (_, at) => `item(j${at})`));
  expect(await session.query('item(?x)', { limit: 5 })).toHaveLength(5);
  expect(threads.asked).toBe(1);
  await vi.waitFor(() => expect(threads.ahead).toBe(2), { timeout: 60_000, interval: 1 });
  // Even this one may take more than a slice if the machine is busy.
  threads.afterMs = 60_000;
  expect(await session.query('edge(?x, ?y)')).toHaveLength(8);
  expect(threads.asked).toBe(1);
});

test('of several reads at once that take long and have no copy, one stays and the others wait for theirs', async () => {
  const { session, threads } = await open();
  threads.afterMs = 0.001;
  threads.untilMs = 0;
  await session.tellAll(Array.from({ length: 60_000 }, (_, at) => `item(i${at})`));
  const reads = [2, 3, 4].map((limit) => session.query('item(?x)', { limit }));
  expect((await Promise.all(reads)).map((found) => found.length)).toEqual([2, 3, 4]);
  expect(threads.asked).toBe(2);
});

interface ForBoth {
  readonly session: Session;
  readonly threads: ThreadsInProcess;
  /** Of the stored fact that the question uses. */
  readonly id: string;
}

/** A read that begins on the thread too, at its second look at the clock. What runs here pauses until `isHeld` is false. */
async function openForBoth(isHeld: (threads: ThreadsInProcess) => boolean = () => false): Promise<ForBoth> {
  const threads = threadsInProcess();
  const pause = async (): Promise<void> => {
    const isStarting = (): boolean => threads.started > 0 && threads.heard.length === 0;
    do await immediately();
    while (isStarting() || isHeld(threads));
  };
  const session = await openSession({ threadHost: threads, pause });
  await session.tellAll(Array.from({ length: 200 }, (_, at) => `item(i${at})`));
  const { id } = await session.tell('item(i0)');
  await session.teach('pair(?x, ?y) :- item(?x), item(?y), ?x != ?y');
  Object.assign(threads, { afterMs: 0.001, untilMs: 0, lateMs: 0 });
  return { session, threads, id };
}

/** The answer, the uses of a fact of its proofs, and how often the rule fired. */
async function paired({ session, id }: ForBoth): Promise<readonly [string, unknown, number]> {
  let now = performance.now();
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 7));
  const asked = session.ask('pair(?x, ?y)', { timeoutMs: 600_000, limit: 300, withProof: true });
  const answer = await asked.finally(() => time.mockRestore());
  const { salienceBreakdown } = await session.engine.fact(session.caller, id);
  const [rule] = await session.engine.rules(session.caller);
  return [
    written(answer).replaceAll(rule?.id ?? '', ''),
    salienceBreakdown,
    // The first slice is counted twice if a thread answers.
    Math.round((rule?.fired ?? 0) / 10_000),
  ];
}

const isAsk = (message: ToReasoningThread): boolean => message.kind === 'ask' && message.task.kind === 'ask';

async function pairedInPlace(): Promise<Awaited<ReturnType<typeof paired>>> {
  const place = await openForBoth();
  place.threads.afterMs = Number.POSITIVE_INFINITY;
  return paired(place);
}

test('a read that has taken very long begins on the thread too, and the first answer counts', async () => {
  const expected = await pairedInPlace();
  const here = await openForBoth();
  here.threads.filter = (message) => !isAsk(message);
  expect(await paired(here)).toEqual(expected);
  expect(here.threads.asked).toBe(1);
  expect(here.threads.posted.filter(({ kind }) => kind === 'cancel')).toHaveLength(1);
  expect(here.session.engine.counters().reasoning.movedQuestions).toBe(0);
  const there = await openForBoth(
    ({ asked, heard }) => asked === 1 && !heard.some(({ kind }) => kind === 'answer'),
  );
  expect(await paired(there)).toEqual(expected);
  expect(there.session.engine.counters().reasoning.movedQuestions).toBe(1);
});

test('a read that goes on here and on a thread answers if the thread ends, and ends here after a while', async () => {
  const expected = await pairedInPlace();
  const lost = await openForBoth();
  lost.threads.filter = (message) => {
    if (isAsk(message)) setImmediate(() => lost.threads.kill());
    return !isAsk(message);
  };
  expect(await paired(lost)).toEqual(expected);
  expect(lost.threads.started).toBeGreaterThan(1);
  for (const bound of [{ bothBytes: 0 }, { bothTimes: 1 }]) {
    const short = await openForBoth();
    Object.assign(short.threads, bound);
    expect(await paired(short)).toEqual(expected);
    expect(short.session.engine.counters().reasoning.movedQuestions).toBe(1);
  }
});

test('facts that a query on a thread found count as used', async () => {
  const { session, threads } = await open();
  const { id } = await session.tell('edge(a, b)');
  session.clock.set(startTime + hour);
  await session.query('edge(?x, ?y)');
  expect(threads.asked).toBe(1);
  const { salienceBreakdown } = await session.engine.fact(session.caller, id);
  expect(salienceBreakdown).toMatchObject({ uses: 2 });
});

test('what is missing because facts ended is found on a thread too, also if they were asserted again', async () => {
  const { session, threads } = await open();
  const missing = async (): Promise<string> => {
    threads.afterMs = 0;
    const { asked } = threads;
    const there = written(
      await explain(session, { predicate: 'path', args: ['x', 'y'], unscoped: true, mode: 'whyNot' }),
    );
    expect(threads.asked).toBe(asked + 1);
    threads.afterMs = Number.POSITIVE_INFINITY;
    const here = await explain(session, {
      predicate: 'path',
      args: ['x', 'y'],
      unscoped: true,
      mode: 'whyNot',
    });
    expect(there).toBe(written(here));
    return there;
  };
  expect(await missing()).not.toContain('expired at');
  for (let round = 0; round < 3; round++) {
    session.clock.advance(10_000);
    const now = session.clock.now();
    await session.tell('edge(x, y)', { validUntil: now + 1000 });
    expect(await missing()).not.toContain('not_yet_valid');
    session.clock.set(now + 2000);
    expect(await missing()).toContain(`expired at ${new Date(now + 1000).toISOString()}`);
    await session.tell('edge(x, y)', { validFrom: now + 5000 });
    expect(await missing()).toContain('not_yet_valid');
    await session.tell('edge(x, y)', { validFrom: null, validUntil: now + 6000 });
    await missing();
    session.clock.set(now + 7000);
    await missing();
    if (round === 1) await session.forget('edge(x, y)');
    await missing();
  }
});

test('a supposition that is refused is refused in the words of the serving thread', async () => {
  const { session, threads } = await open();
  const assert = [{ predicate: 'edge', args: ['a', 'b'], validFrom: 2, validUntil: 1 }];
  for (const fields of [
    { withoutRules: ['none'] },
    { rules: [{ text: 'no rule' }] },
    { rules: [{ text: 'path(?x, ?y) :- edge(?x, ?_)' }] },
    { rules: [{ text: 'odd(?x) :- edge(?x, ?_), not odd(?x)' }] },
    { assert, rules: [{ text: 'no rule' }] },
  ]) {
    threads.afterMs = 0;
    const there = await refusal(whatIf(session, fields));
    threads.afterMs = Number.POSITIVE_INFINITY;
    const here = await refusal(whatIf(session, fields));
    const { elapsedMs: _then, ...members } = there.members;
    const { elapsedMs: _now, ...expected } = here.members;
    expect([there.code, there.message, members]).toEqual([here.code, here.message, expected]);
  }
});

/** A transaction with writes of every kind over facts of keyed relations, and questions within it. */
async function openWithin(): Promise<{ within: Session; id: string; threads: ThreadsInProcess }> {
  const { session, threads } = await open();
  const { engine, caller } = session;
  const named = ['who', 'where'].map((name) => ({ name }));
  const keyed = declarationInputSchema.parse({ arguments: named, key: ['who'], onConflict: 'supersede' });
  await engine.declare(caller, { ...keyed, name: 'lives', arity: 2 });
  await session.tellAll(['lives(ann, rome)', 'lives(bob, oslo)', 'works(ann, rome)']);
  const { id: taught } = await session.teach('near(?x, ?y) :- lives(?x, ?z), lives(?y, ?z)', {
    enabled: false,
  });
  const { id } = await engine.begin(caller);
  const within = session.as({ transaction: id });
  const writes = engine.within(within.caller);
  await writes.shape(declarationToStore({ ...keyed, name: 'works', arity: 2 }));
  await writes.tell(factInput('lives(ann, oslo)', { validFrom: 'always' }));
  await writes.tell(factInput('works(ann, oslo)', { scope: 'one' }));
  await writes.tell(factInput('edge(n8, n9)', { scope: 'one', metadata: { from: 'here' }, ttl: hour }));
  await writes.tell(factInput('-edge(n1, n9)'));
  await writes.forget(retractInput('edge(n2, n3)'));
  await writes.updateRule(taught, ruleUpdateSchema.parse({ enabled: true }));
  await writes.teach(ruleInput({ text: 'path(?x, ?y) :- road(?x, ?y)' }));
  await writes.tell(factInput('road(n2, n3)'));
  return { within, id, threads };
}

const askedWithin: Readonly<Record<string, (within: Session) => Promise<unknown>>> = {
  'an answer': (within) => within.ask('path(?x, ?y)', { withProof: true, limit: 300 }),
  'an answer by a rule that it enables': (within) => within.ask('near(?x, ?y)', { withProof: true }),
  'an answer under its own keys': (within) =>
    within.ask('lives(ann, ?w), works(?x, ?w)', { withProof: true }),
  'no answer, with hints': (within) => within.ask('paht(n0, ?y)'),
  'a query': (within) => within.query('edge(?x, ?y)'),
  'a query of a keyed relation': (within) => within.query('works(?x, ?y)'),
};

test('questions in a transaction move with its writes, and answer as here', async () => {
  const { within, id, threads } = await openWithin();
  for (const [name, ask] of Object.entries(askedWithin)) {
    threads.afterMs = 0;
    const { asked } = threads;
    const there = written(await ask(within));
    expect([name, threads.asked]).toEqual([name, asked + 1]);
    threads.afterMs = Number.POSITIVE_INFINITY;
    expect([name, there]).toEqual([name, written(await ask(within))]);
  }
  threads.afterMs = 0;
  const other = within.as({ transaction: null });
  expect(await other.results('path(n2, ?y)')).toHaveLength(6);
  expect(await within.results('path(n2, ?y)')).toHaveLength(7);
  // What it asked is known to nobody else.
  await within.engine.rollback(other.caller, id);
  expect(await refusal(within.ask('path(n2, ?y)'))).toMatchObject({ code: 'Conflict' });
});

test('a question in a transaction is answered if its thread ends, or the transaction is rolled back, in the middle', async () => {
  for (const ask of Object.values(askedWithin)) {
    const { within, id, threads } = await openWithin();
    threads.afterMs = Number.POSITIVE_INFINITY;
    const here = written(await ask(within));
    threads.afterMs = 0;
    let isLost = false;
    threads.filter = (message) => {
      if (message.kind === 'ask' && !isLost) setImmediate(() => threads.kill());
      isLost ||= message.kind === 'ask';
      return true;
    };
    expect(written(await ask(within))).toBe(here);
    expect([isLost, threads.started]).toEqual([true, 2]);
    const ended: Promise<unknown>[] = [];
    threads.filter = (message) => {
      if (message.kind === 'ask')
        ended.push(within.engine.rollback({ ...within.caller, transaction: null }, id));
      return true;
    };
    const last = written(await ask(within));
    expect(last.replace(/,"hints":.*]/, '')).toBe(here.replace(/,"hints":.*]/, ''));
    await Promise.all(ended);
    expect(await refusal(ask(within))).toMatchObject({ code: 'Conflict' });
  }
});

test('a question in a transaction with very much to post stays, and so does one about an instant', async () => {
  const { within, threads } = await openWithin();
  const moment = { asOf: startTime + 1, asKnown: null };
  await within.as({ moment }).ask('path(n0, ?y)');
  const large = 'x'.repeat(64_000);
  const facts = Array.from({ length: 66 }, (_, at) => factInput(`note(${large}${at})`));
  await within.engine.within(within.caller).tellAll(facts);
  expect(await within.results('path(n0, ?y)')).toHaveLength(2);
  expect(threads.asked).toBe(0);
});

test('a long window is sent as the thread wrote it, unless a session keeps it or it is wanted as lines', async () => {
  const { session, threads } = await open();
  const { engine, caller } = session;
  await session.tellAll(chainOf(200));
  const asked = async (fields: Fields): Promise<unknown> =>
    engine.optimizeContextForText(
      caller,
      optimizeInputSchema.parse({
        goals: [{ predicate: 'path', args: ['n0', '?y'] }],
        maxFacts: 300,
        ...fields,
      }),
    );
  const text = await asked({});
  expect(threads.asked).toBe(1);
  expect(text).toBeInstanceOf(JsonText);
  threads.afterMs = Number.POSITIVE_INFINITY;
  expect(written((text as JsonText).value())).toBe(written(await asked({})));
  threads.afterMs = 0;
  expect(await asked({ sessionId: 'one' })).not.toBeInstanceOf(JsonText);
  expect(await asked({ format: 'text' })).not.toBeInstanceOf(JsonText);
  expect(threads.asked).toBe(3);
});
