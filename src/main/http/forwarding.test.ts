/** A node with a copy, and owners that answer, refuse, or break off. The nodes of a real store: ../service/nodes.test.ts. */
import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import type { NodeStatus } from '../../engine/contract/administration.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { EngineError } from '../../engine/index.ts';
import { anonymous } from '../base/dispatch.ts';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { requestIdOf, sendProblem } from './answers.ts';
import { discardRest } from './body.ts';
import { Forwarding } from './forwarding.ts';
import type { HttpHost, NodeHost } from './host.ts';
import { Activity } from './limits.ts';
import { nodeHeader } from './node-requests.ts';
import { leaveBodiesUnread } from './routes.ts';

const fact = { predicate: 'p', args: ['a'] };

it('writes go to the owner with the client signed, and its answer comes back', async () => {
  const owner = await startServiceUnderTest();
  onTestFinished(() => owner.close());
  const node = await copyOf([owner.address]);
  const told = await node.call('assertFact', fact, { 'x-request-id': 'mine' });
  expect([told.status, told.headers.get('x-request-id')]).toEqual([200, 'mine']);
  expect(told.headers.get('x-token')).toMatch(/\.1\.\d+$/);
  expect((await owner.call('POST', '/ask', { text: 'p(?x)' })).body.results).toEqual(['p(a)']);
});

it('reads stay, unless the copy cannot show what they demand', async () => {
  const owner = await ownerThat((request, response) => {
    response.setHeader('x-here', String(nodeHeader in request.headers)).end('{"results": ["p(a)"]}');
  });
  const node = await copyOf([owner]);
  expect((await node.call('ask', { text: 'p(?x)' })).text).toBe('{"here":true,"staleMs":null}');
  const demanding = await node.call('ask', { text: 'p(?x)' }, { 'x-at-least': 'behind' });
  expect([demanding.text, demanding.headers.get('x-here')]).toEqual(['{"results": ["p(a)"]}', 'true']);
  expect((await node.call('ask', {}, { 'x-transaction-id': 't' })).headers.get('x-here')).toBe('true');
  expect((await node.call('optimizeContext', {})).headers.get('x-here')).toBe('true');
});

it('a credential is not passed on, nor what belongs to the connection or to the page', async () => {
  let seen: IncomingMessage['headers'] = {};
  const owner = await ownerThat((request, response) => {
    seen = request.headers;
    response.setHeader('access-control-allow-origin', '*').end('{}');
  });
  const node = await copyOf([owner]);
  const headers = { 'x-api-key': 'secret', authorization: 'Bearer secret', origin: 'http://page.example' };
  const told = await node.call('assertFact', fact, {
    ...headers,
    'idempotency-key': 'k',
    'x-database': 'default',
  });
  expect(seen).toMatchObject({ 'idempotency-key': 'k', 'x-database': 'default' });
  for (const name of Object.keys(headers)) expect(seen, name).not.toHaveProperty(name);
  expect(told.headers.get('access-control-allow-origin')).toBeNull();
});

it('an owner that is none any more, or can store nothing, has done nothing: the next one is asked', async () => {
  const former = await ownerThat((_request, response) => {
    response.writeHead(421).end('{}');
  });
  const owner = await ownerThat((_request, response) => void response.end('{"status": "asserted"}'));
  expect((await (await copyOf([former, owner])).call('assertFact', fact)).text).toBe(
    '{"status": "asserted"}',
  );
  expect((await (await copyOf([former, former, owner])).call('assertFact', fact)).status).toBe(200);
  const unable = await ownerThat((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"code": "NoOwner"}');
  });
  expect((await (await copyOf([unable, owner])).call('assertFact', fact)).status).toBe(200);
  // It ends, and renews its lease until it has ended.
  expect(
    (await (await copyOf([unable, unable, unable, unable, owner])).call('assertFact', fact)).status,
  ).toBe(200);
  const busy = await ownerThat((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"code": "NotReady"}');
  });
  const refused = await (await copyOf([busy, owner])).call('assertFact', fact);
  expect([refused.status, refused.code]).toEqual([503, 'NotReady']);
});

