import { afterAll, beforeAll, expect, it } from 'vitest';
import type {
  Forked,
  Merged,
  MergeConflict,
  ScopeDeleted,
  ScopeDiff,
  ScopeList,
} from '../../engine/contract/scopes.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Scopes over real HTTP; the service validates every answer against its schema. */
let service: ServiceUnderTest;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** Calls of a separate tenant. */
function asNewTenant() {
  const headers = { 'x-tenant-id': `tenant-${++tenants}` };
  const call = <Body = Problem>(method: string, path: string, body?: unknown) =>
    service.call<Body>(method, path, body, { headers });
  const tell = (scope: string | null, predicate: string, arg: string, fields: object = {}) =>
    call('POST', '/tell', { predicate, args: [arg], scope, ...fields });
  const scopes = async () => (await call<ScopeList>('GET', '/scopes')).body;
  return { call, tell, scopes };
}

it('forks, compares, merges and deletes a scope', async () => {
  const { call, tell, scopes } = asNewTenant();
  expect(await scopes()).toEqual({ scopes: [], count: 0 });
  await tell('plan', 'p', 'a', { metadata: { why: 'first' } });
  await call('POST', '/teach', { text: 'q(?x) :- p(?x)', scope: 'plan' });
  const forked = await call<Forked>('POST', '/scope/fork', { source: 'plan', target: 'plan-b' });
  expect(forked.status).toBe(200);
  expect(forked.body).toMatchObject({ source: 'plan', target: 'plan-b', facts: 1, rules: 1 });
  await tell('plan-b', 'p', 'a', { metadata: { why: 'second' } });
  await tell('plan-b', 'p', 'b');
  await tell('plan', 'p', 'a', { metadata: { why: 'third' } });
  const { body: diff } = await call<ScopeDiff>('POST', '/scope/diff', { source: 'plan-b', target: 'plan' });
  expect(diff.added).toMatchObject([{ predicate: 'p', args: ['b'], scope: 'plan-b' }]);
  expect(diff.modified).toMatchObject([{ fields: ['metadata'] }]);
  const merge = { source: 'plan-b', target: 'plan', strategy: 'REJECT' };
  const refused = await call<Problem & { conflicts: MergeConflict[] }>('POST', '/scope/merge', merge);
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ code: 'Conflict', conflicts: [{ predicate: 'p', args: ['a'] }] });
  const resolutions = [{ predicate: 'p', args: ['a'], take: 'source' }];
  const dry = await call<Merged>('POST', '/scope/merge', { ...merge, resolutions, dryRun: true });
  expect(dry.body).toMatchObject({ added: 1, updated: 1, resolved: 1, dryRun: true });
  const merged = await call<Merged>('POST', '/scope/merge', { ...merge, resolutions });
  expect(merged.body).toMatchObject({
    strategy: 'REJECT',
    base: 'fork',
    ancestor: { scope: 'plan', generation: forked.body.generation },
    added: 1,
    updated: 1,
    resolved: 1,
  });
  expect(merged.body.dryRun).toBeUndefined();
  expect(await scopes()).toMatchObject({
    scopes: [
      { name: 'plan', facts: 2, rules: 1, forkedFrom: null },
      { name: 'plan-b', facts: 2, rules: 1, forkedFrom: 'plan' },
    ],
    count: 2,
  });
  const deleted = await call<ScopeDeleted>('DELETE', '/scope/plan-b');
  expect(deleted.body).toMatchObject({
    scope: 'plan-b',
    facts: 2,
    rules: 1,
    generation: merged.body.generation + 1,
  });
  expect((await call('DELETE', '/scope/plan-b')).body.code).toBe('ScopeNotFound');
  expect((await call<ScopeDeleted>('DELETE', '/scope/plan')).body).toMatchObject({ facts: 2, rules: 1 });
});

const names = [
  'a b',
  'a/b/c',
  '/',
  '?x=1&y#z',
  '%2F%',
  '+',
  '"quoted" \'single\' `back` \\slash',
  '\u{1f600}\u{1f468}\u200d\u{1f469}',
  'é\u0301',
  'x'.repeat(256),
  '...',
  'merge',
  'null',
  '__proto__',
  'constructor',
  '\u2028',
  '<script>',
];

