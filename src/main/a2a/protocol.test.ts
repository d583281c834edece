/** `/a2a` as a protocol: JSON-RPC, the two revisions of A2A, and the HTTP errors that come first. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import {
  errorOf,
  exchanged,
  message,
  type Revision,
  revisions,
  rpc,
  sendMethod,
} from './testing/conversation.ts';

const bodyLimit = 512 * 1024;
let service: ServiceUnderTest;
beforeAll(async () => {
  service = await startServiceUnderTest({ MAX_REQUEST_BODY_BYTES: String(bodyLimit) });
});
afterAll(() => service.close());

const ask = (revision: Revision, text = 'nothing(?x)') => ({ message: message(revision, text) });

/** The error code of the refused request. */
async function codeOf(body: unknown, headers: Record<string, string> = {}): Promise<number> {
  return (await errorOf(service, body, headers)).code;
}

async function stored(predicate: string, tenant = 'default'): Promise<unknown[]> {
  const headers = { 'x-tenant-id': tenant };
  return (await service.call<unknown[]>('POST', '/query', { predicate, args: ['?x'] }, { headers })).body;
}

describe('JSON-RPC', () => {
  it.each([
    ['{"jsonrpc": "2.0", "id": 1, "method": "SendMessage"', 'not valid JSON'],
    ['hello', 'not valid JSON'],
    [Buffer.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['['.repeat(100) + ']'.repeat(100), 'nests deeper'],
    ['{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"__proto__": {}}}', '__proto__'],
  ])('answers an unreadable body with -32700: %s', async (body, why) => {
    expect(await errorOf(service, body)).toEqual({
      code: -32700,
      id: null,
      message: expect.stringContaining(why) as string,
    });
  });

  it.each([
    ['an empty body', '', null],
    ['a text', '"SendMessage"', null],
    ['null', null, null],
    ['a batch', [rpc('SendMessage', ask('1.0'))], null],
    ['an empty batch', [], null],
    ['another version of JSON-RPC', { ...rpc('SendMessage', ask('1.0'), 7), jsonrpc: '1.0' }, 7],
    ['no version of JSON-RPC', { id: 'x', method: 'SendMessage', params: ask('1.0') }, 'x'],
    ['no method', { jsonrpc: '2.0', id: 7, params: {} }, 7],
    ['an empty method', rpc('', {}), 1],
    ['a method that is no text', { jsonrpc: '2.0', id: 7, method: ['SendMessage'] }, 7],
    ['an id that is an object', rpc('SendMessage', ask('1.0'), { bad: 1 }), null],
    ['an id that is a fraction', rpc('SendMessage', ask('1.0'), 1.5), null],
    ['an id that is true', rpc('SendMessage', ask('1.0'), true), null],
  ])('answers an invalid request with -32600: %s', async (_what, body, id) => {
    expect(await errorOf(service, body)).toMatchObject({ code: -32600, id });
  });

  it.each([
    'SendMessages',
    'sendMessage',
    'message/Send',
    'tools/call',
    'toString',
    'constructor',
    'x'.repeat(5000),
  ])('answers an unknown method with -32601, whatever its parameters: %s', async (method) => {
    expect(await codeOf(rpc(method, {}))).toBe(-32601);
    expect(await codeOf(rpc(method))).toBe(-32601);
  });

  it.each(['text', 7, 1, null, '', '\u0000\u2028"\\', Number.MAX_SAFE_INTEGER, -1])(
    'echoes the id of the request: %j',
    async (id) => {
      for (const revision of revisions) {
        const { body } = await service.call<{ id: unknown }>(
          'POST',
          '/a2a',
          rpc(sendMethod(revision), ask(revision), id),
        );
        expect(body).toMatchObject({ jsonrpc: '2.0', id, result: {} });
      }
    },
  );

  it('answers a request without an id with id null', async () => {
    const { id: _, ...request } = rpc('SendMessage', ask('1.0')) as Record<string, unknown>;
    expect((await service.call('POST', '/a2a', request)).body).toMatchObject({ id: null, result: {} });
  });
});

describe.each(revisions)('a message of %s', (revision) => {
  const method = sendMethod(revision);
  const good: Record<string, unknown> = message(revision, 'never(told).');
  const part = (content: object) => ({ ...good, parts: [content] });
  const file =
    revision === '0.3'
      ? { kind: 'file', file: { uri: 'http://localhost/x', mimeType: 'text/plain' } }
      : { url: 'http://localhost/x', mediaType: 'text/plain' };
  const data = revision === '0.3' ? { kind: 'data', data: { a: 1 } } : { data: { a: 1 } };

  it.each([
    ['no parameters', undefined],
    ['a list of parameters', [good]],
    ['a text as parameters', 'never(told).'],
    ['null as parameters', null],
    ['a parameter without a name', { '': 'not_a_dict' }],
    ['no message', {}],
    ['null as message', { message: null }],
    ['a text as message', { message: 'never(told).' }],
    ['a list as message', { message: [good] }],
    ['no messageId', { message: { ...good, messageId: undefined } }],
    ['an empty messageId', { message: { ...good, messageId: '' } }],
    ['no role', { message: { ...good, role: undefined } }],
    ['an unknown role', { message: { ...good, role: 'ROLE_KING' } }],
    ['the role of an agent', { message: { ...good, role: revision === '0.3' ? 'agent' : 'ROLE_AGENT' } }],
    ['no parts', { message: { ...good, parts: undefined } }],
    ['empty parts', { message: { ...good, parts: [] } }],
    ['a text as parts', { message: { ...good, parts: 'invalid' } }],
    ['null as a part', { message: part(null as unknown as object) }],
    ['an empty part', { message: part({}) }],
    ['a part that is a list', { message: part([]) }],
    ['a file part without a file', { message: part({ kind: 'file' }) }],
    ['a text part without text', { message: part({ kind: 'text' }) }],
    ['a number as messageId', { message: { ...good, messageId: 7 } }],
    ['an object as contextId', { message: { ...good, contextId: {} } }],
    [
      'more parts than are read',
      { message: { ...good, parts: Array(10_001).fill({ text: '', kind: 'text' }) } },
    ],
    ['a text part that is an object', { message: part({ kind: 'text', text: { a: 1 } }) }],
  ])('with invalid parameters is refused with -32602 and our own message: %s', async (_what, params) => {
    const refused = await errorOf(service, rpc(method, params));
    expect(refused.code).toBe(-32602);
    expect(refused.message).not.toMatch(/Cannot read|not a function|not iterable|of undefined/);
    expect(await stored('never')).toEqual([]);
  });

  it.each([
    ['a file', [file]],
    ['data', [data]],
    ['data beside text', [...(good['parts'] as object[]), data]],
  ])('with a non-text part is refused with -32005: %s', async (_what, parts) => {
    expect(await codeOf(rpc(method, { message: { ...good, parts } }))).toBe(-32005);
    expect(await stored('never')).toEqual([]);
  });

  it('that names a task is refused with -32001', async () => {
    expect(await codeOf(rpc(method, { message: { ...good, taskId: 'a-task' } }))).toBe(-32001);
    expect(await stored('never')).toEqual([]);
  });

  it('may use the other revision\'s name for the role "user"', async () => {
    for (const role of ['user', 'ROLE_USER'])
      expect(await exchanged(service, revision, { ...message(revision, 'p(?x)'), role })).toMatchObject({
        role: revision === '0.3' ? 'agent' : 'ROLE_AGENT',
      });
  });

  it('that asks for push notifications is refused with -32003', async () => {
    const written = vi.spyOn(console, 'warn');
    const authentication = { schemes: ['of-the-client', 'another'], scheme: 'of-the-client' };
    const wanted = { url: 'http://localhost/hook', authentication };
    const configuration =
      revision === '0.3' ? { pushNotificationConfig: wanted } : { taskPushNotificationConfig: wanted };
    expect(await codeOf(rpc(method, { message: good, configuration }))).toBe(-32003);
    const params = { taskId: 'a-task', pushNotificationConfig: wanted };
    expect(await codeOf(rpc('tasks/pushNotificationConfig/set', params))).toBe(-32003);
    // Client input never reaches stdout or stderr.
    expect(written).not.toHaveBeenCalled();
    expect(await stored('never')).toEqual([]);
  });

  it('gets an answer with the same context id and an id of its own', async () => {
    const given: Record<string, unknown> = {
      ...message(revision, 'p(?x)'),
      contextId: 'the context',
      extensions: ['urn:x'],
      metadata: { a: 1 },
    };
    const { contextId, messageId } = await exchanged(service, revision, given);
    expect(contextId).toBe('the context');
    expect(messageId).not.toBe(given['messageId']);
    const again = await exchanged(service, revision, given);
    expect(again.messageId).not.toBe(messageId);
  });

  it('gets the same answer with any supported configuration', async () => {
    const configuration = {
      acceptedOutputModes: ['text/plain'],
      historyLength: 3,
      blocking: false,
      returnImmediately: true,
    };
    const params = { ...ask(revision), configuration, metadata: { a: 1 } };
    expect((await service.call('POST', '/a2a', rpc(method, params))).body).toHaveProperty('result');
  });
});

describe('operations that an agent without tasks, streaming and notifications lacks', () => {
  it.each([
    ['SendStreamingMessage', ask('1.0'), -32004],
    ['SubscribeToTask', { id: 'a-task' }, -32004],
    ['GetExtendedAgentCard', undefined, -32004],
    ['GetTask', { id: 'a-task' }, -32001],
    ['CancelTask', { id: 'a-task' }, -32001],
    ['GetTask', {}, -32602],
    ['CreateTaskPushNotificationConfig', { taskId: 'a-task', url: 'http://localhost/hook' }, -32003],
    ['GetTaskPushNotificationConfig', { taskId: 'a-task', id: 'x' }, -32003],
    ['ListTaskPushNotificationConfigs', { taskId: 'a-task' }, -32003],
    ['DeleteTaskPushNotificationConfig', { taskId: 'a-task', id: 'x' }, -32003],
    ['message/stream', ask('0.3'), -32004],
    ['tasks/resubscribe', { id: 'a-task' }, -32004],
    ['agent/getAuthenticatedExtendedCard', undefined, -32004],
    ['tasks/get', { id: 'a-task' }, -32001],
    ['tasks/cancel', { id: 'a-task' }, -32001],
    ['tasks/cancel', { id: 7 }, -32602],
    [
      'tasks/pushNotificationConfig/set',
      { taskId: 'a-task', pushNotificationConfig: { url: 'http://localhost/h' } },
      -32003,
    ],
    ['tasks/pushNotificationConfig/set', {}, -32602],
    ['tasks/pushNotificationConfig/get', { id: 'a-task' }, -32003],
    ['tasks/pushNotificationConfig/list', { id: 'a-task' }, -32003],
    ['tasks/pushNotificationConfig/delete', { id: 'a-task', pushNotificationConfigId: 'x' }, -32003],
  ])('return the error that A2A defines: %s %j', async (method, params, code) => {
    const refused = await errorOf(service, rpc(method, params));
    expect(refused).toMatchObject({ code, id: 1, message: expect.stringMatching(/\w/) as string });
  });

  it('include the reason in 1.0 errors', async () => {
    expect((await errorOf(service, rpc('GetTask', { id: 'x' }))).data).toMatchObject([
      { reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' },
    ]);
  });

  it('return an empty list of tasks', async () => {
    expect((await service.call('POST', '/a2a', rpc('ListTasks', { pageSize: 10 }))).body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { tasks: [], nextPageToken: '', pageSize: 10, totalSize: 0 },
    });
    for (const pageSize of [0, 101, -1]) expect(await codeOf(rpc('ListTasks', { pageSize }))).toBe(-32602);
  });
});

describe('A2A-Version', () => {
  const send = (revision: Revision, version: string, query = '') =>
    service.call('POST', `/a2a${query}`, rpc(sendMethod(revision), ask(revision)), {
      headers: { 'a2a-version': version },
    });

  it('is optional: the name of the method implies the revision', async () => {
    for (const revision of revisions) expect((await send(revision, '')).body).toHaveProperty('result');
  });

  it.each(['0.3', '0.3.0', '1.0', '1.0.2', ' 1.0 '])(
    'may be %s, which selects the methods of that revision',
    async (version) => {
      const [named, other]: [Revision, Revision] = version.includes('0.3') ? ['0.3', '1.0'] : ['1.0', '0.3'];
      expect((await send(named, version)).body).toHaveProperty('result');
      expect((await send(other, version)).body).toMatchObject({ error: { code: -32601 } });
    },
  );

  it.each(['2.0', '0.2', '1', '1.1', 'latest', '1.0, 0.3', '01.0'])(
    'is refused with -32009 for any other value: %s',
    async (version) => {
      for (const revision of revisions)
        expect((await send(revision, version)).body).toMatchObject({
          id: 1,
          error: { code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] },
        });
    },
  );

  it('is the only parameter accepted in the query', async () => {
    const call = (query: string) => service.call('POST', `/a2a?${query}`, rpc('SendMessage', ask('1.0')));
    expect((await call('A2A-Version=1.0')).body).toHaveProperty('result');
    expect((await call('A2A-Version=3.0')).body).toMatchObject({ error: { code: -32009 } });
    expect(await call('version=1.0')).toMatchObject({
      status: 400,
      body: { code: 'ValidationException', errors: [{ path: 'version' }] },
    });
  });
});

