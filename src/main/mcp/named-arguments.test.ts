/** Names of declared arguments in the answers of tools. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
let client: Client;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const named = (...names: string[]) => ({ arguments: names.map((name) => ({ name })) });
  await service.call('PUT', '/predicates/lives_in/2', named('person', 'city'));
  await service.call('PUT', '/predicates/neighbours/2', named('one', 'other'));
  await service.call('PUT', '/predicates/numbered/2', named('2', '1'));
  await service.call('POST', '/teach', {
    text: 'neighbours(?x, ?y) :- lives_in(?x, ?c), lives_in(?y, ?c), ?x != ?y',
  });
  for (const [predicate, ...args] of [
    ['lives_in', 'ann', 'york'],
    ['lives_in', 'bob', 'york'],
    ['numbered', 'ann', 'york'],
    ['likes', 'ann', 'york'],
  ])
    await service.call('POST', '/tell', { predicate, args });
  client = new Client({ name: 'agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address)));
});
afterAll(async () => {
  await client.close();
  await service.close();
});

async function call(name: string, given: Record<string, unknown>) {
  const { structuredContent, content } = await client.callTool({ name, arguments: given });
  const [first] = content as { readonly text: string }[];
  return { said: structuredContent as Record<string, unknown>, lines: first?.text.split('\n') ?? [] };
}

it('recall says them once for each declared predicate that it lists', async () => {
  const { said, lines } = await call('recall', { maxFacts: 10 });
  expect(said['arguments']).toEqual(['lives_in(person, city)']);
  expect(lines).toContain('Arguments: lives_in(person, city)');
});

it('context says those of conclusions too', async () => {
  const goals = [{ predicate: 'neighbours', args: ['ann', '?who'] }];
  const { said, lines } = await call('context', { goals });
  expect(said['arguments']).toEqual(
    expect.arrayContaining(['lives_in(person, city)', 'neighbours(one, other)']),
  );
  expect(lines.some((line) => line.startsWith('Arguments: '))).toBe(true);
});

it('nothing is said of them where nothing listed is declared', async () => {
  const { said, lines } = await call('recall', { predicates: ['likes'] });
  expect(said).not.toHaveProperty('arguments');
  expect(lines.some((line) => line.startsWith('Arguments'))).toBe(false);
});

it('a refusal by a constraint says what would be violated, with its proof', async () => {
  const text = '!- neighbours(?x, ?y), feud(?x, ?y)';
  await service.call('POST', '/constraints', { text, name: 'peace', mode: 'reject' });
  const { lines } = await call('tell', { predicate: 'feud', args: ['ann', 'bob'] });
  expect(lines[0]).toContain('ConstraintViolated: the write would violate the constraint "peace"');
  expect(lines.slice(1, 4).map((line) => line.trim())).toEqual([
    'Violates "peace":',
    expect.stringContaining('neighbours(ann, bob), feud(ann, bob)'),
    expect.stringContaining('neighbours(ann, bob)  ['),
  ]);
  expect(lines.some((line) => line.includes('lives_in(ann, york)'))).toBe(true);
  expect(lines.at(-1)).toContain('retract or correct a fact above');
});
