import { expect, test } from 'vitest';
import type { StoredFact } from '../contract/facts.ts';
import { renderAtom } from '../language/print.ts';
import { day, hour, openSession, refusal, type Session, startTime } from '../testing/engine-fixtures.ts';

/** GET /facts and GET /predicates: contract section 3. */

function atom({ predicate, args, truthVal }: StoredFact): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}

/** The atoms of all pages of a listing, page by page; `between` is called after each but the last. */
async function pages(
  { list }: Session,
  query: Record<string, string>,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<string[][]> {
  const found: string[][] = [];
  let cursor: string | null = null;
  do {
    const page = await list({ ...query, ...(cursor === null ? {} : { cursor }) });
    found.push(page.facts.map(atom));
    cursor = page.nextCursor;
    if (cursor !== null) await between(found.length);
  } while (cursor !== null);
  return found;
}

async function atoms({ list }: Session, query: Record<string, string> = {}): Promise<string[]> {
  return (await list(query)).facts.map(atom);
}

test('lists stored facts by predicate, those of one in the order of assertion', async () => {
  const session = await openSession();
  await session.tellAll(['p(b)', '-p(a)', 'q(z)', 'p(a)', 'a()', 'p(a, a)']);
  expect(await session.list()).toMatchObject({ total: 6, nextCursor: null });
  expect(await atoms(session)).toEqual(['a()', 'p(b)', 'p(a)', '-p(a)', 'p(a, a)', 'q(z)']);
  expect(await atoms(session, { order: 'desc' })).toEqual([
    'q(z)',
    'p(a, a)',
    '-p(a)',
    'p(a)',
    'p(b)',
    'a()',
  ]);
});

test('filters a listing by predicate, truth value, scope or unscoped', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', '-p(b)', 'q(c)']);
  await session.tell('p(d)', { scope: 's' });
  expect(await atoms(session, { predicate: 'p' })).toEqual(['p(a)', 'p(d)', '-p(b)']);
  expect(await atoms(session, { predicate: 'p', truthVal: 'false' })).toEqual(['-p(b)']);
  expect(await atoms(session, { truthVal: 'true' })).toEqual(['p(a)', 'p(d)', 'q(c)']);
  expect(await atoms(session, { scope: 's' })).toEqual(['p(d)']);
  expect(await atoms(session, { unscoped: 'true' })).toEqual(['p(a)', '-p(b)', 'q(c)']);
  expect(await atoms(session, { scope: 'none' })).toEqual([]);
  expect(await atoms(session, { predicate: 'P' })).toEqual([]);
});

test('finds a part of the rendered atom by q, ignoring case', async () => {
  const session = await openSession();
  await session.tellAll(['parent(Alice, bob)', '-parent(carol, "a, b")', 'likes(bob, ÄPFEL)']);
  expect(await atoms(session, { q: 'ALICE' })).toEqual(['parent(Alice, bob)']);
  expect(await atoms(session, { q: '-parent(' })).toEqual(['-parent(carol, "a, b")']);
  expect(await atoms(session, { q: 'bob)' })).toEqual(['parent(Alice, bob)']);
  expect(await atoms(session, { q: 'äpfel' })).toEqual(['likes(bob, ÄPFEL)']);
  expect(await atoms(session, { q: '"a, b"' })).toEqual(['-parent(carol, "a, b")']);
  expect(await session.list({ q: 'nobody' })).toEqual({ facts: [], total: 0, nextCursor: null });
});

test('sorts a listing by time of assertion, change or end of validity', async () => {
  const session = await openSession();
  const { tell, clock } = session;
  await tell('p(a)', { validUntil: startTime + 3 * day });
  clock.advance(hour);
  await tell('p(b)');
  clock.advance(hour);
  await tell('p(c)', { validUntil: startTime + day });
  clock.advance(hour);
  await tell('p(a)', { metadata: { changed: true } });
  expect(await atoms(session, { sort: 'createdAt' })).toEqual(['p(a)', 'p(b)', 'p(c)']);
  expect(await atoms(session, { sort: 'createdAt', order: 'desc' })).toEqual(['p(c)', 'p(b)', 'p(a)']);
  expect(await atoms(session, { sort: 'updatedAt' })).toEqual(['p(b)', 'p(c)', 'p(a)']);
  expect(await atoms(session, { sort: 'validUntil' })).toEqual(['p(c)', 'p(a)', 'p(b)']);
});

