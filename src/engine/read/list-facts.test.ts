import { expect, test, vi } from 'vitest';
import type { StoredFact } from '../contract/facts.ts';
import { renderAtom } from '../language/print.ts';
import { Prng } from '../testing/prng.ts';
import { gate, hour, openSession, refusal, type Session } from '../testing/engine-fixtures.ts';

/** GET /facts from cached listings: contract section 3, which does not mention the cache. */

async function atoms({ list }: Session, query: Record<string, string> = {}): Promise<string[]> {
  const { facts, total } = await list(query);
  expect(total).toBe(facts.length);
  return facts.map(({ predicate, args, truthVal }) => renderAtom({ predicate, args, negated: !truthVal }));
}

test('follows every change of its facts when a listing is requested again', async () => {
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

test('drops a fact from a listing in the instant its validity ends', async () => {
  const session = await openSession();
  await session.tell('p(a)', { ttl: hour });
  await session.tell('p(b)');
  session.clock.advance(hour - 1);
  expect(await atoms(session)).toEqual(['p(a)', 'p(b)']);
  session.clock.advance(1);
  expect(await atoms(session)).toEqual(['p(b)']);
});

test('follows the rules in a listing of conclusions', async () => {
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

test('keeps changed facts at their positions', async () => {
  const session = await openSession();
  const all = Array.from({ length: 60 }, (_, at) => `p(${at})`);
  await session.tellAll([...all, 'q(a)']);
  for (const changed of ['p(40)', 'p(7)', 'p(40)', 'p(59)']) {
    session.clock.advance(hour);
    await session.tell(changed, { metadata: { source: `at ${session.clock.now()}` } });
    expect(await atoms(session)).toEqual([...all, 'q(a)']);
    expect(await atoms(session, { order: 'desc' })).toEqual(['q(a)', ...all.toReversed()]);
  }
  await session.forget('p(7)');
  expect(await atoms(session, { predicate: 'p' })).toEqual(all.filter((atom) => atom !== 'p(7)'));
});

test('returns any page by its number, in the requested order', async () => {
  const session = await openSession();
  const all = Array.from({ length: 25 }, (_, at) => `p(${at})`);
  await session.tellAll(all);
  const page = async (query: Record<string, string>) => {
    const { facts, total, nextCursor } = await session.list({ limit: '10', ...query });
    expect(total).toBe(25);
    return { rows: facts.map(({ args }) => Number(args[0])), nextCursor };
  };
  expect((await page({ offset: '10' })).rows).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  expect((await page({ offset: '20', order: 'desc' })).rows).toEqual([4, 3, 2, 1, 0]);
  expect(await page({ offset: '20' })).toEqual({ rows: [20, 21, 22, 23, 24], nextCursor: null });
  expect(await page({ offset: '25' })).toEqual({ rows: [], nextCursor: null });
  expect(await page({ offset: '25', order: 'desc' })).toEqual({ rows: [], nextCursor: null });
  const { nextCursor } = await page({ offset: '5' });
  expect((await page({ cursor: nextCursor ?? '' })).rows).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
});

const counted = ['n(10, x)', 'n(9, y)', 'n(b)', 'n(1.0)', 'n(a, 2)', 'n(1)', 'n(-2, 7)', 'n(1e400)', 'n()'];
/** Above what a double can represent exactly. */
const large = ['n(9007199254740993)', 'n(9007199254740992)'];

test('sorts by an argument: numbers first, as numbers, then text, then facts without it', async () => {
  const session = await openSession();
  await session.tellAll([...counted, ...large]);
  const query = { predicate: 'n', sort: 'arg0' };
  const numbers = ['n(-2, 7)', 'n(1)', 'n(1.0)', 'n(9, y)', 'n(10, x)', ...large.toReversed(), 'n(1e400)'];
  const ordered = [...numbers, 'n(a, 2)', 'n(b)', 'n()'];
  expect(await atoms(session, query)).toEqual(ordered);
  expect(await atoms(session, { ...query, order: 'desc' })).toEqual(ordered.toReversed());
  const second = await atoms(session, { predicate: 'n', sort: 'arg1' });
  expect(second.slice(0, 4)).toEqual(['n(a, 2)', 'n(-2, 7)', 'n(10, x)', 'n(9, y)']);
});

test('sorts conclusions by an argument among the stored facts', async () => {
  const session = await openSession();
  await session.teach('n(?y) :- m(?x), ?y = ?x * 10');
  await session.tellAll(['m(1)', 'm(100)', 'n(20)', 'n(3)']);
  const query = { predicate: 'n', derived: 'true', sort: 'arg0' };
  expect(await atoms(session, query)).toEqual(['n(3)', 'n(10)', 'n(20)', 'n(1000)']);
});

test('sorts by scope with unscoped facts last, by truth with false first, by origin with stored first', async () => {
  const session = await openSession();
  await session.teach('p(?x) :- q(?x)');
  await session.tellAll(['q(a)', 'p(c)', '-p(d)']);
  await session.tell('p(b)', { scope: 'zoo' });
  await session.tell('p(e)', { scope: 'den' });
  const by = (sort: string, order = 'asc') =>
    atoms(session, { predicate: 'p', derived: 'true', sort, order });
  expect(await by('scope')).toEqual(['p(e)', 'p(b)', 'p(c)', '-p(d)', 'p(a)']);
  expect((await by('truthVal'))[0]).toBe('-p(d)');
  expect((await by('truthVal', 'desc')).at(-1)).toBe('-p(d)');
  expect((await by('derived')).at(-1)).toBe('p(a)');
  expect((await by('derived', 'desc'))[0]).toBe('p(a)');
});

test('continues pages by an argument after the last one, whatever is added and removed', async () => {
  const session = await openSession();
  await session.tellAll(['p(2)', 'p(10)', 'p(a)', 'p(b)', 'p()']);
  const query = { predicate: 'p', sort: 'arg0', limit: '2' };
  const page = async (cursor: string | null) => {
    const { facts, nextCursor } = await session.list({ ...query, ...(cursor === null ? {} : { cursor }) });
    return { values: facts.map(({ args }) => args[0] ?? null), nextCursor };
  };
  const first = await page(null);
  expect(first.values).toEqual(['2', '10']);
  await session.forget('p(10)');
  await session.tellAll(['p(1)', 'p(10.5)']);
  const second = await page(first.nextCursor);
  expect(second.values).toEqual(['10.5', 'a']);
  const third = await page(second.nextCursor);
  expect(third).toEqual({ values: ['b', null], nextCursor: null });
  await expect(session.list({ ...query, sort: 'arg1', cursor: first.nextCursor ?? '' })).rejects.toThrow(
    'cursor',
  );
});

test('returns with a cursor a page by number of the listing of its page', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)', 'p(d)']);
  session.clock.advance(hour);
  const query = { sort: 'salience', order: 'desc', limit: '1' };
  const first = await session.list(query);
  session.clock.advance(24 * hour);
  const jumped = await session.list({ ...query, cursor: first.nextCursor ?? '', offset: '2' });
  const walked = await session.list({ ...query, cursor: first.nextCursor ?? '' });
  const third = await session.list({ ...query, cursor: walked.nextCursor ?? '' });
  expect(jumped).toEqual(third);
  const later = await session.list({ ...query, offset: '2' });
  expect(later.facts[0]?.args).toEqual(jumped.facts[0]?.args);
  expect(later.facts[0]?.salience).toBeLessThan(jumped.facts[0]?.salience ?? 0);
});

test('follows the uses of facts in a listing by salience', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)']);
  session.clock.advance(hour);
  const query = { sort: 'salience', order: 'desc' };
  expect(await atoms(session, query)).toEqual(['p(c)', 'p(b)', 'p(a)']);
  await session.results('p(b)');
  expect(await atoms(session, query)).toEqual(['p(b)', 'p(c)', 'p(a)']);
  expect((await session.list(query)).facts[0]?.salience).toBeGreaterThan(0.9);
});

