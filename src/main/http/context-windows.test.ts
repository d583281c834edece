import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ContextWindow, WindowDiff } from '../../engine/contract/context.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { renderAtom } from '../../engine/index.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Context windows and their sessions over real HTTP; the service validates every answer against its schema. */
let service: ServiceUnderTest;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** Calls of a new tenant with a family of facts. */
async function asNewTenant(tenant = `tenant-${++tenants}`) {
  const headers = { 'x-tenant-id': tenant };
  const call = <Body = Problem>(path: string, body?: unknown) =>
    service.call<Body>('POST', path, body, { headers });
  const tell = (predicate: string, ...args: string[]) => call('/tell', { predicate, args });
  const forget = (predicate: string, ...args: string[]) => call('/retract', { predicate, args });
  const optimize = async (body: object = {}) => (await call<ContextWindow>('/context/optimize', body)).body;
  const diff = async (body: object) => (await call<WindowDiff>('/context/diff', body)).body;
  return { tenant, call, tell, forget, optimize, diff };
}

function atomsOf(entries: readonly { predicate: string; args: string[]; negated: boolean }[]): string[] {
  return entries.map(renderAtom).sort();
}

it('POST /context/optimize returns the window', async () => {
  const { call, tell, optimize } = await asNewTenant();
  await tell('parent', 'alice', 'bob');
  await tell('parent', 'bob', 'carol');
  await call('/teach', { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
  const window = await optimize({
    goals: [{ predicate: 'grandparent', args: ['alice', '?who'] }],
    relevanceBuckets: [{ name: 'family', predicates: ['parent'] }],
    explainOmitted: true,
  });
  expect(atomsOf(window.entries)).toEqual([
    'grandparent(alice, carol)',
    'parent(alice, bob)',
    'parent(bob, carol)',
  ]);
  expect(window).toMatchObject({
    relevantRules: ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)'],
    totalFactsAvailable: 3,
    totalFactsIncluded: 3,
    deduplicationSavings: 0,
    contradictionsFound: 0,
    contradictionsResolved: 0,
    contradictions: [],
    bucketStats: { family: { factsIncluded: 2, maxAllocation: 100 } },
    goalDriven: true,
    omitted: [],
  });
  expect(window.totalCharCount).toBe(window.entries.reduce((sum, { charCount }) => sum + charCount, 0));
});

it('an empty body requests a window of up to 100 facts', async () => {
  const { call, optimize } = await asNewTenant();
  await call(
    '/assert/facts',
    Array.from({ length: 120 }, (_, at) => ({ predicate: 'p', args: [`c${at}`] })),
  );
  expect(await optimize()).toMatchObject({ totalFactsIncluded: 100, totalFactsAvailable: 120 });
  expect((await call<ContextWindow>('/context/optimize')).body.totalFactsIncluded).toBe(100);
});

it('rejects malformed input with 400 that names the field', async () => {
  const { call } = await asNewTenant();
  const wrong: [object, string][] = [
    [{ maxFacts: 0 }, 'maxFacts'],
    [{ maxFacts: 100_001 }, 'maxFacts'],
    [{ maxChars: 1.5 }, 'maxChars'],
    [{ goals: [{ predicate: 'p' }] }, 'goals.0.args'],
    [{ goals: [{ predicate: '<', args: ['1', '2'] }] }, 'goals.0.predicate'],
    [{ goals: Array.from({ length: 101 }, () => ({ predicate: 'p', args: [] })) }, 'goals'],
    [{ relevanceBuckets: [{ name: 'b', predicates: [] }] }, 'relevanceBuckets.0.predicates'],
    [{ relevanceBuckets: [{ name: 'b', predicates: ['p'], weight: 0 }] }, 'relevanceBuckets.0.weight'],
    [
      {
        relevanceBuckets: [
          { name: 'b', predicates: ['p'] },
          { name: 'b', predicates: ['q'] },
        ],
      },
      'relevanceBuckets.1.name',
    ],
    [{ predicates: [] }, 'predicates'],
    [{ scope: 's', unscoped: true }, 'unscoped'],
    [{ sessionId: '' }, 'sessionId'],
    [{ maxFactPerPredicate: 3 }, 'maxFactPerPredicate'],
  ];
  for (const [body, path] of wrong) {
    const { status, body: problem } = await call<Problem>('/context/optimize', body);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(JSON.stringify(problem.errors), JSON.stringify(body)).toContain(path);
  }
  expect((await call('/context/diff', {})).status).toBe(400);
  expect((await call('/context/session/clear', {})).status).toBe(400);
  const transaction = { headers: { 'x-tenant-id': 'default', 'x-transaction-id': 'any' } };
  expect((await service.call('POST', '/context/optimize', {}, transaction)).status).toBe(400);
});

it("POST /context/diff compares with the session's window and replaces it", async () => {
  const { tell, forget, optimize, diff } = await asNewTenant();
  for (const each of ['a', 'b', 'c', 'd']) await tell('p', each);
  const first = await optimize({ sessionId: 'chat' });
  await tell('p', 'e/f');
  await forget('p', 'a');
  const changed = await diff({ sessionId: 'chat' });
  expect(changed).toMatchObject({
    previousWindowId: first.windowId,
    added: [
      { predicate: 'p', args: ['e/f'], negated: false, category: 'recent', charCount: 'p(e/f)'.length },
    ],
    removed: [{ key: 'p/a', predicate: 'p', args: ['a'], negated: false, scope: null }],
    unchanged: 3,
    fullRefreshRecommended: false,
    reason: null,
  });
  const again = await diff({ sessionId: 'chat' });
  expect(again).toMatchObject({
    previousWindowId: changed.currentWindowId,
    added: [],
    removed: [],
    unchanged: 4,
  });
});

it('recommends a full refresh with a reason if (added + removed) / max(previous size, 1) exceeds 0.5', async () => {
  const { tell, optimize, diff } = await asNewTenant();
  await optimize({ sessionId: 'empty' });
  await tell('p', 'a');
  const fresh = await diff({ sessionId: 'empty' });
  expect(fresh.fullRefreshRecommended).toBe(true);
  expect(fresh.reason).toMatch(/1 entries/);
  for (const each of ['b', 'c', 'd']) await tell('p', each);
  expect(await diff({ sessionId: 'empty' })).toMatchObject({ fullRefreshRecommended: true });
  for (const each of ['e', 'f']) await tell('p', each);
  expect(await diff({ sessionId: 'empty' })).toMatchObject({ fullRefreshRecommended: false, reason: null });
});

it("a diff uses the stored window's parameters for those it omits", async () => {
  const { call, tell, optimize, diff } = await asNewTenant();
  for (const each of ['a', 'b', 'c', 'd']) await tell('p', each);
  await tell('q', 'a');
  await call('/tell', { predicate: 'p', args: ['scoped'], scope: 's' });
  await call('/teach', { text: 'r(?x) :- q(?x)' });
  await optimize({ sessionId: 's', maxFacts: 3, predicates: ['p'], unscoped: true, maxFactsPerPredicate: 2 });
  expect(await diff({ sessionId: 's' })).toMatchObject({ added: [], removed: [], unchanged: 2 });
  const scoped = await diff({ sessionId: 's', scope: 's' });
  expect(scoped).toMatchObject({ added: [{ args: ['scoped'] }], unchanged: 0 });
  expect(scoped.removed).toHaveLength(2);
  await tell('q', 'b');
  expect(await diff({ sessionId: 's' })).toMatchObject({ added: [], removed: [], unchanged: 1 });
  await optimize({ sessionId: 'g', maxFacts: 1, unscoped: true });
  const wider = await diff({ sessionId: 'g', maxFacts: 2, goals: [{ predicate: 'r', args: ['a'] }] });
  expect(atomsOf(wider.added)).toEqual(['q(a)', 'r(a)']);
  expect(await diff({ sessionId: 'g' })).toMatchObject({ added: [], removed: [], unchanged: 2 });
});

it('a diff distinguishes facts that differ only in their key', async () => {
  const { call, tell, optimize, diff } = await asNewTenant();
  await tell('p', 'a/b');
  await optimize({ sessionId: 's' });
  await call('/retract', { predicate: 'p', args: ['a/b'] });
  await tell('p', 'a', 'b');
  await call('/tell', { predicate: 'p', args: ['a/b'], truthVal: false });
  expect(await diff({ sessionId: 's' })).toMatchObject({
    added: [{}, {}],
    removed: [{ key: 'p/a/b', args: ['a/b'], negated: false }],
    unchanged: 0,
  });
});

it('returns 404 SessionNotFound for an unknown session', async () => {
  const { call } = await asNewTenant();
  const { status, body } = await call<Problem>('/context/diff', { sessionId: 'nobody' });
  expect([status, body.code]).toEqual([404, 'SessionNotFound']);
});

it('scopes sessions to database and tenant', async () => {
  const one = await asNewTenant();
  const other = await asNewTenant();
  await one.optimize({ sessionId: 'shared' });
  expect((await other.call('/context/diff', { sessionId: 'shared' })).status).toBe(404);
  await service.call('POST', '/databases', { name: 'elsewhere' });
  const headers = { 'x-tenant-id': one.tenant, 'x-database': 'elsewhere' };
  expect((await service.call('POST', '/context/diff', { sessionId: 'shared' }, { headers })).status).toBe(
    404,
  );
  await other.call('/context/session/clear', { sessionId: 'shared' });
  expect((await one.call('/context/diff', { sessionId: 'shared' })).status).toBe(200);
});

it("removes a tenant's sessions when it is deleted or nuked", async () => {
  const { tenant, call, tell, optimize } = await asNewTenant();
  const at = `/admin/databases/default/tenants/${tenant}`;
  const ends = [
    () => service.call('POST', `${at}/nuke`),
    () => service.call('POST', '/admin/databases/default/nuke'),
    () => service.call('DELETE', at),
  ];
  for (const end of ends) {
    await tell('p', 'a');
    await optimize({ sessionId: 's' });
    expect((await call('/context/diff', { sessionId: 's' })).status).toBe(200);
    expect((await end()).status).toBe(200);
    expect((await call('/context/diff', { sessionId: 's' })).status).toBe(404);
  }
});

it("POST /context/session/clear returns the text Session '<id>' cleared, known or not", async () => {
  const { call, optimize } = await asNewTenant();
  await optimize({ sessionId: "it's mine" });
  for (let round = 0; round < 2; round++) {
    const { status, headers, body } = await call<string>('/context/session/clear', {
      sessionId: "it's mine",
    });
    expect([status, body]).toEqual([200, "Session 'it's mine' cleared"]);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
  }
  expect((await call('/context/diff', { sessionId: "it's mine" })).status).toBe(404);
});

it('returns the status limit for a goal that explodes, and 422 with the limit for other conclusions', async () => {
  const { call, tell } = await asNewTenant();
  await tell('n', '1');
  await call('/teach', { text: 'n(?y) :- n(?x), ?y = ?x + 1' });
  const goals = [{ predicate: 'n', args: ['?x'] }];
  const window = await call<ContextWindow>('/context/optimize', { goals, timeoutMs: 3000 });
  expect(window.body.goals).toMatchObject([{ goal: 'n(?x)', status: 'limit' }]);
  const inferred = { predicates: ['n'], includeInferred: true, timeoutMs: 200 };
  const { status, body } = await call<Problem>('/context/optimize', inferred);
  expect([status, body.code]).toEqual([422, 'InferenceLimitExceeded']);
  expect(body).toMatchObject({ limit: 'timeoutMs' });
});
