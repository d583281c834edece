import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

const longest = 'é'.repeat(32_768);
const tooLong = `${longest}é`;
const said = 'at most 65536 bytes of UTF-8; this one has 65538';
const pattern = { predicate: 'p', args: ['?x', tooLong] };
const literal = { predicate: 'p', args: [tooLong] };

it('stores, finds and retracts a constant of 65,536 bytes', async () => {
  const fact = { predicate: 'long', args: [longest] };
  expect((await service.call('POST', '/tell', fact)).status).toBe(200);
  expect((await service.call('POST', '/ask', fact)).body.count).toBe(1);
  expect((await service.call('POST', '/query', { predicate: 'long', args: ['?x'] })).body).toHaveLength(1);
  expect((await service.call('POST', '/retract', fact)).body.retracted).toBe(1);
});

it.each([
  ['/tell', literal, 'args.0'],
  ['/assert/facts', { facts: [{ predicate: 'p', args: ['a'] }, literal] }, 'facts.1.args.0'],
  ['/retract', literal, 'args.0'],
  ['/retract/pattern', pattern, 'args.1'],
  ['/query', pattern, 'args.1'],
  ['/ask', pattern, 'args.1'],
  ['/explain', { ...literal, mode: 'why' }, 'args.0'],
  ['/trace', pattern, 'args.1'],
  ['/aggregate', { operation: 'COUNT', ...pattern }, 'args.1'],
  ['/whatIf', { goals: [pattern] }, 'goals.0.args.1'],
  ['/assert/rule', { head: { predicate: 'h', args: ['?x'] }, body: [pattern] }, 'body.0.args.1'],
  [
    '/assert/rule',
    { head: { predicate: 'h', args: [tooLong] }, body: [{ predicate: 'p', args: ['a'] }] },
    'head.args.0',
  ],
  ['/teach', { text: `h(?x) :- p(?x, "${tooLong}")` }, 'text'],
  ['/context/ingest', { text: `Ann.\np(${tooLong}).` }, 'text'],
  ['/context', { turns: ['p(a).', `p(${tooLong}).`] }, ''],
])('%s refuses a longer constant with 400 and names its path', async (path, body, place) => {
  const { status, body: problem } = await service.call('POST', path, body);
  expect(status).toBe(400);
  expect(problem.code).toBe('ValidationException');
  const errors = problem.errors as { path: string; message: string }[];
  const found = errors.find(({ message }) => message.includes(said));
  expect(found, JSON.stringify(errors).slice(0, 300)).toBeDefined();
  expect(found?.path).toContain(place);
});

it('reports a longer constant as a bad line of an import, in every format', async () => {
  for (const [type, line] of [
    ['application/x-ndjson', JSON.stringify(literal)],
    ['text/csv', `p,${tooLong}`],
    ['text/x-datalog', `p(${tooLong}).`],
    ['application/n-triples', `<http://a> <http://b> "${tooLong}" .`],
  ]) {
    const headers = { 'content-type': type as string };
    const { status, body } = await service.call<string | object>('POST', '/import', `${line}\n`, { headers });
    expect(status).toBe(200);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const done = JSON.parse(text.trim().split('\n').at(-1) as string) as {
      failed: number;
      errors: { line: number; message: string }[];
    };
    expect(done).toMatchObject({ done: true, asserted: 0, failed: 1 });
    expect(done.errors).toMatchObject([{ line: 1 }]);
    expect(done.errors[0]?.message).toContain(said);
  }
});

it('stores nothing of it', async () => {
  expect((await service.call('POST', '/query', { predicate: 'p', args: ['?x'] })).body).toEqual([]);
});
