import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock, WallClock } from '../base/clock.ts';
import { historyQuerySchema } from '../contract/history.ts';
import { decayInputSchema } from '../contract/memory.ts';
import { forkInputSchema } from '../contract/scopes.ts';
import {
  day,
  factInput,
  hour,
  openSession,
  second,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** A wall clock that is set while the service runs: contract section 16. */

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'corollary-clock-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const tenDays = 10 * day;

/** What is visible of `p`, stored and concluded. */
async function visible({ query, results }: Session): Promise<unknown> {
  const stored = (await query('p(?x)')).map(({ args }) => args[0]);
  return { stored, concluded: await results('q(?x)') };
}

async function scopesOf({ engine, caller }: Session): Promise<string[]> {
  return (await engine.scopes(caller)).scopes.map(({ name }) => name);
}

const both = (...names: string[]): unknown => ({
  stored: names,
  concluded: names.map((name) => `q(${name})`),
});

test('a clock that was ten days ahead for one write, then right, leaves nothing hidden or immortal', async () => {
  const session = await openSession();
  const { clock, tell } = session;
  await session.teach('q(?x) :- p(?x)');
  await tell('p(always)');
  await tell('p(today)', { ttl: day });
  await tell('p(soon)', { validFrom: startTime + hour });
  expect(await visible(session)).toEqual(both('always', 'today'));
  clock.step(tenDays);
  expect(await visible(session)).toEqual(both('always', 'soon'));
  await tell('p(ahead)');
  expect(await visible(session)).toEqual(both('ahead', 'always', 'soon'));
  clock.step(-tenDays);
  expect(await visible(session)).toEqual(both('ahead', 'always', 'today'));
  await tell('p(brief)', { ttl: 5 * second });
  expect(await visible(session)).toEqual(both('ahead', 'always', 'brief', 'today'));
  clock.advance(5 * second);
  expect(await visible(session)).toEqual(both('ahead', 'always', 'today'));
  clock.advance(hour);
  expect(await visible(session)).toEqual(both('ahead', 'always', 'soon', 'today'));
  clock.advance(day);
  expect(await visible(session)).toEqual(both('ahead', 'always', 'soon'));
});

/** The names in `p`, with the ends of their validities. */
async function ends({ list }: Session): Promise<unknown> {
  const { facts } = await list({ predicate: 'p', sort: 'predicate' });
  return facts.map(({ args, validUntil }) => [args[0], validUntil]);
}

test('the end of a ttl told while the clock was ahead is taken back, in forks and other tenants too', async () => {
  const session = await openSession();
  const { clock, engine } = session;
  const other = session.as({ tenant: 'other' });
  await session.tell('p(before)', { ttl: 20 * day });
  clock.step(tenDays);
  await session.tell('p(brief)', { ttl: 5 * second, scope: 's' });
  await session.tell('p(given)', { validUntil: startTime + 15 * day });
  await other.tell('p(brief)', { ttl: 5 * second });
  await engine.fork(session.caller, forkInputSchema.parse({ source: 's', target: 't' }));
  clock.advance(second);
  clock.step(-tenDays);
  const left = [
    ['before', startTime + 20 * day],
    ['brief', startTime + 5 * second],
    ['given', startTime + 15 * day],
    ['brief', startTime + 5 * second],
  ];
  await session.query('p(?x)');
  await expect.poll(() => ends(session)).toEqual(left);
  await expect.poll(() => ends(other)).toEqual([left[1]]);
  const { generations } = await engine.history(session.caller, historyQuerySchema.parse({ limit: '1' }));
  expect(generations[0]).toMatchObject({ operation: 'moveEnds', surface: 'system' });
  clock.advance(4 * second);
  expect(await ends(session)).toEqual([left[0], left[2]]);
  expect(await scopesOf(session)).toEqual(['t']);
});

test('a clock set forward twice and put right leaves every end by a ttl where it belongs', async () => {
  const session = await openSession();
  const { clock } = session;
  const step = async (by: number): Promise<void> => {
    clock.step(by);
    await session.query('p(?x)');
  };
  const right = startTime;
  for (const back of [[-3 * tenDays], [-2 * tenDays, -tenDays]]) {
    const told = clock.now();
    await session.tell('p(before)', { ttl: 100 * day });
    await step(tenDays);
    await session.tell('p(between)', { ttl: hour });
    clock.advance(second);
    await step(2 * tenDays);
    await session.tell('p(last)', { ttl: hour });
    for (const by of back) await step(by);
    const ended = [
      ['before', told + 100 * day],
      ['between', told + hour],
      ['last', told + second + hour],
    ];
    await expect.poll(() => ends(session)).toEqual(ended);
    clock.advance(second);
    await session.tell('p(right)', { ttl: hour });
    await expect.poll(() => ends(session)).toEqual([...ended, ['right', clock.now() + hour]]);
    clock.advance(2 * hour);
  }
  expect(clock.now()).toBe(right + 2 * (2 * second + 2 * hour));
});

test('a ttl that ended while the clock was ahead does not begin anew', async () => {
  const session = await openSession();
  const { clock } = session;
  clock.step(hour);
  await session.query('p(?x)');
  await session.tell('p(brief)', { ttl: second });
  clock.advance(3 * hour);
  await session.tell('p(long)', { ttl: 2 * hour });
  clock.step(-hour);
  await session.query('p(?x)');
  await expect.poll(() => ends(session)).toEqual([['long', startTime + 5 * hour]]);
});

test('an end that was taken back returns if the clock turns out to have been right', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.teach('q(?x) :- p(?x)');
  const { id } = await session.tell('p(day)', { ttl: day, scope: 's' });
  clock.step(-tenDays);
  await session.query('p(?x)');
  await expect.poll(() => ends(session)).toEqual([['day', startTime - 9 * day]]);
  clock.advance(hour);
  clock.step(tenDays);
  await session.query('p(?x)');
  await expect.poll(() => ends(session)).toEqual([['day', startTime + day]]);
  expect((await session.list()).facts[0]?.id).toBe(id);
  expect(await scopesOf(session)).toEqual(['s']);
  expect(await session.results('q(?x)')).toEqual(['q(day)']);
});