it.each(names)('accepts %j as an ordinary scope', async (name) => {
  const { call, tell, scopes } = asNewTenant();
  await tell(name, 'p', 'a');
  await call('POST', '/scope/fork', { source: name, target: 'copy' });
  expect((await scopes()).scopes.find((scope) => scope.name === 'copy')).toMatchObject({
    facts: 1,
    forkedFrom: name,
  });
  const back = await call<Merged>('POST', '/scope/merge', {
    source: 'copy',
    target: name,
    strategy: 'REJECT',
  });
  expect(back.body).toMatchObject({ added: 0, conflicts: [] });
  const deleted = await call<ScopeDeleted>('DELETE', `/scope/${encodeURIComponent(name)}`);
  expect(deleted.body).toMatchObject({ scope: name, facts: 1 });
  expect((await scopes()).scopes.map((scope) => scope.name)).toEqual(['copy']);
});

it.each(['.', '..', '', 'x'.repeat(257), 'a\nb', '\u0085'])('rejects the scope %j', async (name) => {
  const { call } = asNewTenant();
  const refused = await call('POST', '/scope/fork', { source: null, target: name });
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ code: 'ValidationException', errors: [{ path: 'target' }] });
});

it('requires both sides; null means the unscoped facts', async () => {
  const { call, tell } = asNewTenant();
  await tell(null, 'p', 'a');
  for (const path of ['/scope/fork', '/scope/diff', '/scope/merge'])
    for (const body of [{ source: null }, { target: 's' }, {}, { source: 1, target: null }]) {
      const refused = await call(
        'POST',
        path,
        path === '/scope/merge' ? { ...body, strategy: 'REJECT' } : body,
      );
      expect(refused.status, `${path} ${JSON.stringify(body)}`).toBe(400);
    }
  expect((await call<Forked>('POST', '/scope/fork', { source: null, target: 's' })).body.facts).toBe(1);
  expect((await call('POST', '/scope/fork', { source: 's', target: null })).status).toBe(409);
  const unknown = await call('POST', '/scope/merge', { source: null, target: 's', strategy: 'source_wins' });
  expect(unknown.body.errors).toMatchObject([{ path: 'strategy' }]);
});

it('rejects invalid names in paths like other names', async () => {
  const { call } = asNewTenant();
  for (const path of ['%2e%2e%2f', '%0a', 'x'.repeat(257), '%ff'])
    expect([400, 404], path).toContain((await call('DELETE', `/scope/${path}`)).status);
  expect((await call('DELETE', `/scope/${'x'.repeat(257)}`)).status).toBe(400);
  expect((await call('DELETE', '/scope/%0a')).status).toBe(400);
});

it('accepts very many resolutions and names an invalid one', async () => {
  const { call, tell } = asNewTenant();
  const facts = (scope: string) =>
    Array.from({ length: 5000 }, (_, at) => ({ predicate: 'p', args: [at], scope, metadata: { scope } }));
  await call('POST', '/assert/facts', { facts: facts('s') });
  await call('POST', '/assert/facts', { facts: facts('t') });
  await tell('s', 'extra', 'a');
  const resolutions: object[] = facts('s').map(({ predicate, args }, at) => ({
    predicate,
    args,
    take: at % 2 === 0 ? 'source' : 'target',
  }));
  const merge = { source: 's', target: 't', strategy: 'REJECT' };
  const bad = [...resolutions];
  bad[4321] = { predicate: 'p', args: ['1'], take: 'mine' };
  const refused = await call('POST', '/scope/merge', { ...merge, resolutions: bad });
  expect(refused.body.errors).toMatchObject([{ path: 'resolutions.4321.take' }]);
  const merged = await call<Merged>('POST', '/scope/merge', { ...merge, resolutions });
  expect(merged.body).toMatchObject({ added: 1, updated: 2500, kept: 2500, resolved: 5000 });
  expect(merged.body.conflicts).toHaveLength(5000);
});