it('a request waits while the lease of an owner that is gone runs out, and goes to the next one', async () => {
  const owner = await ownerThat((_request, response) => void response.end('{}'));
  const nowhere = 'http://127.0.0.1:1';
  const gone = await copyOf([nowhere, nowhere, nowhere, null, null, owner], { isRenewed: false });
  expect((await gone.call('assertFact', fact)).status).toBe(200);
  const unasked = await copyOf([nowhere, nowhere, owner], {
    isRenewed: false,
    problem: 'PostgreSQL is away',
  });
  expect((await unasked.call('assertFact', fact)).code).toBe('NoOwner');
  // Another node can ask it, and says who the next owner is.
  const heard = await copyOf([nowhere, nowhere, nowhere, nowhere, owner], {
    isRenewed: false,
    problem: 'PostgreSQL is away',
    isHeard: true,
  });
  expect((await heard.call('assertFact', fact)).status).toBe(200);
});

it('a request that can be repeated leaves an owner that hangs as soon as another node has the log', async () => {
  const owner = await ownerThat((_request, response) => void response.end('{}'));
  let lose = (): void => {};
  const hung = await ownerThat(() => lose());
  const node = await copyOf([hung, owner]);
  lose = node.lose;
  expect((await node.call('assertFact', fact, { 'idempotency-key': 'k' })).status).toBe(200);
});

it('a request over a kept connection to a node that cannot be reached any more does not wait for it', async () => {
  const owner = await ownerThat((_request, response) => void response.end('{}'));
  let isSilent = false;
  const silent = createServer((_request, response) => {
    if (!isSilent) response.end('{}');
  });
  const front = createNetServer((socket) => void silent.emit('connection', socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => front.once('listening', resolve));
  const node = await copyOf([`http://127.0.0.1:${(front.address() as AddressInfo).port}`, owner]);
  expect((await node.call('assertFact', fact)).status).toBe(200);
  isSilent = true;
  // It accepts nothing new, and keeps what is open.
  front.close();
  expect((await node.call('assertFact', fact)).code).toBe('OutcomeUnknown');
  expect((await node.call('assertFact', fact, { 'idempotency-key': 'k' })).status).toBe(200);
});

it('one that nobody reaches although it is alive is 503', async () => {
  const owner = await ownerThat((_request, response) => void response.end('{}'));
  const nowhere = 'http://127.0.0.1:1';
  expect((await (await copyOf([nowhere, owner])).call('assertFact', fact)).status).toBe(200);
  const refused = await (await copyOf([nowhere, nowhere])).call('assertFact', fact);
  expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'NoOwner', '1']);
  expect((await (await copyOf([null, owner])).call('assertFact', fact)).status).toBe(200);
  expect((await (await copyOf([null, null])).call('assertFact', fact)).code).toBe('NoOwner');
});

it('a connection that breaks after sending is 504, or repeated with an Idempotency-Key or for a read', async () => {
  const broken = await ownerThat((request) => void request.socket.destroy());
  const owner = await ownerThat((_request, response) => void response.end('{}'));
  const unknown = await (await copyOf([broken, owner])).call('assertFact', fact);
  expect([unknown.status, unknown.code]).toEqual([504, 'OutcomeUnknown']);
  expect(
    (await (await copyOf([broken, owner])).call('assertFact', fact, { 'idempotency-key': 'k' })).status,
  ).toBe(200);
  expect((await (await copyOf([broken, owner])).call('optimizeContext', {})).status).toBe(200);
  expect((await (await copyOf([broken, broken])).call('optimizeContext', {})).code).toBe('NoOwner');
});

