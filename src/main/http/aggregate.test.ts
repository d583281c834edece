import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AggregateResult } from '../../engine/contract/aggregation.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** POST /aggregate over real sockets; the service validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const earns = (who: string, team: string, amount: number | string) => ({
    predicate: 'earns',
    args: [who, team, amount],
  });
  await service.call('POST', '/assert/facts', [
    earns('ann', 'red', 10),
    earns('bob', 'red', 20.5),
    earns('cid', 'blue', 7),
    { ...earns('ann', 'red', 10), scope: 'copy' },
    { ...earns('eve', 'blue', 1000), truthVal: false },
  ]);
  await service.call('POST', '/tell', { predicate: 'named', args: ['ann', 'x'] });
  await service.call('POST', '/teach', { text: 'rich(?who, ?n) :- earns(?who, ?team, ?n), ?n >= 10' });
});

afterAll(() => service.close());

const asked = { operation: 'SUM', predicate: 'earns', args: ['?who', '?team', '?n'], variable: 'n' };

it('returns the value, matched facts and groups as JSON numbers', async () => {
  const { status, body } = await service.call('POST', '/aggregate', { ...asked, groupBy: ['?team'] });
  expect(status).toBe(200);
  expect(body).toEqual({
    operation: 'SUM',
    result: 37.5,
    matchedFacts: 3,
    groups: [
      { key: { team: 'blue' }, result: 7, matchedFacts: 1 },
      { key: { team: 'red' }, result: 30.5, matchedFacts: 2 },
    ],
  });
});

it('accepts null for an omitted field', async () => {
  const fields = { args: null, variable: null, argIndex: null, groupBy: null, distinct: null, scope: null };
  const { body } = await service.call('POST', '/aggregate', { ...asked, ...fields, operation: 'COUNT' });
  expect(body).toEqual({ operation: 'COUNT', result: 3, matchedFacts: 3, groups: [] });
});

it('counts derived facts only with infer', async () => {
  const count = async (infer: boolean) =>
    (
      await service.call<AggregateResult>('POST', '/aggregate', {
        operation: 'COUNT',
        predicate: 'rich',
        infer,
      })
    ).body.result;
  expect([await count(false), await count(true)]).toEqual([0, 2]);
});

it('reads only the tenant of the call', async () => {
  const headers = { 'x-tenant-id': 'other' };
  const { body } = await service.call('POST', '/aggregate', asked, { headers });
  expect(body).toEqual({ operation: 'SUM', result: 0, matchedFacts: 0, groups: [] });
});

it('reports a value that is not a number', async () => {
  const { status, body } = await service.call('POST', '/aggregate', { ...asked, variable: 'who' });
  expect(status).toBe(400);
  expect(body).toMatchObject({
    code: 'ValidationException',
    detail: 'variable: SUM takes numbers, and "ann" is no number',
    errors: [{ path: 'variable', message: 'SUM takes numbers, and "ann" is no number' }],
  });
});

it.each([
  [{ operation: 'MEDIAN' }, 'operation'],
  [{ variable: 'm' }, 'variable'],
  [{ argIndex: 2 }, 'argIndex'],
  [{ variable: null, argIndex: 3 }, 'argIndex'],
  [{ groupBy: ['team', 'm'] }, 'groupBy.1'],
  [{ groupBy: 'team' }, 'groupBy'],
  [{ variable: null }, 'variable'],
  [{ args: null }, 'variable'],
])('returns 400 with the location of the error: %j', async (fields, path) => {
  const { status, body } = await service.call<Problem>('POST', '/aggregate', { ...asked, ...fields });
  expect(status).toBe(400);
  expect(body.errors?.map((error) => error.path)).toEqual([path]);
});

it('names an unknown field, and the tenant header if it is missing', async () => {
  const unknown = await service.call('POST', '/aggregate', { ...asked, groupby: ['team'] });
  expect([unknown.status, unknown.body.detail]).toEqual([400, expect.stringContaining('groupby')]);
  const { status, body } = await service.call('POST', '/aggregate', asked, {
    headers: { 'x-tenant-id': '' },
  });
  expect([status, body.detail]).toEqual([400, expect.stringContaining('X-Tenant-ID')]);
});

it('returns 422 with the limit if a derivation exceeds it', async () => {
  await service.call('POST', '/teach', { text: 'pair(?x, ?y) :- earns(?x, ?a, ?n), earns(?y, ?b, ?m)' });
  const fields = { operation: 'COUNT', predicate: 'pair', infer: true, maxDerivations: 1 };
  const { status, body } = await service.call('POST', '/aggregate', fields);
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'InferenceLimitExceeded', limit: 'maxDerivations' });
});
