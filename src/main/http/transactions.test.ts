import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import type { FactOutcome, QueryResult } from '../../engine/contract/facts.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import type { Committed, Pending, RolledBack, TransactionBegun } from '../../engine/contract/transactions.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** Transactions over real HTTP: contract section 6. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest({ MAX_REQUEST_BODY_BYTES: '4096' });
});

afterAll(() => service.close());

let tenants = 0;

/** A transaction of a separate tenant. */
class Client {
  readonly tenant = `tenant-${++tenants}`;
  id = '';

  static async begun(): Promise<Client> {
    const client = new Client();
    await client.begin();
    return client;
  }

  async begin(): Promise<void> {
    this.id = (await this.plain<TransactionBegun>('POST', '/tx/begin')).body.id;
  }

  plain<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answered<Body>> {
    return service.call<Body>(method, path, body, { headers: { 'x-tenant-id': this.tenant, ...headers } });
  }

  within<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answered<Body>> {
    return this.plain<Body>(method, path, body, { 'x-transaction-id': this.id, ...headers });
  }

  commit<Body = Committed>(body?: unknown): Promise<Answered<Body>> {
    return this.plain<Body>('POST', `/tx/commit/${this.id}`, body);
  }

  async isOpen(): Promise<boolean> {
    return (await this.commit({ dryRun: true })).status === 200;
  }
}

const fact = { predicate: 'p', args: ['a'] };
const anything = { predicate: 'p', args: ['?x'] };

describe('a transaction', () => {
  it('stays open for five minutes after each use', async () => {
    const before = Date.now();
    const { body } = await new Client().plain<TransactionBegun>('POST', '/tx/begin', {});
    expect(body.expiresAt).toBeGreaterThanOrEqual(before + 5 * 60_000);
    expect(body.expiresAt).toBeLessThanOrEqual(Date.now() + 5 * 60_000);
    expect(body.status).toBe('open');
    expect(body.id.length).toBeGreaterThan(30);
  });

  it('accepts every kind of write, answers each as pending, and commits them together', async () => {
    const client = new Client();
    const { id } = (await client.plain<FactOutcome>('POST', '/tell', { predicate: 'q', args: [1] })).body;
    const text = 'r(?x) :- p(?x)';
    const rule = (await client.plain<RuleOutcome>('POST', '/teach', { text: `${text}, q(?x)` })).body.id;
    const other = (await client.plain<RuleOutcome>('POST', '/teach', { text: `${text}, s(?x)` })).body.id;
    await client.begin();
    const writes: [string, string, unknown][] = [
      ['POST', '/assert/fact', fact],
      ['POST', '/tell', { predicate: 'p', args: ['b'] }],
      ['POST', '/assert/facts', { facts: [fact, { predicate: 'p', args: ['c'] }] }],
      ['POST', '/assert/rule', { text: 'here(?x) :- p(?x)' }],
      ['POST', '/teach', { text: 'there(?x) :- p(?x)' }],
      ['POST', '/retract', { predicate: 'p', args: ['b'] }],
      ['POST', '/forget', { predicate: 'p', args: ['nowhere'] }],
      ['POST', '/retract/pattern', { predicate: 's', args: ['?x'] }],
      ['DELETE', `/facts/${id}`, undefined],
      ['PUT', `/rules/${rule}`, { enabled: false }],
      ['DELETE', `/rules/${other}`, undefined],
    ];
    for (const [method, path, body] of writes) {
      const answer = await client.within<Pending>(method, path, body);
      expect([path, answer.status, answer.body.status]).toEqual([path, 200, 'pending']);
    }
    expect((await client.plain<QueryResult>('POST', '/query', anything)).body).toEqual([]);
    for (const path of ['/ask', '/infer']) {
      const asked = await client.within<Answer>('POST', path, { predicate: 'here', args: ['?x'] });
      expect(asked.body.results).toEqual(['here(a)', 'here(c)']);
    }
    expect((await client.within<QueryResult>('POST', '/query', anything)).body).toHaveLength(2);
    const { status, body } = await client.commit();
    expect(status).toBe(200);
    expect(body).toEqual({ id: client.id, status: 'committed', operations: 11, generation: body.generation });
    const { results } = (await client.plain<Answer>('POST', '/ask', { predicate: 'there', args: ['?x'] }))
      .body;
    expect(results).toEqual(['there(a)', 'there(c)']);
    expect(
      (await client.plain<QueryResult>('POST', '/query', { predicate: 'q', args: ['?x'] })).body,
    ).toEqual([]);
  });

  it('lists its writes', async () => {
    const client = await Client.begun();
    expect((await client.within('POST', '/tell', { ...fact, truthVal: false })).body).toEqual({
      status: 'pending',
      atom: '-p(a)',
    });
    expect((await client.within('POST', '/retract/pattern', anything)).body).toEqual({
      status: 'pending',
      atom: 'p(?x)',
      retracted: 1,
    });
    expect((await client.within('POST', '/teach', { text: 'q(?x):-p(?x).' })).body).toEqual({
      status: 'pending',
      rule: 'q(?x) :- p(?x)',
    });
  });

  it('can be rolled back without a trace', async () => {
    const client = await Client.begun();
    await client.within('POST', '/tell', fact);
    const { status, body } = await client.plain<RolledBack>('POST', `/tx/rollback/${client.id}`);
    expect([status, body.status, body.operations]).toEqual([200, 'rolled_back', 1]);
    expect((await client.plain<QueryResult>('POST', '/query', anything)).body).toEqual([]);
    for (const path of [`/tx/commit/${client.id}`, `/tx/rollback/${client.id}`])
      expect((await client.plain('POST', path)).status).toBe(409);
    expect((await client.within('POST', '/tell', fact)).status).toBe(409);
    expect((await client.within('POST', '/ask', anything)).status).toBe(409);
  });

  it('can be previewed: the answer, and known conclusions gained and lost', async () => {
    const client = await Client.begun();
    await client.plain('POST', '/teach', { text: 'tried(?x) :- t(?x)' });
    await client.plain('POST', '/tell', { predicate: 't', args: ['known'] });
    await client.plain('POST', '/ask', { predicate: 'tried', args: ['?x'] });
    await client.within('POST', '/tell', { predicate: 't', args: ['a'] });
    const { body } = await client.commit({ dryRun: true });
    expect(body).toMatchObject({ status: 'committed', operations: 1, gained: 1, lost: 0, dryRun: true });
    expect((await client.commit()).body.dryRun).toBeUndefined();
  });

  it('reports a conflict at its commit and rolls back', async () => {
    const client = await Client.begun();
    await client.within('POST', '/tell', { ...fact, metadata: { by: 'us' } });
    await client.plain('POST', '/tell', { ...fact, metadata: { by: 'them' } });
    const { status, body } = await client.commit<Record<string, unknown>>();
    expect([status, body['code'], body['transaction']]).toEqual([409, 'Conflict', 'rolled_back']);
    expect((await client.commit()).status).toBe(409);
  });
});

