import { readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { JsonText } from '../base/json-text.ts';
import { type Answer, askInputSchema } from '../contract/inference.ts';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import { entityInputSchema } from '../contract/entities.ts';
import { explainInputSchema } from '../contract/explanation.ts';
import { optimizeInputSchema } from '../contract/context.ts';
import { memoryStatsQuerySchema } from '../contract/memory.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { factInputSchema } from '../contract/facts.ts';
import type { EngineOptions } from '../open-part.ts';
import {
  askInput,
  chainOf,
  openSession,
  refusal,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';
import { readGolden } from '../testing/golden.ts';
import { type ThreadsInProcess, threadsInProcess } from '../testing/threads-in-process.ts';
import { viewFields } from '../testing/twin.ts';

/** Heavy questions on reasoning threads, both ends in this process. */

async function openWithThreads(
  options: Partial<EngineOptions> = {},
): Promise<{ session: Session; threads: ThreadsInProcess; warnings: string[] }> {
  const threads = threadsInProcess();
  const warnings: string[] = [];
  const onWarn = (message: string): void => void warnings.push(message);
  const session = await openSession({ threadHost: threads, onWarn, ...options });
  return { session, threads, warnings };
}

/** What two engines need not have in common. */
const isOfNow = new Set(['id', 'ruleId']);

const path = ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)'];

async function teachPath(session: Session): Promise<void> {
  for (const rule of path) await session.teach(rule);
}

/** The answer by a thread and the one in place, which have to be the same. */
async function askBoth(
  session: Session,
  threads: ThreadsInProcess,
  text: string,
  fields: object = {},
): Promise<Answer> {
  const asked = threads.asked;
  threads.afterMs = 0;
  const there = await session.ask(text, { withProof: true, limit: 5000, ...fields });
  expect(threads.asked).toBeGreaterThan(asked);
  threads.afterMs = Number.POSITIVE_INFINITY;
  // Another limit: else the answer would come from the cache.
  const here = await session.ask(text, { withProof: true, limit: 5001, ...fields });
  threads.afterMs = 0;
  expect(JSON.stringify({ ...there, elapsedMs: 0 })).toBe(JSON.stringify({ ...here, elapsedMs: 0 }));
  return there;
}

/** What stands where two texts begin to differ; null: nowhere. */
function differenceOf(one: string, other: string): string[] | null {
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at++;
  return [one, other].map((text) => text.slice(Math.max(0, at - 50), at + 100));
}

const golden = new URL('../testing/golden/', import.meta.url);

for (const name of readdirSync(golden).sort())
  test(`a thread answers the golden cases byte for byte as the serving thread does (${name})`, async () => {
    for (const each of readGolden(readFileSync(new URL(name, golden), 'utf8'))) {
      const { session, threads } = await openWithThreads();
      const { engine, caller } = session;
      for (const { rule, scope, enabled, refusal: refused } of each.rules)
        if (refused === null) await engine.teach(caller, ruleInputSchema.parse({ ...rule, scope, enabled }));
      const facts = each.facts.map(({ atom: { predicate, args, negated }, scope }) =>
        factInputSchema.parse({ predicate, args, truthVal: !negated, scope }),
      );
      if (facts.length > 0) await engine.tellAll(caller, facts);
      const ask = async (text: string, fields: object): Promise<string> => {
        const input = {
          text,
          withProof: !each.isBeyondModel,
          timeoutMs: 600_000,
          maxDerivations: 300_000,
          ...fields,
        };
        try {
          const answer = await engine.ask(caller, askInputSchema.parse(input));
          return JSON.stringify({ ...answer, elapsedMs: 0 });
        } catch (error) {
          return String(error).replace(/\d+ ms/, '');
        }
      };
      for (const { text, view } of each.questions) {
        threads.afterMs = 0;
        const there = await ask(text, { ...viewFields(view), limit: 99_999 });
        threads.afterMs = Number.POSITIVE_INFINITY;
        const here = await ask(text, { ...viewFields(view), limit: 99_998 });
        // Not the texts, which may be long.
        expect(differenceOf(there, here), `${each.title}: ${text}`).toBeNull();
      }
      await engine.close();
    }
  });

test('a question moves when its time is over, goes there at once next time, and stays when it is light', async () => {
  const { session, threads } = await openWithThreads();
  // A slice of 5 ms is the least that a question has; this one takes much longer on any machine.
  threads.afterMs = 0.001;
  await teachPath(session);
  await session.tellAll(chainOf(800));
  expect((await session.ask('path(?x, ?y)', { limit: 3 })).total).toBe(320_400);
  expect(threads.asked).toBe(1);
  const { conclusions } = session.engine.figures();
  expect((await session.ask('path(?a, ?b)', { limit: 4 })).total).toBe(320_400);
  expect(threads.asked).toBe(2);
  expect(session.engine.figures()).toMatchObject({ conclusions, reasoning: { threads: 1, copies: 1 } });
  expect(session.engine.counters().reasoning).toEqual({ movedQuestions: 2, replacedThreads: 0 });
  // Even this one may take more than a slice if the machine is busy.
  threads.afterMs = 60_000;
  await session.ask('edge(?x, ?y), edge(?y, n1)');
  expect(threads.asked).toBe(2);
});

test('a shape of question of which three in a row turn out to be light is asked here again', async () => {
  const { session, threads } = await openWithThreads();
  threads.afterMs = 0.001;
  await teachPath(session);
  await session.tellAll(chainOf(150));
  await session.ask('path(?x, ?y)');
  expect(threads.asked).toBe(1);
  await session.forgetPattern('edge(?x, ?y)');
  await session.tell('edge(a, b)');
  threads.afterMs = 60_000;
  for (const light of [1, 2, 3]) {
    // With other rules it is derived afresh.
    await session.teach(`path(?x, ?x) :- edge(?x, ?_), ?x != n${light}`);
    expect(await session.results('path(?x, ?y)')).toEqual(['path(a, a)', 'path(a, b)']);
    expect(threads.asked).toBe(1 + light);
  }
  await session.tell('edge(b, c)');
  expect((await session.results('path(?u, ?v)')).length).toBe(5);
  expect(threads.asked).toBe(4);
});

test('heavy and light questions of one shape in turns stay on the thread', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(150));
  threads.afterMs = 0.001;
  await session.ask('path(?x, ?y)');
  expect(threads.asked).toBe(1);
  for (const round of [1, 2, 3, 4]) {
    threads.afterMs = round % 2 === 0 ? 0.001 : 60_000;
    // With other rules it is derived afresh.
    await session.teach(`path(?x, ?y) :- edge(?y, ?x), ?x = n${round}`);
    await session.ask('path(?x, ?y)');
    expect(threads.asked).toBe(1 + round);
  }
});