it('a long body is sent as it comes, once its owner asks for it', async () => {
  let bytes = 0;
  const owner = await ownerThat((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end('{}'));
    response.writeContinue();
  });
  const long = { ...fact, metadata: { note: 'x'.repeat(3_000_000) } };
  expect((await (await copyOf([owner])).call('assertFact', long)).status).toBe(200);
  expect(bytes).toBeGreaterThan(3_000_000);
  const former = await ownerThat((_request, response) => void response.writeHead(421).end('{}'));
  for (const first of [former, 'http://127.0.0.1:1']) {
    bytes = 0;
    expect((await (await copyOf([first, owner])).call('assertFact', long)).status).toBe(200);
    expect(bytes).toBeGreaterThan(3_000_000);
  }
  const eager = await ownerThat((_request, response) => {
    response.writeContinue();
    response.writeHead(421).end('{}');
  });
  const refused = await (await copyOf([eager, owner])).call('assertFact', long);
  expect([refused.status, refused.code]).toEqual([503, 'NoOwner']);
  const broken = await ownerThat((request, response) => {
    response.writeContinue();
    request.once('data', () => request.socket.destroy());
  });
  expect((await (await copyOf([broken, owner])).call('assertFact', long)).code).toBe('OutcomeUnknown');
});

it.each([
  ['X-Route: direct', { 'x-route': 'direct' }, 'a secret of at least 32 characters'],
  ['a node without a secret', {}, null],
])('%s: 421 with the address of the owner', async (_what, headers, secret) => {
  const node = await copyOf(['http://owner.example:9300'], { secret });
  const refused = await node.call('assertFact', fact, headers);
  expect([refused.status, refused.code, refused.problem.leader]).toEqual([
    421,
    'NotLeader',
    'http://owner.example:9300',
  ]);
});

it.each([
  [900, '{"here":true,"staleMs":null}'],
  [1500, '{"here":true,"staleMs":1500}'],
])('a copy that is %d ms old answers %s', async (staleMs, expected) => {
  expect((await (await copyOf([null], { staleMs })).call('ask', {})).text).toBe(expected);
});

it('what another node passed on counts as a call while it waits for a move, so that the end of the owner waits for it', async () => {
  const activity = new Activity();
  const nodes = { status: () => ({ role: 'owner' }), copies: () => null, look: async () => 0 };
  const host = { phase: () => 'ready', hasDatabase: () => true };
  const forwarding = new Forwarding(host as unknown as HttpHost, nodes as unknown as NodeHost, activity);
  let release = (): void => {};
  const moving = forwarding.gate.hold(
    0,
    'default',
    () => new Promise<void>((resolve) => (release = resolve)),
  );
  const answer = new EventEmitter();
  const request = { headers: { 'x-tenant-id': 'default' }, forwarded: { identity: anonymous, peer: null } };
  const passed = forwarding.passesOn(
    operations.assertFact,
    request as unknown as FastifyRequest,
    { raw: answer } as unknown as FastifyReply,
  );
  expect(await activity.idle(0)).toBe(false);
  release();
  await moving;
  expect([await passed, await activity.idle(0)]).toEqual([false, false]);
  answer.emit('close');
  expect(await activity.idle(0)).toBe(true);
  forwarding.close();
});

it('a copy that is older than STALE_READS_MS refuses to read', async () => {
  const refused = await (await copyOf([null], { staleMs: 60_001 })).call('ask', {});
  expect([refused.status, refused.code]).toEqual([503, 'NoOwner']);
});

it('a database that is not known here is looked for first; while the store cannot be asked, nobody says that there is none', async () => {
  const owner = await ownerThat((_request, response) => void response.end('{"results": []}'));
  const known: string[] = [];
  const confirm = async (database: string): Promise<void> => void known.push(database);
  const node = await copyOf([owner], { known, confirm });
  expect((await node.call('ask', {})).text).toBe('{"here":true,"staleMs":null}');
  expect(known).toEqual(['default']);
  const away = (): Promise<never> =>
    Promise.reject(new EngineError('NoOwner', 'PostgreSQL is away', { retryAfterSeconds: 1 }));
  for (const name of ['ask', 'assertFact'] as const) {
    const refused = await (await copyOf([owner], { known: [], confirm: away })).call(name, fact);
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'NoOwner', '1']);
  }
});

