import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, afterAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Facts as text, and within a number of tokens, wherever windows are answered: contract section 13. */

type Answer = Record<string, unknown> & { text: string };

let service: ServiceUnderTest;
beforeAll(async () => {
  service = await startServiceUnderTest();
  const facts = [
    ['parent', 'alice', 'bob'],
    ['parent', 'bob', 'carol'],
    ['lives_in', 'carol', 'oslo'],
  ].map(([predicate, ...args]) => ({ predicate, args }));
  await service.call('POST', '/assert/facts', { facts });
  await service.call('POST', '/teach', {
    text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  });
});
afterAll(() => service.close());

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await service.call<Answer>(method, path, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

const proof = ['parent(alice, bob)', 'parent(bob, carol)', '=> grandparent(alice, carol)'];
const goals = [{ predicate: 'grandparent', args: ['alice', '?who'] }];

it('is the text of a window in the place of its entries', async () => {
  const body = await ask('POST', '/context/optimize', { goals, maxFacts: 3, format: 'text' });
  expect(body.text.split('\n')).toEqual([...proof, '']);
  expect(body).not.toHaveProperty('entries');
  expect(body).toMatchObject({ totalFactsIncluded: 3, goals: [{ status: 'proved' }] });
  const plain = await ask('POST', '/context/optimize', { goals, maxFacts: 3, format: 'json' });
  expect(Object.keys(body)).toEqual(Object.keys(plain).map((key) => (key === 'entries' ? 'text' : key)));
});

it.each([
  ['GET', '/memory/context?query=alice%20and%20carol&format=text&maxTokens=30', undefined],
  ['POST', '/memory/context', { query: 'alice and carol', format: 'text', maxTokens: 30 }],
  ['POST', '/context', { turns: ['grandparent(alice, ?who)?'], format: 'text', maxTokens: 30 }],
])('is the text of what %s %s answers, within its tokens', async (method, path, body) => {
  const { text, facts, ...rest } = await ask(method, path, body);
  expect(facts).toBeUndefined();
  const lines = text.split('\n').slice(0, -1);
  expect(lines.slice(0, 3)).toEqual(proof);
  expect(lines.reduce((sum, line) => sum + countTokens(`${line}\n`), 0)).toBeLessThanOrEqual(30);
  expect(Object.values(rest)).toContain(lines.length);
});

it('is the text of a diff in the place of what came and went, with the format of the session', async () => {
  const sessionId = 'text';
  await ask('POST', '/context/optimize', { goals, maxFacts: 10, maxTokens: 40, sessionId, format: 'text' });
  await ask('POST', '/tell', { predicate: 'parent', args: ['bob', 'dora'] });
  await ask('POST', '/retract', { predicate: 'lives_in', args: ['carol', 'oslo'] });
  const body = await ask('POST', '/context/diff', { sessionId, maxTokens: 1000 });
  expect(body.text.split('\n')).toEqual([
    '+ parent(bob, dora)',
    '+ => grandparent(alice, dora)',
    '- lives_in(carol, oslo)',
    '',
  ]);
  expect(body).not.toHaveProperty('added');
  const plain = await ask('POST', '/context/diff', { sessionId, format: 'json' });
  expect(plain).toMatchObject({ added: [], removed: [] });
  expect(plain).not.toHaveProperty('text');
});

it.each(['recall', 'context'])(
  'is what the tool %s answers, in its structured content and its text',
  async (name) => {
    const given = { query: 'alice and carol', format: 'text', maxTokens: 40 };
    const body = await ask('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given },
    });
    const {
      structuredContent,
      content,
      isError = false,
    } = body['result'] as {
      structuredContent: Answer;
      content: { text: string }[];
      isError?: boolean;
    };
    expect(isError).toBe(false);
    expect(structuredContent.text.split('\n').slice(0, 3)).toEqual(proof);
    expect(structuredContent).not.toHaveProperty('facts');
    expect(structuredContent).not.toHaveProperty('entries');
    for (const line of structuredContent.text.split('\n')) expect(content[0]?.text).toContain(line);
  },
);

it.each([
  ['/context/optimize', { maxTokens: 0 }],
  ['/memory/context', { format: 'markdown' }],
  ['/context', { turns: ['x'], maxTokens: 1.5 }],
])('refuses what is no such limit or format: %s %o', async (path, body) => {
  expect((await service.call('POST', path, body)).status).toBe(400);
});