test('sorts a listing by salience', async () => {
  const session = await openSession();
  const { tell, clock } = session;
  await tell('p(dull)', { metadata: { importance: 0 } });
  await tell('p(old)');
  clock.advance(10 * day);
  await tell('p(new)');
  await tell('p(sure)', { metadata: { importance: 1 } });
  await tell('p(doubtful)', { metadata: { confidence: 0.01 } });
  clock.advance(day);
  const order = ['p(dull)', 'p(doubtful)', 'p(old)', 'p(new)', 'p(sure)'];
  expect(await atoms(session, { sort: 'salience' })).toEqual(order);
  expect(await atoms(session, { sort: 'salience', order: 'desc' })).toEqual(order.reverse());
});

test('returns pages without gap or repetition, in every order', async () => {
  const session = await openSession();
  const all = Array.from({ length: 25 }, (_, at) => `p${at % 3}(n${at})`);
  await session.tellAll(all);
  for (const sort of ['predicate', 'createdAt', 'updatedAt', 'salience', 'validUntil'])
    for (const order of ['asc', 'desc']) {
      const found = await pages(session, { sort, order, limit: '4' });
      expect(
        found.map((page) => page.length),
        `${sort} ${order}`,
      ).toEqual([4, 4, 4, 4, 4, 4, 1]);
      expect(found.flat(), `${sort} ${order}`).toEqual(await atoms(session, { sort, order }));
      expect(new Set(found.flat())).toEqual(new Set(all));
    }
});

test('neither repeats nor skips facts if others are added or removed between two pages', async () => {
  const session = await openSession();
  const { tellAll, forget, tell } = session;
  await tellAll(Array.from({ length: 12 }, (_, at) => `p(n${at})`));
  const found = await pages(session, { limit: '3' }, async (page) => {
    await forget(`p(n${page - 1})`);
    await forget(`p(n${11 - page})`);
    // A relation before and one after the listed ones.
    await tell(`a${page}(x)`);
    await tell(`z${page}(x)`);
  });
  expect(found.flat().filter((each) => each.startsWith('p'))).toEqual(
    ['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n11'].map((name) => `p(${name})`),
  );
  expect(found.flat().filter((each) => each.startsWith('a'))).toEqual([]);
  expect(found.flat().filter((each) => each.startsWith('z')).length).toBeGreaterThan(0);
});

test('continues after the last fact of a page even if that fact is gone', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)', 'p(d)']);
  const found = await pages(session, { limit: '2' }, () => session.forgetPattern('p(b)'));
  expect(found).toEqual([
    ['p(a)', 'p(b)'],
    ['p(c)', 'p(d)'],
  ]);
});

test('repeats no facts in pages by salience as time passes and facts are used', async () => {
  const session = await openSession();
  const { tell, clock, query } = session;
  for (let at = 0; at < 9; at++) {
    await tell(`p(n${at})`);
    clock.advance(day);
  }
  for (const [order, used] of [
    ['asc', 'p(n4)'],
    ['desc', 'p(n2)'],
  ] as const) {
    const found = await pages(session, { sort: 'salience', order, limit: '2' }, async () => {
      clock.advance(40 * day);
      await query(used);
    });
    expect(new Set(found.flat()).size, order).toBe(9);
    expect(found.flat(), order).toHaveLength(9);
  }
});

test('rejects a cursor of another listing, or an invalid one', async () => {
  const { list, tellAll } = await openSession();
  await tellAll(['p(a)', 'p(b)']);
  const { nextCursor } = await list({ limit: '1' });
  expect((await list({ limit: '1', cursor: nextCursor ?? '' })).facts.map(atom)).toEqual(['p(b)']);
  const bad = ['', '0', 'null', '[]', '{"sort":1}', 'x', '["predicate"]', '["predicate",[1],2,"",3]'];
  for (const cursor of [...bad, `${nextCursor}x`])
    expect((await refusal(list({ cursor }))).code, cursor).toBe('ValidationException');
  expect((await refusal(list({ cursor: nextCursor ?? '', sort: 'createdAt' }))).code).toBe(
    'ValidationException',
  );
});

