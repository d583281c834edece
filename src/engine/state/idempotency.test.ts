import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { type StoredOutcome, StoredOutcomes, idempotencyWindowMs, markOf } from './idempotency.ts';
import {
  day,
  factInput,
  openSession,
  refusal,
  type Session,
  testCaller,
} from '../testing/engine-fixtures.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-idempotency-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The session with this key for its writes. */
function withKey(session: Session, key: string, fingerprint = key, changes: Partial<Caller> = {}): Session {
  return session.as({ idempotency: { key, fingerprint }, ...changes });
}

test('recovers outcomes from the log alone, as after a crash', async () => {
  const storageDir = await temporaryFolder();
  const copy = await temporaryFolder();
  const first = await openSession({ storageDir });
  const answer = await withKey(first, 'k').tell('p(a)');
  await first.forget('p(a)');
  const refused = withKey(first, 'refused');
  expect((await refusal(refused.changeRule('r9', { enabled: true }))).code).toBe('RuleNotFound');
  // The files as they are while the process that wrote them still runs.
  await cp(storageDir, copy, { recursive: true, filter: (source) => !source.includes('lock') });
  const again = await openSession({ storageDir: copy });
  const caller = withKey(again, 'k').caller;
  expect(again.engine.remembers(caller)).toBe(true);
  expect(again.engine.remembers(withKey(again, 'refused').caller)).toBe(false);
  expect(again.engine.remembers(again.caller)).toBe(false);
  expect(await withKey(again, 'k').tell('p(a)')).toEqual(answer);
  expect(await again.query('p(?x)')).toEqual([]);
  expect((await refusal(withKey(again, 'k', 'another').tell('p(b)'))).code).toBe('IdempotencyMismatch');
});

test('remembers a key for 24 hours of the service, however much is written meanwhile', async () => {
  const session = await openSession();
  const { clock, tell, forget } = session;
  await withKey(session, 'k').tell('p(a)');
  await forget('p(a)');
  clock.advance(day - 1);
  for (let at = 0; at < 50; at++) await withKey(session, `other ${at}`).tell(`q(${at})`);
  expect(await withKey(session, 'k').tell('p(a)')).toMatchObject({ status: 'asserted', generation: 1 });
  clock.advance(1);
  expect(await withKey(session, 'k').tell('p(a)')).toMatchObject({ status: 'asserted', generation: 53 });
  await tell('p(b)');
  expect(await withKey(session, 'k').tell('p(a)')).toMatchObject({ generation: 53 });
});

test('binds a key to one credential, in any tenant', async () => {
  const session = await openSession();
  const one = withKey(session, 'k', 'f', { credential: 'one' });
  await one.tell('p(a)');
  const other = withKey(session, 'k', 'g', { credential: 'two' });
  expect(await other.tell('p(a)')).toMatchObject({ status: 'unchanged' });
  expect(await withKey(session, 'k', 'h').tell('p(a)')).toMatchObject({ status: 'unchanged' });
  const elsewhere = withKey(session, 'k', 'i', { credential: 'one', tenant: 'elsewhere' });
  expect((await refusal(elsewhere.tell('p(a)'))).code).toBe('IdempotencyMismatch');
});

test('distinguishes anonymous callers by database and tenant, whatever their names', () => {
  const mark = (database: string, tenant: string): string | undefined =>
    markOf(testCaller({ database, tenant, idempotency: { key: 'k', fingerprint: 'f' } }))?.space;
  const spaces = [mark('a', 'b'), mark('ab', ''), mark('a","b', 'c'), mark('a', 'b","c'), mark('b', 'a')];
  expect(new Set(spaces).size).toBe(spaces.length);
  expect(markOf(testCaller())).toBeNull();
});

test('answers a write of many facts with its counts', async () => {
  const session = await openSession();
  const { engine } = session;
  const caller = withKey(session, 'k').caller;
  const inputs = ['p(a)', 'p(b)', 'p(a)'].map((text) => factInput(text));
  const first = await engine.tellAll(caller, inputs);
  expect(first).toEqual({ status: 'asserted', asserted: 2, updated: 0, unchanged: 1, generation: 1 });
  expect(await engine.tellAll(caller, inputs)).toEqual(first);
});

