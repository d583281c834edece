import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { updateKeySchema } from '../contract/authentication.ts';
import type { KeyToStore } from '../state/operation.ts';
import { day, openSession, refusal, type Session, startTime } from '../testing/engine-fixtures.ts';

/** Keys as logged state: contract section 10, and section 9 for what survives a crash. */

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-keys-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The engine of a copy of the folder, as after killing the process now. */
async function afterKill({ clock }: Session, folder: string): Promise<Session> {
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true, filter: (path) => !path.includes('lock') });
  return openSession({ storageDir: copy, clock: new ManualClock(clock.now()) });
}

let made = 0;

function newKey(changes: Partial<KeyToStore> = {}): Omit<KeyToStore, 'id' | 'expiresAt'> {
  made++;
  return {
    prefix: `cor_${made}`,
    hash: made.toString(16).padStart(64, '0'),
    role: 'reader',
    databases: [],
    tenants: [],
    description: null,
    ...changes,
  };
}

const idsOf = ({ engine, caller }: Session): string[] => engine.keys.list(caller).keys.map(({ id }) => id);

test('keeps keys, their changes and revocations over a crash, and their last use over a snapshot', async () => {
  const folder = await temporaryFolder();
  const session = await openSession({ storageDir: folder });
  const { engine, caller, clock } = session;
  const first = await engine.keys.create(caller, newKey({ role: 'admin', description: 'é' }), null);
  const second = await engine.keys.create(caller, newKey({ tenants: ['t'] }), 1.5 * day);
  const third = await engine.keys.create(caller, newKey(), null);
  clock.advance(10);
  await engine.keys.update(
    caller,
    second.id,
    updateKeySchema.parse({ databases: ['d'], expiresAt: 'never' }),
  );
  await engine.keys.revoke(caller, third.id);
  engine.keys.noteUse(first.id);
  const killed = await afterKill(session, folder);
  const { keys } = killed.engine.keys.list(caller);
  expect(keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, null]);
  const told = engine.keys.list(caller).keys;
  expect(keys).toEqual(told.map((key) => ({ ...key, lastUsedAt: null })));
  await engine.snapshot();
  const again = await afterKill(session, folder);
  expect(again.engine.keys.list(caller).keys).toEqual(told);
  expect(told[0]?.lastUsedAt).toBe(startTime + 10);
  expect(again.engine.keys.withPrefix(first.prefix)).toEqual(engine.keys.withPrefix(first.prefix));
  expect(again.engine.keys.hasAdmin).toBe(true);
  expect(again.engine.keys.find(third.id)).toBeNull();
});

test('writes a last snapshot at a clean end even for a use alone', async () => {
  const folder = await temporaryFolder();
  const session = await openSession({ storageDir: folder });
  const { id } = await session.engine.keys.create(session.caller, newKey(), null);
  await session.engine.snapshot();
  session.engine.keys.noteUse(id);
  await session.engine.close();
  const again = await openSession({ storageDir: folder });
  expect(again.engine.keys.list(again.caller).keys[0]?.lastUsedAt).toBe(startTime);
});

test('counts uses within a minute as one', async () => {
  const { engine, caller, clock } = await openSession();
  const { id } = await engine.keys.create(caller, newKey(), null);
  const lastUsedAt = () => engine.keys.list(caller).keys[0]?.lastUsedAt;
  engine.keys.noteUse(id);
  clock.advance(59_999);
  engine.keys.noteUse(id);
  expect(lastUsedAt()).toBe(startTime);
  clock.advance(1);
  engine.keys.noteUse(id);
  expect(lastUsedAt()).toBe(startTime + 60_000);
  engine.keys.noteUse('unknown');
});

test('expires a key at its instant, even if the clock is set back after a write', async () => {
  const { engine, caller, clock, tell } = await openSession();
  const { id, expiresAt } = await engine.keys.create(caller, newKey(), 1000);
  const hasExpired = (): boolean => {
    const key = engine.keys.find(id);
    return key === null || engine.keys.hasExpired(key);
  };
  expect(expiresAt).toBe(startTime + 1000);
  clock.advance(999);
  expect(hasExpired()).toBe(false);
  clock.advance(1);
  expect(hasExpired()).toBe(true);
  await tell('p(a)');
  clock.advance(-500);
  expect(hasExpired()).toBe(true);
});

