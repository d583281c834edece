import { expect, test } from 'vitest';
import { recallInputSchema, memoryStatsQuerySchema } from '../contract/memory.ts';
import { summaryInputSchema } from '../contract/context.ts';
import { day, factInput, openSession, type Session } from '../testing/engine-fixtures.ts';

/** What counts as a use of a fact: contract section 8. */

async function usesOf({ engine, caller }: Session, id: string): Promise<number> {
  return (await engine.fact(caller, id)).salienceBreakdown.uses;
}

test('counts an assertion as a use, even if it is repeated or changes nothing', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)');
  expect(await usesOf(session, id)).toBe(1);
  expect((await session.tell('p(a)')).status).toBe('unchanged');
  expect(await usesOf(session, id)).toBe(2);
  expect((await session.tell('p(a)', { metadata: { source: 'me' } })).status).toBe('updated');
  expect(await usesOf(session, id)).toBe(3);
  await session.tellAll(['p(a)', 'p(b)']);
  expect(await usesOf(session, id)).toBe(4);
});

test('starts again with one use when a fact is retracted and asserted again', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.results('p(?x)');
  await session.forget('p(a)');
  expect(await usesOf(session, (await session.tell('p(a)')).id)).toBe(1);
});

test("counts appearance in the returned page of a question's answers", async () => {
  const session = await openSession();
  const first = (await session.tell('p(a)')).id;
  const second = (await session.tell('p(b)')).id;
  await session.results('p(?x)', { limit: 1 });
  expect(await usesOf(session, first)).toBe(2);
  expect(await usesOf(session, second)).toBe(1);
  await session.query('p(?x)', { limit: 1, offset: 1 });
  expect(await usesOf(session, first)).toBe(2);
  expect(await usesOf(session, second)).toBe(2);
});

test('counts a stored premise in a requested proof, and only then', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x)');
  const { id } = await session.tell('p(a)');
  await session.results('q(?x)');
  expect(await usesOf(session, id)).toBe(1);
  await session.proof('q(?x)');
  expect(await usesOf(session, id)).toBe(2);
});

test('counts one use for a fact in a question, however often it occurs in answers and proofs', async () => {
  const session = await openSession();
  await session.teach('q(?x, ?y) :- p(?x), p(?y)');
  const { id } = await session.tell('p(a)');
  await session.tell('p(b)');
  await session.proof('p(?x), q(?x, ?y), p(?y)');
  expect(await usesOf(session, id)).toBe(2);
});

test('counts one use at commit for a fact asserted in a transaction', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)');
  const { id: transaction } = await session.engine.begin(session.caller);
  const changed = factInput('p(a)', { metadata: { source: 'me' } });
  await session.engine.within({ ...session.caller, transaction }).tellAll([changed]);
  await session.engine.commit(session.caller, transaction, false);
  expect(await usesOf(session, id)).toBe(2);
});

test('does not count appearance in a window or a listing', async () => {
  const session = await openSession();
  const { engine, caller, clock } = session;
  const { id } = await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)');
  clock.advance(day);
  await session.list();
  await session.list({ predicate: 'q', derived: 'true', sort: 'salience' });
  await engine.recall(caller, recallInputSchema.parse({ includeInferred: true }));
  await engine.memoryStats(caller, memoryStatsQuerySchema.parse({}));
  await engine.summarizeContext(caller, summaryInputSchema.parse({}));
  await engine.fact(caller, id);
  expect(await usesOf(session, id)).toBe(1);
});

test('computes the breakdown of a fact by the formula at the time of the call', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)', { metadata: { importance: 1, confidence: 0.5 } });
  session.clock.advance(3 * day);
  await session.results('p(?x)');
  session.clock.advance(day);
  const { salience, salienceBreakdown } = await session.engine.fact(session.caller, id);
  expect(salienceBreakdown).toMatchObject({ uses: 2, importance: 1, confidence: 0.5 });
  expect(salienceBreakdown.activation).toBeCloseTo(0.6, 12);
  expect(salienceBreakdown.salience).toBeCloseTo(0.42, 12);
  expect(salienceBreakdown.lastUsedAt).toBe(session.clock.now() - day);
  expect(salience).toBe(salienceBreakdown.salience);
});
