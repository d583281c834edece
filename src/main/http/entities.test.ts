import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityPage } from '../../engine/contract/entities.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Entities over real sockets; the service validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

const get = <Body = EntityPage>(path: string, headers: Record<string, string> = {}) =>
  service.call<Body>('GET', `/entities/${path}`, undefined, { headers });

describe('GET /entities/:constant', () => {
  it.each([
    'ada',
    'a/b',
    'a%2Fb',
    '100%',
    '%',
    'Ærø 東京 🏔',
    '"quoted", (with) all',
    ' leading',
    'https://example.org/a?b=c#d',
    'alias',
    'merge',
    '3',
    'x'.repeat(5_000),
  ])('takes %.30j, percent-encoded', async (constant) => {
    await service.call('POST', '/tell', { predicate: 'named', args: [constant] });
    const { status, body } = await get(encodeURIComponent(constant));
    expect(status).toBe(200);
    expect(body.entity).toBe(constant);
    expect(body.facts.map(({ args }) => args)).toEqual([[constant]]);
  });

  it('answers like POST /entities', async () => {
    await service.call('POST', '/tell', { predicate: 'knows', args: ['ben', 'eve'], scope: 'draft' });
    await service.call('POST', '/teach', { text: 'known(?y) :- knows(?x, ?y)' });
    const got = await get('eve?scope=draft&infer=true&limit=5');
    const posted = await service.call<EntityPage>('POST', '/entities', {
      constant: 'eve',
      scope: 'draft',
      infer: true,
      limit: 5,
    });
    expect(got.body.conclusions.map(({ atom }) => atom)).toEqual(['known(eve)']);
    const timeless = ({ facts, ...rest }: EntityPage): unknown => ({
      ...rest,
      facts: facts.map(({ salience: _salience, ...fact }) => fact),
    });
    expect(timeless(posted.body)).toEqual(timeless(got.body));
  });

  it('is empty for an unknown constant, tenant and scope', async () => {
    const unknown = await get('nobody-at-all');
    expect([unknown.status, unknown.body.facts, unknown.body.nextOffset]).toEqual([200, [], null]);
    expect((await get('eve', { 'x-tenant-id': 'unborn' })).body.totals.facts).toBe(0);
    expect((await get('eve?scope=nowhere')).body.totals.facts).toBe(0);
  });

  it.each([
    ['%3Fx', 'constant'],
    ['%ED%A0%80', ''],
    ['eve?limit=0', 'limit'],
    ['eve?limit=100001', 'limit'],
    ['eve?offset=-1', 'offset'],
    ['eve?scope=a&unscoped=true', 'unscoped'],
    ['eve?inferr=true', 'inferr'],
    ['y'.repeat(17_000), ''],
  ])('refuses %.20j and says why', async (path, names) => {
    const { status, body } = await get<Problem>(path);
    expect(status).toBe(400);
    expect(body.detail).toContain(names);
  });
});

it('takes every constant in the body of POST /entities', async () => {
  for (const constant of ['', '.', '..', 'z'.repeat(65_536)]) {
    await service.call('POST', '/tell', { predicate: 'odd', args: [constant, 'other'] });
    const { body } = await service.call<EntityPage>('POST', '/entities', { constant });
    expect(body.facts.map(({ args }) => args[0])).toEqual([constant]);
  }
  const long = await service.call<Problem>('POST', '/entities', { constant: 'z'.repeat(65_537) });
  expect(long.status).toBe(400);
});
