import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AuthenticationStatus, CreatedKey } from '../../engine/contract/authentication.ts';
import { resetAdminKeys } from './folder-commands.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { StartRefusal } from '../base/start-refusal.ts';

/** A lost admin key: contract section 10. */

const body = { username: 'admin', password: 'corollary-admin' };

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-reset-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function reset(storageDir: string | null, apiKey: string | null = null): Promise<string[]> {
  return resetAdminKeys({ storageDir, encryptionKey: null, fsync: 'always', apiKey }, () => {});
}

async function bootstrap(service: ServiceUnderTest): Promise<CreatedKey> {
  const answer = await service.call<CreatedKey>('POST', '/auth/bootstrap', body);
  expect(answer.status).toBe(201);
  return answer.body;
}

it('--reset-admin revokes all admin keys and says so; the next start allows the bootstrap', async () => {
  const folder = await temporaryFolder();
  const environment = { AUTH_ENABLED: 'true', STORAGE_DIR: folder };
  const before = await startServiceUnderTest(environment);
  const admin = await bootstrap(before);
  const headers = { 'x-api-key': admin.key };
  const writer = await before.call<CreatedKey>('POST', '/auth/keys', { role: 'writer' }, { headers });
  await before.close();

  const lines = await reset(folder);
  expect(lines[0]).toBe('1 admin key was revoked:');
  expect(lines[1]).toContain(admin.id);
  expect(lines.join('\n')).not.toContain(admin.key);

  const after = await startServiceUnderTest(environment);
  onTestFinished(() => after.close());
  const { body: status } = await after.call<AuthenticationStatus>('GET', '/auth/status');
  expect(status).toEqual({ mode: 'rbac', bootstrapRequired: true });
  expect((await after.call('GET', '/rules', undefined, { headers })).status).toBe(401);
  const asWriter = { headers: { 'x-api-key': writer.body.key } };
  expect((await after.call('GET', '/rules', undefined, asWriter)).status).toBe(200);
  await bootstrap(after);
});

it('says that there was no key to revoke, and that API_KEY remains an admin key', async () => {
  const folder = await temporaryFolder();
  await (await startServiceUnderTest({ STORAGE_DIR: folder })).close();
  const lines = await reset(folder, 'a-key');
  expect(lines[0]).toBe('There was no admin key to revoke.');
  expect(lines.at(-1)).toContain('API_KEY');
});

it('is refused while a service uses the folder', async () => {
  const folder = await temporaryFolder();
  const service = await startServiceUnderTest({ AUTH_ENABLED: 'true', STORAGE_DIR: folder });
  onTestFinished(() => service.close());
  const { key } = await bootstrap(service);
  await expect(reset(folder)).rejects.toMatchObject({ kind: 'folder-locked' });
  expect((await service.call('GET', '/rules', undefined, { headers: { 'x-api-key': key } })).status).toBe(
    200,
  );
});

it("is refused in a follower's folder, which keeps following, and says where to revoke the keys", async () => {
  const folder = await temporaryFolder();
  const [leading, following] = [join(folder, 'leader'), join(folder, 'follower')];
  const leader = await startServiceUnderTest({ STORAGE_DIR: leading });
  onTestFinished(() => leader.close());
  const environment = {
    STORAGE_DIR: following,
    REPLICATION_MODE: 'FOLLOWER',
    LEADER_URL: leader.address,
    REPLICATION_POLL_INTERVAL_MS: '20',
  };
  const caughtUp = async (service: ServiceUnderTest): Promise<void> => {
    const ready = async (): Promise<number> => (await service.call('GET', '/health/ready')).status;
    await expect.poll(ready).toBe(200);
  };
  const one = await startServiceUnderTest(environment);
  await caughtUp(one);
  await one.close();
  const before = (await readdir(following)).filter((name) => !name.startsWith('lock'));
  await expect(reset(following)).rejects.toThrow(/folder of the leader.*REPLICATION_MODE=LEADER/);
  expect((await readdir(following)).filter((name) => !name.startsWith('lock'))).toEqual(before);
  const back = await startServiceUnderTest(environment);
  onTestFinished(() => back.close());
  await caughtUp(back);
  expect(back.engine.position()).toEqual(leader.engine.position());
});

it('creates no folder', async () => {
  const folder = await temporaryFolder();
  for (const missing of [join(folder, 'not-there'), null])
    await expect(reset(missing)).rejects.toThrow(StartRefusal);
  expect(await readdir(folder)).toEqual([]);
});
