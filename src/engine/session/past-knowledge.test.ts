import { expect, test } from 'vitest';
import type { Moment } from '../base/caller.ts';
import type { KnownAt } from '../contract/moments.ts';
import {
  chainOf,
  gate,
  hour,
  openSession,
  proofLines,
  refusal,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

const at = (session: Session, moment: Partial<Moment>): Session =>
  session.as({ moment: { asOf: null, asKnown: null, ...moment } });
const generation = (number: number): KnownAt => ({ kind: 'generation', generation: number });
const instant = (time: number): KnownAt => ({ kind: 'instant', time });

/** Ann moves on every hour: generation 2 at 1 h, 3 at 2 h; 1 is the rule. */
async function moves(): Promise<Session> {
  const session = await openSession();
  await session.teach('near(?x, ?y) :- lives(?x, ?c), lives(?y, ?c), ?x != ?y');
  session.clock.advance(hour);
  await session.tellAll(['lives(ann, york)', 'lives(bob, york)']);
  session.clock.advance(hour);
  await session.forget('lives(ann, york)');
  session.clock.advance(hour);
  await session.tell('lives(ann, leeds)');
  return session;
}

test('answers from the knowledge of a generation, with the proof of then', async () => {
  const session = await moves();
  const then = at(session, { asKnown: generation(2) });
  expect(await then.results('near(?x, ?y)')).toEqual(['near(ann, bob)', 'near(bob, ann)']);
  expect(proofLines(await then.proof('near(ann, bob)'))).toEqual([
    '0 fact lives(ann, york)',
    '1 fact lives(bob, york)',
    '2 builtin ann != bob',
    '3 rule near(ann, bob) [0 1 2]',
  ]);
  expect(await at(session, { asKnown: generation(1) }).results('lives(?x, ?y)')).toEqual([]);
  expect(await at(session, { asKnown: generation(3) }).results('lives(?x, ?y)')).toEqual([
    'lives(bob, york)',
  ]);
  expect(await session.results('lives(?x, ?y)')).toEqual(['lives(ann, leeds)', 'lives(bob, york)']);
});

test('an instant is the last generation stamped at or before it', async () => {
  const session = await moves();
  const answer = async (time: number): Promise<unknown> => {
    const { results, generation: of } = await at(session, { asKnown: instant(time) }).ask('lives(?x, ?y)');
    return [of, results];
  };
  expect(await answer(startTime - 1)).toEqual([0, []]);
  expect(await answer(startTime + hour - 1)).toEqual([1, []]);
  expect(await answer(startTime + hour)).toEqual([2, ['lives(ann, york)', 'lives(bob, york)']]);
  expect(await answer(startTime + 2 * hour - 1)).toEqual([2, ['lives(ann, york)', 'lives(bob, york)']]);
  expect(await answer(startTime + 2 * hour)).toEqual([3, ['lives(bob, york)']]);
  expect(await answer(startTime + 3 * hour)).toEqual([4, ['lives(ann, leeds)', 'lives(bob, york)']]);
});

test('validity is judged at asOf, by the latest knowledge unless asKnown is given', async () => {
  const session = await openSession();
  const { clock, tell } = session;
  await session.teach('paid(?x) :- works(?x)');
  await tell('works(ann)', { validFrom: startTime + hour, validUntil: startTime + 3 * hour });
  clock.advance(2 * hour);
  await tell('works(ann)', { validUntil: startTime + 10 * hour });
  clock.advance(4 * hour);
  const paid = (moment: Partial<Moment>): Promise<string[]> => at(session, moment).results('paid(?x)');
  expect(await paid({ asOf: startTime })).toEqual([]);
  expect(await paid({ asOf: startTime + hour })).toEqual(['paid(ann)']);
  expect(await paid({ asOf: startTime + 5 * hour })).toEqual(['paid(ann)']);
  expect(await paid({ asOf: startTime + 10 * hour })).toEqual([]);
  expect(await paid({ asKnown: generation(2) })).toEqual([]);
  expect(await paid({ asKnown: generation(2), asOf: startTime + 2 * hour })).toEqual(['paid(ann)']);
  expect(await paid({ asKnown: generation(2), asOf: startTime + 5 * hour })).toEqual([]);
  expect(await paid({ asKnown: generation(3) })).toEqual(['paid(ann)']);
});

test('sees a fact whose validity has ended, and none that was retracted', async () => {
  const session = await openSession();
  await session.tell('p(ended)', { validUntil: startTime + hour });
  await session.tell('p(wrong)');
  await session.forget('p(wrong)');
  session.clock.advance(2 * hour);
  expect(await session.results('p(?x)')).toEqual([]);
  expect(await at(session, { asOf: startTime }).results('p(?x)')).toEqual(['p(ended)']);
});

test('refuses the future of knowledge, and what was erased', async () => {
  const session = await moves();
  expect(await refusal(at(session, { asKnown: generation(5) }).ask('lives(?x, ?y)'))).toMatchObject({
    code: 'ValidationException',
    message: 'asKnown: there is no generation 5 yet: the last is 4',
  });
  const later = instant(session.clock.now() + 1);
  expect((await refusal(at(session, { asKnown: later }).ask('lives(?x, ?y)'))).code).toBe(
    'ValidationException',
  );
  await session.engine.nukeTenant(session.caller, 'default', 'tenant');
  expect(await refusal(at(session, { asKnown: generation(2) }).ask('lives(?x, ?y)'))).toMatchObject({
    code: 'HistoryGone',
    members: { earliest: { generation: 5 } },
  });
  const then = instant(startTime + hour);
  expect((await refusal(at(session, { asKnown: then }).ask('lives(?x, ?y)'))).code).toBe('HistoryGone');
});

test('names the earliest moment where a snapshot begins the history', async () => {
  const session = await moves();
  await session.engine.snapshot();
  await session.tell('lives(cid, hull)');
  expect(await refusal(at(session, { asKnown: generation(3) }).ask('lives(?x, ?y)'))).toMatchObject({
    code: 'HistoryGone',
    members: { earliest: { generation: 4 } },
  });
  expect(await at(session, { asKnown: generation(4) }).results('lives(ann, ?y)')).toEqual([
    'lives(ann, leeds)',
  ]);
});

test('questions about the past are no uses', async () => {
  const session = await moves();
  const before = await session.list();
  await at(session, { asOf: session.clock.now() }).ask('lives(?x, ?y)');
  await at(session, { asKnown: generation(4) }).query('lives(?x, ?y)');
  await at(session, { asKnown: generation(2) }).ask('near(?x, ?y)', { withProof: true });
  expect(await session.list()).toEqual(before);
});

test('the rules, predicates, facts and scopes of then', async () => {
  const session = await moves();
  await session.tell('lives(dan, bath)', { scope: 'plan' });
  const { engine, caller } = at(session, { asKnown: generation(2) });
  expect((await engine.rules(caller)).map(({ id }) => id)).toEqual(['r1']);
  expect((await engine.scopes(caller)).count).toBe(0);
  const listed = await at(session, { asKnown: generation(2) }).list();
  expect(listed.facts.map(({ id }) => id)).toEqual(['f2-0', 'f2-1']);
  const { predicates } = await engine.predicates(caller);
  expect(predicates.map(({ name, facts }) => [name, facts])).toEqual([
    ['lives', 2],
    ['near', 0],
  ]);
  const earlier = at(session, { asKnown: generation(0) });
  expect(await earlier.engine.rules(earlier.caller)).toEqual([]);
});

test('pages of a listing of then stay those of then', async () => {
  const session = await moves();
  const then = at(session, { asKnown: generation(2) });
  const first = await then.list({ limit: '1' });
  await session.tell('lives(abe, york)');
  const second = await then.list({ limit: '1', cursor: first.nextCursor ?? '' });
  expect([...first.facts, ...second.facts].map(({ args }) => args[0])).toEqual(['ann', 'bob']);
  expect(second.nextCursor).toBeNull();
});

test('a question about the past sees one state, whatever is written meanwhile', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  await session.tellAll(chainOf(300));
  session.clock.advance(hour);
  await session.tell('edge(a, b)');
  for (const moment of [{ asOf: startTime }, { asKnown: generation(3) }]) {
    const held = hold();
    const asked = at(session, moment).results('reach(n0, ?y)');
    await held;
    await session.forgetPattern('edge(n1, ?y)');
    release();
    expect(await asked).toHaveLength(300);
    await session.tell('edge(n1, n2)');
  }
});

