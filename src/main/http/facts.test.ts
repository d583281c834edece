import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FactList, StoredFact } from '../../engine/contract/facts.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** Facts over HTTP, each endpoint with its fields: contract section 3. Their semantics are tested on the engine. */

let service: ServiceUnderTest;
let tenants = 0;
const metadataLimit = 64 * 1024;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

type Json = Record<string, unknown>;
type Call = <Body = Json>(method: string, path: string, body?: unknown) => Promise<Answered<Body>>;

/** Calls of a separate tenant. */
function newTenant(): Call {
  const headers = { 'x-tenant-id': `facts-${++tenants}` };
  return (method, path, body) => service.call(method, path, body, { headers });
}

const p = (...args: unknown[]): Json => ({ predicate: 'p', args });

it('POST /assert/fact and /tell return status, atom, id and generation', async () => {
  const call = newTenant();
  for (const [path, arg] of [
    ['/assert/fact', 'a'],
    ['/tell', 'b'],
  ] as const) {
    const first = await call('POST', path, p(arg, 1.5, true));
    expect(first).toMatchObject({ status: 200, body: { status: 'asserted', atom: `p(${arg}, 1.5, true)` } });
    expect(Object.keys(first.body).toSorted()).toEqual(['atom', 'generation', 'id', 'status']);
    const { id, generation } = first.body;
    const again = await call('POST', path, p(arg, '1.5', 'true'));
    expect(again.body).toEqual({ ...first.body, status: 'unchanged' });
    const updated = await call('POST', path, { ...p(arg, 1.5, true), metadata: { source: 'x' } });
    expect(updated.body).toMatchObject({ status: 'updated', id });
    expect(updated.body['generation']).toBeGreaterThan(generation as number);
  }
});

it('a fact accepts up to 64 arguments and 64 KiB of metadata, and has defaults for the rest', async () => {
  const call = newTenant();
  const metadata = { text: 'x'.repeat(metadataLimit - JSON.stringify({ text: '' }).length) };
  const args = Array.from({ length: 64 }, (_, at) => at);
  const { status, body } = await call('POST', '/tell', { predicate: 'p', args, metadata });
  expect([status, body['status']]).toEqual([200, 'asserted']);
  expect((await call('POST', '/tell', p(...args, 64))).status).toBe(400);
  const longer = { text: `${metadata.text}x` };
  expect((await call('POST', '/tell', { ...p('a'), metadata: longer })).status).toBe(400);
  await call('POST', '/tell', p());
  const { facts } = (await call<FactList>('GET', '/facts?q=p()')).body;
  expect(facts[0]).toMatchObject({ args: [], truthVal: true, scope: null, metadata: {} });
  expect(facts[0]).toMatchObject({ validFrom: null, validUntil: null, importId: null });
});

it('times are accepted as epoch milliseconds or ISO 8601 text, UTC without an offset, and returned as epoch milliseconds', async () => {
  const call = newTenant();
  const from = Date.UTC(2990, 0, 2, 3, 4, 5);
  await call('POST', '/tell', { ...p('a'), validFrom: from, validUntil: '2990-01-02T05:04:05+01:00' });
  await call('POST', '/tell', { ...p('b'), validFrom: '2990-01-02T03:04:05', validUntil: 'never' });
  const { facts } = (await call<FactList>('GET', '/facts')).body;
  expect(facts.map(({ validFrom, validUntil }) => [validFrom, validUntil])).toEqual([
    [from, from + 3_600_000],
    [from, null],
  ]);
  for (const wrong of [
    { validFrom: 5, validUntil: 5 },
    { ttl: 0 },
    { ttl: -1 },
    { ttl: 1.5 },
    { validFrom: 'soon' },
    { validFrom: 'never' },
    { validUntil: 'always' },
  ])
    expect([wrong, (await call('POST', '/tell', { ...p('c'), ...wrong })).status]).toEqual([wrong, 400]);
});