test('a question on a thread sees every write that was answered before it', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tell('edge(a, b)', { scope: 'one', metadata: { from: 'here' } });
  expect((await askBoth(session, threads, 'path(?x, ?y)')).results).toEqual(['path(a, b)']);
  await session.tell('edge(b, c)', { scope: 'two', metadata: { sure: true } });
  await session.tell('edge(c, d)');
  expect((await askBoth(session, threads, 'path(a, ?y)')).count).toBe(3);
  expect((await askBoth(session, threads, 'path(?x, ?y)', { scope: 'two' })).count).toBe(1);
  await session.tell('edge(a, b)', { scope: 'one', metadata: { from: 'there' } });
  await session.forget('edge(c, d)', { unscoped: true });
  const answer = await askBoth(session, threads, 'path(?x, ?y)');
  expect(answer.proof?.steps.find(({ atom }) => atom === 'edge(a, b)')?.metadata).toEqual({ from: 'there' });
  expect(answer.count).toBe(3);
  // Of this relation nothing was stored when the first question was asked.
  await session.teach('known(?x) :- path(?x, ?_), trusted(?x)');
  expect((await askBoth(session, threads, 'known(?x)')).count).toBe(0);
  await session.tellAll(['trusted(a)', 'trusted(z)']);
  expect((await askBoth(session, threads, 'known(?x)')).results).toEqual(['known(a)']);
});