test('creates the first admin key once for many concurrent callers', async () => {
  const { engine, caller } = await openSession();
  const make = () => engine.keys.create(caller, newKey({ role: 'admin' }), null, true);
  const outcomes = await Promise.allSettled([make(), make(), make()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect((await refusal(make())).code).toBe('Conflict');
});

test('revokes all admin keys on a reset, expired and restricted ones too, and no others', async () => {
  const session = await openSession();
  const { engine, caller, clock } = session;
  const admins = [
    await engine.keys.create(caller, newKey({ role: 'admin' }), 1),
    await engine.keys.create(caller, newKey({ role: 'admin', tenants: ['t'] }), null),
  ];
  const writer = await engine.keys.create(caller, newKey({ role: 'writer' }), null);
  clock.advance(5);
  expect(await engine.keys.resetAdmin(caller)).toEqual(admins);
  expect(engine.keys.hasAdmin).toBe(false);
  expect(idsOf(session)).toEqual([writer.id]);
  expect(await engine.keys.resetAdmin(caller)).toEqual([]);
});

test('raises no generation and publishes nothing for keys', async () => {
  const { engine, caller, tell } = await openSession();
  const told: unknown[] = [];
  onTestFinished(engine.subscribe((change) => told.push(change)));
  const { id } = await engine.keys.create(caller, newKey(), null);
  await engine.keys.revoke(caller, id);
  expect(told).toEqual([]);
  expect((await tell('p(a)')).generation).toBe(1);
});

test('keeps keys when databases are deleted and nuked', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await engine.createDatabase(caller, 'other');
  const { id } = await engine.keys.create({ ...caller, database: 'other' }, newKey(), null);
  await engine.deleteDatabase(caller, 'other');
  await engine.nukeDatabase(caller, 'default');
  expect(idsOf(session)).toEqual([id]);
});

test('executes a repeated write of a key after a crash once, and cannot show the key again', async () => {
  const folder = await temporaryFolder();
  const session = await openSession({ storageDir: folder });
  const withKey = (of: Session, key: string): Session => of.as({ idempotency: { key, fingerprint: key } });
  const { engine, caller } = session;
  const { id } = await engine.keys.create(withKey(session, 'make').caller, newKey(), null);
  const doomed = await engine.keys.create(caller, newKey(), null);
  const input = updateKeySchema.parse({ description: 'new' });
  const changed = await engine.keys.update(withKey(session, 'change').caller, id, input);
  await engine.keys.update(caller, id, updateKeySchema.parse({ description: 'newer' }));
  const revoked = await engine.keys.revoke(withKey(session, 'revoke').caller, doomed.id);
  const again = await afterKill(session, folder);
  const refused = await refusal(again.engine.keys.create(withKey(again, 'make').caller, newKey(), null));
  expect(refused.code).toBe('Conflict');
  expect(refused.message).toContain(id);
  expect(await again.engine.keys.update(withKey(again, 'change').caller, id, input)).toEqual(changed);
  expect(await again.engine.keys.revoke(withKey(again, 'revoke').caller, doomed.id)).toEqual(revoked);
  expect(again.engine.keys.find(id)?.description).toBe('newer');
  expect(idsOf(again)).toEqual([id]);
});

test('returns NotFound for an unknown key and Forbidden for one outside the restrictions', async () => {
  const session = await openSession();
  const { engine, caller, as } = session;
  const { id } = await engine.keys.create(caller, newKey({ tenants: ['a', 'b'] }), null);
  const limited = as({ tenants: ['a'] }).caller;
  const input = updateKeySchema.parse({ tenants: ['a'] });
  expect((await refusal(engine.keys.update(limited, id, input))).code).toBe('Forbidden');
  expect((await refusal(engine.keys.revoke(limited, id))).code).toBe('Forbidden');
  expect((await refusal(engine.keys.create(limited, newKey(), null))).code).toBe('Forbidden');
  expect((await refusal(engine.keys.revoke(limited, 'none'))).code).toBe('NotFound');
  await engine.keys.revoke(caller, id);
  expect((await refusal(engine.keys.update(caller, id, input))).code).toBe('NotFound');
});

test('stores only the hash of a key, and nothing that was not given here', async () => {
  const folder = await temporaryFolder();
  const { engine, caller } = await openSession({ storageDir: folder });
  const key = newKey({ hash: 'ab'.repeat(32) });
  await engine.keys.create(caller, key, null);
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log'));
  const text = (await Promise.all(logs.map((name) => readFile(join(folder, name), 'latin1')))).join('');
  expect(text).toContain(key.hash);
});