test('lists facts that are not valid yet, and no expired ones', async () => {
  const session = await openSession();
  const { tell, clock } = session;
  await tell('p(past)', { validUntil: startTime - 1 });
  await tell('p(now)', { ttl: 1000 });
  await tell('p(soon)', { validFrom: startTime + 5000 });
  expect(await atoms(session)).toEqual(['p(now)', 'p(soon)']);
  clock.advance(1000);
  expect(await session.list()).toMatchObject({ total: 1, facts: [{ args: ['soon'] }] });
});

test('lists derivable conclusions of the predicate beside its stored facts with derived=true', async () => {
  const session = await openSession();
  await session.tellAll(['parent(a, b)', 'parent(b, c)', 'ancestor(b, c)', 'ancestor(x, y)']);
  await session.teach('ancestor(?x, ?y) :- parent(?x, ?y)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  await session.teach('-ancestor(?y, ?x) :- ancestor(?x, ?y)');
  const { facts, total } = await session.list({ predicate: 'ancestor', derived: 'true', truthVal: 'true' });
  expect(total).toBe(4);
  expect(facts.map((fact) => [atom(fact), fact.derived])).toEqual([
    ['ancestor(b, c)', false],
    ['ancestor(x, y)', false],
    ['ancestor(a, b)', true],
    ['ancestor(a, c)', true],
  ]);
  expect(await atoms(session, { predicate: 'ancestor', derived: 'true' })).toHaveLength(8);
  expect(await atoms(session, { predicate: 'ancestor', derived: 'true', q: '-ANCESTOR(c' })).toEqual([
    '-ancestor(c, a)',
    '-ancestor(c, b)',
  ]);
  expect(await atoms(session, { predicate: 'ancestor' })).toHaveLength(2);
});

test('gives a conclusion the times, validity and salience of the stored premises of its proof', async () => {
  const session = await openSession();
  const { tell, teach, clock, list } = session;
  await teach('c(?x) :- a(?x), b(?x)', { scope: 's' });
  await tell('a(1)', { scope: 's', validFrom: startTime - day, validUntil: startTime + 9 * day });
  clock.advance(day);
  await tell('b(1)', { scope: 's', validFrom: startTime, validUntil: startTime + 5 * day });
  clock.advance(day);
  await tell('b(1)', { scope: 's', metadata: { note: 'changed' } });
  const [conclusion] = (await list({ predicate: 'c', derived: 'true' })).facts;
  const saliences = (await list()).facts.map(({ salience }) => salience);
  expect(conclusion).toEqual({
    id: null,
    predicate: 'c',
    args: ['1'],
    truthVal: true,
    scope: 's',
    validFrom: startTime,
    validUntil: startTime + 5 * day,
    metadata: {},
    createdAt: startTime + day,
    updatedAt: startTime + 2 * day,
    importId: null,
    salience: Math.min(...saliences),
    derived: true,
    provenance: { rule: 'c(?x) :- a(?x), b(?x)', premises: ['a(1)', 'b(1)'] },
  });
});

test('gives a conclusion the scope of its scoped rule, else null', async () => {
  const session = await openSession();
  await session.teach('c(?x) :- a(?x)');
  await session.tell('a(1)', { scope: 's' });
  const [conclusion] = (await session.list({ predicate: 'c', derived: 'true', scope: 's' })).facts;
  expect(conclusion).toMatchObject({ scope: null, derived: true });
});

test('gives a conclusion without stored premises salience 1', async () => {
  const session = await openSession();
  await session.teach('c(1) :- 1 < 2');
  const [conclusion] = (await session.list({ predicate: 'c', derived: 'true' })).facts;
  expect(conclusion).toMatchObject({ salience: 1, validFrom: null, validUntil: null });
});

test('continues pages of conclusions where they were while conclusions change', async () => {
  const session = await openSession();
  await session.teach('c(?x) :- a(?x)');
  await session.tellAll(['c(stored)', 'a(b)', 'a(d)', 'a(f)', 'a(h)', 'a(j)']);
  const query = { predicate: 'c', derived: 'true', limit: '2' };
  const changes = [
    () => session.tellAll(['a(a)', 'a(e)']),
    () => session.forget('a(b)'),
    () => session.forget('a(e)'),
  ];
  const found = await pages(session, query, async (page) => changes[page - 1]?.());
  expect(found).toEqual([['c(stored)', 'c(b)'], ['c(d)', 'c(e)'], ['c(f)', 'c(h)'], ['c(j)']]);
});

test('does not count appearance in a listing as a use', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)');
  session.clock.advance(day);
  for (const sort of ['predicate', 'salience']) await session.list({ sort });
  const { salienceBreakdown } = await session.engine.fact(session.caller, id);
  expect(salienceBreakdown).toMatchObject({ uses: 1, lastUsedAt: startTime });
});

