import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Problem } from '../../engine/contract/problems.ts';
import { EngineError } from '../../engine/index.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';
import { type HttpAnswer, idempotencyOf, IdempotencyCache } from './idempotency.ts';

let service: ServiceUnderTest;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-idempotency-'));
  service = await startServiceUnderTest({ STORAGE_DIR: folder });
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A process that knows only what the log says. */
async function restart(): Promise<void> {
  await service.close();
  service = await startServiceUnderTest({ STORAGE_DIR: folder });
}

type Call = readonly [method: string, path: string, body?: unknown];

function send(
  [method, path, body]: Call,
  key: string,
  headers: Record<string, string> = {},
): Promise<Answered<Problem & Record<string, unknown>>> {
  return service.call(method, path, body, { headers: { 'idempotency-key': key, ...headers } });
}

const tell: Call = ['POST', '/tell', { predicate: 'p', args: ['a'], metadata: { n: 1 } }];

async function total(): Promise<number> {
  return (await service.call<{ total: number }>('GET', '/facts')).body.total;
}

describe('a write with an Idempotency-Key', () => {
  it('repeats its first answer byte for byte and takes effect once', async () => {
    const first = await send(tell, 'key');
    expect(first.body).toMatchObject({ status: 'asserted', generation: 1 });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    await service.call('POST', '/retract', { predicate: 'p', args: ['a'] });
    const again = await send(tell, 'key');
    expect(again.body).toEqual(first.body);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('content-length')).toBe(first.headers.get('content-length'));
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await total()).toBe(0);
  });

  it.each<[string, Call, Record<string, string>]>([
    ['another body', ['POST', '/tell', { predicate: 'p', args: ['b'] }], {}],
    ['another path', ['POST', '/assert/fact', tell[2]], {}],
    ['another query', ['POST', '/tell?x=1', tell[2]], {}],
    ['another method', ['PUT', '/rules/r1', { enabled: true }], {}],
  ])('returns 422 if %s comes with the key', async (_, call, headers) => {
    await send(tell, 'key');
    const { status, body } = await send(call, 'key', headers);
    expect(status).toBe(422);
    expect(body.code).toBe('IdempotencyMismatch');
    await restart();
    expect((await send(call, 'key', headers)).body.code).toBe('IdempotencyMismatch');
    expect((await send(tell, 'key')).headers.get('idempotent-replayed')).toBe('true');
  });

  it('shares its key with no other tenant or database', async () => {
    await service.call('POST', '/databases', { name: 'second' });
    await send(tell, 'key');
    for (const headers of [{ 'x-tenant-id': 'other' }, { 'x-database': 'second' }]) {
      const { body } = await send(tell, 'key', headers);
      expect(body).toMatchObject({ status: 'asserted' });
    }
    await restart();
    for (const headers of [{ 'x-tenant-id': 'third' }, { 'x-database': 'second', 'x-tenant-id': 'third' }])
      expect((await send(tell, 'key', headers)).body).toMatchObject({ status: 'asserted' });
  });

  it('repeats its refusal', async () => {
    const rule: Call = ['PUT', '/rules/r1', { enabled: false }];
    const first = await send(rule, 'key');
    expect(first.status).toBe(404);
    await service.call('POST', '/teach', { text: 'q(?x) :- p(?x)' });
    const again = await send(rule, 'key');
    // The answer is the same, except that a problem names its own request.
    expect(again.body).toEqual({ ...(first.body as object), requestId: again.headers.get('x-request-id') });
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(again.headers.get('content-type')).toBe('application/problem+json');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await send(rule, 'another')).status).toBe(200);
  });

  it('is answered from its outcome after a restart and takes effect once', async () => {
    const calls: Call[] = [
      tell,
      [
        'POST',
        '/assert/facts',
        {
          facts: [
            { predicate: 'p', args: ['a'] },
            { predicate: 'p', args: ['b'] },
          ],
        },
      ],
      ['POST', '/teach', { text: 'q(?x) :- p(?x)' }],
      ['PUT', '/rules/r3', { name: 'named' }],
      ['POST', '/retract', { predicate: 'p', args: ['b'] }],
      ['POST', '/retract/pattern', { predicate: 'p', args: ['?x'] }],
      ['POST', '/retract', { predicate: 'p', args: ['none'] }],
      ['POST', '/tell', { predicate: 'r', args: ['a'] }],
      ['DELETE', '/facts/f7-0'],
      ['DELETE', '/rules/r3'],
      ['POST', '/tell', { predicate: 'p', args: ['c'], scope: 's' }],
      ['POST', '/scope/fork', { source: 's', target: 't' }],
      ['POST', '/tell', { predicate: 'p', args: ['c'], scope: 't', metadata: { by: 'me' } }],
      ['POST', '/scope/merge', { source: 's', target: 't', strategy: 'SOURCE_WINS' }],
      ['DELETE', '/scope/s'],
      ['POST', '/databases', { name: 'second' }],
      ['POST', '/admin/databases/second/tenants', { name: 'made' }],
      ['POST', '/admin/databases/second/tenants/made/nuke'],
      ['DELETE', '/admin/databases/second/tenants/made'],
      ['POST', '/admin/databases/second/nuke'],
      ['DELETE', '/databases/second'],
    ];
    const answers: Answered<unknown>[] = [];
    for (const [at, call] of calls.entries()) {
      const answer = await send(call, `key-${at}`);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      answers.push(answer);
    }
    await restart();
    const records = service.engine.counters().records;
    for (const [at, call] of calls.entries()) {
      const { status, headers, body } = await send(call, `key-${at}`);
      const first = answers[at] as Answered<Record<string, unknown>>;
      const unknown =
        'dependents' in first.body
          ? { dependents: [], dependentsCount: 0, dependentsComplete: false }
          : 'gained' in first.body || 'dependentsCount' in first.body
            ? { consequencesComplete: false }
            : {};
      expect({ status, body }).toEqual({ status: first.status, body: { ...first.body, ...unknown } });
      expect(headers.get('idempotent-replayed')).toBe('true');
      expect(headers.get('etag')).toBe(first.headers.get('etag'));
    }
    expect(service.engine.counters().records).toBe(records);
  });

  it('is answered again if it was the commit of a transaction that ended with the restart', async () => {
    const begun = await service.call<{ id: string }>('POST', '/tx/begin');
    const headers = { 'x-transaction-id': begun.body.id };
    await service.call('POST', '/tell', { predicate: 'p', args: ['a'] }, { headers });
    const commit: Call = ['POST', `/tx/commit/${begun.body.id}`];
    const first = await send(commit, 'key');
    expect(first.body).toMatchObject({ status: 'committed', operations: 1 });
    await restart();
    expect((await send(commit, 'key')).body).toEqual(first.body);
    expect((await send(commit, 'another')).status).toBe(404);
  });

  it('returns 409 while the first request with its key still runs', async () => {
    const facts = Array.from({ length: 20_000 }, (_, at) => ({ predicate: 'n', args: [String(at)] }));
    const many: Call = ['POST', '/assert/facts', { facts }];
    const answers = await Promise.all([send(many, 'key'), send(many, 'key'), send(many, 'key')]);
    const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses[0]).toBe(200);
    for (const { status, body, headers } of answers)
      if (status === 409) expect(body.detail).toMatch(/still running/);
      else if (headers.get('idempotent-replayed') === null) expect(body).toMatchObject({ asserted: 20_000 });
    expect(await total()).toBe(20_000);
    expect(service.engine.counters().factsAsserted).toBe(20_000);
  });

  it('executes once even if its client disconnected before the answer', async () => {
    const facts = Array.from({ length: 20_000 }, (_, at) => ({ predicate: 'n', args: [String(at)] }));
    const many: Call = ['POST', '/assert/facts', { facts }];
    const leaving = new AbortController();
    const first = service.call(many[0], many[1], many[2], {
      headers: { 'idempotency-key': 'key' },
      signal: leaving.signal,
    });
    setTimeout(() => leaving.abort(), 20);
    await first.catch(() => {});
    let again = await send(many, 'key');
    while (again.status === 409) again = await send(many, 'key');
    expect(again.body).toMatchObject({ asserted: 20_000 });
    expect(service.engine.counters().factsAsserted).toBe(20_000);
  });

  it.each(['', ' ', 'a b', 'a\tb', 'é', 'x'.repeat(256)])('returns 400 if the key is %j', async (key) => {
    const { status, body } = await send(tell, key);
    expect(status).toBe(400);
    expect(body.errors?.[0]?.path).toBe('Idempotency-Key');
    expect(await total()).toBe(0);
  });

  it('accepts every visible character, up to 255', async () => {
    const key = String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 33 + at));
    expect((await send(tell, key)).status).toBe(200);
    expect((await send(tell, 'x'.repeat(255))).status).toBe(200);
  });
});

