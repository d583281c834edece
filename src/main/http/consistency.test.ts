import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
beforeEach(async () => {
  service = await startServiceUnderTest();
});
afterEach(() => service.close());

const fact = { predicate: 'p', args: ['a'] };

async function tokenOf(method: string, path: string, body?: unknown): Promise<string | null> {
  return (await service.call(method, path, body)).headers.get('x-token');
}

describe('X-Token', () => {
  it('says what an answer about a database shows: history, generation and time, none of which goes back', async () => {
    const tokens = [
      await tokenOf('GET', '/facts'),
      await tokenOf('POST', '/tell', fact),
      await tokenOf('POST', '/ask', { text: 'p(?x)' }),
      await tokenOf('POST', '/retract', fact),
    ];
    const parts = tokens.map((token) => /^([0-9a-f]{8})\.(\d+)\.(\d+)$/.exec(token ?? '')?.slice(1) ?? []);
    expect(new Set(parts.map(([history]) => history)).size).toBe(1);
    expect(parts.map(([, generation]) => Number(generation))).toEqual([0, 1, 1, 2]);
    const times = parts.map(([, , time]) => Number(time));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(service.engine.storageState().historyId).toMatch(new RegExp(`^${parts[0]?.[0]}`));
  });

  it('is also on refusals about a database, and on nothing else', async () => {
    expect(await tokenOf('POST', '/ask', { text: 'p(' })).toMatch(/^[0-9a-f]{8}\.0\.\d+$/);
    for (const path of ['/health', '/databases', '/nowhere'])
      expect(await tokenOf('GET', path), path).toBeNull();
    const unknown = await service.call('GET', '/facts', undefined, { headers: { 'x-database': 'none' } });
    expect([unknown.status, unknown.headers.get('x-token')]).toEqual([404, null]);
  });
});

describe('with the log in a folder', () => {
  it.each([
    ['X-At-Least', 'ffffffff.999999.9999999999999'],
    ['X-Consistency', 'strong'],
    ['X-Consistency', 'default'],
  ])('%s: %s always holds', async (name, value) => {
    for (const [method, path, body] of [
      ['POST', '/tell', fact],
      ['POST', '/ask', { text: 'p(?x)' }],
      ['GET', '/facts', undefined],
    ] as const)
      expect((await service.call(method, path, body, { headers: { [name]: value } })).status).toBeLessThan(
        300,
      );
  });

  it.each([
    ['X-At-Least', 'yesterday', 'must be the X-Token of an earlier answer'],
    ['X-At-Least', '', 'must be the X-Token of an earlier answer'],
    ['X-At-Least', '8f14e45f.1', 'must be the X-Token of an earlier answer'],
    ['X-Consistency', 'weak', 'must be strong, or default'],
  ])('%s: "%s" is 400', async (name, value, message) => {
    const { status, body } = await service.call('GET', '/facts', undefined, { headers: { [name]: value } });
    expect([status, body.code, body.errors]).toEqual([
      400,
      'ValidationException',
      [{ path: name, message: expect.stringContaining(message) as string }],
    ]);
  });
});
