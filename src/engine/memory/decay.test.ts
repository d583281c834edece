import { expect, onTestFinished, test, vi } from 'vitest';
import type { Change } from '../session/change-feed.ts';
import { explainInputSchema } from '../contract/explanation.ts';
import { day, gate, hour, openSession, type Session, startTime } from '../testing/engine-fixtures.ts';
import { decayIn, storedAtoms } from '../testing/memory-calls.ts';

/** POST /memory/decay: contract section 8. */

const year = 366 * day;

async function blockedBy({ engine, caller }: Session, predicate: string, args: string[]) {
  const input = explainInputSchema.parse({ predicate, args, mode: 'whyNot' });
  return ((await engine.explain(caller, input)) as { blockedBy: { reason: string }[] }).blockedBy;
}

function changesOf({ engine }: Session): Change[] {
  const changes: Change[] = [];
  onTestFinished(engine.subscribe((change) => void changes.push(change)));
  return changes;
}

const told = (changes: readonly Change[]): string[] =>
  changes.map(
    ({ kind, data }) =>
      `${kind} ${data.atom ?? ''}${(data.scope ?? null) === null ? '' : ` in ${data.scope}`}`,
  );

test('evicted = expired (ended and not yet swept) + lowSalience (salience < threshold)', async () => {
  const session = await openSession();
  const { tell, clock } = session;
  await tell('old(b)');
  await tell('old(a)', { metadata: { importance: 0.4 } });
  await tell('old(kept)', { metadata: { importance: 1 } });
  clock.advance(year);
  await tell('new(a)');
  await tell('short(b)', { ttl: 10 });
  await tell('short(a)', { ttl: 10, metadata: { importance: 1 } });
  clock.advance(20);
  const { generation } = await session.ask('nothing(?x)');
  expect(await decayIn(session)).toEqual({
    evicted: 4,
    expired: 2,
    lowSalience: 2,
    remaining: 2,
    atoms: ['short(b)', 'short(a)', 'old(a)', 'old(b)'],
    generation: generation + 1,
  });
  expect(await storedAtoms(session)).toEqual(['new(a)', 'old(kept)']);
});

test('evicts a fact once, and keeps the generation if a decay finds nothing', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: 10 });
  session.clock.advance(10);
  const { generation } = await decayIn(session);
  expect(await decayIn(session)).toEqual({
    evicted: 0,
    expired: 0,
    lowSalience: 0,
    remaining: 0,
    atoms: [],
    generation,
  });
});

test('defaults to a threshold of 0.05', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  session.clock.advance(30 * day);
  expect((await decayIn(session)).evicted).toBe(0);
  expect(await decayIn(session, { threshold: 0.1 })).toMatchObject({ evicted: 0, remaining: 1 });
  expect(await decayIn(session, { threshold: 0.16 })).toMatchObject({ lowSalience: 1, remaining: 0 });
});

test('evicts only expired facts with a threshold of 0', async () => {
  const session = await openSession();
  await session.tell('p(a)', { metadata: { importance: 0 } });
  await session.tell('p(b)', { ttl: 1 });
  session.clock.advance(year);
  expect(await decayIn(session, { threshold: 0 })).toMatchObject({ expired: 1, lowSalience: 0 });
});

test('evicts pinned facts only when they have expired, never for low salience', async () => {
  const session = await openSession();
  await session.tell('p(a)', { metadata: { pinned: true } });
  await session.tell('p(b)', { metadata: { pinned: 'true' } });
  await session.tell('p(c)', { metadata: { pinned: true }, ttl: day });
  session.clock.advance(2 * year);
  expect(await decayIn(session, { threshold: 1 })).toMatchObject({ atoms: ['p(c)', 'p(b)'] });
  expect(await storedAtoms(session)).toEqual(['p(a)']);
});

test('ignores a fact whose validity has not begun', async () => {
  const session = await openSession();
  await session.tell('p(a)', { validFrom: startTime + 3 * year, metadata: { importance: 0 } });
  session.clock.advance(2 * year);
  expect(await decayIn(session, { threshold: 1 })).toMatchObject({ evicted: 0, remaining: 1 });
  session.clock.advance(year);
  expect(await decayIn(session)).toMatchObject({ lowSalience: 1, remaining: 0 });
});