test.each(['log', 'snapshot'])(
  'a clock put right between two starts takes ends back, by the %s',
  async (by) => {
    const storageDir = await folder();
    const clock = new ManualClock(startTime + tenDays);
    const first = await openSession({ storageDir, clock });
    await first.tell('p(over)', { ttl: second });
    clock.advance(hour);
    await first.tell('p(brief)', { ttl: 5 * second });
    await first.engine.close(by === 'log' ? 0 : undefined);
    clock.step(-tenDays);
    const then = await openSession({ storageDir, clock });
    await expect.poll(() => ends(then)).toEqual([['brief', startTime + hour + 5 * second]]);
    await then.engine.close(by === 'log' ? 0 : undefined);
    clock.advance(4 * second);
    const third = await openSession({ storageDir, clock });
    expect(await ends(third)).toEqual([['brief', startTime + hour + 5 * second]]);
    clock.advance(second);
    expect(await ends(third)).toEqual([]);
  },
);

test('the times of generations never decrease, and none stays in the future', async () => {
  const session = await openSession();
  const { clock } = session;
  clock.step(tenDays);
  await session.tell('p(ahead)');
  clock.step(-tenDays);
  clock.advance(second);
  await session.tell('p(right)');
  const { facts } = await session.list({ sort: 'createdAt' });
  expect(facts.map(({ args, createdAt, salience }) => [args[0], createdAt, salience])).toEqual([
    ['ahead', startTime + second, facts[1]?.salience],
    ['right', startTime + second, facts[1]?.salience],
  ]);
});

test('decay spares what was told and used while the clock was ahead', async () => {
  const session = await openSession();
  const { clock, engine, caller } = session;
  await session.tell('p(before)');
  clock.step(400 * day);
  await session.tell('p(ahead)');
  await session.results('p(?x)');
  clock.step(-400 * day);
  expect(await engine.decay(caller, decayInputSchema.parse({}))).toMatchObject({ evicted: 0 });
  clock.advance(362 * day);
  expect(await engine.decay(caller, decayInputSchema.parse({ threshold: 0.1 }))).toMatchObject({
    evicted: 2,
  });
});

