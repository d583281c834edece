import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { chainOf, gate, openSession, refusal, type Session, testCaller } from '../testing/engine-fixtures.ts';

/** A long question, small ones and writes at the same time: contract section 5. */

const nodes = 300;
const pairs = (nodes * (nodes + 1)) / 2;

/** An engine whose question `reach(?x, ?y)` takes long enough to pause. */
async function longQuestion() {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(chainOf(nodes));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  return { session, hold, release };
}

/** Asks the long question; resolves with it once it pauses between two slices. */
async function heldQuestion(
  { ask }: Session,
  hold: () => Promise<void>,
  fields = {},
): Promise<{ answer: ReturnType<Session['ask']> }> {
  const held = hold();
  const answer = ask('reach(?x, ?y)', fields);
  await held;
  return { answer };
}

test('answers small questions and writes while a heavy question runs', async () => {
  const { session, hold, release } = await longQuestion();
  const { results, tell, query, list, engine, caller } = session;
  const { answer } = await heldQuestion(session, hold);
  expect(await results('reach(n298, ?x)')).toEqual(['reach(n298, n299)', 'reach(n298, n300)']);
  expect((await tell('q(a)')).status).toBe('asserted');
  expect(await results('q(?x)')).toEqual(['q(a)']);
  expect(await query('q(?x)')).toHaveLength(1);
  expect((await list({ predicate: 'q' })).total).toBe(1);
  expect((await engine.predicates(caller)).predicates.map(({ name }) => name)).toContain('q');
  release();
  expect((await answer).count).toBe(pairs);
});

test('answers as of the generation it names, whatever is written between its slices', async () => {
  const { session, hold, release } = await longQuestion();
  const { tell, forget, ask } = session;
  const { answer } = await heldQuestion(session, hold);
  const { generation } = await forget('edge(n150, n151)');
  await tell('edge(n300, n301)');
  await tell('edge(n0, n1)', { metadata: { seen: true } });
  release();
  const old = await answer;
  expect(old).toMatchObject({ count: pairs, generation: generation - 1 });
  expect(old.results).toContain('reach(n0, n300)');
  expect(old.results).not.toContain('reach(n0, n301)');
  const next = await ask('reach(?x, ?y)');
  expect(next.generation).toBe(generation + 2);
  expect(next.results).toContain('reach(n151, n301)');
  expect(next.results).not.toContain('reach(n0, n300)');
});

test('hides a rule change between two slices, in the proof too', async () => {
  const { session, hold, release } = await longQuestion();
  const { teach, engine, caller, ask, results } = session;
  const last = (await engine.rules(caller)).at(-1);
  const { answer } = await heldQuestion(session, hold, { withProof: true, limit: 2, offset: 40_000 });
  await engine.forgetRule(caller, last?.id ?? '');
  await teach('reach(?x, everywhere) :- edge(?x, ?_)');
  expect(await results('reach(n0, ?x)')).toEqual(['reach(n0, everywhere)', 'reach(n0, n1)']);
  release();
  const { proof, count, generation } = await answer;
  expect(count).toBe(2);
  expect(proof?.roots).toHaveLength(2);
  expect(proof?.steps.filter(({ ruleId }) => ruleId === last?.id).length).toBeGreaterThan(0);
  expect((await ask('reach(?x, everywhere)')).generation).toBe(generation + 2);
});

test('hides an expiry between two slices', async () => {
  const { session, hold, release } = await longQuestion();
  const { tell, clock, results } = session;
  await tell('edge(n300, n301)', { ttl: 1000 });
  const { answer } = await heldQuestion(session, hold);
  clock.advance(1000);
  expect(await results('reach(n299, ?x)')).toEqual(['reach(n299, n300)']);
  release();
  expect((await answer).results).toContain('reach(n0, n301)');
  expect(await results('reach(n0, n301)')).toEqual([]);
});

test('gives the same long question asked again meanwhile its own, newer answer', async () => {
  const { session, hold, release } = await longQuestion();
  const { answer } = await heldQuestion(session, hold);
  await session.tell('edge(n300, n301)');
  const newer = await session.ask('reach(?x, ?y)');
  release();
  expect(newer.count).toBe(pairs + nodes + 1);
  expect((await answer).count).toBe(pairs);
});

test('answers many concurrent questions correctly', async () => {
  const { session } = await longQuestion();
  const whole = session.ask('reach(?x, ?y)');
  const bound = Array.from({ length: 20 }, (_, at) => session.results(`reach(n${at * 10}, ?x)`));
  const backwards = Array.from({ length: 20 }, (_, at) => session.results(`reach(?x, n${at * 10 + 1})`));
  expect((await Promise.all(bound)).map((results) => results.length)).toEqual(
    bound.map((_, at) => nodes - at * 10),
  );
  expect((await Promise.all(backwards)).map((results) => results.length)).toEqual(
    backwards.map((_, at) => at * 10 + 1),
  );
  expect((await whole).count).toBe(pairs);
});

