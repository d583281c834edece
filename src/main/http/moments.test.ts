import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** `asOf` and `asKnown` over real sockets; the service validates every answer against its schema. */
let service: ServiceUnderTest;

const hour = 3_600_000;
const start = Date.now();
/** Ann worked at the shop until two hours ago. */
const until = start - 2 * hour;

beforeAll(async () => {
  service = await startServiceUnderTest();
  await service.call('POST', '/teach', { text: 'paid(?x) :- works(?x, ?_)' }); // 1
  const plan = [
    ['bob', 'mill'],
    ['dan', 'mill'],
  ].map((args) => ({ predicate: 'works', args, scope: 'plan' }));
  await service.call('POST', '/assert/facts', plan); // 2
  await service.call('POST', '/tell', { predicate: 'works', args: ['ann', 'shop'], validUntil: until }); // 3
  await service.call('POST', '/retract', { predicate: 'works', args: ['bob', 'mill'] }); // 4
  await service.call('POST', '/tell', { predicate: 'works', args: ['cid', 'mill'] }); // 5
});

afterAll(() => service.close());

const paid = { predicate: 'paid', args: ['?x'] };
const works = { predicate: 'works', args: ['?x', '?y'] };

/** A call of each operation that takes a moment: its body, or null if the moment is in the query string. */
const calls: readonly (readonly [method: string, path: string, body: object | null])[] = [
  ['POST', '/ask', paid],
  ['POST', '/infer', paid],
  ['POST', '/query', works],
  ['POST', '/aggregate', { operation: 'COUNT', ...works }],
  ['POST', '/explain', { predicate: 'paid', args: ['bob'], mode: 'why' }],
  ['POST', '/trace', paid],
  ['POST', '/plan', paid],
  ['POST', '/whatIf', { assert: [{ predicate: 'works', args: ['eve', 'mill'] }], goals: [paid] }],
  ['POST', '/scope/diff', { source: 'plan', target: null }],
  ['POST', '/memory/context', { includeInferred: true }],
  ['POST', '/context/optimize', { goals: [paid] }],
  ['GET', '/facts', null],
  ['GET', '/rules', null],
  ['GET', '/predicates', null],
  ['GET', '/scopes', null],
  ['GET', '/memory/context', null],
  ['GET', '/export?format=csv', null],
];

function called(
  [method, path, body]: (typeof calls)[number],
  moment: Readonly<Record<string, string | number>>,
) {
  const query =
    body === null
      ? `${path.includes('?') ? '&' : '?'}${new URLSearchParams(Object.entries(moment).map(([name, value]) => [name, String(value)]))}`
      : '';
  const sent = body === null ? undefined : { ...body, ...moment };
  return service.call<Record<string, unknown>>(method, `${path}${query}`, sent);
}

/** What an answer says, but for what names its own moment. */
function said(body: unknown): string {
  return JSON.stringify(body);
}

describe.each(calls)('%s %s', (...call) => {
  it('answers from the knowledge of a generation', async () => {
    const { status, body, headers } = await called(call, { asKnown: 2 });
    expect(status).toBe(200);
    expect(headers.get('x-knowledge-generation')).toBe('2');
    if (!['/rules', '/plan', '/aggregate'].includes(call[1]))
      expect(said(body)).toContain(call[1] === '/scopes' ? 'plan' : 'bob');
    expect(said(body)).not.toContain('cid');
    if (!['/query', '/export?format=csv'].includes(call[1]))
      expect(body).toMatchObject({ knowledgeGeneration: 2 });
  });

  it('answers from the validity of an instant', async () => {
    const then = new Date(until - 1).toISOString();
    const { status, body } = await called(call, { asOf: then });
    expect(status).toBe(200);
    if (!['/rules', '/plan', '/scopes'].includes(call[1]) && call[1] !== '/explain')
      expect(said(body)).toContain(['/predicates', '/aggregate'].includes(call[1]) ? '3' : 'ann');
    expect(said((await called(call, { asOf: until - 1 })).body).length).toBeGreaterThan(2);
    expect(said((await called(call, { asOf: until })).body)).not.toContain('ann');
  });

  it('refuses what is no moment, and the future of knowledge', async () => {
    for (const moment of [{ asOf: 'soon' }, { asKnown: 'soon' }, { asKnown: -1 }, { asKnown: 99 }]) {
      const { status, body } = await called(call, moment);
      expect([status, body['code']], JSON.stringify(moment)).toEqual([400, 'ValidationException']);
    }
    const tomorrow = new Date(start + 24 * hour).toISOString();
    expect((await called(call, { asKnown: tomorrow })).status).toBe(400);
    expect((await called(call, { asOf: tomorrow })).status).toBe(200);
  });
});

