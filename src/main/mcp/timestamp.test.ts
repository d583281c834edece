/** What was true then, asked by tools. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
let client: Client;

const hour = 3_600_000;
const until = Date.now() - hour;
const then = new Date(until - 1).toISOString();

beforeAll(async () => {
  service = await startServiceUnderTest();
  await service.call('POST', '/teach', { text: 'paid(?x) :- works(?x, ?_)' });
  await service.call('POST', '/tell', { predicate: 'works', args: ['ann', 'shop'], validUntil: until });
  await service.call('POST', '/tell', { predicate: 'works', args: ['bob', 'mill'], validFrom: until });
  client = new Client({ name: 'agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address)));
});
afterAll(async () => {
  await client.close();
  await service.close();
});

async function call(name: string, given: Record<string, unknown>) {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: given });
  return { said: structuredContent as Record<string, unknown> | undefined, isError, content };
}

it('recall with a timestamp and a pattern answers what was true then, by which rule', async () => {
  const { said } = await call('recall', { predicate: 'paid', args: ['?who'], timestamp: then });
  expect(said).toEqual({
    facts: [{ atom: 'paid(ann)', rule: 'paid(?x) :- works(?x, ?_)', premises: ['works(ann, shop)'] }],
    returned: 1,
    totalFacts: 1,
  });
  expect(
    (await call('recall', { predicate: 'works', args: ['?x', '?y'], timestamp: until })).said,
  ).toMatchObject({
    facts: [{ atom: 'works(bob, mill)' }],
  });
});

it('recall with a timestamp alone, or beside words, recalls what was true then', async () => {
  for (const words of [{}, { query: 'who works' }]) {
    const { said } = await call('recall', { ...words, timestamp: then });
    expect(JSON.stringify(said)).toContain('works(ann, shop)');
    expect(JSON.stringify(said)).not.toContain('bob');
  }
});

it('ask takes asOf and asKnown, generation 0 included', async () => {
  const question = { predicate: 'paid', args: ['?who'] };
  expect((await call('ask', { ...question, asOf: then })).said).toMatchObject({ results: ['paid(ann)'] });
  expect((await call('ask', { ...question, asKnown: 0 })).said).toMatchObject({ results: [] });
  expect((await call('ask', { ...question, asKnown: 2, asOf: then })).said).toMatchObject({ count: 1 });
});

it('says what is wrong with a moment', async () => {
  for (const given of [
    { predicate: 'paid', predicates: ['works'] },
    { predicate: 'paid', args: ['?x'], query: 'works' },
    { timestamp: 'yesterday' },
    { timestamp: then, asOf: until },
  ]) {
    const { isError } = await call('recall', given);
    expect(isError, JSON.stringify(given)).toBe(true);
  }
});