it('accepts an end in the past and hides the fact', async () => {
  const call = newTenant();
  const { body } = await call('POST', '/tell', { ...p('a'), validUntil: 5 });
  expect(body['status']).toBe('asserted');
  expect((await call('POST', '/query', p('?x'))).body).toEqual([]);
  expect((await call<FactList>('GET', '/facts')).body.total).toBe(0);
});

it('POST /assert/facts accepts an object or a bare array and is atomic', async () => {
  const call = newTenant();
  const facts = [p('a'), p('b'), p('a'), { ...p('b'), metadata: { n: 1 } }];
  const { status, body } = await call('POST', '/assert/facts', { facts });
  expect([status, body]).toMatchObject([
    200,
    { status: 'asserted', asserted: 2, updated: 1, unchanged: 1, generation: body['generation'] },
  ]);
  expect((await call('POST', '/assert/facts', facts.slice(0, 2))).body).toMatchObject({ unchanged: 2 });
  const bad = await call('POST', '/assert/facts', [p('c'), p('?x'), { predicate: 'p' }]);
  expect(bad.status).toBe(400);
  const paths = (bad.body['errors'] as { path: string }[]).map(({ path }) => path);
  expect(paths.map((path) => /\d+/.exec(path)?.[0])).toEqual(['1', '2']);
  expect((await call('POST', '/assert/facts', [])).status).toBe(400);
  expect((await call<FactList>('GET', '/facts')).body.total).toBe(2);
});

it.each(['/retract', '/forget'])(
  'POST %s returns the retracted facts and the lost conclusions',
  async (path) => {
    const call = newTenant();
    const name = path.slice(1);
    // Rules belong to the whole database.
    const own = (...args: string[]): Json => ({ predicate: `${name}_fact`, args });
    await call('POST', '/teach', { text: `${name}_known(?x) :- ${name}_fact(?x).` });
    await call('POST', '/teach', { text: `${name}_other(?x) :- ${name}_fact(?x).` });
    await call('POST', '/assert/facts', [
      own('a'),
      { ...own('a'), scope: 's' },
      { ...own('a'), truthVal: false },
    ]);
    await call('POST', '/ask', { predicate: `${name}_known`, args: ['?x'] });
    const one = await call('POST', path, { ...own('a'), scope: 's', dryRun: true });
    expect(one.body).toMatchObject({ status: 'retracted', retracted: 1, dependentsCount: 2, dryRun: true });
    const tried = await call('POST', path, { ...own('a'), dryRun: true });
    const dependents = [`${name}_known(a)`, `${name}_other(a)`];
    expect(tried.body).toMatchObject({ retracted: 3, dryRun: true, dependents });
    const known = await call('POST', path, { ...own('a'), dryRun: true, dependents: 'known' });
    expect(known.body).toMatchObject({ retracted: 3, dependents: [`${name}_known(a)`] });
    const all = await call('POST', path, { ...own('a'), dependents: 'all' });
    expect(all.body).toEqual({
      status: 'retracted',
      atom: `${name}_fact(a)`,
      retracted: 3,
      dependents,
      dependentsCount: 2,
      dependentsComplete: true,
      generation: all.body['generation'],
    });
    const again = await call('POST', path, own('a'));
    expect(again.body).toMatchObject({ status: 'absent', retracted: 0, dependents: [], dependentsCount: 0 });
    expect((await call('POST', path, own('?x'))).status).toBe(400);
  },
);

it('POST /retract/pattern accepts variables, a scope or unscoped, and a truth value', async () => {
  const call = newTenant();
  const scoped = { ...p('a', 'b'), scope: 's' };
  await call('POST', '/assert/facts', [
    p('a', 'a'),
    p('a', 'b'),
    scoped,
    { ...p('b', 'b'), truthVal: false },
  ]);
  const pattern = (more: Json) => call('POST', '/retract/pattern', { ...p('?x', '?x'), ...more });
  expect((await pattern({ truthVal: true, dryRun: true })).body).toMatchObject({ retracted: 1 });
  const { status, body } = await pattern({});
  expect([status, body]).toMatchObject([200, { status: 'retracted', retracted: 2, dependentsCount: 0 }]);
  const rest = (more: Json) => call('POST', '/retract/pattern', { ...p('?x', '?y'), ...more });
  expect((await rest({ unscoped: true })).body).toMatchObject({ retracted: 1 });
  expect((await rest({ scope: 's' })).body).toMatchObject({ retracted: 1 });
  expect((await rest({})).body).toMatchObject({ status: 'absent', retracted: 0 });
});