test('cancels the question of a client that disconnects, and nothing else', async () => {
  const { session, hold, release } = await longQuestion();
  const { results, engine, clock, ask } = session;
  const going = new AbortController();
  const { as } = session;
  const { answer } = await heldQuestion(as({ signal: going.signal }), hold);
  const other = ask('reach(?x, ?y)');
  going.abort();
  release();
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  expect((await other).count).toBe(pairs);
  expect(await results('reach(n299, ?x)')).toEqual(['reach(n299, n300)']);
  expect(engine.storage()).toBe('ready');
  expect(clock.now()).toBeGreaterThan(0);
});

test('does not answer a client that has already disconnected', async () => {
  const { session } = await longQuestion();
  const { results } = session.as({ signal: AbortSignal.abort() });
  await expect(results('reach(n0, ?x)')).rejects.toMatchObject({ name: 'AbortError' });
});

test('does not cancel the write of a client that disconnects', async () => {
  const { as, query } = await openSession();
  const going = new AbortController();
  const told = as({ signal: going.signal }).tell('p(a)');
  going.abort();
  expect((await told).status).toBe('asserted');
  expect(await query('p(?x)')).toHaveLength(1);
});

test('leaves the tables of other tenants alone during a long question', async () => {
  const { session, hold, release } = await longQuestion();
  const other = session.as({ tenant: 'other' });
  await other.tellAll(['edge(a, b)', 'edge(b, c)']);
  const { answer } = await heldQuestion(session, hold);
  expect(await other.results('reach(?x, ?y)')).toEqual(['reach(a, b)', 'reach(a, c)', 'reach(b, c)']);
  release();
  expect((await answer).count).toBe(pairs);
});

test('finishes a running question at close, and refuses later ones', async () => {
  const { session, hold, release } = await longQuestion();
  const { engine, tell, results } = session;
  const { answer } = await heldQuestion(session, hold);
  await engine.close();
  release();
  expect((await answer).count).toBe(pairs);
  const later = [tell('p(a)'), results('p(?x)'), engine.rules(testCaller()), engine.databases(testCaller())];
  for (const call of later) expect((await refusal(call)).code).toBe('NotReady');
});

test('makes only those questions wait that use tables under maintenance', async () => {
  const { session, hold, release } = await longQuestion();
  const { ask, results, tell, tellAll, teach, engine } = session;
  await teach('good(?x) :- small(?x), not bad(?x)');
  await tell('small(a)');
  await ask('reach(?x, ?y)', { limit: 1 });
  const more = chainOf(nodes).map((fact) => fact.replaceAll('n', 'm'));
  const { generation } = await tellAll(more);
  // The maintenance that follows; the write itself pauses too if the machine is busy.
  await hold();
  const { rulesFired } = engine.counters();
  const waiting = ask('reach(?x, ?y)', { limit: 1, offset: 2 * pairs - 1 });
  expect(await results('good(?x)')).toEqual(['good(a)']);
  expect(await results('reach(m298, ?x)')).toEqual(['reach(m298, m299)', 'reach(m298, m300)']);
  const stopped = await refusal(ask('reach(?x, ?y)', { timeoutMs: 30 }));
  expect(stopped.members['limit']).toBe('timeoutMs');
  await tell('other(a)');
  release();
  expect(await waiting).toMatchObject({ count: 1, truncated: false, generation });
  // Everything was derived once: by the first question and the maintenance of its tables.
  expect(engine.counters().rulesFired - rulesFired).toBeLessThan(pairs + 100);
});

test('dead rows are removed when the transaction that held them ends, and no snapshot has them', async () => {
  const storageDir = await mkdtemp(join(tmpdir(), 'corollary-dead-rows-'));
  onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
  const session = await openSession({ storageDir });
  const { engine, caller } = session;
  const text = 'x'.repeat(1000);
  const atoms = (round: number): string[] =>
    Array.from({ length: 300 }, (_, at) => `p(${round}, ${at}, ${text})`);
  await session.tell('p(kept, 0, y)');
  for (const end of ['rollback', 'commit', 'expiry'] as const) {
    const { id } = await engine.begin(caller);
    for (let round = 0; round < 3; round++) {
      await session.tellAll(atoms(round));
      await session.forgetPattern('p(?round, ?at, ?text)');
    }
    expect(engine.figures().deadRows).toBeGreaterThan(900);
    if (end === 'rollback') await engine.rollback(caller, id);
    else if (end === 'commit') await engine.commit(caller, id, false);
    else session.clock.advance(5 * 60_000);
    expect(engine.figures().openTransactions).toBe(0);
    await Promise.resolve();
    expect(engine.figures().deadRows).toBe(0);
    expect((await engine.snapshot()).bytes).toBeLessThan(10_000);
    await session.tell('p(kept, 0, y)');
  }
});

test('dead rows are removed when the last reader that held them ends', async () => {
  const { session, hold, release } = await longQuestion();
  const { engine } = session;
  await session.tellAll(Array.from({ length: 1000 }, (_, at) => `p(${at})`));
  const { answer } = await heldQuestion(session, hold);
  const forgotten = session.forgetPattern('p(?x)');
  await vi.waitFor(() => expect(engine.figures().deadRows).toBe(1000));
  release();
  await Promise.all([answer, forgotten]);
  expect(engine.figures().deadRows).toBe(0);
});