test('a question that names a constant waits for a copy that takes longer than its patience', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3000));
  // Every look at the clock ends a slice, so the wait is soon longer than 50 ms.
  let now = performance.now();
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 7));
  onTestFinished(() => time.mockRestore());
  expect((await session.ask('path(n2990, ?y)')).count).toBe(10);
  expect(threads.asked).toBe(1);
});

test('validities begin and end on a thread as they do here', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tell('edge(a, b)', { validUntil: startTime + 1000 });
  await session.tell('edge(b, c)', { validFrom: startTime + 2000 });
  for (const [at, count] of [
    [0, 1],
    [1500, 0],
    [2500, 1],
  ] as const) {
    session.clock.set(startTime + at);
    expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(count);
  }
  // A clock that was set back: what was copied is of no use.
  session.clock.set(startTime - 100_000);
  session.engine.figures();
  expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(1);
  expect(threads.posted.filter(({ kind }) => kind === 'drop')).toHaveLength(1);
});

test('rules that are taught, disabled and forgotten count on a thread, and so do their firings', async () => {
  const { session, threads } = await openWithThreads();
  await session.tellAll(chainOf(3));
  const { id } = await session.teach(path[0] as string);
  expect(await session.results('path(?x, ?y)')).toHaveLength(3);
  expect((await session.engine.rule(session.caller, id)).fired).toBe(3);
  expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(3);
  const { id: second } = await session.teach(path[1] as string);
  expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(6);
  await session.changeRule(id, { enabled: false });
  expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(0);
  await session.changeRule(id, { enabled: true });
  await session.engine.forgetRule(session.caller, second);
  expect((await askBoth(session, threads, 'path(?x, ?y)')).count).toBe(3);
});

test('rules that change while they are posted for several questions are those of the last change', async () => {
  const { session, threads } = await openWithThreads();
  await session.tellAll(chainOf(2));
  const ids: string[] = [];
  for (let at = 0; at < 900; at++) ids.push((await session.teach(`p${at}(?x) :- edge(?x, ?_)`)).id);
  let now = performance.now();
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 7));
  onTestFinished(() => time.mockRestore());
  const first = session.ask('p10(?x)');
  await expect.poll(() => threads.posted.some(({ kind }) => kind === 'rules'), { interval: 0 }).toBe(true);
  const gone = session.engine.forgetRule(session.caller, ids[899] as string);
  const others = [1, 2, 3, 4].map((at) => session.ask(`p${at}(?x)`));
  for (const { count } of await Promise.all([first, ...others])) expect(count).toBe(2);
  await gone;
  expect((await askBoth(session, threads, 'p899(?x)', { withProof: false })).count).toBe(0);
  expect(threads.started).toBe(1);
});

test('what a thread concluded is withdrawn and depends as what was concluded here', async () => {
  const { session, threads } = await openWithThreads();
  const seen: string[] = [];
  session.engine.subscribe(({ kind, data }) => {
    if (kind === 'conclusion.withdrawn') seen.push(data.atom ?? '');
  });
  await teachPath(session);
  await session.teach('next(?x, ?m) :- edge(?x, ?y), weight(?y, ?n), ?m = ?n + 1');
  await session.tellAll([...chainOf(4), 'weight(n1, 7)']);
  await session.ask('path(n1, ?y)');
  await session.ask('next(?x, ?m)');
  expect(threads.asked).toBe(2);
  const { dependents } = await session.forget('edge(n2, n3)', { unscoped: true, dependents: 'known' });
  expect(dependents).toEqual(['path(n1, n3)', 'path(n1, n4)']);
  await session.forget('weight(n1, 7)', { unscoped: true, dryRun: false });
  await session.tell('edge(n0, n1)', { validUntil: startTime + 1000 });
  await session.ask('path(n0, ?y)');
  session.clock.set(startTime + 2000);
  session.engine.figures();
  await session.engine.ask(session.caller, askInput('edge(n0, n1)'));
  await expect.poll(() => seen).toContain('path(n0, n2)');
  expect(new Set(seen).size).toBe(seen.length);
});

