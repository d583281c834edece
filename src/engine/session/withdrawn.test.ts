import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import type { Change } from './change-feed.ts';
import {
  chainOf,
  factInput,
  gate,
  hour,
  openSession,
  second,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** The event stream reports conclusions withdrawn by any change (contract sections 5 and 9). */

/** The events that the engine publishes from now on. */
function listen({ engine }: Session): Change[] {
  const seen: Change[] = [];
  engine.subscribe((change) => seen.push(change));
  return seen;
}

const withdrawn = (seen: readonly Change[]): string[] =>
  seen.flatMap(({ kind, data }) => (kind === 'conclusion.withdrawn' ? [data.atom ?? ''] : []));

const shown = (seen: readonly Change[]): string[] =>
  seen.map(({ id, kind, data }) => `${id} ${kind} ${data.atom ?? data.rule ?? ''}`.trim());

/** Long enough for a background run to end: events that must not come would have come. */
const quiet = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 60));

test('publishes one conclusion.withdrawn for every known dependent after a retraction', async () => {
  const session = await openSession();
  await session.tellAll(['parent(a, b)', 'parent(b, c)', 'parent(b, d)']);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await session.proof('grandparent(?x, ?y)');
  const seen = listen(session);
  const { generation } = await session.forget('parent(a, b)');
  await quiet();
  expect(shown(seen)).toEqual([
    `${generation}.0 fact.retracted parent(a, b)`,
    `${generation}.1 conclusion.withdrawn grandparent(a, c)`,
    `${generation}.2 conclusion.withdrawn grandparent(a, d)`,
  ]);
  expect(new Set(seen.map(({ data }) => data.requestId)).size).toBe(1);
});

test('withdraws what depends on an absence when an assertion makes it false, with its request and time', async () => {
  const session = await openSession();
  await session.tellAll(['bird(tweety)', 'bird(woody)']);
  await session.teach('flies(?x) :- bird(?x), not penguin(?x)');
  await session.results('flies(?x)');
  const seen = listen(session);
  session.clock.advance(hour);
  const { generation } = await session.as({ requestId: 'who told' }).tell('penguin(tweety)');
  await expect.poll(() => seen.length).toBe(2);
  expect(seen[1]).toEqual({
    id: `${generation}.1`,
    kind: 'conclusion.withdrawn',
    database: 'default',
    tenant: 'tenant',
    data: { generation, time: startTime + hour, requestId: 'who told', atom: 'flies(tweety)' },
  });
});

test('withdraws the old value of an aggregate that an assertion changes', async () => {
  const session = await openSession();
  await session.tellAll(['item(a, 2)', 'item(b, 3)']);
  await session.teach('total(?n) :- ?n = sum { ?v, ?i : item(?i, ?v) }');
  await session.teach('rich() :- total(?n), ?n > 4');
  expect(await session.results('rich()')).toEqual(['rich()']);
  const seen = listen(session);
  await session.tell('item(c, 4)');
  await expect.poll(() => withdrawn(seen)).toEqual(['total(5)']);
  expect(await session.results('total(?n)')).toEqual(['total(9)']);
});

test('loses nothing from the stream if a question takes in a change before the background run', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x), not r(?x)');
  await session.proof('q(?x)');
  const seen = listen(session);
  await session.tell('r(a)');
  expect(await session.results('q(?x)')).toEqual([]);
  await expect.poll(() => withdrawn(seen)).toEqual(['q(a)']);
  await quiet();
  expect(withdrawn(seen)).toEqual(['q(a)']);
});

test('publishes what a write withdraws even if it names a constant computed by rules', async () => {
  const session = await openSession();
  await session.tellAll(['item(a, 1)', 'item(b, 4)']);
  await session.teach('total(?n) :- ?n = sum { ?v, ?i : item(?i, ?v) }');
  expect(await session.proof('total(?n)')).toMatchObject({ roots: [expect.any(Number)] });
  const seen = listen(session);
  await session.tell('item(c, 5)');
  await expect.poll(() => withdrawn(seen)).toEqual(['total(5)']);
  await quiet();
  expect(withdrawn(seen)).toEqual(['total(5)']);
});

test('publishes the withdrawal of an answer that a question derived in its own tables', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll([...chainOf(300), 'p(a)', 'p(b)']);
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  await session.teach('q(?x) :- p(?x), not r(?x)');
  const held = hold();
  const long = session.ask('reach(?x, ?y)', { limit: 1 });
  await held;
  expect(await session.results('q(?x)')).toEqual(['q(a)', 'q(b)']);
  const seen = listen(session);
  await session.tell('r(a)');
  release();
  await long;
  await expect.poll(() => withdrawn(seen)).toEqual(['q(a)']);
  await session.tell('r(b)');
  await expect.poll(() => withdrawn(seen)).toEqual(['q(a)', 'q(b)']);
});

