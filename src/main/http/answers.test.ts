import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseList, Readiness } from '../../engine/contract/administration.ts';
import type { FactOutcome, RetractOutcome } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** The service under test validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

it('tells facts and a rule, asks for a proof, and retracts them', async () => {
  const parent = (a: string, b: string) =>
    service.call('POST', '/tell', { predicate: 'parent', args: [a, b] });
  expect((await parent('alice', 'bob')).body).toMatchObject({
    status: 'asserted',
    atom: 'parent(alice, bob)',
  });
  await parent('bob', 'carol');
  const rule = await service.call<RuleOutcome>('POST', '/teach', {
    text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  });
  expect(rule.body).toMatchObject({ status: 'asserted' });
  const question = { predicate: 'grandparent', args: ['alice', '?who'], withProof: true };
  const { body } = await service.call<Answer>('POST', '/ask', question);
  expect(body).toMatchObject({
    results: ['grandparent(alice, carol)'],
    bindings: [{ who: 'carol' }],
    count: 1,
  });
  expect(body.proof?.steps.map(({ kind }) => kind)).toEqual(['fact', 'fact', 'rule']);
  const gone = await service.call<RetractOutcome>('POST', '/forget', {
    predicate: 'parent',
    args: ['bob', 'carol'],
  });
  expect(gone.body).toMatchObject({ status: 'retracted', dependents: ['grandparent(alice, carol)'] });
  expect((await service.call<Answer>('POST', '/infer', question)).body.results).toEqual([]);
});

it.each([
  ['GET', '/predicates'],
  ['GET', '/rules'],
  ['GET', '/facts?sort=createdAt&order=desc&limit=10'],
  ['GET', '/facts?predicate=parent&derived=true'],
  ['GET', '/databases'],
  ['GET', '/health'],
])('returns 200 with a body of its schema: %s %s', async (method, path) => {
  expect((await service.call(method, path)).status).toBe(200);
});

it('validates statements without storing them', async () => {
  const { body } = await service.call('POST', '/rules/validate', { text: 'p(?x) :- q(?x).' });
  expect(body).toMatchObject({ valid: true, rules: 1, facts: 0 });
});

it('returns and retracts a fact by its id', async () => {
  const { body } = await service.call<FactOutcome>('POST', '/tell', { predicate: 'kept', args: ['x'] });
  expect((await service.call('GET', `/facts/${body.id}`)).body).toMatchObject({
    id: body.id,
    predicate: 'kept',
  });
  expect((await service.call('DELETE', `/facts/${body.id}`)).body).toMatchObject({ status: 'retracted' });
  expect((await service.call('GET', `/facts/${body.id}`)).status).toBe(404);
});

it('changes and retracts a rule by its id', async () => {
  const { body } = await service.call<RuleOutcome>('POST', '/assert/rule', { text: 'a(?x) :- b(?x)' });
  expect((await service.call('PUT', `/rules/${body.id}`, { enabled: false })).body).toMatchObject({
    status: 'updated',
  });
  expect((await service.call('DELETE', `/rules/${body.id}`)).body).toMatchObject({ status: 'retracted' });
});

it('isolates databases', async () => {
  await service.call('POST', '/databases', { name: 'apart' });
  const headers = { 'x-database': 'apart' };
  await service.call('POST', '/tell', { predicate: 'only', args: ['here'] }, { headers });
  const asked = { predicate: 'only', args: ['?x'] };
  expect((await service.call('POST', '/query', asked, { headers })).body).toHaveLength(1);
  expect((await service.call('POST', '/query', asked)).body).toEqual([]);
  const { databases } = (await service.call<DatabaseList>('GET', '/databases')).body;
  expect(databases.map(({ name }) => name)).toEqual(['apart', 'default']);
});

describe("the service's own endpoints", () => {
  it('report readiness with its parts', async () => {
    const { status, body } = await service.call<Readiness>('GET', '/health/ready');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ready', subsystems: { engine: 'ready', storage: 'ready' } });
  });

  it('report liveness, version, start time and disabled features', async () => {
    const { status, body } = await service.call<Record<string, unknown>>('GET', '/health');
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+/), uptimeMs: expect.any(Number) },
    });
    const ready = await service.call<Readiness>('GET', '/health/ready');
    expect(ready.body.subsystems).toEqual({
      engine: 'ready',
      storage: 'ready',
      replication: 'off',
      mcp: 'ready',
      llm: 'off',
    });
  });

  it('export every metric of the contract from the start', async () => {
    const fresh = await startServiceUnderTest();
    const { body, headers } = await fresh.call<string>('GET', '/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    for (const name of [
      'service_facts_asserted_total 0',
      'service_facts_retracted_total 0',
      'service_inference_duration_seconds_count 0',
      'service_rules_fired_total 0',
      'service_mcp_tool_call_duration_seconds_count{tool="ask",outcome="ok"} 0',
      'service_mcp_sse_subscribers 0',
      'service_llm_call_duration_seconds_count{provider="local"} 0',
      'service_llm_tokens_used{provider="local"} 0',
      '# TYPE service_memory_facts_total gauge',
      'service_memory_decay_evicted 0',
      'service_log_records_total',
      'service_replication_lag_records 0',
      'process_resident_memory_bytes',
    ])
      expect(body).toContain(name);
    await fresh.close();
  });

  it('count events without a fact, an argument or a tenant in any label', async () => {
    const headers = { 'x-tenant-id': 'tenant-with-a-name' };
    await service.call('POST', '/tell', { predicate: 'secretly', args: ['argument'] }, { headers });
    await service.call('GET', '/facts/some-id-with-a-name', undefined, { headers });
    await service.call('GET', '/nowhere/in-particular');
    const { body } = await service.call<string>('GET', '/metrics');
    expect(body).toMatch(/service_facts_asserted_total [1-9]/);
    expect(body).toMatch(
      /service_http_request_duration_seconds_count\{method="POST",route="\/tell",status="200"\}/,
    );
    expect(body).toContain('route="/facts/:id"');
    expect(body).not.toMatch(/secretly|argument"|with-a-name|in-particular/);
  });

  it('serve the API description offline under a strict policy', async () => {
    const { body, headers } = await service.call<string>('GET', '/docs');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self';");
    const [, nonce = ''] = /nonce="([^"]+)"/.exec(body) ?? [];
    expect(nonce).toMatch(/^[\w+/]{22}==$/);
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
    expect(body).not.toMatch(/<script(?! src="\/docs\/)|https?:/);
    // The viewer is part of the built workbench: e2e/api-viewer.spec.ts tests it in a browser.
    for (const [, path = ''] of body.matchAll(/(?:src|href)="(\/(?!docs\/openapi-explorer)[^"]+)"/g))
      expect((await service.call('GET', path)).status).toBe(200);
  });

  it('serve pages that cannot be framed, sniffed or cached', async () => {
    const { headers } = await service.call('GET', '/');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });
});
