import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FactOutcome } from '../../engine/contract/facts.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
const fact = { predicate: 'parent', args: ['alice', 'bob'] };

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** Expects a complete problem and returns it. */
async function refused(answer: Promise<{ status: number; headers: Headers; body: Problem }>, status: number) {
  const { status: got, headers, body } = await answer;
  expect(got).toBe(status);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({ status, requestId: headers.get('x-request-id') });
  expect(body.type).toContain(body.code);
  expect(body.title).not.toBe('');
  expect(body.detail).not.toBe('');
  return Object.assign(body, { headers });
}

describe('every response', () => {
  it.each([
    ['GET', '/health'],
    ['GET', '/nowhere'],
    ['GET', '/ask'],
    ['POST', '/ask'],
    ['GET', '/'],
    ['GET', '/samples/index.json'],
    ['GET', '/facts/%ff'],
    ['OPTIONS', '/ask'],
    ['HEAD', '/health'],
  ])('carries request id and API version: %s %s', async (method, path) => {
    const { headers } = await service.call(method, path);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-api-version')).toBe('1');
  });

  it.each([
    ['a stream of changes', 'GET /events', ''],
    ['an export', 'GET /export', ''],
    ['an import', 'POST /import', 'Content-Type: application/x-ndjson\r\nContent-Length: 0\r\n'],
    ['an MCP stream', 'GET /mcp/sse', ''],
    ['a preflight', 'OPTIONS /ask', 'Access-Control-Request-Method: POST\r\n'],
  ])('carries them and its own id on %s too', async (_, target, headers) => {
    const [method = '', path = ''] = target.split(' ');
    const socket = connect(service.port, '127.0.0.1');
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\nX-Request-ID: mine\r\n${headers}\r\n`,
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(head.toString()).toMatch(/^HTTP\/1\.1 20[04] /);
    expect(head.toString().toLowerCase()).toContain('x-request-id: mine\r\n');
    expect(head.toString().toLowerCase()).toContain('x-api-version: 1\r\n');
  });

  it('carries a new id if the request was not HTTP', async () => {
    const answer = await service.raw('no http\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
    expect(answer).toMatch(/\r\nx-api-version: 1\r\n/i);
  });

  it("echoes the client's request id, up to 128 printable characters", async () => {
    const id = `job 7 ${'~'.repeat(122)}`;
    const { headers } = await service.call('GET', '/health', undefined, { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toBe(id);
  });

  it.each([['x'.repeat(129)], ['caf\u00e9'], ['']])(
    "creates an id if the client's is invalid: %j",
    async (id) => {
      const { headers } = await service.call('GET', '/health', undefined, {
        headers: { 'x-request-id': id },
      });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('has its request id in the log line of the request', async () => {
    await service.call('POST', '/tell', fact, { headers: { 'x-request-id': 'in the log' } });
    await expect
      .poll(() => service.logged.find((line) => line['requestId'] === 'in the log'))
      .toMatchObject({ route: '/tell', status: 200 });
  });
});

describe('addresses', () => {
  it('return 404 if unknown', async () => {
    expect((await refused(service.call('GET', '/nowhere'), 404)).code).toBe('NotFound');
    expect((await refused(service.call('POST', '/ask/', {}), 404)).code).toBe('NotFound');
  });

  it('return 405 with Allow for an unsupported method', async () => {
    const problem = await refused(service.call('GET', '/ask'), 405);
    expect(problem.code).toBe('MethodNotAllowed');
    expect(problem.headers.get('allow')).toBe('POST, OPTIONS');
    expect((await service.call('PATCH', '/facts/f1')).headers.get('allow')).toBe(
      'DELETE, GET, HEAD, OPTIONS',
    );
    expect((await service.call('DELETE', '/%61sk')).status).toBe(405);
  });

  it('return 405 before checking type, tenant or body', async () => {
    const headers = { 'content-type': 'text/plain' };
    await refused(service.call('PUT', '/ask', '{broken', { headers }), 405);
  });

  it('return 400 for a path or query that is not percent-encoded UTF-8', async () => {
    expect((await refused(service.call('GET', '/facts/%ff'), 400)).code).toBe('ValidationException');
    expect((await refused(service.call('GET', '/nowhere/%2'), 400)).code).toBe('ValidationException');
    expect((await refused(service.call('GET', '/facts?predicate=%ff'), 400)).errors?.[0]?.path).toBe('%ff');
  });

  it('answer OPTIONS with their methods', async () => {
    const { status, headers } = await service.call('OPTIONS', '/rules/r1');
    expect(status).toBe(204);
    expect(headers.get('allow')).toBe('DELETE, GET, HEAD, PUT, OPTIONS');
  });

  it('answer HEAD with the headers of GET and no body', async () => {
    const { status, headers, body } = await service.call('HEAD', '/predicates');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toBe('');
    expect((await service.call('HEAD', '/events')).headers.get('content-type')).toMatch(
      /^text\/event-stream/,
    );
  });
});

describe('content types', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'nonsense',
  ])('return 415 for %s', async (type) => {
    const answer = service.call('POST', '/tell', JSON.stringify(fact), { headers: { 'content-type': type } });
    expect((await refused(answer, 415)).code).toBe('UnsupportedMediaType');
  });

  it('return 415 for a body without a type and for a compressed one', async () => {
    const bare = await service.raw(
      `POST /tell HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(bare).toMatch(/^HTTP\/1\.1 415 /);
    const headers = { 'content-encoding': 'gzip' };
    await refused(service.call('POST', '/tell', 'x', { headers }), 415);
  });

  it.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'accept %s',
    async (type) => {
      const headers = { 'content-type': type };
      expect((await service.call('POST', '/tell', JSON.stringify(fact), { headers })).status).toBe(200);
    },
  );

  it('treat an empty POST as one without fields, and report the missing ones', async () => {
    const problem = await refused(service.call('POST', '/tell'), 400);
    expect(problem.errors?.map(({ path }) => path)).toEqual(['predicate', 'args']);
  });

  it('return 415 before the error of a missing tenant', async () => {
    const headers = { 'content-type': 'text/plain', 'x-tenant-id': '' };
    await refused(service.call('POST', '/tell', 'x', { headers }), 415);
  });
});

