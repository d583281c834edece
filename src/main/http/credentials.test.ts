import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { createRateLimit } from './limits.ts';

const key = 'a-key-nobody-guesses';

describe('with API_KEY', () => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await startServiceUnderTest({ API_KEY: key });
  });

  afterAll(() => service.close());

  it.each([
    ['GET', '/rules'],
    ['POST', '/tell'],
    ['GET', '/databases'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['GET', '/events'],
    ['POST', '/mcp'],
    ['GET', '/mcp/sse'],
  ])('returns 401 without it: %s %s', async (method, path) => {
    const { status, headers, body } = await service.call(method, path);
    expect(status).toBe(401);
    expect(body.code).toBe('Unauthenticated');
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    { authorization: 'Bearer wrong' },
    { authorization: `Basic ${key}` },
    { authorization: key },
    { 'x-api-key': `${key}x` },
    { 'x-api-key': '' },
    { authorization: 'Bearer wrong', 'x-api-key': key },
  ])('returns 401 for a wrong one: %j', async (headers) => {
    expect((await service.call('GET', '/rules', undefined, { headers })).status).toBe(401);
  });

  it.each([{ authorization: `Bearer ${key}` }, { authorization: `bearer  ${key}` }, { 'x-api-key': key }])(
    'accepts it as %j',
    async (headers) => {
      expect((await service.call('GET', '/rules', undefined, { headers })).status).toBe(200);
      expect((await service.call('POST', '/databases', { name: 'x' }, { headers })).status).not.toBe(401);
    },
  );

  it.each(['/health', '/health/ready', '/', '/docs', '/samples/index.json'])(
    'requires none for %s',
    async (path) => {
      expect((await service.call('GET', path)).status).toBe(200);
    },
  );

  it('returns 404 and 405 before 401, and 401 before 415', async () => {
    expect((await service.call('GET', '/nowhere')).status).toBe(404);
    expect((await service.call('GET', '/tell')).status).toBe(405);
    const headers = { 'content-type': 'text/plain' };
    expect((await service.call('POST', '/tell', 'x', { headers })).status).toBe(401);
  });

  it('never logs it, right or wrong', async () => {
    await service.call('GET', '/rules', undefined, { headers: { 'x-api-key': 'wrong-but-private' } });
    await service.call('GET', `/rules?key=${key}`, undefined, { headers: { 'x-api-key': key } });
    const log = JSON.stringify(service.logged);
    expect(log).not.toContain(key);
    expect(log).not.toContain('wrong-but-private');
  });
});

describe('with RATE_LIMIT_PER_MINUTE', () => {
  it('returns 429 with Retry-After beyond the limit, except for health', async () => {
    const service = await startServiceUnderTest({ RATE_LIMIT_PER_MINUTE: '3' });
    const statuses: number[] = [];
    for (let index = 0; index < 3; index++) statuses.push((await service.call('GET', '/rules')).status);
    const last = await service.call('GET', '/rules');
    expect([...statuses, last.status]).toEqual([200, 200, 200, 429]);
    expect(last.body.code).toBe('RateLimited');
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await service.call('GET', '/health')).status).toBe(200);
    expect((await service.call('GET', '/')).status).toBe(200);
    await service.close();
  });

  it('counts failed authentication for the address, and refuses then what it cannot tell from a guess', async () => {
    const service = await startServiceUnderTest({ RATE_LIMIT_PER_MINUTE: '3', API_KEY: key });
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await service.call('GET', '/rules', undefined, { headers })).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ 'x-api-key': 'wrong' })).toBe(401);
    expect(await statusOf({ authorization: 'Bearer wrong too' })).toBe(401);
    const refused = await service.call('GET', '/rules', undefined, { headers: { 'x-api-key': 'wrong' } });
    expect([refused.status, refused.body.code]).toEqual([429, 'RateLimited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // The guess may be right: the answer must not say so.
    expect(await statusOf({ 'x-api-key': key })).toBe(429);
    expect((await service.call('GET', '/health')).status).toBe(200);
    await service.close();
  });

  it('lets a credential that was accepted from the address go on under its own limit', async () => {
    const service = await startServiceUnderTest({ RATE_LIMIT_PER_MINUTE: '3', API_KEY: key });
    const statuses: number[] = [];
    for (const shown of [key, 'wrong', 'wrong', 'wrong', 'wrong', key, key, key])
      statuses.push(
        (await service.call('GET', '/rules', undefined, { headers: { 'x-api-key': shown } })).status,
      );
    expect(statuses).toEqual([200, 401, 401, 401, 429, 200, 200, 429]);
    await service.close();
  });

  it('does not count what is refused before authentication', async () => {
    const service = await startServiceUnderTest({ RATE_LIMIT_PER_MINUTE: '1', API_KEY: key });
    for (let index = 0; index < 3; index++) expect((await service.call('GET', '/nowhere')).status).toBe(404);
    const headers = { 'x-api-key': key };
    expect((await service.call('GET', '/rules', undefined, { headers })).status).toBe(200);
    expect((await service.call('GET', '/rules', undefined, { headers })).status).toBe(429);
    await service.close();
  });

  it('refills tokens over time, for each client separately', () => {
    let now = 0;
    const limit = createRateLimit(2, () => now);
    limit.take('a');
    limit.take('a');
    expect(() => limit.take('a')).toThrow('try again in 30 s');
    limit.take('b');
    now = 30_000;
    limit.take('a');
    expect(() => limit.take('a')).toThrow('2 requests a minute');
  });
});