test('keeps a fact that is used', async () => {
  const session = await openSession();
  await session.tellAll(['p(asked)', 'p(queried)', 'p(told)', 'p(forgotten)']);
  session.clock.advance(year);
  await session.ask('p(asked)');
  await session.query('p(queried)');
  await session.tell('p(told)');
  expect(await decayIn(session)).toMatchObject({ atoms: ['p(forgotten)'], remaining: 3 });
});

test('evicts from one scope with scope, from unscoped facts with unscoped, otherwise from all', async () => {
  const session = await openSession();
  for (const [atom, scope] of [
    ['p(a)', null],
    ['p(a)', 's'],
    ['p(b)', 'x'],
  ] as const)
    await session.tell(atom, { scope });
  await session.tell('p(c)', { scope: 's', ttl: 1 });
  session.clock.advance(year);
  const before = await storedAtoms(session);
  expect(await decayIn(session, { scope: 'never' })).toMatchObject({ evicted: 0, remaining: 0 });
  expect(await storedAtoms(session)).toEqual(before);
  expect(await decayIn(session, { scope: 's' })).toMatchObject({ atoms: ['p(c)', 'p(a)'], remaining: 0 });
  expect(await decayIn(session, { unscoped: true, dryRun: true })).toMatchObject({
    evicted: 1,
    remaining: 0,
  });
  expect(await decayIn(session)).toMatchObject({ atoms: ['p(a)', 'p(b)'], remaining: 0 });
});

test('returns the answer of the real call in a dry run, and changes nothing', async () => {
  const session = await openSession();
  await session.tellAll(['p(b)', 'p(a)', 'p(c)']);
  await session.tell('q(a)', { ttl: 5 });
  session.clock.advance(year);
  const before = await session.list();
  const tried = await decayIn(session, { dryRun: true });
  expect(await session.list()).toEqual(before);
  expect(await blockedBy(session, 'q', ['a'])).toEqual([]);
  const { generation, ...done } = await decayIn(session);
  expect(tried).toEqual({ ...done, generation: generation - 1, dryRun: true });
});

test('removes conclusions that depended on evicted facts and publishes their withdrawal', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.tell('p(b)', { metadata: { importance: 1 } });
  await session.teach('q(?x) :- p(?x)');
  session.clock.advance(year);
  expect(await session.results('q(?x)')).toEqual(['q(a)', 'q(b)']);
  const changes = changesOf(session);
  await decayIn(session);
  expect(await session.results('q(?x)')).toEqual(['q(b)']);
  await expect.poll(() => told(changes)).toEqual(['memory.evicted p(a)', 'conclusion.withdrawn q(a)']);
});

test('publishes memory.evicted for each evicted fact with atom, id and scope, in place of fact.retracted', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)', { scope: 's' });
  const expired = await session.tell('-p(b)', { ttl: 10 });
  session.clock.advance(20);
  await session.ask('nothing(?x)');
  session.clock.advance(year);
  const changes = changesOf(session);
  const { generation } = await decayIn(session.as({ requestId: 'who asked' }));
  const origin = { generation, time: startTime + 20 + year, requestId: 'who asked' };
  expect(changes.map(({ kind, data }) => ({ kind, ...data }))).toEqual([
    {
      kind: 'memory.evicted',
      ...origin,
      atom: '-p(b)',
      id: expired.id,
      scope: null,
    },
    {
      kind: 'memory.evicted',
      ...origin,
      atom: 'p(a)',
      id,
      scope: 's',
    },
  ]);
  expect(session.engine.counters()).toMatchObject({ factsEvicted: 2, factsRetracted: 2, facts: 0 });
});

test('remembers an expired fact for whyNot until decay evicts it', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: 10 });
  await session.tell('p(b)', { ttl: 10, scope: 's' });
  session.clock.advance(hour);
  expect(await blockedBy(session, 'p', ['a'])).toMatchObject([{ reason: 'expired' }]);
  await decayIn(session, { scope: 's' });
  expect(await blockedBy(session, 'p', ['a'])).toMatchObject([{ reason: 'expired' }]);
  expect(await blockedBy(session, 'p', ['b'])).toEqual([]);
  await decayIn(session);
  expect(await blockedBy(session, 'p', ['a'])).toEqual([]);
});