describe('a refused write of a transaction', () => {
  const tooLong = { predicate: 'p', args: ['x'.repeat(5000)] };
  it.each<[string, number, (client: Client) => Promise<Answered<Record<string, unknown>>>]>([
    ['a body that is no JSON', 400, (client) => client.within('POST', '/tell', '{"predicate"')],
    ['an unknown field', 400, (client) => client.within('POST', '/tell', { ...fact, truthVall: true })],
    ['an unknown query parameter', 400, (client) => client.within('POST', '/tell?x=1', fact)],
    ['a fact with a variable', 400, (client) => client.within('POST', '/tell', anything)],
    ['a bad fact of many', 400, (client) => client.within('POST', '/assert/facts', [fact, anything])],
    ['a body over the limit', 413, (client) => client.within('POST', '/tell', tooLong)],
    [
      'a body that is no JSON by its type',
      415,
      (client) => client.within('POST', '/tell', 'p(a).', { 'content-type': 'text/plain' }),
    ],
    ['an unknown fact', 404, (client) => client.within('DELETE', '/facts/f1-1')],
    ['an unknown rule', 404, (client) => client.within('PUT', '/rules/r99', { enabled: true })],
    ['an unsafe rule', 422, (client) => client.within('POST', '/teach', { text: 'q(?x) :- p(?y)' })],
    [
      'a fact that changed since',
      409,
      async (client) => {
        await client.plain('POST', '/tell', fact);
        return client.within('POST', '/tell', { ...fact, ifGeneration: 0 });
      },
    ],
  ])('rolls it back and says so: %s', async (_what, status, write) => {
    const client = await Client.begun();
    await client.within('POST', '/tell', { predicate: 'kept', args: [] });
    const refused = await write(client);
    expect([refused.status, refused.body['transaction']]).toEqual([status, 'rolled_back']);
    expect((await client.commit()).status).toBe(409);
  });

  it.each<[string, number, (client: Client) => Promise<Answered<Record<string, unknown>>>]>([
    ['a method that is not there', 405, (client) => client.within('GET', '/tell')],
    ['a question that cannot be read', 400, (client) => client.within('POST', '/ask', { what: 1 })],
    ['a question with an unsafe body', 422, (client) => client.within('POST', '/ask', { text: 'not p(?x)' })],
    ['a query that cannot be read', 400, (client) => client.within('POST', '/query', '[')],
    ['what takes no transaction', 400, (client) => client.within('GET', '/facts')],
    ['its own commit with the header', 400, (client) => client.within('POST', `/tx/commit/${client.id}`)],
    [
      'a foreign origin',
      403,
      (client) => client.within('POST', '/tell', fact, { origin: 'http://evil.example' }),
    ],
    [
      'another tenant’s write with its id',
      404,
      (client) => client.within('POST', '/tell', fact, { 'x-tenant-id': 'somebody-else' }),
    ],
    [
      'another tenant’s malformed write with its id',
      400,
      (client) => client.within('POST', '/tell', '{', { 'x-tenant-id': 'somebody-else' }),
    ],
  ])('leaves it open if the call is not one of its writes: %s', async (_what, status, call) => {
    const client = await Client.begun();
    await client.within('POST', '/tell', fact);
    const refused = await call(client);
    expect([refused.status, refused.body['transaction']]).toEqual([status, undefined]);
    expect(await client.isOpen()).toBe(true);
    expect((await client.commit()).body.status).toBe('committed');
  });
});