describe('headers and names', () => {
  const tenantOperations = Object.values<OperationSpec>(operations).filter(
    ({ tenant, tenantDefaults }) => tenant && tenantDefaults !== true,
  );

  it.each(tenantOperations.map(({ method, path }) => [method, path]))(
    'requires the tenant header: %s %s',
    async (method, path) => {
      const response = await fetch(`${service.address}${path.replace(':id', 'x')}`, { method });
      const problem = (await response.json()) as Problem;
      expect(response.status).toBe(400);
      expect(problem.code).toBe('ValidationException');
      expect(problem.detail).toContain('X-Tenant-ID');
    },
  );

  it.each([['two words'], ['.'], ['..'], ['x'.repeat(257)], ['caf\u00e9'], ['']])(
    'rejects the tenant %j',
    async (tenant) => {
      const problem = await refused(
        service.call('GET', '/rules', undefined, { headers: { 'x-tenant-id': tenant } }),
        400,
      );
      expect(problem.errors?.[0]?.path).toBe('X-Tenant-ID');
    },
  );

  it.each([['a/b'], ['..'], ['x'.repeat(129)], ['caf\u00e9'], ['']])(
    'rejects the database %j',
    async (database) => {
      const problem = await refused(
        service.call('GET', '/rules', undefined, { headers: { 'x-database': database } }),
        400,
      );
      expect(problem.errors?.[0]?.path).toBe('X-Database');
    },
  );

  it('returns 404 for an unknown database before checking the body', async () => {
    const headers = { 'x-database': 'elsewhere' };
    expect((await refused(service.call('POST', '/tell', '{broken', { headers }), 404)).code).toBe(
      'DatabaseNotFound',
    );
  });

  it('returns 400 for an invalid tenant before 404 for an unknown database', async () => {
    const headers = { 'x-database': 'elsewhere', 'x-tenant-id': 'a b' };
    await refused(service.call('POST', '/tell', '{broken', { headers }), 400);
  });

  it('ignores database and tenant where they do not apply', async () => {
    const headers = { 'x-database': 'elsewhere', 'x-tenant-id': '' };
    expect((await service.call('GET', '/databases', undefined, { headers })).status).toBe(200);
  });

  it('treats an unknown tenant as empty', async () => {
    const headers = { 'x-tenant-id': 'nobody-yet' };
    const { status, body } = await service.call(
      'POST',
      '/query',
      { predicate: 'p', args: ['?x'] },
      { headers },
    );
    expect({ status, body }).toEqual({ status: 200, body: [] });
  });

  it('rejects the header of an unknown transaction, and of any transaction where none applies', async () => {
    const headers = { 'x-transaction-id': 't1' };
    expect((await refused(service.call('POST', '/tell', fact, { headers }), 404)).code).toBe(
      'TransactionNotFound',
    );
    expect((await refused(service.call('GET', '/rules', undefined, { headers }), 400)).code).toBe(
      'ValidationException',
    );
  });
});