test('shows changes made during a listing in the next one', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(Array.from({ length: 6000 }, (_, at) => `p(${at})`));
  // From the current time, since what began in it continues when the clock is corrected.
  let now = performance.now();
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

test('keeps listings of tenants separate', async () => {
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

test('keeps a listing correct when dead versions are compacted', async () => {
  const session = await openSession();
  const all = Array.from({ length: 400 }, (_, at) => `p(${at})`);
  await session.tellAll(all);
  expect(await atoms(session, { limit: '1000' })).toEqual(all);
  for (const text of all.slice(0, 300)) await session.forget(text);
  expect(await atoms(session, { limit: '1000' })).toEqual(all.slice(300));
  await session.tell('p(0)');
  expect(await atoms(session, { limit: '1000' })).toEqual([...all.slice(300), 'p(0)']);
});

test('proves only the page for a page of many conclusions, and suggests other orders if one needs every proof', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 3000 }, (_, at) => `order(o${at}, ${at % 7}, 2)`));
  await session.teach('worth(?o, ?w) :- order(?o, ?q, ?p), ?w = ?q * ?p');
  const query = { predicate: 'worth', derived: 'true', limit: '5' };
  // A clock that advances a millisecond at every check: this counts work, however slow the machine.
  let now = performance.now();
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  try {
    const first = await session.list(query);
    expect([first.total, first.facts.map(({ args }) => args[0])]).toEqual([
      3000,
      ['o0', 'o1', 'o10', 'o100', 'o1000'],
    ]);
    expect(first.facts[1]).toMatchObject({
      derived: true,
      provenance: { premises: ['order(o1, 1, 2)', '2 = 1 * 2'] },
    });
    expect((await session.list({ ...query, sort: 'arg1', order: 'desc' })).facts[0]?.args[1]).toBe('12');
    for (const sort of ['salience', 'createdAt', 'updatedAt', 'validUntil']) {
      const refused = await refusal(session.list({ ...query, sort }));
      expect(refused.code).toBe('InferenceLimitExceeded');
      expect(refused.members).toMatchObject({ limit: 'timeoutMs' });
      expect(refused.message).toContain(`sort=${sort} needs the proof of each of 3000 conclusions of worth`);
      expect(refused.message).toContain('sort=predicate and sort=argN');
    }
  } finally {
    time.mockRestore();
  }
  expect((await session.list({ ...query, sort: 'salience' })).total).toBe(3000);
});

