import { describe, expect, test } from 'vitest';
import { addressOf, call } from './client.ts';
import { openEventStream, pauseBefore, type StreamedChange, type StreamState } from './event-stream.ts';
import { ApiError } from './problem.ts';
import { endScriptedServices, scriptedService } from './testing/scripted-service.ts';

endScriptedServices();

async function failureOfCall(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${String(error)}`);
  return error;
}

describe('a call', () => {
  test('uses the path, method, headers and body of the table', async () => {
    const endpoint = await scriptedService((request, response, body) => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, body: JSON.parse(body) as unknown }));
    });
    const answer: unknown = await call(
      endpoint,
      'updateRule',
      { params: { id: 'a/b c' }, body: { enabled: false } },
      { requestId: 'mine', ifMatch: '"tag"' },
    );
    expect(answer).toMatchObject({
      method: 'PUT',
      url: '/rules/a%2Fb%20c',
      body: { enabled: false },
      headers: {
        'x-database': 'db',
        'x-tenant-id': 'acme',
        'x-request-id': 'mine',
        'x-client': expect.stringMatching(/^workbench\/\d/),
        authorization: 'Bearer secret',
        'content-type': 'application/json',
        'if-match': '"tag"',
      },
    });
  });

  test('is about the moment of its endpoint, and a write is not sent while that is in the past', async () => {
    const sent: string[] = [];
    const endpoint = await scriptedService((request, response, body) => {
      sent.push(`${request.method} ${request.url} ${body}`);
      response.end('{}');
    });
    const past = { ...endpoint, moment: { asOf: null, asKnown: '7' } };
    await call(past, 'ask', { body: { text: 'p(?x)' } });
    await call(past, 'listFacts', { query: { predicate: 'p' } });
    const error = await failureOfCall(call(past, 'assertFact', { body: { predicate: 'p', args: ['a'] } }));
    expect(error).toMatchObject({ code: 'ReadOnlyPast', status: null });
    expect(sent).toEqual(['POST /ask {"text":"p(?x)","asKnown":7}', 'GET /facts?predicate=p&asKnown=7 ']);
    expect(addressOf(past, 'exportKnowledge', { query: {} })).toMatch(/\/export\?asKnown=7$/);
    expect(() => addressOf(past, 'importKnowledge', { query: {} })).toThrow(/cannot be changed/);
  });

  test('omits absent query parameters and encodes the others', () => {
    const endpoint = { origin: 'http://x', database: 'db', tenant: 'acme', key: null };
    const url = addressOf(endpoint, 'listFacts', {
      query: { predicate: 'a b', q: undefined, cursor: null, limit: '10' },
    });
    expect(url).toBe('http://x/facts?predicate=a+b&limit=10');
  });

  test('turns a problem into an error with code, detail and request id', async () => {
    const endpoint = await scriptedService((_, response) => {
      response.statusCode = 422;
      response.end(
        JSON.stringify({
          code: 'RuleException',
          detail: 'nothing binds ?x',
          requestId: 'r1',
          errors: [{ path: 'text', message: 'nothing binds ?x' }, 'odd'],
        }),
      );
    });
    const error = await failureOfCall(call(endpoint, 'assertRule', { body: { text: 'p(?x) :- q()' } }));
    expect(error).toMatchObject({
      code: 'RuleException',
      status: 422,
      detail: 'nothing binds ?x',
      requestId: 'r1',
    });
    expect(error.errors).toHaveLength(1);
  });

  test('keeps the retry time of a refusal', async () => {
    const endpoint = await scriptedService((request, response) => {
      response.statusCode = 429;
      if (request.url === '/health') response.setHeader('Retry-After', '17');
      else response.setHeader('Retry-After', 'Sat, 21 Nov 2026 15:00:00 GMT');
      response.end(JSON.stringify({ code: 'RateLimited', detail: 'too many', requestId: 'r' }));
    });
    expect(await failureOfCall(call(endpoint, 'health', {}))).toMatchObject({ retryAfterSeconds: 17 });
    expect(await failureOfCall(call(endpoint, 'whoami', {}))).toMatchObject({ retryAfterSeconds: null });
  });

  test('reports an answer that is not from the service', async () => {
    const endpoint = await scriptedService((_, response) => {
      response.statusCode = 502;
      response.end('<html>');
    });
    expect((await failureOfCall(call(endpoint, 'health', {}))).code).toBe('Unreadable');
  });

  test('reports a missing answer as Unreachable, with the request id that was sent', async () => {
    const endpoint = await scriptedService((request) => request.socket.destroy());
    const error = await failureOfCall(call(endpoint, 'health', {}, { requestId: 'gone' }));
    expect(error).toMatchObject({ code: 'Unreachable', requestId: 'gone', status: null });
  });

  test('rejects an aborted call as aborted', async () => {
    const endpoint = await scriptedService(() => undefined);
    const controller = new AbortController();
    const running = call(endpoint, 'health', {}, { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the stream of changes', () => {
  test('reconnects after the last event, and reports its state', async () => {
    const seenIds: (string | undefined)[] = [];
    const endpoint = await scriptedService((request, response) => {
      seenIds.push(request.headers['last-event-id'] as string | undefined);
      const generation = seenIds.length;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const data = JSON.stringify({ generation, time: 0, requestId: null });
      response.write(`id: ${generation}.0\nevent: fact.asserted\ndata: ${data}\n\n`);
      if (generation === 1) response.end();
    });
    const changes: StreamedChange[] = [];
    const states: StreamState['kind'][] = [];
    const stream = openEventStream(endpoint, {
      onChanges: (next) => changes.push(...next),
      onState(state) {
        states.push(state.kind);
        if (state.kind === 'waiting') setImmediate(() => stream.retryNow());
      },
    });
    await expect.poll(() => changes.map((change) => change.generation)).toEqual([1, 2]);
    stream.close();
    expect(seenIds).toEqual([undefined, '1.0']);
    expect(states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live']);
  });

  test('reopens on demand without a pause, and continues after the last event', async () => {
    const seenIds: (string | undefined)[] = [];
    const endpoint = await scriptedService((request, response) => {
      seenIds.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const data = JSON.stringify({ generation: 1, time: 0, requestId: null });
      response.write(`id: 1.0\nevent: fact.asserted\ndata: ${data}\n\n`);
    });
    const states: StreamState['kind'][] = [];
    const stream = openEventStream(endpoint, {
      onChanges: () => {
        if (seenIds.length === 1) stream.reconnect();
      },
      onState: (state) => states.push(state.kind),
    });
    await expect.poll(() => states).toEqual(['connecting', 'live', 'connecting', 'live']);
    stream.close();
    expect(seenIds).toEqual([undefined, '1.0']);
  });

  test('gives a refusal as the reason for waiting', async () => {
    const endpoint = await scriptedService((_, response) => {
      response.statusCode = 404;
      response.end(
        JSON.stringify({ code: 'DatabaseNotFound', detail: 'there is no database db', requestId: 'r' }),
      );
    });
    const reason = await new Promise<string>((resolve) => {
      const stream = openEventStream(endpoint, {
        onChanges: () => undefined,
        onState(state) {
          if (state.kind !== 'waiting') return;
          resolve(state.failure.code);
          stream.close();
        },
      });
    });
    expect(reason).toBe('DatabaseNotFound');
  });

  test('does not retry a rejected key until requested', async () => {
    let calls = 0;
    const endpoint = await scriptedService((_, response) => {
      calls += 1;
      response.statusCode = 401;
      response.end(JSON.stringify({ code: 'Unauthenticated', detail: 'expired', requestId: 'r' }));
    });
    const states: StreamState['kind'][] = [];
    const stream = openEventStream(endpoint, {
      onChanges: () => undefined,
      onState: (state) => states.push(state.kind),
    });
    await expect.poll(() => states).toEqual(['connecting', 'refused']);
    // Longer than the first delay before a retry.
    await new Promise((resolve) => setTimeout(resolve, pauseBefore(1) + 100));
    expect(calls).toBe(1);
    stream.retryNow();
    await expect.poll(() => states).toEqual(['connecting', 'refused', 'connecting', 'refused']);
    stream.close();
    expect(calls).toBe(2);
  });

  test('increases pauses up to a limit', () => {
    expect([1, 2, 3].map(pauseBefore)).toEqual([500, 1_000, 2_000]);
    expect(pauseBefore(30)).toBe(8_000);
  });
});