describe('HTTP', () => {
  const good = rpc('SendMessage', ask('1.0'));
  const refusal = async (body: unknown, headers: Record<string, string>): Promise<[number, string]> => {
    const { status, body: problem } = await service.call<Problem>('POST', '/a2a', body, { headers });
    return [status, problem.code];
  };
  const large = { ...good, filler: 'x'.repeat(bodyLimit) };

  it('returns its errors in the order of the contract, before JSON-RPC', async () => {
    const foreign = { origin: 'https://evil.example' };
    const type = { 'content-type': 'text/plain' };
    const database = { 'x-database': 'none' };
    expect(await refusal(good, { ...foreign, ...type })).toEqual([403, 'Forbidden']);
    expect(await refusal(large, { ...type, ...database })).toEqual([415, 'UnsupportedMediaType']);
    expect(await refusal(large, { ...database, 'x-tenant-id': '..' })).toEqual([413, 'PayloadTooLarge']);
    expect(await refusal('{', { ...database, 'x-tenant-id': '..' })).toEqual([400, 'ValidationException']);
    expect(await refusal('{', database)).toEqual([404, 'DatabaseNotFound']);
  });

  it('refuses X-Transaction-ID with 400', async () => {
    const text = 'meant(for_later).';
    const { status, body } = await service.call<Problem>(
      'POST',
      '/a2a',
      rpc('SendMessage', ask('1.0', text)),
      {
        headers: { 'x-transaction-id': randomUUID() },
      },
    );
    expect([status, body.errors?.[0]?.path]).toEqual([400, 'X-Transaction-ID']);
    expect(await stored('meant')).toEqual([]);
  });

  it('accepts only POST at /a2a: 405 with Allow for other methods, 204 for OPTIONS', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await service.call(method, '/a2a');
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
    const { status, headers } = await service.call('OPTIONS', '/a2a', undefined, {
      headers: {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'a2a-version, content-type',
      },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-headers')).toContain('A2A-Version');
  });

  it('sets X-Request-ID and X-API-Version on answers and errors, and forbids caching', async () => {
    for (const body of [good, '{', []]) {
      const { status, headers } = await service.call('POST', '/a2a', body, {
        headers: { 'x-request-id': 'the-id' },
      });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([
        headers.get('x-request-id'),
        headers.get('x-api-version'),
        headers.get('cache-control'),
      ]).toEqual(['the-id', '1', 'no-store']);
    }
  });

  it('logs and counts the route, never the content of a message', async () => {
    const secret = 'geheimwort';
    const headers = { 'x-request-id': 'logged-a2a' };
    await service.call(
      'POST',
      '/a2a',
      rpc('SendMessage', ask('1.0', `${secret}(${secret}).\n${secret} ${secret}\n${secret}(?x)?`), secret),
      { headers },
    );
    await service.call('POST', '/a2a', `{"${secret}`, { headers });
    await service.call('POST', '/a2a', rpc(secret, {}), { headers });
    await expect
      .poll(() => service.logged.filter(({ requestId }) => requestId === 'logged-a2a'))
      .toMatchObject(Array(3).fill({ method: 'POST', route: '/a2a', status: 200 }));
    expect(JSON.stringify(service.logged)).not.toContain(secret);
    const metrics = (await service.call<string>('GET', '/metrics')).body;
    expect(metrics).toMatch(/route="\/a2a"/);
    expect(metrics).not.toContain(secret);
  });

  it('returns 503 during shutdown, and answers a running message with an error for each line not executed', async () => {
    const endLimits = {
      finishMs: 300,
      cancelMs: 5000,
      disconnectMs: 1000,
      lastSnapshotByMs: 8500,
      allMs: 9700,
    };
    const ending = await startServiceUnderTest({}, { endLimits });
    const facts = Array.from({ length: 500 }, (_, index) => ({ predicate: 'one', args: [index] }));
    await ending.call('POST', '/assert/facts', { facts });
    const running = exchanged(
      ending,
      '1.0',
      message('1.0', 'done(a).\none(?x), one(?y), one(?z)?\nlate(a).'),
    );
    await expect
      .poll(
        async () =>
          (await ending.call<unknown[]>('POST', '/query', { predicate: 'done', args: ['?x'] })).body,
      )
      .toHaveLength(1);
    const closed = ending.close();
    expect(await ending.call('POST', '/a2a', good)).toMatchObject({
      status: 503,
      body: { code: 'NotReady' },
    });
    expect((await ending.call('GET', '/.well-known/agent-card.json')).status).toBe(503);
    const detail = 'the service is shutting down';
    expect((await running).parts.map(({ data }) => data)).toMatchObject([
      undefined as unknown as object,
      { status: 'asserted' },
      { status: 'failed', code: 'NotReady', detail },
      { status: 'failed', code: 'NotReady', detail },
    ]);
    await closed;
    expect(ending.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
  });
});

describe('a client that disconnects', () => {
  it('cancels its question and the remaining ones; facts already told stay stored', async () => {
    const facts = Array.from({ length: 500 }, (_, index) => ({ predicate: 'one', args: [index] }));
    const tenant = randomUUID();
    const headers = { 'x-tenant-id': tenant };
    await service.call('POST', '/assert/facts', { facts }, { headers });
    const question = 'one(?x), one(?y), one(?z)?';
    const text = ['first(line).', question, 'second(line).', question, question, 'last(line).'].join('\n');
    const body = JSON.stringify(rpc('SendMessage', { message: message('1.0', text) }));
    const socket = connect(service.port, '127.0.0.1');
    socket.write(
      `POST /a2a HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: ${tenant}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(() => stored('first', tenant)).toHaveLength(1);
    expect(await stored('last', tenant)).toEqual([]);
    socket.destroy();
    // Well before three questions would hit their limits of 10 seconds each.
    await expect.poll(() => stored('last', tenant)).toHaveLength(1);
    expect(service.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
  });
});
