import { once } from 'node:events';
import { createServer, request as requestOf } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type OperationName,
  type OperationOutput,
  operations as contract,
} from '../../src/engine/contract/operations.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../../src/main/testing/service-under-test.ts';
import { type Client, createClient } from './client.ts';
import { CorollaryError } from './failure.ts';
import type { Upload } from './options.ts';
import type { Operations } from './types.ts';

/** Names of operations whose types do not match; `never` if all do. */
type Answered<Name extends OperationName> = Awaited<ReturnType<Operations[Name]>>;
type Misfit = {
  [Name in OperationName]: Answered<Name> extends AsyncIterable<unknown>
    ? never
    : [OperationOutput<Name>] extends [Answered<Name>]
      ? never
      : Name;
}[OperationName];
let service: ServiceUnderTest;
let client: Client;

beforeAll(async () => {
  service = await startServiceUnderTest({ API_KEY: 'right' });
  client = createClient({ url: `${service.address}/`, tenant: 'acme', key: 'right' });
});
afterAll(() => service.close());

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (reason: unknown) => reason,
  );
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('the types', () => {
  test("match the contract's answers for every operation", () => {
    const misfits: Misfit[] = [];
    // A name among them is a compiler error here.
    const none: never[] = misfits;
    expect(none).toEqual([]);
    expect(Object.keys(client).sort()).toEqual(Object.keys(contract).sort());
  });
});

describe('a client', () => {
  test('tells, teaches, asks for a proof and retracts', async () => {
    const told = await client.assertFacts({ facts: [{ predicate: 'parent', args: ['alma', 'nora'] }] });
    expect(told).toMatchObject({ asserted: 1 });
    const rule = await client.assertRule({ text: 'child(?x, ?y) :- parent(?y, ?x)' });
    const answer = await client.ask({ text: 'child(nora, ?who)', withProof: true });
    expect(answer.bindings).toEqual([{ who: 'alma' }]);
    expect(answer.proof?.steps.at(-1)).toMatchObject({ atom: 'child(nora, alma)', ruleId: rule.id });
    const changed = await client.updateRule(rule.id, { name: 'children' }, { ifMatch: rule.etag });
    expect(await failureOf(client.deleteRule(rule.id, { ifMatch: rule.etag }))).toMatchObject({
      code: 'PreconditionFailed',
    });
    expect(await client.getRule(rule.id)).toMatchObject({ name: 'children', etag: changed.etag });
    await client.storeTests({ text: 'test "a child" { expect child(nora, alma). }' });
    expect(await failureOf(client.deleteRule(rule.id, { runTests: true }))).toMatchObject({
      code: 'TestsFailed',
    });
    expect(await client.retract({ predicate: 'parent', args: ['alma', 'nora'] })).toMatchObject({
      dependents: ['child(nora, alma)'],
    });
  });

  test('encodes numbers, flags and lists in a query string', async () => {
    await client.assertFacts({
      facts: ['b', 'a', 'c'].map((name) => ({ predicate: 'listed', args: [name], scope: 'a/b c' })),
    });
    const page = await client.listFacts({
      predicate: 'listed',
      limit: 2,
      truthVal: true,
      order: 'asc',
      q: null,
    });
    expect(page).toMatchObject({ total: 3, facts: [{ args: ['b'] }, { args: ['a'] }] });
    const memory = await client.browseMemory({ predicates: ['listed', 'child'] });
    expect(memory.facts).toHaveLength(3);
    expect(await client.deleteScope('a/b c')).toMatchObject({ facts: 3 });
  });

  test('sees its own writes in a transaction, which others see after the commit', async () => {
    const { id } = await client.beginTransaction();
    const fact = { predicate: 'pending', args: [] };
    expect(await client.assertFact(fact, { transaction: id })).toMatchObject({ status: 'pending' });
    expect(await client.query(fact, { transaction: id })).toHaveLength(1);
    expect(await client.query(fact)).toEqual([]);
    expect(await client.commitTransaction(id, { dryRun: true })).toMatchObject({ dryRun: true });
    await client.commitTransaction(id);
    expect(await client.query(fact)).toHaveLength(1);
  });

  test('applies a write once, however often it is sent with one key', async () => {
    const options = { idempotencyKey: 'once' };
    const first = await client.assertFact({ predicate: 'once', args: ['é'] }, options);
    expect(await client.assertFact({ predicate: 'once', args: ['é'] }, options)).toEqual(first);
    expect(await failureOf(client.assertFact({ predicate: 'twice', args: [] }, options))).toMatchObject({
      code: 'IdempotencyMismatch',
    });
  });

  test('returns a text as a text, and an unready service as an answer', async () => {
    expect(await client.clearContextSession({ sessionId: 's' })).toBe("Session 's' cleared");
    expect(await client.ready()).toMatchObject({ subsystems: { engine: 'ready' } });
  });

  test('reports a refusal with its code, its request id and the error of each field', async () => {
    const error = await failureOf(client.assertFact({ predicate: 'p(', args: [] }, { requestId: 'mine' }));
    expect(error).toBeInstanceOf(CorollaryError);
    expect(error).toMatchObject({
      code: 'ValidationException',
      status: 400,
      requestId: 'mine',
      errors: [{ path: 'predicate' }],
      problem: { title: 'The request is not valid' },
    });
    const stranger = createClient({ url: service.address, tenant: 'acme' });
    expect(await failureOf(stranger.listRules())).toMatchObject({ code: 'Unauthenticated', status: 401 });
    expect(await failureOf(listOf(stranger.events()))).toMatchObject({ code: 'Unauthenticated' });
  });
});

