import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const facts = Array.from({ length: 5000 }, (_, index) => ({
    predicate: 'many',
    args: [index, 'caf\u00e9 "1"'],
  }));
  await service.call('POST', '/assert/facts', { facts });
});

afterAll(() => service.close());

it('returns large answers complete', async () => {
  const question = { predicate: 'many', args: ['?n', '?text'], withProof: true };
  const { body, headers } = await service.call<Answer>('POST', '/ask', question);
  expect(body.count).toBe(5000);
  expect([body.results.length, body.bindings.length, body.proof?.steps.length]).toEqual([5000, 5000, 5000]);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).not.toBeNull();
});

it('returns large queries complete, with an array as the whole body', async () => {
  const { body } = await service.call('POST', '/query', { predicate: 'many', args: ['?n', '?text'] });
  expect(body).toHaveLength(5000);
});
