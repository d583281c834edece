import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QuotaState } from '../../engine/contract/quotas.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Quotas over HTTP: contract section 16. */

const adminKey = 'the admin key';

describe('quotas', () => {
  let service: ServiceUnderTest;
  let tenants = 0;

  beforeAll(async () => {
    service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: adminKey.replaceAll(' ', '-') });
  });

  afterAll(() => service.close());

  const as = (tenant: string, key = adminKey.replaceAll(' ', '-')) => ({
    'x-tenant-id': tenant,
    'x-api-key': key,
  });

  const call = <Body = Record<string, unknown>>(
    tenant: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => service.call<Body>(method, path, body, { headers: { ...as(tenant), ...headers } });

  async function limited(quota: object): Promise<string> {
    const tenant = `tenant-${++tenants}`;
    const set = await call(tenant, 'PUT', `/admin/databases/default/tenants/${tenant}/quota`, quota);
    expect(set.status).toBe(200);
    return tenant;
  }

  const quotaOf = async (tenant: string) =>
    (await call<QuotaState>(tenant, 'GET', `/admin/databases/default/tenants/${tenant}/quota`)).body;

  const tell = (tenant: string, argument: string) =>
    call(tenant, 'POST', '/tell', { predicate: 'p', args: [argument] });

  it('refuse stored things with 507 while the service stays ready', async () => {
    const tenant = await limited({ facts: 1 });
    expect((await tell(tenant, 'a')).status).toBe(200);
    const refused = await tell(tenant, 'b');
    expect(refused).toMatchObject({ status: 507, body: { code: 'QuotaExceeded', status: 507 } });
    expect(refused.body).toMatchObject({ quota: 'facts', of: 'tenant', allowed: 1, used: 1 });
    expect((await call(tenant, 'GET', '/health/ready')).status).toBe(200);
    expect((await tell(tenant, 'a')).status).toBe(200);
    expect(await quotaOf(tenant)).toEqual({
      quota: {
        facts: 1,
        bytes: null,
        runningQuestions: null,
        questionsPerMinute: null,
        openTransactions: null,
      },
      use: { facts: 1, bytes: 4, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 },
    });
  });

  it('refuse questions and transactions with 429 and Retry-After', async () => {
    const tenant = await limited({ questionsPerMinute: 1, openTransactions: 1 });
    const ask = () => call(tenant, 'POST', '/ask', { predicate: 'p', args: ['?x'] });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { code: 'QuotaExceeded', status: 429 } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call(tenant, 'POST', '/tx/begin')).status).toBe(200);
    const begun = await call(tenant, 'POST', '/tx/begin');
    expect(begun).toMatchObject({ status: 429, body: { quota: 'openTransactions' } });
    expect(begun.headers.get('retry-after')).toBe('5');
  });

  it('are lifted by null and by leaving a limit out', async () => {
    const tenant = await limited({ facts: 0, bytes: 0 });
    expect((await tell(tenant, 'a')).status).toBe(507);
    await call(tenant, 'PUT', `/admin/databases/default/tenants/${tenant}/quota`, { facts: null });
    expect((await tell(tenant, 'a')).status).toBe(200);
  });

  it('stop an import, which keeps what it stored', async () => {
    const tenant = await limited({ facts: 3 });
    for (const query of ['?dryRun=true&predicate=n', '?predicate=n']) {
      const response = await fetch(`${service.address}/import${query}`, {
        method: 'POST',
        headers: { ...as(tenant), 'content-type': 'text/csv' },
        body: Array.from({ length: 30_000 }, (_, line) => `${line}\n`).join(''),
      });
      const last: unknown = JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ done: true, stopped: 'QuotaExceeded', asserted: 3, failed: 1 });
      expect(last).toMatchObject({ errors: [{ line: 4, message: expect.stringContaining('quota is 3') }] });
    }
    expect((await quotaOf(tenant)).use.facts).toBe(3);
  });

  it('leave a transaction open whose commit they refuse', async () => {
    const tenant = await limited({ facts: 0 });
    const { body } = await call<{ id: string }>(tenant, 'POST', '/tx/begin');
    const within = { 'x-transaction-id': body.id };
    const pending = await call(tenant, 'POST', '/tell', { predicate: 'p', args: ['a'] }, within);
    expect(pending.body).toMatchObject({ status: 'pending' });
    const refused = await call(tenant, 'POST', `/tx/commit/${body.id}`);
    expect(refused).toMatchObject({ status: 507, body: { code: 'QuotaExceeded' } });
    expect(refused.body).not.toHaveProperty('transaction');
    await call(tenant, 'PUT', `/admin/databases/default/tenants/${tenant}/quota`, { facts: 1 });
    expect((await call(tenant, 'POST', `/tx/commit/${body.id}`)).status).toBe(200);
  });

  it('need an admin whose key covers what they limit', async () => {
    const made = async (fields: object) =>
      (await call<{ key: string }>('a', 'POST', '/auth/keys', fields)).body.key;
    const [writer, restricted] = [
      await made({ role: 'writer' }),
      await made({ role: 'admin', tenants: ['one'] }),
    ];
    const put = (path: string, key: string) =>
      service.call('PUT', `/admin/databases/default/${path}`, { facts: 5 }, { headers: as('one', key) });
    expect((await put('tenants/one/quota', writer)).status).toBe(403);
    expect((await put('tenants/two/quota', restricted)).status).toBe(403);
    expect((await put('quota', restricted)).status).toBe(403);
    expect((await put('tenants/one/quota', restricted)).status).toBe(200);
  });

  it('answer 404 for an unknown database or tenant, and 400 for what is no limit', async () => {
    const admin = '/admin/databases';
    expect((await call('a', 'GET', `${admin}/nowhere/quota`)).body['code']).toBe('DatabaseNotFound');
    expect((await call('a', 'PUT', `${admin}/nowhere/quota`, {})).body['code']).toBe('DatabaseNotFound');
    expect((await call('a', 'GET', `${admin}/default/tenants/nobody/quota`)).body['code']).toBe(
      'TenantNotFound',
    );
    for (const body of [{ facts: -1 }, { facts: 1.5 }, { rules: 1 }, { bytes: 'many' }])
      expect((await call('a', 'PUT', `${admin}/default/quota`, body)).status).toBe(400);
  });

  it('hold for agents: a tool that writes too much is a tool error', async () => {
    const tenant = await limited({ facts: 0 });
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'tell', arguments: { text: 'p(a).' } },
    };
    const { body } = await call<{ result: { isError: boolean; content: { text: string }[] } }>(
      tenant,
      'POST',
      '/mcp',
      message,
    );
    expect(body.result.isError).toBe(true);
    expect(body.result.content[0]?.text).toContain('quota');
  });

  it('are counted by /metrics', async () => {
    const response = await fetch(`${service.address}/metrics`, { headers: as('a') });
    const text = await response.text();
    expect(text).toMatch(/^service_quota_refused_writes_total [1-9]/m);
    expect(text).toMatch(/^service_quota_refused_calls_total 2$/m);
    expect(text).toMatch(/^service_memory_limit_bytes [1-9]\d{7}/m);
    expect(text).toMatch(/^service_heap_limit_bytes [1-9]\d{7}/m);
  });
});

it('refuses knowledge when the resident memory is at MEMORY_LIMIT_BYTES, and nothing else', async () => {
  // Any process is larger than this.
  const service = await startServiceUnderTest({ MEMORY_LIMIT_BYTES: String(16 * 1024 * 1024) });
  const headers = { 'x-tenant-id': 'a' };
  const refused = await service.call('POST', '/tell', { predicate: 'p', args: ['a'] }, { headers });
  expect(refused).toMatchObject({ status: 507, body: { quota: 'memory', of: 'process', allowed: 16777216 } });
  const rule = { text: 'p(?x) :- q(?x)' };
  expect((await service.call('POST', '/teach', rule, { headers })).status).toBe(507);
  expect((await service.call('GET', '/health/ready')).status).toBe(200);
  expect((await service.call('POST', '/databases', { name: 'another' })).status).toBe(201);
  expect((await service.call('POST', '/ask', { predicate: 'p', args: ['?x'] }, { headers })).status).toBe(
    200,
  );
  await service.close();
});