test('publishes twice a conclusion that is withdrawn, becomes true and is withdrawn again', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x), not r(?x)');
  await session.results('q(?x)');
  const seen = listen(session);
  for (const times of [1, 2]) {
    await session.tell('r(a)');
    await expect.poll(() => withdrawn(seen)).toHaveLength(times);
    await session.forget('r(a)');
    expect(await session.results('q(?x)')).toEqual(['q(a)']);
  }
});

test('publishes a fact whose validity ends as retracted, and its dependents as withdrawn, without a question', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.tell('p(b)');
  const { id } = await session.tell('p(a)', { ttl: 20, scope: 's' });
  await session.teach('q(?x) :- p(?x)');
  await session.results('q(?x)');
  const seen = listen(session);
  clock.advance(20);
  await expect.poll(() => seen.length).toBe(2);
  const data = { generation: 3, time: startTime + 20, requestId: null };
  expect(seen).toMatchObject([
    { id: '3.1', kind: 'fact.retracted', tenant: 'tenant', data: { ...data, atom: 'p(a)', id, scope: 's' } },
    { id: '3.2', kind: 'conclusion.withdrawn', data: { ...data, atom: 'q(a)' } },
  ]);
});

test('publishes a fact whose validity begins as asserted, and what it makes untrue as withdrawn', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.tell('p(a)');
  await session.tell('r(a)', { validFrom: startTime + 20 });
  await session.teach('q(?x) :- p(?x), not r(?x)');
  await session.results('q(?x)');
  const seen = listen(session);
  clock.advance(20);
  await expect.poll(() => shown(seen)).toEqual(['3.1 fact.asserted r(a)', '3.2 conclusion.withdrawn q(a)']);
});

test('publishes an expiry that a question notices first at once, and only once', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: hour });
  await session.teach('q(?x) :- p(?x)');
  await session.results('q(?x)');
  const seen = listen(session);
  session.clock.advance(hour);
  expect(await session.query('p(?x)')).toEqual([]);
  expect(shown(seen)).toEqual(['2.1 fact.retracted p(a)']);
  await expect.poll(() => withdrawn(seen)).toEqual(['q(a)']);
  await session.tell('p(a)');
  await session.forget('p(a)');
  await quiet();
  expect(shown(seen)).toEqual([
    '2.1 fact.retracted p(a)',
    '2.2 conclusion.withdrawn q(a)',
    '3.0 fact.asserted p(a)',
    '4.0 fact.retracted p(a)',
  ]);
});

test('publishes an expiry that a write notices before the write', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: hour });
  const seen = listen(session);
  session.clock.advance(hour);
  const { status } = await session.tell('p(a)');
  expect(status).toBe('asserted');
  expect(shown(seen)).toEqual(['1.1 fact.retracted p(a)', '2.0 fact.asserted p(a)']);
});

test('does not publish an end of validity that was postponed or removed', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.tell('p(a)', { ttl: second });
  await session.tell('p(a)', { validUntil: startTime + hour });
  await session.tell('p(b)', { ttl: second });
  await session.forget('p(b)');
  await session.tell('p(c)', { validFrom: startTime + second, validUntil: startTime + 2 * second });
  const seen = listen(session);
  clock.advance(5 * second);
  await session.query('p(?x)');
  expect(shown(seen)).toEqual(['5.1 fact.retracted p(c)']);
  clock.advance(hour);
  await session.query('p(?x)');
  expect(shown(seen).slice(1)).toEqual(['5.2 fact.retracted p(a)']);
});

test('notices a boundary moved earlier by a later write in time, and ignores one in the far future', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.tell('p(far)', { ttl: 400 * 24 * hour });
  await session.tell('p(later)', { ttl: hour });
  await session.as({ tenant: 'other' }).tell('p(soon)', { ttl: 15 });
  const seen = listen(session);
  clock.advance(15);
  await expect.poll(() => shown(seen)).toEqual(['3.1 fact.retracted p(soon)']);
});

test('publishes very many facts that expire at once as a reset', async () => {
  const session = await openSession();
  const facts = Array.from({ length: 1001 }, (_, at) => ({
    ...factInput('p(a)', { ttl: 20 }),
    args: [`n${at}`],
  }));
  await session.engine.tellAll(session.caller, facts);
  const seen = listen(session);
  session.clock.advance(20);
  await expect.poll(() => shown(seen)).toEqual(['1.1 reset']);
});

test('publishes too many conclusions withdrawn by an assertion as a reset', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x), not off()');
  const facts = Array.from({ length: 1001 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await session.engine.tellAll(session.caller, facts);
  await session.ask('q(?x)', { limit: 1 });
  const seen = listen(session);
  await session.tell('off()');
  await expect.poll(() => shown(seen)).toEqual(['3.0 fact.asserted off()', '3.1 reset']);
});