it('what a copy does not know it looks for before it says so; an owner knows', async () => {
  let role = 'copy';
  const scopes = new Set<string>();
  const confirm = async (): Promise<void> => void scopes.add('forked');
  const nodes = { status: () => ({ role }) };
  const host = { confirm };
  const forwarding = new Forwarding(
    host as unknown as HttpHost,
    nodes as unknown as NodeHost,
    new Activity(),
  );
  onTestFinished(() => forwarding.close());
  const read = (scope: string) => async () => {
    if (!scopes.has(scope)) throw new EngineError('ScopeNotFound', scope);
    return scope;
  };
  expect(await forwarding.unlessUnknown('default', read('forked'))).toBe('forked');
  await expect(forwarding.unlessUnknown('default', read('none'))).rejects.toMatchObject({
    code: 'ScopeNotFound',
  });
  scopes.clear();
  role = 'owner';
  await expect(forwarding.unlessUnknown('default', read('forked'))).rejects.toThrow('forked');
});

/** A node whose looks find these owners in turn; null: none. */
async function copyOf(
  owners: readonly (string | null)[],
  {
    secret = 'a secret of at least 32 characters',
    staleMs = 0,
    isRenewed = true,
    problem = null,
    known = ['default'],
    isHeard = false,
    confirm = async () => {},
  }: {
    secret?: string | null;
    staleMs?: number;
    isRenewed?: boolean;
    problem?: string | null;
    known?: readonly string[];
    isHeard?: boolean;
    confirm?: (database: string) => Promise<void>;
  } = {},
) {
  let looks = 0;
  const status = (): NodeStatus => ({
    id: 'node',
    role: 'copy',
    owner: 'owner',
    ownerAddress: owners[Math.min(looks, owners.length - 1)] ?? null,
    owned: 0,
    copies: 1,
    lagRecords: 0,
    staleMs,
    takes: 0,
    clockSkewMs: 0,
    problem,
  });
  const nodes: NodeHost = {
    status,
    address: () => 'http://127.0.0.1:1',
    secret,
    staleReadsMs: 60_000,
    receive: async () => {},
    copies: () => null,
    hear: async () => isHeard,
    look: async () => {
      looks++;
      return isRenewed ? 3000 * looks : 0;
    },
  };
  const atLeast = (): Promise<never> =>
    Promise.reject(new EngineError('NoOwner', 'behind', { retryAfterSeconds: 1 }));
  const forwarding = new Forwarding(
    {
      atLeast,
      confirm,
      phase: () => 'ready',
      hasDatabase: (name: string) => known.includes(name),
    } as unknown as HttpHost,
    nodes,
    new Activity(),
  );
  const app = fastify({ genReqId: requestIdOf, forceCloseConnections: true });
  for (const name of ['forwarded', 'showToken', 'crossOrigin', 'staleMs', 'identity'])
    app.decorateRequest(name, null);
  app.decorateRequest('isDemandMet', false);
  app.addHook('onRequest', (request, reply, done) => {
    request.identity = anonymous;
    // As the whole application does: the client may be sending still.
    reply.raw.on('close', () => discardRest(request.raw));
    done();
  });
  leaveBodiesUnread(app);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  for (const name of ['assertFact', 'ask', 'optimizeContext'] satisfies OperationName[]) {
    const spec = operations[name];
    app.post(spec.path, async (request, reply) => {
      if (await forwarding.passesOn(spec, request, reply)) return reply;
      return { here: true, staleMs: request.staleMs };
    });
  }
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    forwarding.close();
    await app.close();
  });
  return {
    /** Another node has the log from now on. */
    lose: () => void looks++,
    call: async (name: 'assertFact' | 'ask' | 'optimizeContext', body: object, headers: HeadersInit = {}) => {
      const response = await fetch(`${address}${operations[name].path}`, {
        method: 'POST',
        headers: { 'x-tenant-id': 'default', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const problem = (response.ok ? {} : JSON.parse(text)) as { code?: string; leader?: string };
      return { status: response.status, headers: response.headers, text, problem, code: problem.code };
    },
  };
}

async function ownerThat(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer).on('checkContinue', answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
