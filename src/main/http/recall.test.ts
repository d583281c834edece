import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ContextSummary } from '../../engine/contract/context.ts';
import type { MemoryStats, Recalled } from '../../engine/contract/memory.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Recall, statistics and summary over real sockets; the service validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const fact = (predicate: string, ...args: string[]) => ({ predicate, args });
  await service.call('POST', '/assert/facts', [
    fact('likes', 'ann', 'tea'),
    { ...fact('likes', 'bob', 'milk, cold'), metadata: { importance: 0.9 } },
    { ...fact('likes', 'ann', 'tea'), truthVal: false, scope: 'old' },
    { ...fact('visits', 'ann', 'bob'), ttl: 60_000, scope: 'old' },
  ]);
  await service.call('POST', '/teach', { text: 'fond(?x) :- likes(?x, ?y)' });
});

afterAll(() => service.close());

const get = (query: string) => service.call<Recalled>('GET', `/memory/context${query}`);

function named({ body }: { body: Recalled }): string[] {
  return body.facts.map(({ predicate, args }) => `${predicate} ${args.join(' ')}`);
}

it('returns the same from GET and POST of /memory/context, apart from the time', async () => {
  const got = await get('?maxFacts=2&minSalience=0.25&predicates=likes,visits&scope=old');
  const posted = await service.call<Recalled>('POST', '/memory/context', {
    maxFacts: 2,
    minSalience: 0.25,
    predicates: ['likes', 'visits'],
    scope: 'old',
  });
  expect([got.status, posted.status]).toEqual([200, 200]);
  expect(named(got)).toEqual(['likes ann tea', 'visits ann bob']);
  expect(named(posted)).toEqual(named(got));
  expect(got.body).toMatchObject({ totalFacts: 2, returned: 2 });
  expect(got.body.facts[0]).toMatchObject({ negated: true, scope: 'old', charCount: 16, provenance: null });
});

it('defaults to a hundred facts of any salience, predicate and scope, without inference', async () => {
  const { body } = await get('');
  expect(body.returned).toBe(4);
  expect((await service.call<Recalled>('POST', '/memory/context')).body.returned).toBe(4);
  expect((await service.call<Recalled>('POST', '/memory/context', { predicates: null })).body.returned).toBe(
    4,
  );
});

it('accepts predicates in a query string repeated or comma-separated', async () => {
  expect(named(await get('?predicates=visits&predicates=never'))).toEqual(['visits ann bob']);
  expect(named(await get('?predicates=visits,never'))).toEqual(['visits ann bob']);
});

it('includes derived facts on request', async () => {
  const inferred = await get('?includeInferred=true&predicates=fond');
  expect(named(inferred)).toEqual(['fond bob', 'fond ann']);
  expect(inferred.body).toMatchObject({ totalFacts: 6, returned: 2 });
  expect(inferred.body.facts[0]?.provenance).toEqual({
    rule: 'fond(?x) :- likes(?x, ?y)',
    premises: ['likes(bob, "milk, cold")'],
  });
});

it('rejects and names parameters that are out of bounds, unknown or repeated', async () => {
  const refused = async (query: string): Promise<unknown> => {
    const { status, body } = await service.call<Problem>('GET', `/memory/context?${query}`);
    return [status, body.code, body.errors?.[0]?.path];
  };
  const bad = (path: string) => [400, 'ValidationException', path];
  expect(await refused('maxFacts=0')).toEqual(bad('maxFacts'));
  expect(await refused('maxFacts=100001')).toEqual(bad('maxFacts'));
  expect(await refused('maxFacts=ten')).toEqual(bad('maxFacts'));
  expect(await refused('minSalience=1.5')).toEqual(bad('minSalience'));
  expect(await refused('minSalience=-0.5')).toEqual(bad('minSalience'));
  expect(await refused('includeInferred=yes')).toEqual(bad('includeInferred'));
  expect(await refused('scope=a&scope=b')).toEqual(bad('scope'));
  expect(await refused('scope=a&unscoped=true')).toEqual(bad('unscoped'));
  expect(await refused('predicates=')).toEqual(bad('predicates.0'));
  expect(await refused('limit=5')).toEqual(bad('limit'));
});

it('rejects the same in a body', async () => {
  for (const body of [
    { maxFacts: 0 },
    { maxFacts: '5' },
    { minSalience: 2 },
    { predicates: [] },
    { predicates: ['not a name'] },
    { scope: '' },
    { scope: 'a', unscoped: true },
    { timeoutMs: 0 },
    { goals: [] },
  ]) {
    const answer = await service.call<Problem>('POST', '/memory/context', body);
    expect([answer.status, answer.body.code], JSON.stringify(body)).toEqual([400, 'ValidationException']);
  }
});

it('requires a tenant and isolates tenants', async () => {
  const none = { headers: { 'x-tenant-id': '' } };
  for (const [method, path] of [
    ['GET', '/memory/context'],
    ['GET', '/memory/stats'],
    ['POST', '/context/summary'],
  ] as const) {
    const refused = await service.call<Problem>(method, path, undefined, none);
    expect(refused.status, path).toBe(400);
    expect(refused.body.detail, path).toContain('X-Tenant-ID');
  }
  const other = { headers: { 'x-tenant-id': 'other' } };
  const { body } = await service.call<Recalled>('GET', '/memory/context', undefined, other);
  expect(body).toMatchObject({ facts: [], totalFacts: 0, returned: 0 });
});

it('rejects recall in a transaction', async () => {
  const begun = await service.call<{ id: string }>('POST', '/tx/begin');
  const headers = { 'x-transaction-id': begun.body.id };
  expect((await service.call('GET', '/memory/context', undefined, { headers })).status).toBe(400);
});

it('returns statistics of everything, of a scope and of unscoped facts', async () => {
  const stats = async (query: string) =>
    (await service.call<MemoryStats>('GET', `/memory/stats${query}`)).body;
  const all = await stats('');
  expect(all).toMatchObject({ facts: 4, expiring: { within1h: 1, within24h: 1, within7d: 1 } });
  expect(all.histogram).toHaveLength(20);
  expect(all.fading).toHaveLength(4);
  expect(await stats('?scope=old')).toMatchObject({ facts: 2 });
  expect(await stats('?unscoped=true')).toMatchObject({ facts: 2, expiring: { within1h: 0 } });
  expect((await service.call('GET', '/memory/stats?of=me')).status).toBe(400);
});

it('returns a summary, with or without a body', async () => {
  const { status, body } = await service.call<ContextSummary>('POST', '/context/summary');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    totalFacts: 4,
    predicateCount: 2,
    topPredicates: [
      { predicate: 'likes', count: 3 },
      { predicate: 'visits', count: 1 },
    ],
    factsWithTtl: 1,
    factsExpiringWithin1h: 1,
    contradictions: 1,
    totalCharCount: 'likes(ann, tea)likes(bob, "milk, cold")-likes(ann, tea)visits(ann, bob)'.length,
    knowledgeGeneration: 2,
  });
  expect(body.topSalientFacts).toHaveLength(4);
  const ofScope = await service.call<ContextSummary>('POST', '/context/summary', { scope: 'old' });
  expect(ofScope.body).toMatchObject({ totalFacts: 2, contradictions: 0 });
  expect((await service.call('POST', '/context/summary', { lists: 5 })).status).toBe(400);
});