test('copies are shared while they are asked, bounded in number, and rebuilt when they were dropped', async () => {
  const session = await openSession();
  for (let number = 1; number <= 8; number++) await session.tell(`p(${number})`);
  const count = async (of: number): Promise<number> =>
    (await at(session, { asKnown: generation(of) }).query('p(?x)')).length;
  const together = await Promise.all([3, 3, 3, 5, 5].map(count));
  expect(together).toEqual([3, 3, 3, 5, 5]);
  for (let of = 0; of < 8; of++) expect(await count(of)).toBe(of);
  for (let of = 8; of >= 0; of--) expect(await count(of)).toBe(of);
});

test('a copy that takes more than derived data may is refused, and the service goes on', async () => {
  const session = await openSession({ memoryBudgetBytes: 200_000 });
  await session.tellAll(chainOf(5000));
  await session.tell('p(a)');
  expect(await refusal(at(session, { asKnown: generation(1) }).query('p(?x)'))).toMatchObject({
    code: 'InferenceLimitExceeded',
    members: { limit: 'memory' },
  });
  expect(await session.query('p(?x)')).toHaveLength(1);
});

test('a clock that was set back: a generation is asked as of the wall clock by which it was judged', async () => {
  const session = await openSession();
  const { clock, tell } = session;
  clock.step(10 * hour);
  await tell('p(ahead)');
  clock.step(-10 * hour);
  await tell('p(brief)', { ttl: hour });
  clock.advance(2 * hour);
  await tell('p(later)');
  expect(await at(session, { asKnown: generation(2) }).results('p(?x)')).toEqual(['p(ahead)', 'p(brief)']);
  expect(await at(session, { asKnown: generation(3) }).results('p(?x)')).toEqual(['p(ahead)', 'p(later)']);
});