test('what a window for a query concluded on a thread is withdrawn and depends as what it concluded here', async () => {
  const seen = async (withThread: boolean): Promise<object> => {
    const { session, threads } = await openWithThreads();
    const events: string[] = [];
    session.engine.subscribe(({ kind, data }) => {
      if (kind === 'conclusion.withdrawn') events.push(data.atom ?? '');
    });
    threads.afterMs = withThread ? 0 : Number.POSITIVE_INFINITY;
    await teachPath(session);
    await session.tellAll(chainOf(4));
    const input = optimizeInputSchema.parse({ query: 'the path of n1 to n4' });
    await session.engine.optimizeContext(session.caller, input);
    expect(threads.asked).toBe(withThread ? 1 : 0);
    const edge = { unscoped: true, dependents: 'known' } as const;
    const { dependents } = await session.forget('edge(n2, n3)', edge);
    await expect.poll(() => events).toContain('path(n1, n4)');
    return { dependents, events: events.toSorted() };
  };
  const there = await seen(true);
  expect(there).toEqual(await seen(false));
});

test('what a thread concluded is counted, and depends on facts, as what was concluded here', async () => {
  const known = async (withThread: boolean): Promise<string> => {
    const { session, threads } = await openWithThreads();
    threads.afterMs = withThread ? 0 : Number.POSITIVE_INFINITY;
    const { engine, caller } = session;
    await teachPath(session);
    await session.teach('far(?x, ?m) :- path(?x, ?_), weight(?x, ?n), ?m = ?n + 1');
    await session.tellAll([...chainOf(6), 'weight(n1, 7)', 'weight(n2, 7)', 'edge(b, c)', 'path(n0, n1)']);
    const { id } = await session.tell('edge(n2, n3)', { metadata: { from: 'here' } });
    await session.ask('path(n1, ?y)', { withProof: true });
    await session.ask('far(?x, ?m)');
    const looked = async (): Promise<object> => ({
      fact: (await engine.fact(caller, id)).dependents,
      predicates: (await engine.predicates(caller)).predicates,
      stats: await engine.memoryStats(caller, memoryStatsQuerySchema.parse({})),
      entity: await engine.entity(caller, entityInputSchema.parse({ constant: 'n5' })),
    });
    const before = await looked();
    await session.forget('edge(n4, n5)', { unscoped: true, dependents: 'known' });
    await session.ask('path(?x, ?y)', { withProof: true });
    const answer = { before, after: await looked() };
    expect(threads.asked).toBe(withThread ? 3 : 0);
    return JSON.stringify(answer, (key, value: unknown) => (isOfNow.has(key) ? 0 : value), 1);
  };
  const there = await known(true);
  expect(there).toBe(await known(false));
  expect(there).toContain('"path(n1, n6)"');
});

test('a thread that says nothing of its conclusions, or ends, leaves those that are known here', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3));
  const { id } = await session.tell('edge(n1, n2)');
  await session.ask('path(?x, ?y)');
  const dependents = async () => (await session.engine.fact(session.caller, id)).dependents;
  expect(await dependents()).toHaveLength(4);
  threads.filter = (message) => {
    if (message.kind === 'ask') threads.kill();
    return true;
  };
  expect(await dependents()).toEqual([]);
  threads.filter = () => true;
  expect(await dependents()).toEqual([]);
  await session.ask('path(?x, ?y)', { limit: 70 });
  expect(await dependents()).toHaveLength(4);
  threads.filter = ({ kind }) => kind !== 'ask';
  expect(await dependents()).toEqual([]);
});

