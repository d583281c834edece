import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FactOutcome, QueryResult } from '../../engine/contract/facts.ts';
import type { Consolidated, Decayed, Restored } from '../../engine/contract/memory.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Decay, consolidation and restoring over real HTTP; the service validates every answer against its schema. */
let service: ServiceUnderTest;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** Calls of a separate tenant. */
function asNewTenant() {
  const headers = { 'x-tenant-id': `tenant-${++tenants}` };
  const call = <Body = Problem>(path: string, body?: unknown, more: Record<string, string> = {}) =>
    service.call<Body>('POST', path, body, { headers: { ...headers, ...more } });
  const tell = async (predicate: string, args: unknown[], fields: object = {}) =>
    (await call<FactOutcome>('/tell', { predicate, args, ...fields })).body;
  const visits = async (count = 3) => {
    for (let day = 1; day <= count; day++) await tell('visited', ['alice', 'paris', `2024-01-0${day}`]);
  };
  return { call, tell, visits };
}

it('evicts expired and decayed facts and counts them in the metrics', async () => {
  const { call, tell } = asNewTenant();
  await tell('p', ['faded'], { metadata: { importance: 0 } });
  await tell('p', ['ended'], { validUntil: 1000 });
  await tell('p', ['kept']);
  const tried = await call<Decayed>('/memory/decay', { dryRun: true });
  expect(tried.body).toMatchObject({ evicted: 2, expired: 1, lowSalience: 1, remaining: 1, dryRun: true });
  const before = (await service.call<string>('GET', '/metrics')).body;
  const { status, body } = await call<Decayed>('/memory/decay');
  expect([status, body]).toMatchObject([200, { evicted: 2, atoms: ['p(ended)', 'p(faded)'] }]);
  expect(body.dryRun).toBeUndefined();
  const evicted = (text: string): number => Number(/^service_memory_decay_evicted (\d+)$/m.exec(text)?.[1]);
  const after = (await service.call<string>('GET', '/metrics')).body;
  expect(evicted(after) - evicted(before)).toBe(2);
});

it('consolidates episodes and restores them', async () => {
  const { call, visits } = asNewTenant();
  await visits();
  const { status, body } = await call<Consolidated>('/memory/consolidate', {});
  expect([status, body]).toMatchObject([
    200,
    {
      patternsFound: 1,
      summariesCreated: 1,
      factsConsolidated: 3,
      skipped: [],
      summaries: [{ atom: 'visited_summary(alice, paris, 3)', support: 3, scope: null }],
    },
  ]);
  const { facts } = (
    await service.call<{ facts: { id: string }[] }>('GET', '/facts', undefined, {
      headers: { 'x-tenant-id': `tenant-${tenants}` },
    })
  ).body;
  const restored = await call<Restored>('/memory/restore', { id: facts[0]?.id });
  expect([restored.status, restored.body]).toMatchObject([
    200,
    { restored: 3, generation: body.generation + 1 },
  ]);
  const question = { predicate: 'visited', args: ['?who', '?where', '?when'] };
  expect((await call<QueryResult>('/query', question)).body).toHaveLength(3);
});

it('repeats the first answer for a repeated Idempotency-Key', async () => {
  const { call, visits } = asNewTenant();
  await visits();
  const key = { 'idempotency-key': `consolidate-${tenants}` };
  const first = await call<Consolidated>('/memory/consolidate', {}, key);
  const again = await call<Consolidated>('/memory/consolidate', {}, key);
  expect(again.body).toEqual(first.body);
  expect((await call('/memory/consolidate', { minOccurrences: 4 }, key)).status).toBe(422);
});

it.each<[string, unknown, string]>([
  ['/memory/decay', { threshold: -0.1 }, 'threshold'],
  ['/memory/decay', { threshold: 1.1 }, 'threshold'],
  ['/memory/decay', { threshold: '0.1' }, 'threshold'],
  ['/memory/decay', { treshold: 0.1 }, 'treshold'],
  ['/memory/decay', { scope: 's', unscoped: true }, 'unscoped'],
  ['/memory/decay', { scope: '..' }, 'scope'],
  ['/memory/consolidate', { minOccurrences: 1 }, 'minOccurrences'],
  ['/memory/consolidate', { minOccurrences: 2.5 }, 'minOccurrences'],
  ['/memory/consolidate', { predicates: [] }, 'predicates'],
  ['/memory/consolidate', { predicates: ['?x'] }, 'predicates.0'],
  ['/memory/consolidate', { dryRun: 'yes' }, 'dryRun'],
  ['/memory/restore', {}, 'id'],
  ['/memory/restore', { id: '' }, 'id'],
  ['/memory/restore', { id: 7 }, 'id'],
  ['/memory/restore', { id: 'f1-0', dryRun: true }, 'dryRun'],
])('%s rejects %j and names %s', async (path, body, field) => {
  const refused = await asNewTenant().call(path, body);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ code: 'ValidationException' });
  expect(JSON.stringify(refused.body.errors)).toContain(field);
});

it('returns 404 FactNotFound for an unknown id and 400 for a fact that is no summary', async () => {
  const { call, tell } = asNewTenant();
  const { id } = await tell('p', ['a']);
  const unknown = await call('/memory/restore', { id: 'f99-0' });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'FactNotFound']);
  const plain = await call('/memory/restore', { id });
  expect([plain.status, plain.body.code]).toEqual([400, 'ValidationException']);
});

it('requires a tenant and rejects a transaction', async () => {
  for (const path of ['/memory/decay', '/memory/consolidate', '/memory/restore']) {
    const body = path.endsWith('restore') ? { id: 'f1-0' } : {};
    const response = await fetch(`${service.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    const { call } = asNewTenant();
    expect((await call(path, body, { 'x-transaction-id': 'some' })).status).toBe(400);
  }
});

it('decays periodically if MEMORY_DECAY_INTERVAL_MS is set', async () => {
  const own = await startServiceUnderTest({ MEMORY_DECAY_INTERVAL_MS: '1000' });
  try {
    await own.call('POST', '/tell', { predicate: 'p', args: ['a'], ttl: 1 });
    await expect.poll(() => own.engine.counters().factsEvicted).toBe(1);
  } finally {
    await own.close();
  }
});