test('a database that was deleted and created again shows nothing of the one before', async () => {
  const session = await openSession();
  const { engine, caller, clock } = session;
  await engine.createDatabase(caller, 'project');
  const project = session.as({ database: 'project' });
  await project.tell('secret(a)');
  const told = clock.now();
  clock.advance(hour);
  await engine.deleteDatabase(caller, 'project');
  clock.advance(hour);
  await engine.createDatabase(caller, 'project');
  await project.tell('p(a)');
  for (const asKnown of [generation(1), instant(told)])
    expect((await refusal(at(project, { asKnown }).query('secret(?x)'))).code).toBe('HistoryGone');
  expect(await at(project, { asKnown: instant(told + hour) }).query('secret(?x)')).toEqual([]);
  expect(await at(project, { asKnown: generation(2) }).query('p(?x)')).toEqual([]);
  expect(await at(project, { asKnown: generation(3) }).query('p(?x)')).toHaveLength(1);
});

test('a nuked database shows nothing of before', async () => {
  const session = await moves();
  await session.engine.nukeDatabase(session.caller, 'default');
  expect((await refusal(session.engine.rules(at(session, { asKnown: generation(2) }).caller))).code).toBe(
    'HistoryGone',
  );
  await session.engine.snapshot();
  const { engine, caller } = at(session, { asKnown: generation(5) });
  expect(await engine.rules(caller)).toEqual([]);
});