describe('the header', () => {
  it('is rejected on any other call with a tenant, and ignored on calls without one', async () => {
    const client = await Client.begun();
    const calls: [string, string, unknown][] = [
      ['GET', '/rules', undefined],
      ['GET', '/predicates', undefined],
      ['POST', '/explain', { ...fact, mode: 'why' }],
      ['POST', '/whatIf', {}],
      ['POST', '/aggregate', { operation: 'COUNT', predicate: 'p' }],
      ['POST', '/trace', anything],
      ['POST', '/rules/validate', { text: '' }],
      ['POST', '/tx/begin', undefined],
      ['GET', '/events', undefined],
    ];
    for (const [method, path, body] of calls) {
      const { status } = await client.within(method, path, body);
      expect([path, status]).toEqual([path, 400]);
    }
    expect((await client.within('GET', '/databases')).status).toBe(200);
    expect((await client.within('GET', '/health')).status).toBe(200);
    expect(await client.isOpen()).toBe(true);
  });

  it.each(['nobody-knows-it', 'x'.repeat(2000), '../..', '%00'])(
    'rejects an invalid transaction: %s',
    async (id) => {
      const client = new Client();
      client.id = id;
      for (const path of ['/tell', '/query'])
        expect((await client.within<{ code: string }>('POST', path, fact)).body.code).toBe(
          'TransactionNotFound',
        );
    },
  );
});

it('is bound to its database: in another the transaction does not exist', async () => {
  const client = await Client.begun();
  await client.plain('POST', '/databases', { name: 'other' });
  const headers = { 'x-database': 'other' };
  expect((await client.within('POST', '/tell', fact, headers)).status).toBe(404);
  expect((await client.plain('POST', `/tx/commit/${client.id}`, {}, headers)).status).toBe(404);
  expect(await client.isOpen()).toBe(true);
});

it('survives a refused credential and an exhausted rate limit', async () => {
  const guarded = await startServiceUnderTest({ API_KEY: 'a-key', RATE_LIMIT_PER_MINUTE: '4' });
  try {
    const headers = { 'x-api-key': 'a-key' };
    const { id } = (await guarded.call<TransactionBegun>('POST', '/tx/begin', {}, { headers })).body;
    const within = { ...headers, 'x-transaction-id': id };
    const wrong = { ...within, 'x-api-key': 'wrong' };
    expect((await guarded.call('POST', '/tell', '{', { headers: wrong })).status).toBe(401);
    expect((await guarded.call('POST', '/tell', fact, { headers: within })).status).toBe(200);
    expect((await guarded.call('POST', '/tell', fact, { headers: within })).status).toBe(200);
    const { status, body } = await guarded.call<Committed>('POST', `/tx/commit/${id}`, {}, { headers });
    expect([status, body.operations]).toEqual([200, 2]);
    expect((await guarded.call('POST', '/tell', '{', { headers: within })).status).toBe(429);
  } finally {
    await guarded.close();
  }
});

it('stays open if an upload of 60 MiB breaks off, and contains nothing of it', async () => {
  const large = await startServiceUnderTest({ MAX_REQUEST_BODY_BYTES: '67108864' });
  try {
    const headers = { 'x-tenant-id': 't' };
    const { id } = (await large.call<TransactionBegun>('POST', '/tx/begin', {}, { headers })).body;
    const socket = connect(large.port, '127.0.0.1');
    const head = [
      'POST /assert/facts HTTP/1.1',
      'Host: localhost',
      'X-Tenant-ID: t',
      `X-Transaction-ID: ${id}`,
      'Content-Type: application/json',
      'Content-Length: 64000000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n[{"predicate":"p","args":["`);
    const part = 'x'.repeat(1_048_576);
    for (let sent = 0; sent < 60; sent++) if (!socket.write(part)) await once(socket, 'drain');
    socket.destroy();
    await once(socket, 'close');
    const within = { ...headers, 'x-transaction-id': id };
    expect((await large.call('POST', '/tell', fact, { headers: within })).status).toBe(200);
    const { status, body } = await large.call<Committed>('POST', `/tx/commit/${id}`, {}, { headers });
    expect([status, body.operations]).toEqual([200, 1]);
  } finally {
    await large.close();
  }
});