test('a retraction says so if it cannot list what goes of the conclusions of a thread', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(150));
  await session.ask('path(?x, ?y)');
  const ways = { unscoped: true, dependents: 'known' };
  expect(await session.forget('edge(n140, n141)', { ...ways, dryRun: true })).toMatchObject({
    dependentsComplete: false,
  });
  expect(await session.forget('edge(n140, n141)', ways)).toMatchObject({ dependentsComplete: false });
  threads.afterMs = Number.POSITIVE_INFINITY;
  await session.ask('path(?x, ?y)');
  expect(await session.forget('edge(n130, n131)', ways)).toMatchObject({ dependentsComplete: true });
});

test('after a change of rules, what a thread concluded again is known again, where tables here have it too', async () => {
  const known = async (withThread: boolean): Promise<string[][]> => {
    const { session, threads } = await openWithThreads();
    const found: string[][] = [];
    const look = async (): Promise<void> => {
      const ways = { dryRun: true, dependents: 'known', unscoped: true };
      found.push((await session.forget('edge(n1, n2)', ways)).dependents ?? []);
    };
    threads.afterMs = withThread ? 0 : Number.POSITIVE_INFINITY;
    await session.teach('path(?x, ?y) :- edge(?x, ?y)');
    await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
    await session.tellAll([...chainOf(2), 'edge(n0, n3)']);
    await session.ask('path(n0, n2)', { withProof: true });
    await look();
    await session.engine.explain(
      session.caller,
      explainInputSchema.parse({ predicate: 'path', args: ['n3', 'n2'], mode: 'whyNot' }),
    );
    await session.teach('load(?x, ?n) :- edge(?x, ?_), ?n = count { ?y : path(?x, ?y) }');
    await look();
    await session.ask('load(?x, ?n)');
    await look();
    return found;
  };
  const there = await known(true);
  expect(there).toEqual(await known(false));
  expect(there.at(-1)).toContain('path(n0, n2)');
});

test('conclusions of a thread that are too many to list make subscribers read again', async () => {
  const { session } = await openWithThreads();
  const seen: string[] = [];
  session.engine.subscribe(({ kind }) => void seen.push(kind));
  await teachPath(session);
  await session.tellAll(chainOf(150));
  await session.ask('path(?x, ?y)');
  const before = seen.length;
  await session.forget('edge(n70, n71)', { unscoped: true });
  await expect.poll(() => seen.slice(before)).toContain('reset');
});

test('facts that a thread used count as used', async () => {
  const { session } = await openWithThreads();
  await teachPath(session);
  const { id } = await session.tell('edge(a, b)');
  session.clock.set(startTime + 3_600_000);
  await session.ask('path(a, ?y)', { withProof: true });
  const { salienceBreakdown } = await session.engine.fact(session.caller, id);
  expect(salienceBreakdown).toMatchObject({ uses: 2 });
});

test('questions for stored facts stay here', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3));
  await session.ask('edge(n1, ?y)');
  expect(threads.asked).toBe(0);
});

test('an answer without results has its hints, and a long one stays text until somebody wants it', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(150));
  const { hints } = await askBoth(session, threads, 'pat(?x, ?y)');
  expect(hints?.join()).toContain('path');
  const long = askInput('path(?x, ?y)', { limit: 11_325 });
  const text = await session.engine.askForText(session.caller, long);
  expect(text).toBeInstanceOf(JsonText);
  expect((text as JsonText).bytes).toBeGreaterThan(100_000);
  expect((await session.ask('path(?x, ?y)', { limit: 11_325 })).results).toHaveLength(11_325);
});

test('a limit is refused in the words of the serving thread, and a bug is an internal error', async () => {
  const { session, threads } = await openWithThreads();
  await session.teach('count(?y) :- count(?x), ?y = ?x + 1');
  await session.tell('count(0)');
  const there = await refusal(session.ask('count(?x)', { maxDerivations: 1000 }));
  threads.afterMs = Number.POSITIVE_INFINITY;
  const here = await refusal(session.ask('count(?x)', { maxDerivations: 1000 }));
  expect([there.code, there.message, there.members['limit']]).toEqual([
    here.code,
    here.message,
    here.members['limit'],
  ]);
});