test('counts visible facts in the vocabulary after any changes', async () => {
  const { engine, caller, tell, tellAll, forget, clock } = await openSession();
  const counted = async () => {
    const [row] = (await engine.predicates(caller)).predicates;
    return [row?.facts, row?.scopes, row?.example];
  };
  await tellAll(['p(a)', 'p(b)', 'p(c)']);
  expect(await counted()).toEqual([3, [null], 'p(a)']);
  await forget('p(a)');
  await tell('p(b)', { metadata: { source: 'x' } });
  expect(await counted()).toEqual([2, [null], 'p(c)']);
  await tell('p(d)', { scope: 's' });
  expect(await counted()).toEqual([3, [null, 's'], 'p(c)']);
  await forget('p(d)');
  await tell('p(e)', { ttl: 1000 });
  expect(await counted()).toEqual([3, [null], 'p(c)']);
  clock.advance(1000);
  expect(await counted()).toEqual([2, [null], 'p(c)']);
  for (const atom of ['p(b)', 'p(c)']) await forget(atom);
  expect(await counted()).toEqual([undefined, undefined, undefined]);
});

test('lists one row for every name and arity in the vocabulary', async () => {
  const { engine, caller, tellAll, tell, teach, results, clock } = await openSession();
  await tellAll(['p(a)', '-p(a)', 'p(a, b)', 'other(x)']);
  await tell('p(b)', { scope: 's' });
  await tell('p(gone)', { ttl: 1000 });
  await tell('p(soon)', { validFrom: startTime + day });
  await teach('q(?x) :- p(?x)', { scope: 's' });
  await teach('-q(?x) :- p(?x)', { enabled: false });
  clock.advance(1000);
  const rows = (await engine.predicates(caller)).predicates;
  expect(rows).toEqual([
    {
      name: 'other',
      arity: 1,
      facts: 1,
      derived: 0,
      derivedComplete: true,
      rules: 0,
      scopes: [null],
      example: 'other(x)',
    },
    {
      name: 'p',
      arity: 1,
      facts: 3,
      derived: 0,
      derivedComplete: true,
      rules: 0,
      scopes: [null, 's'],
      example: 'p(a)',
    },
    {
      name: 'p',
      arity: 2,
      facts: 1,
      derived: 0,
      derivedComplete: true,
      rules: 0,
      scopes: [null],
      example: 'p(a, b)',
    },
    {
      name: 'q',
      arity: 1,
      facts: 0,
      derived: 0,
      derivedComplete: false,
      rules: 2,
      scopes: [null, 's'],
      example: null,
    },
  ]);
  expect(await results('q(?x)', { scope: 's' })).toEqual(['q(b)']);
  const last = async () => (await engine.predicates(caller)).predicates.at(-1);
  expect(await last()).toMatchObject({ derived: 1, derivedComplete: false, example: 'q(b)' });
  expect(await results('q(?x)')).toEqual(['q(b)']);
  expect(await last()).toMatchObject({ derived: 1, derivedComplete: true, example: 'q(b)' });
  await tell('p(c)', { scope: 's' });
  expect(await last()).toMatchObject({ derived: 2, derivedComplete: true });
});