it('POST /query returns an array of distinct stored visible facts, of both truth values unless one is given', async () => {
  const call = newTenant();
  await call('POST', '/teach', { text: 'queried(?x) :- p(?x).' });
  await call('POST', '/assert/facts', [
    p('a'),
    { ...p('a'), scope: 's' },
    { ...p('b'), truthVal: false },
    { ...p('later'), validFrom: 32_503_680_000_000 },
  ]);
  const asked = async (more: Json) => (await call('POST', '/query', { ...p('?x'), ...more })).body;
  const [a, b] = [
    { predicate: 'p', args: ['a'], truthVal: true },
    { predicate: 'p', args: ['b'], truthVal: false },
  ];
  expect(await asked({})).toEqual([a, b]);
  expect(await asked({ truthVal: false })).toEqual([b]);
  expect(await asked({ scope: 's' })).toEqual([a]);
  expect(await asked({ unscoped: true })).toEqual([a, b]);
  expect(await asked({ limit: 1 })).toEqual([a]);
  expect(await asked({ limit: 1, offset: 1 })).toEqual([b]);
  expect((await call('POST', '/query', { predicate: 'queried', args: ['?x'] })).body).toEqual([]);
});

it('GET /facts accepts predicate, scope, unscoped, q, truthVal, sort, order, limit, cursor and offset', async () => {
  const call = newTenant();
  const facts = [p('a'), { ...p('B'), scope: 's' }, { ...p('c'), truthVal: false }];
  await call('POST', '/assert/facts', [...facts, { predicate: 'q', args: ['a'] }]);
  const listed = async (query: string) => {
    const { body } = await call<FactList>('GET', `/facts?${query}`);
    return body.facts.map((fact) => `${fact.truthVal ? '' : '-'}${fact.predicate}(${fact.args.join()})`);
  };
  expect(await listed('')).toEqual(['p(a)', 'p(B)', '-p(c)', 'q(a)']);
  expect(await listed('predicate=p&truthVal=true')).toEqual(['p(a)', 'p(B)']);
  expect(await listed('scope=s')).toEqual(['p(B)']);
  expect(await listed('unscoped=true&q=A')).toEqual(['p(a)', 'q(a)']);
  expect(await listed('q=P(b')).toEqual(['p(B)']);
  expect(await listed('sort=createdAt&order=desc&limit=2')).toEqual(['q(a)', '-p(c)']);
  for (const sort of ['predicate', 'createdAt', 'updatedAt', 'salience', 'validUntil'])
    expect(await listed(`sort=${sort}&order=asc`)).toHaveLength(4);
  const first = (await call<FactList>('GET', '/facts?limit=3')).body;
  expect([first.total, first.facts.length]).toEqual([4, 3]);
  const { body: second } = await call<FactList>('GET', `/facts?limit=3&cursor=${first.nextCursor}`);
  expect([second.facts.length, second.nextCursor]).toEqual([1, null]);
  expect(await listed('limit=2&offset=1')).toEqual(['p(B)', '-p(c)']);
  for (const wrong of [
    'limit=0',
    'offset=-1',
    'limit=1001',
    'sort=id',
    'order=up',
    'derived=true',
    'scope=s&unscoped=true',
  ])
    expect([wrong, (await call('GET', `/facts?${wrong}`)).status]).toEqual([wrong, 400]);
});