describe('stored outcomes', () => {
  const mark = (key: string) => ({ key, fingerprint: 'f', space: '' });
  const keep = (kept: StoredOutcomes, key: string, time: number): void =>
    kept.put({
      actor: null,
      mark: mark(key),
      time,
      outcome: JSON.stringify({ kind: 'created', createdAt: time }),
    });

  test('are evicted a few at a time when they are a day old', () => {
    const kept = new StoredOutcomes();
    for (let at = 0; at < 100; at++) keep(kept, `old ${at}`, at);
    expect(kept.size).toBe(100);
    keep(kept, 'new', idempotencyWindowMs + 100);
    expect(kept.size).toBeLessThan(100);
    for (let at = 0; at < 10; at++) keep(kept, `new ${at}`, idempotencyWindowMs + 100);
    expect(kept.size).toBe(11);
    expect(kept.find(null, mark('old 99'), idempotencyWindowMs + 100)).toBeNull();
  });

  test('restore the same state when stored again in order', () => {
    const kept = new StoredOutcomes();
    for (const [key, time] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ] as const)
      keep(kept, key, time);
    const again = new StoredOutcomes();
    for (const each of kept.all()) again.put(each);
    expect([...again.all()]).toEqual([...kept.all()]);
    expect([...kept.all()].map(({ mark: { key } }) => key)).toEqual(['b', 'a']);
    expect(kept.find(null, mark('a'), 4)).toEqual({ kind: 'created', createdAt: 3 });
  });

  test('drop the oldest outcomes past the limit of bytes, and answer a repeat with the generation', () => {
    const kept = new StoredOutcomes(1000);
    const long = (at: number): string =>
      JSON.stringify({ kind: 'facts', note: 'x'.repeat(200), generation: at });
    for (let at = 1; at <= 20; at++)
      kept.put({ actor: null, mark: mark(`k${at}`), time: at, outcome: long(at) });
    expect(kept.bytes).toBeLessThanOrEqual(1000);
    expect([kept.size, kept.hasDropped]).toEqual([20, true]);
    expect(kept.find(null, mark('k20'), 20)).toMatchObject({ generation: 20 });
    const again = new StoredOutcomes(1000);
    for (const each of JSON.parse(JSON.stringify([...kept.all()])) as StoredOutcome[]) again.put(each);
    expect([...again.all()]).toEqual([...kept.all()]);
    for (const outcomes of [kept, again]) {
      expect(thrownBy(() => outcomes.find(null, mark('k1'), 20))).toMatchObject({
        code: 'Conflict',
        members: { generation: 1 },
      });
      const other = { ...mark('k1'), fingerprint: 'another' };
      expect(thrownBy(() => outcomes.find(null, other, 20)).code).toBe('IdempotencyMismatch');
      expect(outcomes.hasDropped).toBe(true);
    }
  });

  test('stay as they were for a snapshot that is read later', () => {
    const kept = new StoredOutcomes(1000);
    for (let at = 1; at <= 3000; at++) keep(kept, `k${at}`, at);
    const before = kept.all();
    const read = [...before];
    for (let at = 3001; at <= 6000; at++) keep(kept, `k${at}`, at);
    expect([...before]).toEqual(read);
    expect(read).toHaveLength(3000);
  });

  test('refuse more keys than may be remembered, until the oldest is a day old', () => {
    const kept = new StoredOutcomes(1000, 2);
    keep(kept, 'a', 1);
    kept.refuseMore(1);
    keep(kept, 'b', 2);
    expect(thrownBy(() => kept.refuseMore(3))).toMatchObject({
      code: 'RateLimited',
      members: { retryAfterSeconds: 60 },
    });
    kept.refuseMore(1 + idempotencyWindowMs);
  });

  test('made while the clock was ahead are remembered for a day once it is right', () => {
    const kept = new StoredOutcomes();
    keep(kept, 'ahead', 10 * day);
    keep(kept, 'right', 0);
    expect(kept.find(null, mark('ahead'), day - 1)).toEqual({ kind: 'created', createdAt: 10 * day });
    keep(kept, 'later', day + 1);
    keep(kept, 'last', day + 2);
    expect(kept.get(null, '', 'ahead', day + 2)).toBeNull();
    expect(kept.size).toBe(2);
  });
});

function thrownBy(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