test('a caller who leaves cancels the question on the thread', async () => {
  const { session, threads } = await openWithThreads();
  await session.teach('count(?y) :- count(?x), ?y = ?x + 1');
  await session.tell('count(0)');
  const leaving = new AbortController();
  const asked = session
    .as({ signal: leaving.signal })
    .ask('count(?x)', { maxDerivations: 1_000_000_000, timeoutMs: 600_000 });
  await expect.poll(() => threads.asked).toBe(1);
  leaving.abort();
  await expect(asked).rejects.toThrow('the client has gone');
  expect(threads.posted.at(-1)).toMatchObject({ kind: 'cancel' });
  // The thread replied to that, and is not replaced.
  await session.tell('done(1)');
  expect(await session.results('done(?x), not edge(?x)')).toEqual(['done(1), not edge(1)']);
  expect(threads.started).toBe(1);
});

test('a thread that does not come back is replaced, and the questions of others begin again', async () => {
  const { session, threads, warnings } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3));
  let isStuck = true;
  threads.filter = () => !isStuck;
  const late = refusal(session.ask('path(n0, ?y)', { timeoutMs: 50 }));
  const other = session.ask('path(?x, ?y)', { timeoutMs: 600_000 });
  expect((await late).members['limit']).toBe('timeoutMs');
  isStuck = false;
  expect((await other).count).toBe(6);
  expect(threads.started).toBe(2);
  expect(warnings.join()).toContain('was replaced');
  expect(session.engine.counters().reasoning.replacedThreads).toBe(1);
});

for (const [when, kind] of [
  ['is copied to', 'relation'],
  ['takes in rules', 'order'],
  ['takes in changes', 'changes'],
  ['answers', 'ask'],
] as const)
  test(`a thread that ends while it ${when} is replaced without anybody noticing`, async () => {
    const { session, threads } = await openWithThreads();
    await teachPath(session);
    await session.tellAll(chainOf(3));
    if (kind === 'changes') {
      await session.ask('path(?x, ?y)');
      await session.tell('edge(n3, n4)');
    }
    let isKilled = false;
    threads.filter = (message) => {
      if (message.kind !== kind || isKilled) return true;
      isKilled = true;
      threads.kill();
      return false;
    };
    const both = await Promise.all([
      session.ask('path(?x, ?y)', { limit: 500 }),
      session.ask('path(n1, ?y)'),
    ]);
    expect(both.map(({ count }) => count)).toEqual(kind === 'changes' ? [10, 3] : [6, 2]);
    expect(isKilled).toBe(true);
    expect(threads.started).toBe(2);
  });

for (const [work, task] of [
  ['a question', 'ask'],
  ['a proof', 'explain'],
  ['an aggregate', 'aggregate'],
] as const)
  test(`a thread that ends in the middle of ${work} is replaced, and all get the right answer`, async () => {
    const { session, threads } = await openWithThreads();
    const { engine, caller } = session;
    const other = session.as({ tenant: 'other' });
    for (const rule of path) await session.teach(rule);
    for (const each of [session, other]) await each.tellAll(chainOf(60));
    const proof = { predicate: 'path', args: ['n3', 'n50'], mode: 'why' };
    const figure = { predicate: 'path', args: ['?x', '?y'], infer: true, groupBy: [], operation: 'COUNT' };
    const looks = {
      ask: () => session.ask('path(?x, ?y)', { withProof: true, limit: 5000 }),
      explain: () => engine.explain(caller, explainInputSchema.parse(proof)),
      aggregate: () => engine.aggregate(caller, aggregateInputSchema.parse(figure)),
    };
    const text = (found: object): string => JSON.stringify({ ...found, elapsedMs: 0 });
    threads.afterMs = Number.POSITIVE_INFINITY;
    const here = text(await looks[task]());
    threads.afterMs = 0;
    let isKilled = false;
    threads.filter = (message) => {
      if (!isKilled && message.kind === 'ask' && message.task.kind === task) {
        isKilled = true;
        // It has begun by then.
        setImmediate(() => threads.kill());
      }
      return true;
    };
    await session.tell('other(n1)');
    const [there, { total }] = await Promise.all([looks[task](), other.ask('path(?x, n60)')]);
    const sameGeneration = (found: string): string => found.replace(/"generation":\d+/, '');
    expect(sameGeneration(text(there))).toBe(sameGeneration(here));
    expect(total).toBe(60);
    expect(isKilled).toBe(true);
    expect(threads.started).toBe(2);
  });

