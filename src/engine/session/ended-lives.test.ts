import { expect, test } from 'vitest';
import { factInputSchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { decayInputSchema } from '../contract/memory.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import { hour, openSession, type Session, startTime } from '../testing/engine-fixtures.ts';

const asOf = (session: Session, time: number): Session =>
  session.as({ moment: { asOf: time, asKnown: null } });
const decay = (session: Session) => session.engine.decay(session.caller, decayInputSchema.parse({}));
const seen = (session: Session, time: number, atom = 'p(?x)'): Promise<string[]> =>
  asOf(session, time).results(atom);

/** p(a) was true from 1 h to 2 h, and is true again from 4 h on; it is 5 h. */
async function twoLives(): Promise<Session> {
  const session = await openSession();
  const { clock, tell } = session;
  await session.teach('q(?x) :- p(?x)');
  await tell('p(a)', { validFrom: startTime + hour, validUntil: startTime + 2 * hour });
  clock.advance(3 * hour);
  await tell('p(a)', { validFrom: startTime + 4 * hour });
  clock.advance(2 * hour);
  return session;
}

test('an ended fact that was asserted again is seen at both of its times, by every way of asking', async () => {
  const session = await twoLives();
  const at = async (hours: number): Promise<unknown> => {
    const then = asOf(session, startTime + hours * hour);
    const { facts } = await then.list();
    const valid = facts.filter(({ validFrom }) => (validFrom ?? 0) <= startTime + hours * hour);
    return [
      await then.results('p(?x)'),
      await then.results('p(a)'),
      await then.results('q(a)'),
      (await then.query('p(a)')).length,
      (await then.query('p(?x)')).length,
      valid.map(({ id }) => id),
    ];
  };
  expect(await at(0.5)).toEqual([[], [], [], 0, 0, []]);
  expect(await at(1.5)).toEqual([['p(a)'], ['p(a)'], ['q(a)'], 1, 1, ['f2-0']]);
  expect(await at(3)).toEqual([[], [], [], 0, 0, []]);
  expect(await at(4.5)).toEqual([['p(a)'], ['p(a)'], ['q(a)'], 1, 1, ['f3-0']]);
  expect(await session.results('p(?x)')).toEqual(['p(a)']);
  expect((await session.list()).facts.map(({ id }) => id)).toEqual(['f3-0']);
});

test('of two lives that are valid at an instant, the newer one is seen, once', async () => {
  const session = await openSession();
  await session.tell('p(a)', { validUntil: startTime + hour });
  session.clock.advance(2 * hour);
  await session.tell('p(a)');
  const then = asOf(session, startTime);
  expect((await then.list()).facts.map(({ id }) => id)).toEqual(['f2-0']);
  expect(await then.query('p(?x)')).toHaveLength(1);
  await session.forget('p(a)');
  expect((await then.list()).facts.map(({ id }) => id)).toEqual(['f1-0']);
  expect(await seen(session, startTime + 2 * hour)).toEqual([]);
});

test('decay takes an ended fact out of the present only, until it is retracted by id', async () => {
  const session = await openSession();
  await session.tell('p(a)', { validUntil: startTime + hour });
  session.clock.advance(2 * hour);
  expect(await decay(session)).toMatchObject({ evicted: 1, expired: 1, remaining: 0, generation: 2 });
  expect(await decay(session)).toMatchObject({ evicted: 0, expired: 0, generation: 2 });
  expect(await seen(session, startTime)).toEqual(['p(a)']);
  await session.engine.forgetById(session.caller, 'f1-0');
  expect(await seen(session, startTime)).toEqual([]);
});

test('lives stay through snapshots, restarts and further changes', async () => {
  const backend = memoryBackend();
  const session = await twoLives();
  const { clock } = session;
  const open = async () => (await openEngineOn(backend, null, { clock, historyDays: 30 })).engine;
  let engine = await open();
  const tell = (validFrom: number, validUntil: number | 'never') =>
    engine.tell(
      session.caller,
      factInputSchema.parse({ predicate: 'p', args: ['b'], validFrom, validUntil }),
    );
  const now = clock.now();
  await tell(now, now + hour);
  clock.advance(2 * hour);
  await tell(now + 2 * hour, now + 3 * hour);
  await engine.snapshot();
  await engine.close();
  engine = await open();
  clock.advance(2 * hour);
  await tell(now + 4 * hour, 'never');
  await engine.decay(session.caller, decayInputSchema.parse({}));
  await tell(now + 4 * hour, now + 10 * hour);
  await engine.snapshot();
  await engine.close();
  engine = await open();
  const results: string[][] = [];
  for (const hours of [0.5, 1.5, 2.5, 3.5, 4.5]) {
    const caller = { ...session.caller, moment: { asOf: now + hours * hour, asKnown: null } };
    results.push((await engine.ask(caller, askInputSchema.parse({ predicate: 'p', args: ['b'] }))).results);
  }
  expect(results).toEqual([['p(b)'], [], ['p(b)'], [], ['p(b)']]);
  expect((await engine.forgetById(session.caller, 'f2-0')).atom).toBe('p(b)');
  await engine.close();
});

test('ended by a ttl, a fact is kept for as long as the history', async () => {
  const backend = memoryBackend();
  const { clock, caller } = await openSession();
  const open = async () => (await openEngineOn(backend, null, { clock, historyDays: 2 })).engine;
  let engine = await open();
  const start = clock.now();
  await engine.tell(caller, factInputSchema.parse({ predicate: 'p', args: ['brief'], ttl: hour }));
  await engine.tell(
    caller,
    factInputSchema.parse({ predicate: 'p', args: ['long'], validUntil: start + hour }),
  );
  clock.advance(24 * hour);
  expect(await engine.decay(caller, decayInputSchema.parse({}))).toMatchObject({ expired: 2 });
  const then = { ...caller, moment: { asOf: start, asKnown: null } };
  const results = async () =>
    (await engine.ask(then, askInputSchema.parse({ predicate: 'p', args: ['?x'] }))).results;
  expect(await results()).toEqual(['p(brief)', 'p(long)']);
  await engine.snapshot();
  await engine.close();
  engine = await open();
  await engine.dropEnded(new AbortController().signal);
  expect(await results()).toEqual(['p(brief)', 'p(long)']);
  clock.advance(26 * hour);
  await engine.dropEnded(new AbortController().signal);
  expect(await results()).toEqual(['p(long)']);
  await engine.close();
});