describe('streams', () => {
  test('send the lines of an import, and return them in an export', async () => {
    const source = new Blob(['colour(sky, blue).\ncolour(grass, green).\nno statement at all\n']);
    const lines = await listOf(client.importKnowledge(source.stream(), 'text/x-datalog'));
    expect(lines.at(-1)).toMatchObject({ done: true, asserted: 2, failed: 1 });
    const bytes = await listOf(
      client.exportKnowledge({ format: 'datalog', predicate: 'colour', rules: false }),
    );
    const text = await new Blob(bytes as BlobPart[]).text();
    expect(text).toContain('colour(sky, blue).');
    const again = await listOf(client.importKnowledge(text, 'text/x-datalog', { dryRun: true }));
    expect(again.at(-1)).toMatchObject({ unchanged: 2, dryRun: true });
  });

  test('report changes as they happen, continue after the last one seen, and end with the loop', async () => {
    let after: string | undefined;
    const begun = await client.assertFact({ predicate: 'begun', args: [] });
    for await (const change of client.events({ after: `${begun.generation - 1}.0` })) {
      after = change.eventId;
      if (change.atom === 'begun()') break;
    }
    await client.assertFact({ predicate: 'next', args: [] });
    for await (const change of client.events({ after })) {
      expect(change).toMatchObject({ kind: 'fact.asserted', atom: 'next()' });
      break;
    }
    await expect
      .poll(async () => (await fetchText('/metrics')).match(/events_subscribers (\d+)/)?.[1])
      .toBe('0');
  });

  async function fetchText(path: string): Promise<string> {
    return (await fetch(service.address + path, { headers: { 'X-API-Key': 'right' } })).text();
  }
});