it('an answer about the present names no generation of a moment', async () => {
  const { headers } = await service.call('POST', '/query', works);
  expect(headers.get('x-knowledge-generation')).toBeNull();
});

it('names the generation at an instant of knowledge', async () => {
  const { body } = await service.call<Answer>('POST', '/ask', { ...paid, asKnown: new Date().toISOString() });
  expect(body).toMatchObject({ knowledgeGeneration: 5, results: ['paid(cid)', 'paid(dan)'] });
  const early = await service.call<Answer>('POST', '/ask', { ...paid, asKnown: '2001-01-01' });
  expect(early.body).toMatchObject({ knowledgeGeneration: 0, results: [] });
});

it('takes both together: what was known then of what was true at another instant', async () => {
  const asked = async (asKnown: number, asOf: number): Promise<string[]> =>
    (await service.call<Answer>('POST', '/ask', { ...paid, asKnown, asOf })).body.results;
  expect(await asked(2, until - 1)).toEqual(['paid(bob)', 'paid(dan)']);
  expect(await asked(3, until - 1)).toEqual(['paid(ann)', 'paid(bob)', 'paid(dan)']);
  expect(await asked(3, until)).toEqual(['paid(bob)', 'paid(dan)']);
  expect(await asked(4, until - 1)).toEqual(['paid(ann)', 'paid(dan)']);
});

it('refuses asKnown within a transaction, beside a query of words, and on a write', async () => {
  const { body: begun } = await service.call<{ id: string }>('POST', '/tx/begin');
  const within = { 'x-transaction-id': begun.id };
  const refused = await service.call('POST', '/ask', { ...paid, asKnown: 2 }, { headers: within });
  expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, 'asKnown']);
  // A failed read does not end the transaction.
  expect((await service.call('POST', '/ask', paid, { headers: within })).status).toBe(200);
  for (const path of ['/context/optimize', '/memory/context']) {
    const { status, body } = await service.call('POST', path, { query: 'works', asKnown: 2 });
    expect([status, body.errors?.[0]?.path]).toEqual([400, 'asKnown']);
    expect((await service.call('POST', path, { query: 'works', asOf: until })).status).toBe(200);
  }
  const fact = { predicate: 'works', args: ['eve', 'mill'] };
  const written = await service.call('POST', '/tell', { ...fact, asOf: until });
  expect([written.status, written.body.errors?.[0]?.path]).toEqual([400, 'asOf']);
});

it('answers asOf within a transaction: the latest knowledge with its writes, at that instant', async () => {
  const headers = { 'x-transaction-id': (await service.call<{ id: string }>('POST', '/tx/begin')).body.id };
  const write = (path: string, body: object): Promise<unknown> =>
    service.call('POST', path, body, { headers });
  await write('/tell', { predicate: 'works', args: ['fay', 'shop'], validUntil: until - hour });
  await write('/tell', { predicate: 'works', args: ['gil', 'shop'], validFrom: until });
  await write('/retract', { predicate: 'works', args: ['cid', 'mill'] });
  await write('/teach', { text: 'paid(boss) :- works(fay, shop)' });
  const asked = async (asOf: number): Promise<unknown> => {
    const { body } = await service.call<Answer>('POST', '/ask', { ...paid, asOf }, { headers });
    const facts = await service.call<unknown[]>('POST', '/query', { ...works, asOf }, { headers });
    expect([body.knowledgeGeneration, facts.headers.get('x-knowledge-generation')]).toEqual([5, '5']);
    return [body.results, facts.body.length];
  };
  expect(await asked(until - hour - 1)).toEqual([['paid(ann)', 'paid(boss)', 'paid(dan)', 'paid(fay)'], 3]);
  expect(await asked(until - hour)).toEqual([['paid(ann)', 'paid(dan)'], 2]);
  expect(await asked(until)).toEqual([['paid(dan)', 'paid(gil)'], 2]);
  const { body } = await service.call<Answer>('POST', '/ask', paid, { headers });
  expect([body.results, body.knowledgeGeneration]).toEqual([['paid(dan)', 'paid(gil)'], undefined]);
  await service.call('POST', `/tx/rollback/${headers['x-transaction-id']}`);
});

