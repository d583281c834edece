import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { jsonSlices } from './answers.ts';

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

async function sliced(value: unknown): Promise<string> {
  let text = '';
  for await (const slice of jsonSlices(value)) text += slice;
  return text;
}

const long = Array.from({ length: 2500 }, (_, index) => ({ index, text: '",]}' }));

it.each([
  [
    {
      results: long,
      bindings: [],
      count: 7,
      absent: undefined,
      proof: { roots: [], steps: long },
      last: null,
    },
  ],
  [long],
  [{ absent: undefined, deep: { a: { b: long } }, long }],
  [[]],
  [{}],
  [{ results: long.slice(0, 1000) }],
  [{ results: long.slice(0, 1001) }],
  [{ facts: [{ a: 1 }, { metadata: { consolidated: { values: long } } }, undefined, { b: [] }] }],
  [[long, long, 'between', long]],
  [[...long.slice(0, 999), { long }, ...long.slice(0, 1200), { long }]],
  [{ one: { two: { three: { four: { five: { six: { seven: long } } } } } } }],
])('writes the same text in slices as JSON.stringify at once', async (value) => {
  expect(await sliced(value)).toBe(JSON.stringify(value));
});

it('writes a long part of an A2A message in slices', async () => {
  const slices = async (data: object): Promise<number> => {
    const pieces = jsonSlices({
      jsonrpc: '2.0',
      id: 1,
      result: { message: { parts: [{ text: '' }, { data }] } },
    });
    let count = 0;
    for await (const piece of pieces) count += piece === '' ? 0 : 1;
    return count;
  };
  expect(await slices({ results: [], proof: { roots: [], steps: [] } })).toBe(1);
  expect(await slices({ results: long })).toBeGreaterThan(3);
  expect(await slices({ proof: { roots: [], steps: long } })).toBeGreaterThan(3);
});

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