test('what a thread concluded is told as withdrawn once, also if it ended before', async () => {
  const { session, threads } = await openWithThreads();
  const seen: string[] = [];
  session.engine.subscribe(({ kind, data }) => {
    if (kind === 'conclusion.withdrawn') seen.push(data.atom ?? '');
  });
  await session.teach('next(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), not closed(?y)');
  await session.tellAll(chainOf(4));
  await session.ask('next(?x, ?y)');
  threads.kill();
  await session.tell('closed(n1)');
  await expect.poll(() => seen).toEqual(['next(n0, n2)']);
  expect((await session.ask('next(?x, ?y)')).total).toBe(2);
  await session.tell('closed(n2)');
  threads.kill();
  await expect.poll(() => seen).toEqual(['next(n0, n2)', 'next(n1, n3)']);
  expect((await session.ask('next(?x, ?y)')).total).toBe(1);
  await session.tell('closed(n3)');
  await expect.poll(() => seen).toEqual(['next(n0, n2)', 'next(n1, n3)', 'next(n2, n4)']);
});

test('a thread that ends between questions is replaced by the next one', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3));
  await session.ask('path(?x, ?y)');
  threads.kill();
  await session.tell('edge(n3, n4)');
  expect((await session.ask('path(?x, ?y)')).count).toBe(10);
  expect(threads.started).toBe(2);
});

test('a question whose thread ends each time is refused in the end', async () => {
  const { session, threads } = await openWithThreads();
  await teachPath(session);
  await session.tellAll(chainOf(3));
  threads.filter = ({ kind }) => {
    if (kind === 'ask') threads.kill();
    return true;
  };
  expect((await refusal(session.ask('path(?x, ?y)'))).members['limit']).toBe('memory');
  threads.filter = () => true;
  expect((await session.ask('path(?x, ?y)')).count).toBe(6);
});

test('a copy is dropped when memory is short, and made again', async () => {
  const { session, threads } = await openWithThreads({
    memoryBudgetBytes: 10_000_000,
    questionMemoryBytes: 10_000_000,
  });
  await teachPath(session);
  await session.tellAll([...chainOf(400), ...Array.from({ length: 250 }, (_, at) => `item(${at})`)]);
  expect((await session.ask('path(?x, ?y)', { limit: 1 })).total).toBe(80_200);
  const isDropped = (): boolean => threads.posted.some(({ kind }) => kind === 'drop');
  expect(isDropped()).toBe(false);
  // Tables of other questions need the memory.
  threads.afterMs = Number.POSITIVE_INFINITY;
  for (let at = 0; at < 10 && !isDropped(); at++) {
    await session.teach(`pair${at}(?x, ?y) :- item(?x), item(?y)`);
    await session.ask(`pair${at}(?x, ?y)`, { limit: 1 });
  }
  expect(isDropped()).toBe(true);
  expect(session.engine.figures().reasoning.copies).toBe(0);
  threads.afterMs = 0;
  expect((await session.ask('path(n391, ?y)')).count).toBe(9);
});

test('tenants have copies of their own, which go with them', async () => {
  const { session, threads } = await openWithThreads();
  threads.count = 2;
  await teachPath(session);
  const other = session.as({ tenant: 'other' });
  await session.tellAll(chainOf(3));
  await other.tell('edge(a, b)');
  expect((await session.ask('path(?x, ?y)')).count).toBe(6);
  expect((await other.ask('path(?x, ?y)')).results).toEqual(['path(a, b)']);
  expect(session.engine.figures().reasoning.copies).toBe(2);
  await session.engine.deleteTenant(session.caller, 'default', 'other');
  expect(session.engine.figures().reasoning.copies).toBe(1);
  expect((await other.ask('path(?x, ?y)')).count).toBe(0);
  await other.tell('edge(c, d)');
  expect((await other.ask('path(?x, ?y)')).results).toEqual(['path(c, d)']);
});

