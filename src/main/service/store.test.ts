/** The service with its knowledge in a real PostgreSQL server. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Readiness, StorageState } from '../../engine/contract/administration.ts';
import type { Environment } from '../base/config.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../../engine/testing/private-postgres.ts';
import { startServiceUnderTest } from '../testing/service-under-test.ts';

const fact = (name: string) => ({ predicate: 'p', args: [name] });

describe.skipIf(postgresMissing !== null)(`with STORE_URL${postgresNotice}`, () => {
  let server: PrivatePostgres;
  let folder: string;
  let environment: Environment;
  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'corollary-store-'));
    await writeFile(join(folder, 'url'), `${server.url}\n`);
    environment = { STORE_URL_FILE: join(folder, 'url') };
  });
  afterAll(async () => {
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('knowledge outlives the service, and tokens count on in the next one', async () => {
    const first = await startServiceUnderTest(environment);
    const told = await first.call('POST', '/tell', fact('a'));
    const token = told.headers.get('x-token') ?? '';
    await first.close();
    const second = await startServiceUnderTest(environment);
    const headers = { 'x-at-least': token, 'x-consistency': 'strong' };
    const asked = await second.call('POST', '/ask', { text: 'p(?x)' }, { headers });
    expect([asked.status, asked.body]).toMatchObject([200, { results: ['p(a)'] }]);
    await second.close();
  });

  it('a token of another history is 409, one from the future 400', async () => {
    const service = await startServiceUnderTest(environment);
    const known = (await service.call('GET', '/facts')).headers.get('x-token') ?? '';
    const [history = ''] = known.split('.');
    const other = history === '00000000' ? '11111111' : '00000000';
    const withToken = (token: string) =>
      service.call('GET', '/facts', undefined, { headers: { 'x-at-least': token } });
    expect((await withToken(known)).status).toBe(200);
    const { body } = await withToken(known.replace(history, other));
    expect([body.code, body.detail]).toEqual([
      'HistoryChanged',
      expect.stringMatching(/of another database/),
    ]);
    expect((await withToken(`${history}.999999.0`)).body.code).toBe('ValidationException');
    expect((await withToken(`${history}.0.${Date.now() + 60_000}`)).body.code).toBe('NoOwner');
    await service.close();
  });

  it('refuses to forget an entity, since it rewrites no records', async () => {
    const service = await startServiceUnderTest(environment);
    await service.call('POST', '/tell', fact('a'));
    const { status, body } = await service.call('POST', '/admin/forget', { tenant: 'default', entity: 'a' });
    expect([status, body.code]).toEqual([409, 'Conflict']);
    await service.close();
  });

  it('while PostgreSQL is away writes and strong reads are 503 and reads go on; then writes go on', async () => {
    const service = await startServiceUnderTest(environment);
    await service.call('POST', '/tell', fact('a'));
    await server.stop();
    await expect.poll(async () => (await service.call('POST', '/tell', fact('b'))).status).toBe(503);
    const refused = await service.call('POST', '/tell', fact('b'));
    expect([refused.body.code, refused.headers.get('retry-after')]).toEqual(['NoOwner', '1']);
    const strong = { headers: { 'x-consistency': 'strong' } };
    expect((await service.call('POST', '/ask', { text: 'p(?x)' }, strong)).body.code).toBe('NoOwner');
    expect(await service.call('POST', '/ask', { text: 'p(?x)' })).toMatchObject({ status: 200 });
    expect(await service.call<Readiness>('GET', '/health/ready')).toMatchObject({
      status: 200,
      body: { status: 'ready', subsystems: { storage: 'stale', store: 'stale' } },
    });
    await expect
      .poll(async () => (await service.call('GET', '/facts')).headers.get('x-stale-ms'))
      .toMatch(/^\d{4,}$/);
    await server.start();
    await expect.poll(async () => (await service.call('POST', '/tell', fact('b'))).status).toBe(200);
    await expect
      .poll(async () => (await service.call<Readiness>('GET', '/health/ready')).body.subsystems.storage)
      .toBe('ready');
    expect((await service.call('GET', '/facts')).headers.get('x-stale-ms')).toBeNull();
    await service.close();
  });

  it('a second service serves what the first stores, and takes over when that one has ended', async () => {
    const first = await startServiceUnderTest(environment);
    await first.call('POST', '/tell', fact('c'));
    const second = await startServiceUnderTest(environment);
    expect((await second.call<StorageState>('GET', '/admin/storage')).body.node).toMatchObject({
      role: 'copy',
      ownerAddress: first.address,
    });
    expect((await second.call<Readiness>('GET', '/health/ready')).body.subsystems.storage).toBe('ready');
    const token = (await first.call('POST', '/tell', fact('later'))).headers.get('x-token') ?? '';
    for (const headers of [{ 'x-at-least': token }, { 'x-consistency': 'strong' }])
      expect(await second.call('POST', '/ask', { text: 'p(later)' }, { headers })).toMatchObject({
        body: { results: ['p(later)'] },
      });
    expect((await second.call('POST', '/tell', fact('d'))).body.leader).toBe(first.address);
    await first.close();
    await expect.poll(async () => (await second.call('POST', '/tell', fact('d'))).status).toBe(200);
    expect(await second.call('POST', '/ask', { text: 'p(c)' })).toMatchObject({
      body: { results: ['p(c)'] },
    });
    await second.close();
    expect(await nodes()).toBe(0);
  });

  it('becomes a copy once another node has the log, and takes it again when that one is gone', async () => {
    const service = await startServiceUnderTest(environment);
    await query(
      `WITH node AS (INSERT INTO corollary.node VALUES (gen_random_uuid(), 'http://127.0.0.1:1', 'x', 1,
  now() + interval '1 hour') RETURNING id)
UPDATE corollary.log SET owner = (SELECT id FROM node), epoch = epoch + 1`,
    );
    // Without any write: it looks.
    const role = async () => (await service.call<Readiness>('GET', '/health/ready')).body.node?.role;
    await expect.poll(role).toBe('copy');
    const refused = await service.call('POST', '/tell', fact('d'));
    expect([refused.status, refused.body.code, refused.body.leader]).toEqual([
      421,
      'NotLeader',
      'http://127.0.0.1:1',
    ]);
    expect((await service.call('POST', '/ask', { text: 'p(?x)' })).status).toBe(200);
    expect(service.logged.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('Another node has taken the log over'),
    );
    await query("UPDATE corollary.node SET lease_until = now() - interval '1 s' WHERE program = 'x'");
    await expect.poll(role).toBe('owner');
    expect((await service.call('POST', '/tell', fact('d'))).status).toBe(200);
    await service.close();
  });

  it('STORAGE_DIR only has journals', async () => {
    const journals = await mkdtemp(join(tmpdir(), 'corollary-journals-'));
    const service = await startServiceUnderTest({ ...environment, STORAGE_DIR: journals });
    await service.call('POST', '/tell', fact('e'));
    await service.close();
    const names = await readdir(journals);
    expect(names.filter((name) => /\.(log|snapshot)$/.test(name))).toEqual([]);
    await rm(journals, { recursive: true });
  });

  it('an address that leads nowhere refuses the start in one line, without the password', async () => {
    const started = startServiceUnderTest({ STORE_URL: 'postgres://user:secret@127.0.0.1:1/store' });
    const refusal: unknown = await started.catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartRefusal);
    expect(String(refusal)).toMatch(/^StartRefusal: STORE_URL: PostgreSQL cannot be used: [^\n]*$/);
    expect(String(refusal)).not.toContain('secret');
  });

  async function nodes(): Promise<number> {
    const [row] = await query('SELECT count(*)::int AS count FROM corollary.node');
    return Number(row?.['count']);
  }

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }
});