test('also forgets at decay the end of a fact that was asserted again and retracted', async () => {
  const session = await openSession();
  for (const scope of [null, 's']) {
    await session.tell('p(a)', { ttl: 10, scope });
    session.clock.advance(20);
    await session.tell('p(a)', { scope });
    await session.forget('p(a)');
  }
  expect(await blockedBy(session, 'p', ['a'])).toHaveLength(2);
  const { generation } = await session.ask('p(?x)');
  expect(await decayIn(session, { scope: 's' })).toMatchObject({ evicted: 0, generation });
  expect(await blockedBy(session, 'p', ['a'])).toHaveLength(1);
  await decayIn(session);
  expect(await blockedBy(session, 'p', ['a'])).toEqual([]);
});

test('makes a fact evicted and asserted again a new fact', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)');
  session.clock.advance(year);
  await decayIn(session);
  const again = await session.tell('p(a)');
  expect(again.status).toBe('asserted');
  expect(again.id).not.toBe(id);
});

test('does not evict a fact that is used, pinned or extended between selection and write', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(['p(used)', 'p(pinned)', 'p(retracted)', 'p(gone)', 'z(a)']);
  await session.tell('p(extended)', { metadata: { importance: 0 } });
  session.clock.advance(year);
  // Every slice ends at once.
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  onTestFinished(() => time.mockRestore());
  const first = hold();
  const decayed = decayIn(session);
  await first;
  const second = hold();
  release();
  await second;
  // By now it has examined every fact of p.
  await session.ask('p(used)');
  await session.tell('p(pinned)', { metadata: { pinned: true } });
  await session.tell('p(extended)', { metadata: { importance: 1 } });
  await session.forget('p(retracted)');
  release();
  expect(await decayed).toMatchObject({ atoms: ['p(gone)', 'z(a)'] });
  expect(await storedAtoms(session)).toEqual(['p(used)', 'p(pinned)', 'p(extended)']);
});

test('affects no other tenant, and finds nothing in an unknown one', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  await session.tell('p(a)');
  await other.tell('p(a)');
  session.clock.advance(year);
  expect(await decayIn(session)).toMatchObject({ evicted: 1 });
  expect(await storedAtoms(other)).toEqual(['p(a)']);
  expect(await decayIn(session.as({ tenant: 'nobody' }))).toMatchObject({ evicted: 0, remaining: 0 });
  const { tenants } = await session.engine.tenants(session.caller, 'default');
  expect(tenants.map(({ name }) => name)).toEqual(['other', 'tenant']);
});

test('returns the first answer for the same Idempotency-Key', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)']);
  session.clock.advance(year);
  const keyed = session.as({ idempotency: { key: 'k', fingerprint: 'f' } });
  const first = await decayIn(keyed);
  expect(first).toMatchObject({ evicted: 2 });
  await session.tell('p(c)');
  expect(await decayIn(keyed)).toEqual(first);
  const nothing = session.as({ idempotency: { key: 'nothing', fingerprint: 'f' } });
  const none = await decayIn(nothing);
  expect(none).toMatchObject({ evicted: 0, remaining: 1 });
  session.clock.advance(hour);
  await session.tell('p(d)', { ttl: 1 });
  session.clock.advance(hour);
  expect(await decayIn(nothing)).toEqual(none);
});

test('lists at most 4 MiB of atoms in an answer that is stored for an Idempotency-Key', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 75 }, (_, at) => `p(${'x'.repeat(60_000)}${at + 10})`));
  const keyed = session.as({ idempotency: { key: 'k', fingerprint: 'f' } });
  const tried = await decayIn(keyed, { threshold: 1, dryRun: true });
  const { generation, ...first } = await decayIn(keyed, { threshold: 1 });
  expect({ ...first, atoms: first.atoms.length }).toMatchObject({ evicted: 75, atoms: 69, atomsOmitted: 6 });
  expect(tried).toEqual({ ...first, generation: generation - 1, dryRun: true });
  expect(await decayIn(keyed, { threshold: 1 })).toEqual({ ...first, generation });
});

test('evicts very many facts in one write, published as one reset', async () => {
  const session = await openSession();
  const many = Array.from({ length: 3000 }, (_, at) => `p(n${at}, n${at % 7})`);
  await session.tellAll(many);
  await session.teach('q(?y) :- p(?x, ?y)');
  expect((await session.results('q(?y)')).length).toBe(7);
  session.clock.advance(2 * year);
  await session.tell('p(new, n0)');
  const changes = changesOf(session);
  expect(await decayIn(session)).toMatchObject({ evicted: 3000, remaining: 1 });
  expect(changes[0]).toMatchObject({ kind: 'reset' });
  expect(await session.results('q(?y)')).toEqual(['q(n0)']);
});