it('searches what was true at an instant', async () => {
  const hits = async (asOf: number): Promise<unknown[]> =>
    (
      await service.call<{ hits: { atom?: string }[] }>('POST', '/search', {
        text: 'ann',
        kinds: ['fact'],
        asOf,
      })
    ).body.hits.map(({ atom }) => atom);
  expect(await hits(until - 1)).toEqual(['works(ann, shop)']);
  expect(await hits(until)).toEqual([]);
});

it('does not show the past of another tenant, nor what was removed with a tenant', async () => {
  const other = { 'x-tenant-id': 'other' };
  const seen = await service.call<Answer>('POST', '/query', { ...works, asKnown: 2 }, { headers: other });
  expect(seen.body).toEqual([]);
  await service.call('POST', '/tell', { predicate: 'works', args: ['zoe', 'bank'] }, { headers: other }); // 6
  await service.call('POST', '/admin/databases/default/tenants/other/nuke'); // 7
  const gone = await service.call<Problem & { earliest: object }>(
    'POST',
    '/query',
    { ...works, asKnown: 6 },
    { headers: other },
  );
  expect([gone.status, gone.body.code]).toEqual([410, 'HistoryGone']);
  expect(gone.body.earliest).toMatchObject({ generation: 7 });
  const still = await service.call<Answer>('POST', '/ask', { ...paid, asKnown: 6 });
  expect(still.body.results).toEqual(['paid(cid)', 'paid(dan)']);
});

it('takes away an ended fact by its id, and exports and imports it as long as it is kept', async () => {
  const headers = { 'x-tenant-id': 'ended' };
  const post = (path: string, body: object, tenant = headers) =>
    service.call<Answer & { id: string }>('POST', path, body, { headers: tenant });
  const told = await post('/tell', { predicate: 'works', args: ['fay', 'shop'], validUntil: until });
  await post('/tell', { predicate: 'works', args: ['gus', 'shop'] });
  const text = async (method: string, path: string, more: object, body?: string): Promise<string> => {
    const given = body === undefined ? {} : { body };
    const response = await fetch(`${service.address}${path}`, {
      method,
      ...given,
      headers: { ...headers, ...more },
    });
    expect(response.status).toBe(200);
    return response.text();
  };
  const exported = (query: string): Promise<string> => text('GET', `/export?rules=false${query}`, {});
  expect(await exported('')).not.toContain('fay');
  const all = await exported('&ended=true');
  expect(all.trim().split('\n')).toHaveLength(2);
  expect((await service.call('GET', '/export?ended=true&format=csv')).status).toBe(400);

  const copy = { 'x-tenant-id': 'copy', 'content-type': 'application/x-ndjson' };
  expect(await text('POST', '/import', copy, all)).toContain('"asserted":2');
  const then = { ...works, asOf: until - 1 };
  const who = async (tenant: object): Promise<unknown> =>
    (await post('/query', then, { ...headers, ...tenant })).body;
  expect(await who({ 'x-tenant-id': 'copy' })).toEqual(await who({}));
  expect(await who({})).toHaveLength(2);

  const gone = await service.call('DELETE', `/facts/${told.body.id}`, undefined, { headers });
  expect([gone.status, gone.body]).toMatchObject([200, { status: 'retracted', atom: 'works(fay, shop)' }]);
  expect(await who({})).toHaveLength(1);
  expect((await service.call('DELETE', `/facts/${told.body.id}`, undefined, { headers })).status).toBe(404);
});