test('publishes withdrawals in every tenant for disabling, changing, teaching or deleting a rule', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  const { id } = await session.teach('flies(?x) :- bird(?x)');
  await session.teach('safe(?x) :- flies(?x), not hunted(?x)');
  for (const each of [session, other]) await each.tellAll(['bird(tweety)', 'prey(tweety)']);
  const seen = listen(session);
  const expectWithdrawn = async (atoms: readonly string[]): Promise<void> => {
    for (const tenant of ['tenant', 'other'])
      await expect.poll(() => withdrawn(seen.filter((each) => each.tenant === tenant))).toEqual(atoms);
    await quiet();
    expect(withdrawn(seen)).toHaveLength(2 * atoms.length);
    seen.length = 0;
  };
  const ask = async (): Promise<void> => {
    for (const each of [session, other]) await each.proof('safe(?x)');
  };
  await ask();
  await session.changeRule(id, { enabled: false });
  await expectWithdrawn(['flies(tweety)', 'safe(tweety)']);
  await session.changeRule(id, { enabled: true });
  await ask();
  const { id: hunting } = await session.teach('hunted(?x) :- prey(?x)');
  await expectWithdrawn(['safe(tweety)']);
  await session.changeRule(hunting, { text: 'hunted(?x) :- bird(?x), prey(?x), big(?x)' });
  await expectWithdrawn(['hunted(tweety)']);
  await ask();
  await session.changeRule(id, { name: 'birds fly' });
  await expectWithdrawn([]);
  await ask();
  await session.changeRule(id, { text: 'flies(?x) :- plane(?x)' });
  await expectWithdrawn(['flies(tweety)', 'safe(tweety)']);
  await session.changeRule(id, { text: 'flies(?x) :- bird(?x)' });
  await ask();
  await session.engine.forgetRule(session.caller, id);
  await expectWithdrawn(['flies(tweety)', 'safe(tweety)']);
});

test('gives ids that ascend within a generation and are unique, whatever publishes', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  const seen = listen(session);
  await session.teach('q(?x) :- p(?x), not r(?x)');
  for (const each of [session, other]) {
    await each.tell('p(a)', { ttl: hour });
    await each.tell('p(b)');
    await each.results('q(?x)');
  }
  session.clock.advance(hour);
  await other.query('p(?x)');
  await session.forget('p(b)');
  await other.tell('r(b)');
  await expect.poll(() => withdrawn(seen)).toHaveLength(4);
  const ids = seen.map(({ id }) => id.split('.').map(Number));
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  for (const generation of new Set(ids.map(([first]) => first))) {
    const numbers = ids.flatMap(([first, index]) => (first === generation ? [index as number] : []));
    expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
  }
});

test('does not publish facts that expired before the start, and reuses no ids of an earlier process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-events-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const first = await openSession({ storageDir: folder });
  await first.tell('p(before)', { ttl: second });
  await first.tell('p(after)', { ttl: hour });
  await first.tell('p(early)', { ttl: 10 });
  const earlier = listen(first);
  first.clock.advance(10);
  await first.query('p(?x)');
  expect(shown(earlier)).toEqual(['3.1 fact.retracted p(early)']);
  await first.engine.close();
  const clock = new ManualClock(startTime + second);
  const next = await openSession({ storageDir: folder, clock });
  const seen = listen(next);
  expect(await next.query('p(?x)')).toHaveLength(1);
  clock.advance(hour);
  await next.query('p(?x)');
  expect(seen).toMatchObject([{ kind: 'fact.retracted', data: { generation: 3, atom: 'p(after)' } }]);
  expect(seen[0]?.id).toMatch(/^3\.\d{13}$/);
});

test('keeps answers and events correct while a fact is added and removed for a long time', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)']);
  await session.teach('q(?x) :- p(?x), not r(?x)');
  await session.results('q(?x)');
  const seen = listen(session);
  for (let times = 0; times < 400; times++) {
    await session.tell('r(b)');
    if (times % 50 === 0) await quiet();
    await session.forget('r(b)');
    if (times % 3 === 0) expect(await session.results('q(?x)')).toEqual(['q(a)', 'q(b)', 'q(c)']);
  }
  await session.tell('r(c)');
  await quiet();
  expect(await session.results('q(?x)')).toEqual(['q(a)', 'q(b)']);
  expect(new Set(withdrawn(seen))).toEqual(new Set(['q(b)', 'q(c)']));
  expect(withdrawn(seen).filter((atom) => atom === 'q(c)')).toHaveLength(1);
});

test('ends cleanly if the engine is closed during maintenance', async () => {
  const session = await openSession();
  await session.tellAll(chainOf(150));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  await session.ask('reach(?x, ?y)', { limit: 1 });
  await session.tellAll(chainOf(100, 'edge').map((fact) => fact.replaceAll('n', 'm')));
  await session.tell('edge(n150, m0)');
  await new Promise((resolve) => void setTimeout(resolve, 2));
  await session.engine.close();
});
