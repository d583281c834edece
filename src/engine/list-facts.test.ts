import { expect, test, vi } from 'vitest';
import { renderAtom } from './logic/print.ts';
import { gate, hour, openSession, type Session } from './testing/engine-fixtures.ts';

/** GET /facts from listings that were kept: contract section 3, which knows nothing of them. */

async function atoms({ list }: Session, query: Record<string, string> = {}): Promise<string[]> {
  const { facts, total } = await list(query);
  expect(total).toBe(facts.length);
  return facts.map(({ predicate, args, truthVal }) => renderAtom({ predicate, args, negated: !truthVal }));
}

test('a listing asked for again follows every change of its facts', async () => {
  const session = await openSession();
  await session.tellAll(['p(b)', 'p(a)']);
  expect(await atoms(session)).toEqual(['p(b)', 'p(a)']);
  await session.tell('p(c)');
  expect(await atoms(session)).toEqual(['p(b)', 'p(a)', 'p(c)']);
  await session.forget('p(a)');
  expect(await atoms(session)).toEqual(['p(b)', 'p(c)']);
  session.clock.advance(hour);
  await session.tell('p(b)', { metadata: { source: 'x' } });
  expect(await atoms(session, { sort: 'updatedAt' })).toEqual(['p(c)', 'p(b)']);
  expect((await session.list()).facts[0]?.metadata).toEqual({ source: 'x' });
});

test('a fact leaves a listing in the instant its validity ends', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: hour });
  await session.tell('p(b)');
  session.clock.advance(hour - 1);
  expect(await atoms(session)).toEqual(['p(a)', 'p(b)']);
  session.clock.advance(1);
  expect(await atoms(session)).toEqual(['p(b)']);
});

test('a listing of conclusions follows the rules', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'q(b)']);
  const query = { predicate: 'r', derived: 'true' };
  const { id } = await session.teach('r(?x) :- p(?x)');
  expect(await atoms(session, query)).toEqual(['r(a)']);
  await session.teach('r(?x) :- q(?x)');
  expect(await atoms(session, query)).toEqual(['r(a)', 'r(b)']);
  await session.changeRule(id, { enabled: false });
  expect(await atoms(session, query)).toEqual(['r(b)']);
});

test('a listing by salience follows the uses of facts', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)']);
  session.clock.advance(hour);
  const query = { sort: 'salience', order: 'desc' };
  expect(await atoms(session, query)).toEqual(['p(c)', 'p(b)', 'p(a)']);
  await session.results('p(b)');
  expect(await atoms(session, query)).toEqual(['p(b)', 'p(c)', 'p(a)']);
  expect((await session.list(query)).facts[0]?.salience).toBeGreaterThan(0.9);
});

test('what changes while a listing is made is in the next one', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(Array.from({ length: 6000 }, (_, at) => `p(${at})`));
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  const held = hold();
  const listing = session.list();
  await held;
  time.mockRestore();
  await session.tell('p(new)');
  await session.forget('p(0)');
  release();
  expect((await listing).total).toBe(6000);
  const after = await session.list({ q: '(new)' });
  expect(after.total).toBe(1);
  const { total, facts } = await session.list();
  expect([total, facts[0]?.args]).toEqual([6000, ['1']]);
});

test('listings of one tenant are not those of another', async () => {
  const session = await openSession();
  await session.tell('p(mine)');
  const other = session.as({ tenant: 'other' });
  await other.tell('p(theirs)');
  for (let time = 0; time < 2; time++) {
    expect(await atoms(session)).toEqual(['p(mine)']);
    expect(await atoms(other)).toEqual(['p(theirs)']);
    expect(await atoms(session.as({ tenant: 'none' }))).toEqual([]);
  }
});

test('a listing stays right when dead versions are let go', async () => {
  const session = await openSession();
  const all = Array.from({ length: 400 }, (_, at) => `p(${at})`);
  await session.tellAll(all);
  expect(await atoms(session, { limit: '1000' })).toEqual(all);
  for (const text of all.slice(0, 300)) await session.forget(text);
  expect(await atoms(session, { limit: '1000' })).toEqual(all.slice(300));
  await session.tell('p(0)');
  expect(await atoms(session, { limit: '1000' })).toEqual([...all.slice(300), 'p(0)']);
});