test('a long constant, a fact without arguments and constants made by rules cross both ways', async () => {
  const { session, threads } = await openWithThreads();
  const long = 'x'.repeat(65_536);
  await session.tellAll([
    'on()',
    ...Array.from({ length: 4 }, (_, at) => `says(${at}, "${at}${long.slice(1)}")`),
  ]);
  await session.teach('loud(?n, ?t) :- on(), says(?m, ?t), ?n = ?m * 1000');
  await session.teach('any() :- loud(?_, ?_)');
  const answer = await askBoth(session, threads, 'loud(?n, ?t), any()');
  expect(answer.bindings.map(({ n }) => n)).toEqual(['0', '1000', '2000', '3000']);
});

test('many facts with metadata are copied in messages of bounded size', async () => {
  const { session, threads } = await openWithThreads();
  const edges = chainOf(2500);
  await session.tellAll(edges, { metadata: { source: 'list' } });
  await session.teach('far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)');
  expect((await askBoth(session, threads, 'far(?x, ?z)', { withProof: false })).count).toBe(2499);
  for (const message of threads.posted) {
    if (message.kind === 'metadata') expect(message.entries.length).toBeLessThanOrEqual(256);
    if (message.kind === 'constants') expect(message.ids.length).toBeLessThanOrEqual(1024);
  }
  await session.forgetPattern('edge(?x, ?y)');
  expect((await askBoth(session, threads, 'far(?x, ?z)')).count).toBe(0);
  expect(threads.posted.filter(({ kind }) => kind === 'changes').length).toBeGreaterThan(5);
});

test('where the dead rows of a copy were dropped, it answers as before', async () => {
  const { session, threads } = await openWithThreads();
  await session.teach('held(?x, ?y) :- edge(?x, ?y), kept(?x)');
  await session.tellAll([...chainOf(3000), 'kept(n7)', 'kept(n2999)']);
  expect((await askBoth(session, threads, 'held(?x, ?y)')).count).toBe(2);
  for (const round of [1, 2, 3]) {
    for (const fact of chainOf(3000)) await session.tell(fact, { metadata: { round } });
    const { count, proof } = await askBoth(session, threads, 'held(?x, ?y)');
    expect([count, proof?.steps[0]?.metadata]).toEqual([2, { round }]);
  }
  await session.forgetPattern('edge(n1, ?y)');
  expect((await askBoth(session, threads, 'held(?x, ?y), edge(?y, ?z)')).count).toBe(1);
});

test('questions of a service that ends are refused', async () => {
  const { session, threads } = await openWithThreads();
  await session.teach('count(?y) :- count(?x), ?y = ?x + 1');
  await session.tell('count(0)');
  threads.filter = ({ kind }) => kind !== 'ask';
  const asked = refusal(session.ask('count(?x)', { timeoutMs: 600_000 }));
  await expect.poll(() => threads.asked).toBe(1);
  await session.engine.close();
  expect((await asked).code).toBe('NotReady');
});

test('a question that fills the heap of its thread is refused, and the thread goes on', async () => {
  const { session, threads, warnings } = await openWithThreads();
  await session.tellAll(chainOf(1500));
  await teachPath(session);
  threads.isHeapNearlyFull = true;
  const refused = await refusal(session.ask('path(?x, ?y)', { limit: 1 }));
  expect([refused.code, refused.members['limit']]).toEqual(['InferenceLimitExceeded', 'memory']);
  expect(refused.message).toContain('the heap is nearly full');
  // One that takes little is answered.
  expect((await session.ask('path(n1490, ?y)')).count).toBe(10);
  threads.isHeapNearlyFull = false;
  expect((await session.ask('path(?x, ?y)', { limit: 1 })).total).toBe(1_125_750);
  expect([threads.started, warnings]).toEqual([1, []]);
});