it('ignores an Idempotency-Key on reads', async () => {
  const ask: Call = ['POST', '/query', { predicate: 'p', args: ['?x'] }];
  expect((await send(ask, 'key')).body).toEqual([]);
  await send(tell, 'key');
  const { body, headers } = await send(ask, 'key');
  expect(body).toHaveLength(1);
  expect(headers.get('idempotent-replayed')).toBeNull();
  expect((await send(ask, 'no key at all')).status).toBe(200);
});

it('binds a key to its credential', async () => {
  const guarded = await startServiceUnderTest({ API_KEY: 'a-key-of-16-chars' });
  onTestFinished(() => guarded.close());
  const headers = { 'x-api-key': 'a-key-of-16-chars', 'idempotency-key': 'key' };
  expect((await guarded.call(tell[0], tell[1], tell[2], { headers })).status).toBe(200);
  const elsewhere = { ...headers, 'x-tenant-id': 'other' };
  expect((await guarded.call(tell[0], tell[1], tell[2], { headers: elsewhere })).status).toBe(422);
  const nobody = { 'idempotency-key': 'key' };
  expect((await guarded.call(tell[0], tell[1], tell[2], { headers: nobody })).status).toBe(401);
});

it('separates credentials: two that choose the same key both write, and each gets its own answer', async () => {
  const admin = 'a-key-of-16-chars';
  const guarded = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: admin });
  onTestFinished(() => guarded.close());
  const created = await guarded.call<{ key: string }>(
    'POST',
    '/auth/keys',
    { role: 'writer' },
    { headers: { 'x-api-key': admin } },
  );
  const as = (key: string) =>
    guarded.call<Record<string, unknown>>(tell[0], tell[1], tell[2], {
      headers: { 'x-api-key': key, 'idempotency-key': 'key' },
    });
  expect((await as(admin)).body).toMatchObject({ status: 'asserted' });
  expect((await as(created.body.key)).body).toMatchObject({ status: 'unchanged' });
  expect((await as(admin)).body).toMatchObject({ status: 'asserted' });
  expect((await as(created.body.key)).body).toMatchObject({ status: 'unchanged' });
});