it('GET /facts with derived=true adds the derived facts of the predicate; one that is also stored counts as stored', async () => {
  const call = newTenant();
  const window = { validFrom: 1000, validUntil: 32_503_680_000_000 };
  await call('POST', '/teach', { text: 'listed(?x) :- p(?x), r(?x).' });
  await call('POST', '/assert/facts', [
    { ...p('a'), ...window },
    { predicate: 'r', args: ['a'], validFrom: 2000 },
    p('b'),
    { predicate: 'r', args: ['b'] },
    { predicate: 'listed', args: ['b'], metadata: { source: 'me' } },
  ]);
  const { facts } = (await call<FactList>('GET', '/facts?predicate=listed&derived=true')).body;
  expect(facts).toHaveLength(2);
  const [stored, concluded] = facts.toSorted((left, right) => Number(left.derived) - Number(right.derived));
  expect(stored).toMatchObject({ args: ['b'], derived: false, metadata: { source: 'me' } });
  expect(stored?.id).toEqual(expect.any(String));
  expect(concluded).toMatchObject({
    id: null,
    args: ['a'],
    metadata: {},
    scope: null,
    derived: true,
    validFrom: 2000,
    validUntil: window.validUntil,
  });
});

it('GET /facts/:id returns the fact with dependents, salienceBreakdown and history; DELETE retracts it', async () => {
  const call = newTenant();
  await call('POST', '/teach', { text: 'shown(?x) :- p(?x).' });
  const { body: told } = await call('POST', '/tell', { ...p('a'), metadata: { importance: 1 } });
  await call('POST', '/ask', { predicate: 'shown', args: ['?x'] });
  const path = `/facts/${String(told['id'])}`;
  const { body } = await call<StoredFact & Json>('GET', path);
  const fields =
    'args createdAt dependents derived history id importId metadata predicate provenance salience ' +
    'salienceBreakdown scope truthVal updatedAt validFrom validUntil';
  expect(Object.keys(body).toSorted()).toEqual(fields.split(' '));
  expect(body['dependents']).toEqual(['shown(a)']);
  const [change] = body['history'] as Json[];
  expect(change).toMatchObject({ generation: told['generation'], time: body.createdAt });
  expect(change?.['requestId']).toEqual(expect.any(String));
  expect((await call('DELETE', path)).body).toMatchObject({
    status: 'retracted',
    atom: 'p(a)',
    retracted: 1,
    dependents: ['shown(a)'],
  });
  expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'FactNotFound' } });
});

it('GET /predicates returns one row for each name and arity', async () => {
  const call = newTenant();
  await call('POST', '/teach', { text: 'named(?x) :- p(?x, ?y).' });
  await call('POST', '/assert/facts', [p('a', 'b'), { ...p('a', 'c'), scope: 's' }, p('a')]);
  const { predicates } = (await call<{ predicates: Json[] }>('GET', '/predicates')).body;
  const rows = predicates.filter(({ name }) => name === 'p' || name === 'named');
  expect(rows).toMatchObject([
    { name: 'named', arity: 1, facts: 0, rules: 1 },
    { name: 'p', arity: 1, facts: 1 },
    { name: 'p', arity: 2, facts: 2, scopes: [null, 's'] },
  ]);
  for (const row of rows)
    expect(Object.keys(row).toSorted()).toEqual([
      'arity',
      'derived',
      'derivedComplete',
      'example',
      'facts',
      'name',
      'rules',
      'scopes',
    ]);
});

it('ifGeneration returns 409 for an assertion or retraction if the fact has changed since', async () => {
  const call = newTenant();
  const { generation } = (await call('POST', '/tell', p('a'))).body;
  await call('POST', '/tell', { ...p('a'), metadata: { n: 1 } });
  for (const [path, more] of [
    ['/assert/fact', { metadata: { n: 2 } }],
    ['/retract', {}],
    ['/retract/pattern', {}],
  ] as const) {
    const refused = await call('POST', path, { ...p('a'), ...more, ifGeneration: generation });
    expect(refused).toMatchObject({ status: 409, body: { code: 'Conflict' } });
  }
  expect((await call('POST', '/tell', { ...p('b'), ifGeneration: generation })).status).toBe(200);
});
