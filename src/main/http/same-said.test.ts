/** A redundant field is not an error: it is accepted everywhere, and a contradictory one is refused. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  await post('/teach', { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
  await post('/assert/facts', {
    facts: [
      { predicate: 'parent', args: ['ann', 'bob'], negated: false },
      { predicate: 'parent', args: ['bob', 'cy'], truthVal: true, negated: false, metadata: null },
      { predicate: 'likes', args: ['ann', 'tea'], negated: true },
    ],
  });
});
afterAll(() => service.close());

async function post(path: string, body: unknown) {
  const headers = { 'X-Tenant-ID': 'default' };
  const { status, body: answer } = await service.call<Record<string, unknown>>('POST', path, body, {
    headers,
  });
  return { status, answer };
}

const fact = { predicate: 'parent', args: ['ann', 'bob'] };
const pattern = { predicate: 'parent', args: ['ann', '?x'] };
const question = { predicate: 'grandparent', args: ['ann', '?x'] };
const atom = (predicate: string, args: string[], more: object = {}) => ({
  predicate,
  args,
  scope: null,
  metadata: {},
  truthVal: true,
  ...more,
});
const rule = {
  head: atom('sibling', ['?x', '?y'], { metadata: null }),
  body: [atom('parent', ['?z', '?x'], { naf: false, negated: false }), atom('parent', ['?z', '?y'])],
};

it.each([
  ['/tell', { ...fact, negated: false }],
  ['/assert/fact', { ...fact, truthVal: true, negated: null }],
  ['/query', { ...pattern, negated: false }],
  ['/retract', { ...fact, negated: true, dryRun: true }],
  ['/retract/pattern', { ...pattern, negated: false, dryRun: true }],
  ['/ask', { ...question, truthVal: true }],
  ['/infer?proof=true', { ...question, truthVal: true, negated: false }],
  ['/explain', { ...fact, truthVal: true, mode: 'why' }],
  ['/trace', { ...question, truthVal: true }],
  [
    '/whatIf',
    {
      assert: [{ ...fact, negated: true }],
      retract: [{ ...fact, negated: false }],
      goals: [{ ...question, truthVal: true }],
    },
  ],
  ['/context/optimize', { goals: [{ ...question, truthVal: true }] }],
  ['/aggregate', { operation: 'COUNT', ...pattern, truthVal: true, negated: false }],
  ['/teach', rule],
])('POST %s accepts redundant fields', async (path, body) => {
  const { status, answer } = await post(path, body);
  expect(answer).not.toHaveProperty('errors');
  expect(status).toBe(200);
});

it('gives them their meaning', async () => {
  const { answer: query } = await post('/query', { predicate: 'likes', args: ['?x', '?y'], negated: true });
  expect(query).toEqual([{ predicate: 'likes', args: ['ann', 'tea'], truthVal: false }]);
  const { answer: asked } = await post('/ask', { predicate: 'likes', args: ['ann', '?x'], truthVal: false });
  expect(asked).toMatchObject({ results: ['-likes(ann, tea)'] });
  const { answer: proved } = await post('/ask?proof=true', question);
  expect(proved).toMatchObject({ results: ['grandparent(ann, cy)'], proof: { roots: [expect.any(Number)] } });
  expect((await post('/ask?proof=false', question)).answer).not.toHaveProperty('proof');
  const { answer: taught } = await post('/teach', rule);
  expect(taught).toMatchObject({ rule: 'sibling(?x, ?y) :- parent(?z, ?x), parent(?z, ?y)' });
  const negative = { head: atom('p', ['?x'], { truthVal: false }), body: [atom('parent', ['?x', '?_'])] };
  expect((await post('/teach', negative)).answer).toMatchObject({ rule: '-p(?x) :- parent(?x, ?_)' });
  const { body: listed } = await service.call('GET', '/facts?negated=true', undefined, {
    headers: { 'X-Tenant-ID': 'default' },
  });
  expect(listed).toMatchObject({ total: 1, facts: [{ predicate: 'likes', truthVal: false }] });
});

it.each([
  ['/tell', { ...fact, truthVal: true, negated: true }, 'negated'],
  ['/query', { ...pattern, truthVal: false, negated: false }, 'negated'],
  ['/ask', { ...question, negated: true, truthVal: true }, 'truthVal'],
  ['/teach', { ...rule, head: { ...rule.head, scope: 'main' } }, 'head'],
  ['/teach', { ...rule, head: { ...rule.head, metadata: { a: 1 } } }, 'head'],
  ['/aggregate', { operation: 'COUNT', ...pattern, truthVal: false }, ''],
  ['/tell', { ...fact, negated: 'yes' }, 'is true or false'],
  ['/ask?proof=maybe', question, 'is true or false'],
])('POST %s rejects contradictory or unknown fields', async (path, body, field) => {
  const { status, answer } = await post(path, body);
  expect(status).toBe(400);
  expect(JSON.stringify(answer['errors'])).toContain(field);
});