describe('cached answers', () => {
  const caller = { credential: 'c', database: 'd', tenant: 't', requestId: 'r' };
  const answer = (size: number): HttpAnswer => ({
    status: 200,
    type: 'text/plain',
    etag: null,
    body: Buffer.alloc(size),
  });
  const once = (answers: IdempotencyCache, key: string, make: () => Promise<HttpAnswer>) =>
    answers.once(caller, { key, fingerprint: 'f' }, make).then(({ isRepeated }) => isRepeated);

  it('are evicted oldest first, and one that is too large is not cached', async () => {
    const answers = new IdempotencyCache(() => 0, 12_000);
    for (const key of ['a', 'b', 'c', 'd']) await once(answers, key, async () => answer(3000));
    expect(answers.bytes).toBeLessThanOrEqual(12_000);
    expect(await once(answers, 'd', async () => answer(1))).toBe(true);
    expect(await once(answers, 'b', async () => answer(1))).toBe(true);
    expect(await once(answers, 'a', async () => answer(20_000))).toBe(false);
    expect(await once(answers, 'a', async () => answer(1))).toBe(false);
  });

  it('expire after 24 hours', async () => {
    let now = 0;
    const answers = new IdempotencyCache(() => now, 10_000);
    await once(answers, 'a', async () => answer(100));
    now = 86_400_000 - 1;
    expect(await once(answers, 'a', async () => answer(1))).toBe(true);
    now = 86_400_000;
    expect(await once(answers, 'a', async () => answer(0))).toBe(false);
    now = 3 * 86_400_000;
    await once(answers, 'b', async () => answer(0));
    expect(answers.bytes).toBeLessThan(1000);
  });

  it.each(['Forbidden', 'RateLimited', 'StorageUnavailable', 'Internal', 'NotReady', 'NotLeader'] as const)(
    'exclude %s: the write may be retried',
    async (code) => {
      const answers = new IdempotencyCache(() => 0, 10_000);
      const refused = async (): Promise<HttpAnswer> => {
        throw new EngineError(code, 'not now');
      };
      await expect(once(answers, 'a', refused)).rejects.toThrow('not now');
      expect(await once(answers, 'a', async () => answer(1))).toBe(false);
    },
  );
});

it('compares every part of a request', async () => {
  const of = async (changes: object, place = { database: 'd', tenant: 't' }, body = '{}') => {
    const request = { method: 'POST', url: '/tell', headers: { 'idempotency-key': 'k' }, ...changes };
    return (await idempotencyOf(request, place, Buffer.from(body)))?.fingerprint;
  };
  const prints = await Promise.all([
    of({}),
    of({ method: 'PUT' }),
    of({ url: '/forget' }),
    of({ headers: { 'idempotency-key': 'k', 'if-match': '*' } }),
    of({ headers: { 'idempotency-key': 'k', 'x-transaction-id': '*' } }),
    of({}, { database: 'e', tenant: 't' }),
    of({}, { database: 'd', tenant: 'u' }),
    of({}, { database: 'dt', tenant: '' }),
    of({}, undefined, '{} '),
    of({}, undefined, ''),
  ]);
  expect(new Set(prints).size).toBe(prints.length);
  expect(await of({})).toBe(await of({}));
});

it('has no answer about a forgotten entity: a repeated write is 409 with its generation, and writes nothing', async () => {
  const ann: Call = ['POST', '/tell', { predicate: 'p', args: ['ann'] }];
  const bob: Call = ['POST', '/tell', { predicate: 'p', args: ['bob'] }];
  const refused: Call = ['POST', '/scope/merge', { source: 'ann', target: null, strategy: 'REJECT' }];
  const { generation } = (await send(ann, 'ann')).body;
  const first = await send(bob, 'bob');
  expect((await send(refused, 'refused')).status).toBe(404);
  const forget = { tenant: 'default', entity: 'ann' };
  const forgotten = await send(['POST', '/admin/forget', forget], 'forget');
  expect(forgotten.body).toMatchObject({ facts: 1 });
  const again = await send(ann, 'ann');
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({ code: 'Conflict', generation });
  expect((await send(refused, 'refused')).body.detail).not.toContain('ann');
  expect((await send(bob, 'bob')).body).toEqual(first.body);
  expect((await send(['POST', '/admin/forget', forget], 'forget')).body).toEqual(forgotten.body);
  expect(await total()).toBe(1);
});