test('after a restart everything is judged as before, from the log and from a snapshot', async () => {
  const storageDir = await folder();
  const clock = new ManualClock(startTime);
  const first = await openSession({ storageDir, clock });
  await first.teach('q(?x) :- p(?x)');
  await first.tell('p(today)', { ttl: day });
  await first.tell('p(there)', { scope: 's', ttl: day });
  clock.step(tenDays);
  await first.tell('p(ahead)');
  await first.tell('p(later)', { validFrom: startTime + 5 * day });
  expect(await scopesOf(first)).toEqual([]);
  clock.step(-tenDays);
  await first.tell('p(brief)', { ttl: 5 * second });
  const seen = both('ahead', 'brief', 'there', 'today');
  expect(await visible(first)).toEqual(seen);
  expect(await scopesOf(first)).toEqual(['s']);
  await first.engine.close(0);
  const second_ = await openSession({ storageDir, clock });
  expect(await visible(second_)).toEqual(seen);
  await second_.engine.close();
  const third = await openSession({ storageDir, clock });
  expect(await visible(third)).toEqual(seen);
  clock.advance(5 * second);
  expect(await visible(third)).toEqual(both('ahead', 'there', 'today'));
  clock.advance(5 * day);
  expect(await visible(third)).toEqual(both('ahead', 'later'));
});

test('a clock set back by at most a minute is waited for', async () => {
  const session = await openSession();
  const { clock } = session;
  await session.tell('p(a)', { ttl: second });
  clock.advance(second);
  expect(await session.query('p(?x)')).toEqual([]);
  clock.step(-50 * second);
  expect(await session.query('p(?x)')).toEqual([]);
  await session.tell('p(b)', { ttl: second });
  clock.advance(50 * second);
  expect(await session.query('p(?x)')).toEqual([{ predicate: 'p', args: ['b'], truthVal: true }]);
  clock.advance(second);
  expect(await session.query('p(?x)')).toEqual([]);
});

test('reports each step of more than a minute, and what all of them add up to', () => {
  const clock = new ManualClock(startTime);
  const steps: [number, number][] = [];
  const wall = new WallClock(clock, 0, { stepped: (by, offset) => steps.push([by, offset]) });
  const look = (): number => wall.read();
  clock.step(30 * second);
  look();
  clock.advance(day);
  look();
  expect([steps, wall.offset, wall.steadyForMs]).toEqual([[], 0, Number.POSITIVE_INFINITY]);
  clock.step(hour);
  look();
  clock.advance(2 * second);
  expect([wall.offset, wall.steadyForMs]).toEqual([hour, 2 * second]);
  clock.step(-hour - second);
  look();
  expect(steps).toEqual([
    [hour, hour],
    [-hour - second, 0],
  ]);
});

test('subscribers are told to read again when the clock was set back, and figures show the offset', async () => {
  const session = await openSession();
  const { clock, engine } = session;
  await session.tell('p(a)');
  const kinds: string[] = [];
  engine.subscribe(({ kind }) => kinds.push(kind));
  clock.step(hour);
  expect(engine.figures().clockOffsetMs).toBe(hour);
  expect(kinds).toEqual([]);
  clock.step(-hour);
  expect(engine.figures().clockOffsetMs).toBe(0);
  expect(kinds).toEqual(['reset']);
  expect(engine.counters().clockSteps).toBe(2);
});

test('a transaction stays open for its five minutes, whatever the clock is set to', async () => {
  const session = await openSession();
  const { clock, engine, caller } = session;
  const { id } = await engine.begin(caller);
  clock.step(tenDays);
  expect((await engine.within({ ...caller, transaction: id }).tell(factInput('p(a)'))).status).toBe(
    'pending',
  );
  expect(engine.figures().openTransactions).toBe(1);
  clock.step(-tenDays);
  clock.advance(200 * second);
  expect(engine.figures()).toMatchObject({ openTransactions: 1, oldestTransactionMs: 200 * second });
  clock.advance(100 * second);
  expect(engine.figures()).toMatchObject({ openTransactions: 0, oldestTransactionMs: 0 });
});
