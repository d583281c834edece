import { expect, test } from 'vitest';
import type { PredicateList } from '../contract/facts.ts';
import { day, openSession, type Session } from '../testing/engine-fixtures.ts';

/** Conclusions are counted while the engine is idle. */

type Counts = Record<string, string>;

/** `11` if known, `at least 11` if not. */
function countsOf({ predicates }: PredicateList): Counts {
  const ofRules = predicates.filter(({ rules }) => rules > 0);
  return Object.fromEntries(
    ofRules.map(({ name, derived, derivedComplete }) => [
      name,
      derivedComplete ? `${derived}` : `at least ${derived}`,
    ]),
  );
}

const look = async ({ engine, caller }: Session): Promise<Counts> =>
  countsOf(await engine.predicates(caller));

/** The counts once `isDone`, while the clock advances and no question or write arrives. */
async function counted(session: Session, isDone: (counts: Counts) => boolean): Promise<Counts> {
  for (;;) {
    session.clock.advance(1000);
    const counts = await look(session);
    if (isDone(counts)) return counts;
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
}

const isWhole = (counts: Counts): boolean => !Object.values(counts).some((each) => each.includes('least'));

async function openChain(length: number): Promise<Session> {
  const session = await openSession();
  await session.tellAll(Array.from({ length }, (_, at) => `edge(n${at}, n${at + 1})`));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)');
  await session.teach('last(?x) :- edge(?_, ?x), not edge(?x, ?_)');
  return session;
}

const timeout = 60_000;

test('counts never requested conclusions once their tenant was viewed and the engine is idle', {
  timeout,
}, async () => {
  const session = await openChain(30);
  expect(await look(session)).toEqual({ reach: 'at least 0', last: 'at least 0' });
  await session.results('reach(n0, ?x)');
  expect(await look(session)).toMatchObject({ last: 'at least 0' });
  expect(await counted(session, isWhole)).toEqual({ reach: '465', last: '1' });
  // Counting caches nothing else: it leaves no tables.
  expect(session.engine.figures().conclusions).toBeLessThan(100);
});

test('keeps a count until something it depends on changes', { timeout }, async () => {
  const session = await openChain(5);
  await session.teach('other(?x) :- apart(?x)');
  await session.tell('apart(a)');
  const known = { reach: '15', last: '1', other: '1' };
  expect(await counted(session, isWhole)).toEqual(known);
  await session.tell('unread(a)');
  expect(await look(session)).toEqual(known);
  await session.tell('edge(n5, n6)');
  expect(await look(session)).toEqual({ reach: 'at least 0', last: 'at least 0', other: '1' });
  expect(await counted(session, isWhole)).toEqual({ reach: '21', last: '1', other: '1' });
  await session.tell('last(n6)');
  await session.tell('apart(b)', { ttl: day });
  // Stored facts are not conclusions.
  expect(await counted(session, isWhole)).toMatchObject({ last: '0', other: '2' });
  session.clock.advance(day);
  expect(await counted(session, isWhole)).toMatchObject({ other: '1' });
  await session.teach('other(?x) :- apart(?_), extra(?x)');
  expect(await look(session)).toMatchObject({ reach: '21', other: 'at least 0' });
});

test('leaves relations over the limit uncounted, and counts the rest', { timeout }, async () => {
  const session = await openSession({ memoryBudgetBytes: 4_000_000 });
  await session.tellAll(Array.from({ length: 300 }, (_, at) => `p(c${at})`));
  await session.teach('pair(?x, ?y, ?z) :- p(?x), p(?y), p(?z)');
  await session.teach('on(?x) :- pair(?x, ?_, ?_)');
  await session.teach('q(?x) :- p(?x)');
  expect(await counted(session, ({ q }) => q === '300')).toMatchObject({ pair: 'at least 0' });
});

test('ignores a tenant that is not viewed', { timeout }, async () => {
  const session = await openChain(5);
  const other = session.as({ tenant: 'other' });
  await other.tell('edge(a, b)');
  expect(await counted(session, isWhole)).toMatchObject({ reach: '15' });
  expect(await look(other)).toMatchObject({ reach: 'at least 0' });
  expect(await counted(other, isWhole)).toMatchObject({ reach: '1' });
});