describe('an import that breaks off after its first line', () => {
  const facts = Array.from({ length: 12_000 }, (_, n) => `p(import_${n}).\n`).join('');

  /** Passes on what it gets, and breaks this many answers off after their first line. */
  async function breaking(answers: number): Promise<{ address: string; keys: (string | undefined)[] }> {
    let left = answers;
    const keys: (string | undefined)[] = [];
    const { hostname, port } = new URL(service.address);
    const relay = createServer((request, response) => {
      keys.push(request.headers['idempotency-key'] as string | undefined);
      const upstream = requestOf(
        { hostname, port, method: request.method, path: request.url, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          if (answer.statusCode !== 200 || left-- <= 0) return void answer.pipe(response);
          answer.once('data', (bytes) =>
            response.write(bytes, () => setImmediate(() => request.socket.destroy())),
          );
        },
      );
      request.on('close', () => request.complete || upstream.destroy());
      response.on('close', () => response.writableFinished || upstream.destroy());
      upstream.on('error', () => request.socket.destroy());
      request.pipe(upstream);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void relay.close());
    await once(relay, 'listening');
    return { address: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`, keys };
  }

  const bodies: Record<string, Upload> = {
    text: facts,
    blob: new Blob([facts]),
    function: () => new Blob([facts]).stream(),
  };
  test.each(Object.keys(bodies))(
    'is made again with its key from a %s, and its lines go on',
    async (kind) => {
      const { address, keys } = await breaking(1);
      const sure = createClient({ url: address, tenant: `broken-${kind}`, key: 'right' });
      const lines = await listOf(sure.importKnowledge(bodies[kind] ?? '', 'text/x-datalog'));
      const processed = lines.flatMap((line) => ('processed' in line ? [line.processed] : []));
      expect(processed).toEqual([...new Set(processed)]);
      expect(lines.at(-1)).toMatchObject({ done: true, failed: 0 });
      expect([keys.length > 1, new Set(keys).size]).toEqual([true, 1]);
      expect((await sure.listFacts({ limit: 1 })).total).toBe(12_000);
    },
  );

  test('says what was stored, if its body was a stream', async () => {
    const { address, keys } = await breaking(1);
    const sure = createClient({ url: address, tenant: 'broken-stream', key: 'right' });
    const stream = new Blob([facts]).stream();
    expect(await failureOf(listOf(sure.importKnowledge(stream, 'text/x-datalog')))).toMatchObject({
      code: 'Unreachable',
      detail: expect.stringMatching(/^The import broke off. At least \d+ of its lines/) as string,
    });
    expect(keys).toHaveLength(1);
  });
});

describe('a call whose answer is lost', () => {
  /** Passes on what it gets, and loses this many answers. */
  async function losing(answers: number): Promise<{ address: string; count: () => number; end(): void }> {
    let lost = 0;
    let count = 0;
    const { hostname, port } = new URL(service.address);
    const relay = createServer((request, response) => {
      count++;
      const upstream = requestOf(
        { hostname, port, method: request.method, path: request.url, headers: request.headers },
        (answer) => {
          if (lost++ < answers) answer.resume().once('end', () => request.socket.destroy());
          else answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
        },
      );
      request.pipe(upstream);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const address = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    return { address, count: () => count, end: () => void relay.close() };
  }

  test('is made again, and takes effect once', async () => {
    const relay = await losing(2);
    const sure = createClient({ url: relay.address, tenant: 'lost', key: 'right' });
    const first = await sure.assertFact({ predicate: 'p', args: ['a'] });
    expect([relay.count(), first.generation]).toEqual([
      3,
      (await sure.assertFact({ predicate: 'p', args: ['b'] })).generation - 1,
    ]);
    relay.end();
  });

  test('is not made again without retries, nor if its body was a stream, nor if the caller has ended it', async () => {
    const relay = await losing(100);
    const address = { url: relay.address, tenant: 'lost', key: 'right' };
    const once = createClient({ ...address, retryMs: 0 });
    expect(await failureOf(once.assertFact({ predicate: 'p', args: [] }))).toMatchObject({
      code: 'Unreachable',
    });
    const sure = createClient(address);
    const stream = new Blob(['p(c).\n']).stream();
    expect(await failureOf(listOf(sure.importKnowledge(stream, 'text/x-datalog')))).toMatchObject({
      code: 'Unreachable',
    });
    expect(relay.count()).toBe(2);
    const ended = new AbortController();
    const running = failureOf(sure.listRules({}, { signal: ended.signal }));
    await expect.poll(() => relay.count()).toBeGreaterThan(3);
    ended.abort(new Error('given up'));
    expect(await running).toBe(ended.signal.reason);
    relay.end();
  });

  test('goes to the next address, if the first one does not answer', async () => {
    const both = createClient({ url: ['http://127.0.0.1:9', service.address], tenant: 'acme', key: 'right' });
    expect(await both.health()).toMatchObject({ status: 'ok' });
  });

  test('goes to the next address at once, if the first one says when to come back', async () => {
    const busy = createServer((_request, response) => {
      const headers = { 'content-type': 'application/problem+json', 'retry-after': '3600' };
      response.writeHead(503, headers).end('{"code": "NoOwner", "status": 503, "detail": "none"}');
    }).listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const first = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
    const both = createClient({ url: [first, service.address], tenant: 'acme', key: 'right' });
    expect(await both.assertFact({ predicate: 'p', args: ['next'] })).toMatchObject({ status: 'asserted' });
    busy.close();
  });
});

describe('an unanswered call', () => {
  test('rejects with Unreachable if nothing listens', async () => {
    const nowhere = createClient({ url: 'http://127.0.0.1:9', tenant: 'acme', retryMs: 0 });
    expect(await failureOf(nowhere.health())).toMatchObject({ code: 'Unreachable', status: null });
  });

  test('rejects with the reason of its signal, aborted before or meanwhile', async () => {
    const reason = new Error('given up');
    expect(await failureOf(client.health({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    const controller = new AbortController();
    const running = failureOf(listOf(client.events({ signal: controller.signal })));
    controller.abort(reason);
    expect(await running).toBe(reason);
  });

  test('rejects with TimedOut if it takes too long, in a stream between two pieces', async () => {
    expect(await failureOf(listOf(client.events({ timeoutMs: 50 })))).toMatchObject({ code: 'TimedOut' });
  });
});