describe('bodies', () => {
  it('with an unknown field get an error that names it', async () => {
    const problem = await refused(service.call('POST', '/tell', { ...fact, truthVall: false }), 400);
    expect(problem.errors).toEqual([{ path: 'truthVall', message: 'unknown field' }]);
    expect(problem.detail).toContain('truthVall');
  });

  it('with an unknown field get an error for the closest form of a literal', async () => {
    const body = [{ predicate: 'p', args: ['?x'], nav: true }];
    const problem = await refused(
      service.call('POST', '/teach', { head: { predicate: 'q', args: ['?x'] }, body }),
      400,
    );
    expect(problem.errors).toEqual([{ path: 'body.0.nav', message: 'unknown field' }]);
  });

  it('with an unknown or repeated query parameter get an error that names it', async () => {
    expect((await refused(service.call('GET', '/facts?predicat=p'), 400)).errors?.[0]?.path).toBe('predicat');
    expect(
      (await refused(service.call('POST', '/ask?limit=1', { text: 'p(?x)' }), 400)).errors?.[0]?.path,
    ).toBe('limit');
    expect((await refused(service.call('GET', '/facts?limit=1&limit=2'), 400)).errors?.[0]?.path).toBe(
      'limit',
    );
    await refused(service.call('GET', '/openapi.json?x=1'), 400);
  });

  it('are rejected if the operation accepts none', async () => {
    expect((await service.call('DELETE', '/facts/none', {})).status).toBe(404);
    const problem = await refused(service.call('DELETE', '/facts/none', { dryRun: true }), 400);
    expect(problem.errors).toEqual([{ path: 'dryRun', message: 'unknown field' }]);
    const get = await service.raw(
      'GET /rules HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: t\r\nContent-Type: application/json\r\n' +
        'Content-Length: 2\r\nConnection: close\r\n\r\n{}',
    );
    expect(get).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([['null'], ['[]'], ['"text"'], ['7']])(
    'with %s in place of an object are rejected',
    async (body) => {
      await refused(service.call('POST', '/tell', body), 400);
    },
  );

  it.each(['{"predicate": "p"', '{} {}', "{'predicate': 1}", '\u0000', 'undefined', '{"a":1,}'])(
    'that are not JSON are rejected: %j',
    async (body) => {
      expect((await refused(service.call('POST', '/tell', body), 400)).code).toBe('ValidationException');
    },
  );

  it('may have null in an optional field', async () => {
    const body = { ...fact, scope: null, ttl: null, metadata: null, validUntil: null };
    expect((await service.call('POST', '/tell', body)).status).toBe(200);
  });

  it('with an invalid fact in a batch get an error with its index and store nothing', async () => {
    const headers = { 'x-tenant-id': 'batch' };
    const body = { facts: [fact, { predicate: 'p', args: ['?x'] }, { predicate: 'a b', args: [] }] };
    const problem = await refused(service.call('POST', '/assert/facts', body, { headers }), 400);
    expect(problem.errors?.map(({ path }) => path)).toEqual(['facts.1.args.0', 'facts.2.predicate']);
    const stored = await service.call(
      'POST',
      '/query',
      { predicate: 'parent', args: ['?x', '?y'] },
      { headers },
    );
    expect(stored.body).toEqual([]);
  });

  it('may be a bare array of facts', async () => {
    const { body } = await service.call('POST', '/assert/facts', [fact], {
      headers: { 'x-tenant-id': 'bare' },
    });
    expect(body).toMatchObject({ status: 'asserted', asserted: 1 });
  });
});

describe('a bug', () => {
  it('returns 500 Internal without details; the log has the stack under the request id', async () => {
    const broken = await startServiceUnderTest();
    try {
      // No bug can be triggered on demand, so the test adds one.
      broken.engine.predicates = () => {
        throw new TypeError('the very inside');
      };
      const headers = { 'x-request-id': 'a bug to be found' };
      const answer = broken.call('GET', '/predicates', undefined, { headers });
      const problem = await refused(answer, 500);
      expect(problem.code).toBe('Internal');
      expect(JSON.stringify(problem)).not.toContain('very inside');
      expect(broken.logged.find(({ level }) => level === 'ERROR')).toMatchObject({
        requestId: 'a bug to be found',
        err: {
          type: 'TypeError',
          stack: expect.stringMatching(/^TypeError: the very inside\n {4}at /) as unknown,
        },
      });
    } finally {
      await broken.close();
    }
  });
});

describe('errors of the operations', () => {
  it('include 404 for an unknown fact and an unknown rule', async () => {
    expect((await refused(service.call('GET', '/facts/none'), 404)).code).toBe('FactNotFound');
    expect((await refused(service.call('DELETE', '/facts/none'), 404)).code).toBe('FactNotFound');
    expect((await refused(service.call('PUT', '/rules/none', { enabled: true }), 404)).code).toBe(
      'RuleNotFound',
    );
    expect((await refused(service.call('DELETE', '/rules/none'), 404)).code).toBe('RuleNotFound');
  });

  it("hide another tenant's fact", async () => {
    const mine = await service.call<FactOutcome>('POST', '/tell', fact, {
      headers: { 'x-tenant-id': 'one' },
    });
    const path = `/facts/${mine.body.id}`;
    const other = { headers: { 'x-tenant-id': 'two' } };
    expect((await refused(service.call('GET', path, undefined, other), 404)).code).toBe('FactNotFound');
    expect((await refused(service.call('DELETE', path, undefined, other), 404)).code).toBe('FactNotFound');
    expect((await service.call('GET', path, undefined, { headers: { 'x-tenant-id': 'one' } })).status).toBe(
      200,
    );
  });

  it('include 409 for an existing database, and 201 creates a new one', async () => {
    expect((await service.call('POST', '/databases', { name: 'new-one' })).status).toBe(201);
    expect((await refused(service.call('POST', '/databases', { name: 'new-one' }), 409)).code).toBe(
      'Conflict',
    );
    await refused(service.call('POST', '/databases', { name: '..' }), 400);
  });

  it('include 422 for an unsafe rule, naming the variable', async () => {
    const problem = await refused(service.call('POST', '/teach', { text: 'p(?x, ?lost) :- q(?x)' }), 422);
    expect(problem.code).toBe('RuleException');
    expect(problem.detail).toContain('?lost');
  });

  it('include 400 with line and column for a syntax error in text', async () => {
    const problem = await refused(service.call('POST', '/teach', { text: 'p(?x) :-\n  q(?x' }), 400);
    expect(problem.detail).toMatch(/line \d+, column \d+/);
  });

  it('include 422 with limit and elapsedMs for a question at its limit', async () => {
    const headers = { 'x-database': 'limits' };
    await service.call('POST', '/databases', { name: 'limits' });
    const facts = Array.from({ length: 400 }, (_, index) => ({
      predicate: 'edge',
      args: [index, index + 1],
    }));
    await service.call('POST', '/assert/facts', { facts }, { headers });
    await service.call('POST', '/teach', { text: 'path(?x, ?y) :- edge(?x, ?y)' }, { headers });
    await service.call('POST', '/teach', { text: 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)' }, { headers });
    const question = { predicate: 'path', args: ['?x', '?y'], maxDerivations: 1000 };
    const problem = await refused(service.call('POST', '/ask', question, { headers }), 422);
    expect(problem.code).toBe('InferenceLimitExceeded');
    expect(problem['limit']).toBe('maxDerivations');
    expect(problem['elapsedMs']).toBeGreaterThanOrEqual(0);
  });
});