test.each(['arg0', 'arg1', 'updatedAt', 'scope', 'predicate'])(
  'has the same first pages, from either end and at any offset, as a listing of everything by %s',
  async (sort) => {
    const session = await openSession();
    // Values repeat, so that the end of a page is often among equal ones.
    await session.tellAll(
      Array.from({ length: 300 }, (_, at) => `p(${(at * 37) % 101}, b${(at * 7919) % 300})`),
    );
    await session.tellAll(Array.from({ length: 100 }, (_, at) => `q(a${(at * 13) % 100})`));
    session.clock.advance(hour);
    await session.tell('p(74, b238)', { metadata: { source: 'x' } });
    await session.teach('p(?x, derived) :- q(?x)');
    for (const filter of [{ predicate: 'p' }, { predicate: 'p', derived: 'true' }])
      for (const order of ['asc', 'desc']) {
        const query = { ...filter, sort, order };
        const whole = (await session.list({ ...query, limit: '1000' })).facts;
        expect(whole.length).toBe('derived' in filter ? 400 : 300);
        await session.tell(`z(${order}, ${sort})`);
        for (const offset of [0, 3, 17]) {
          const first = await session.list({ ...query, limit: '10', offset: String(offset) });
          expect(first.facts).toEqual(whole.slice(offset, offset + 10));
          expect(first.total).toBe(whole.length);
          const cursor = first.nextCursor ?? '';
          expect((await session.list({ ...query, limit: '10', cursor })).facts).toEqual(
            whole.slice(offset + 10, offset + 20),
          );
          const other = { ...query, order: order === 'asc' ? 'desc' : 'asc' };
          expect((await session.list({ ...other, limit: '5' })).facts).toEqual(whole.slice(-5).toReversed());
          // A change of anything makes the listing anew.
          await session.tell(`z(${order}, ${offset})`);
        }
      }
  },
);

test.each(['arg0', 'arg1', 'createdAt'])(
  'goes on after a cursor whatever came or went before it, by %s',
  { timeout: 600_000 },
  async (sort) => {
    const prng = new Prng(sort.length);
    const session = await openSession();
    const atom = (at: number) => `p(${(at * 7919) % 400}, v${at})`;
    let told = 0;
    const tell = (count: number) =>
      session.tellAll(Array.from({ length: count }, () => atom(told++))).then(() => session.clock.advance(1));
    for (let round = 0; round < 4; round++) await tell(500);
    const present = new Set(Array.from({ length: told }, (_, at) => at));
    for (const order of ['asc', 'desc'])
      for (let walk = 0; walk < 3; walk++) {
        const query = { predicate: 'p', sort, order, limit: '20' };
        let page = await session.list(query);
        for (let pages = 0; pages < 6; pages++) {
          const last = page.facts.at(-1);
          if (last === undefined || page.nextCursor === null) break;
          // Sometimes more come or go than the selection allows for.
          const many = prng.pick([3, 150, 90 + prng.below(24)]);
          const before = told;
          if (prng.chance(0.5)) await tell(many);
          else
            for (const at of [...present].slice(0, many)) {
              if (last.args[1] === `v${at}`) continue;
              await session.forget(atom(at));
              present.delete(at);
            }
          for (let at = before; at < told; at++) present.add(at);
          await session.tell(`z(${walk}, ${pages}, ${order})`);
          page = await session.list({ ...query, cursor: page.nextCursor });
          const whole: StoredFact[] = [];
          for (let offset = 0; offset < present.size; offset += 1000)
            whole.push(...(await session.list({ ...query, limit: '1000', offset: String(offset) })).facts);
          expect(whole.length).toBe(present.size);
          const behind = whole.findIndex(({ id }) => id === last.id) + 1;
          expect(page.facts.map(({ args }) => args)).toEqual(
            whole.slice(behind, behind + 20).map(({ args }) => args),
          );
        }
      }
  },
);
