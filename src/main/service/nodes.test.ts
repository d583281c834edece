/** Several services over one store in a real PostgreSQL server: any of them takes any request. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LogMoved, NodeList, Readiness, StorageState } from '../../engine/contract/administration.ts';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../../engine/testing/private-postgres.ts';
import type { Environment } from '../base/config.ts';
import { signedFor } from '../http/node-requests.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const fact = (name: string) => ({ predicate: 'p', args: [name] });
const question = { text: 'p(?x)' };

describe.skipIf(postgresMissing !== null)(`nodes of a store${postgresNotice}`, () => {
  let server: PrivatePostgres;
  let folder: string;
  let environment: Environment;
  let number = 0;
  const services: ServiceUnderTest[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'corollary-nodes-'));
    await writeFile(join(folder, 'secret'), 'a secret of at least 32 characters\n');
  });
  afterAll(async () => {
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const name = `nodes${number++}`;
    await query(`CREATE DATABASE ${name}`);
    environment = {
      STORE_URL: server.url.replace(/postgres$/, name),
      NODE_SECRET_FILE: join(folder, 'secret'),
    };
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  it('any node takes a write, and a token shows it everywhere', async () => {
    const [owner, ...copies] = await nodes(3);
    for (const [index, copy] of copies.entries()) {
      const told = await copy.call('POST', '/tell', fact(`f${index}`));
      expect([told.status, told.body.generation]).toEqual([200, index + 1]);
      const headers = { 'x-at-least': told.headers.get('x-token') ?? '' };
      for (const node of [owner, ...copies])
        expect((await node.call('POST', '/ask', question, { headers })).body.results).toContain(
          `p(f${index})`,
        );
    }
  });

  it('a long import goes through a copy as a stream, and its lines come back', async () => {
    const [, copy] = await nodes(2);
    const lines = Array.from({ length: 60_000 }, (_, index) => `long_constant_number_${index}\n`).join('');
    expect(lines.length).toBeGreaterThan(1024 * 1024);
    const imported = await fetch(`${copy.address}/import?predicate=p`, {
      method: 'POST',
      headers: { 'x-tenant-id': 'default', 'content-type': 'text/csv' },
      body: lines,
    });
    expect(imported.status).toBe(200);
    expect(await imported.text()).toMatch(/"asserted": ?60000/);
    const headers = { 'x-consistency': 'strong' };
    const listed = await copy.call('GET', '/predicates', undefined, { headers });
    expect(JSON.stringify(listed.body)).toContain('60000');
  });

  it('transactions and MCP work at any node', async () => {
    const [owner, copy] = await nodes(2);
    const { id } = (await copy.call<{ id: string }>('POST', '/tx/begin', {})).body;
    const headers = { 'x-transaction-id': id };
    await copy.call('POST', '/tell', fact('pending'), { headers });
    expect((await copy.call('POST', '/ask', question, { headers })).body.results).toEqual(['p(pending)']);
    expect((await owner.call('POST', '/ask', question)).body.results).toEqual([]);
    expect((await copy.call('POST', `/tx/commit/${id}`, {})).status).toBe(200);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'tell', arguments: { text: 'p(agent)' } },
    };
    // Without a session, and without saying what it takes, a call is answered as it is.
    expect((await copy.call('POST', '/mcp', call, { headers: { accept: '*/*' } })).status).toBe(200);
    expect((await owner.call('POST', '/ask', question)).body.results).toEqual(['p(agent)', 'p(pending)']);
  });

  it('a tool that only reads is answered by the copy, from the latest state; others and transactions go to the owner', async () => {
    const [owner, copy] = await nodes(2);
    await copyIsThere(copy);
    const call = (node: ServiceUnderTest, name: string, given: object) =>
      node.call(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
        { headers: { accept: '*/*' } },
      );
    for (let count = 1; count <= 5; count++) {
      expect((await call(owner, 'tell', { text: `p(f${count})` })).status).toBe(200);
      const asked = await call(copy, 'ask', { text: 'p(?x)' });
      expect([asked.status, JSON.stringify(asked.body).includes(`p(f${count})`)]).toEqual([200, true]);
    }
    expect((await copy.call('GET', '/metrics')).body).toMatch(/^store_forwarded_total\{kind="write"\} 0$/m);
    await call(copy, 'tell', { text: 'p(last)' });
    await call(copy, 'context', { goals: [{ predicate: 'p', args: ['?x'] }], maxFacts: 5 });
    expect((await copy.call('GET', '/metrics')).body).toMatch(/^store_forwarded_total\{kind="write"\} 2$/m);
  });

  it('A2A at any node: what only asks is answered by the copy, what writes by the owner', async () => {
    const [owner, copy] = await nodes(2);
    await copyIsThere(copy);
    const send = async (text: string) => {
      const message = { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text }] };
      const sent = await copy.call('POST', '/a2a', {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: { message },
      });
      return JSON.stringify(sent.body);
    };
    const forwarded = async () =>
      /^store_forwarded_total\{kind="write"\} (\d+)$/m.exec(
        (await copy.call<string>('GET', '/metrics')).body,
      )?.[1];
    for (let count = 1; count <= 3; count++) {
      await owner.call('POST', '/tell', fact(`f${count}`));
      expect(await send('p(?x)')).toContain(`p(f${count})`);
    }
    expect(await forwarded()).toBe('0');
    expect(await send('p(agent).')).toContain('"asserted"');
    expect(await forwarded()).toBe('1');
    expect((await owner.call('POST', '/ask', { text: 'p(agent)' })).body.count).toBe(1);
  });

  it('a session of MCP goes on when the owner is gone', async () => {
    const [owner, copy] = await nodes(2);
    const accept = { accept: 'application/json, text/event-stream' };
    const send = (method: string, params: object, session?: string) =>
      copy.call<string>(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', method, params, ...(method.startsWith('notifications/') ? {} : { id: 1 }) },
        { headers: { ...accept, ...(session === undefined ? {} : { 'mcp-session-id': session }) } },
      );
    const capabilities = { protocolVersion: '2025-06-18', capabilities: {} };
    const begun = await send('initialize', { ...capabilities, clientInfo: { name: 'test', version: '1' } });
    const session = begun.headers.get('mcp-session-id') ?? '';
    expect([begun.status, session.length > 0]).toEqual([200, true]);
    await send('notifications/initialized', {}, session);
    await owner.close();
    services.splice(services.indexOf(owner), 1);
    const told = async () =>
      (await send('tools/call', { name: 'tell', arguments: { text: 'p(agent)' } }, session)).status;
    await expect.poll(told).toBe(200);
    expect((await copy.call('POST', '/ask', question)).body.results).toEqual(['p(agent)']);
  });

  it('an agent at a copy: its calls are in the log of calls, its uses reach the owner, its ended session is over', async () => {
    const [owner, copy] = await nodes(2);
    await owner.call('POST', '/tell', fact('a'));
    const send = (node: ServiceUnderTest, method: string, params: object, session?: string) =>
      node.call<string>(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', method, params, ...(method.startsWith('notifications/') ? {} : { id: 1 }) },
        {
          headers: {
            accept: 'application/json, text/event-stream',
            ...(session === undefined ? {} : { 'mcp-session-id': session }),
          },
        },
      );
    const capabilities = { protocolVersion: '2025-06-18', capabilities: {} };
    const begun = await send(copy, 'initialize', {
      ...capabilities,
      clientInfo: { name: 'test', version: '1' },
    });
    const session = begun.headers.get('mcp-session-id') ?? '';
    await send(copy, 'notifications/initialized', {}, session);
    const ask = { name: 'ask', arguments: { text: 'p(?x)' } };
    expect((await send(copy, 'tools/call', ask, session)).status).toBe(200);
    const calls = async (node: ServiceUnderTest) =>
      (await node.call<{ calls: { tool: string }[] }>('GET', '/mcp/calls')).body.calls.map(
        ({ tool }) => tool,
      );
    for (const node of [owner, copy]) await expect.poll(() => calls(node)).toEqual(['ask']);
    const uses = async (node: ServiceUnderTest) => {
      const { body } = await node.call<{ salienceBreakdown: { uses: number } }>('GET', '/facts/f1-0');
      return body.salienceBreakdown.uses;
    };
    await expect.poll(() => uses(owner)).toBe(2);
    const ended = await copy.call('DELETE', '/mcp', undefined, { headers: { 'mcp-session-id': session } });
    expect(ended.status).toBe(200);
    for (const node of [owner, copy]) expect((await send(node, 'tools/call', ask, session)).status).toBe(404);
  });

  it('takes a message between nodes only with a signature of its body', async () => {
    const [owner] = await nodes(1);
    const secret = 'a secret of at least 32 characters';
    const body = Buffer.from('{"kind": "stored"}');
    const none = { identity: null, peer: null };
    const sent = async (given: Record<string, string>) =>
      (
        await fetch(`${owner.address}/nodes/message`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...given },
          body,
        })
      ).status;
    const signed = (of: Buffer) => ({
      'x-corollary-node': signedFor(
        secret,
        { method: 'POST', url: '/nodes/message', body: of },
        none,
        Date.now(),
      ),
    });
    expect(await sent({})).toBe(403);
    expect(await sent(signed(Buffer.from('{}')))).toBe(403);
    expect(await sent(signed(body))).toBe(204);
  });

  it('an owner that is ended gives the log to another node first, and no write meets an error', async () => {
    const [owner, copy] = await nodes(2);
    let isOver = false;
    const answers: number[] = [];
    const write = async (name: string): Promise<void> => {
      for (let n = 0; !isOver; n++)
        answers.push((await copy.call('POST', '/tell', fact(`${name}_${n}`))).status);
    };
    const writers = [write('a'), write('b')];
    await expect.poll(() => answers.length).toBeGreaterThan(10);
    // The log is given only to a node that has told that it follows.
    const problems = async () =>
      (await copy.call<NodeList>('GET', '/admin/nodes')).body.nodes.map(({ problem }) => problem);
    await expect.poll(problems).toEqual([null, null]);
    services.splice(services.indexOf(owner), 1);
    await owner.close();
    const enough = answers.length + 10;
    await expect.poll(() => answers.length).toBeGreaterThan(enough);
    isOver = true;
    await Promise.all(writers);
    expect(new Set(answers)).toEqual(new Set([200]));
    // Not how often it took them: a lease may run out in between on a busy machine.
    const { node } = (await copy.call<StorageState>('GET', '/admin/storage')).body;
    expect([node?.role, node?.owned]).toEqual(['owner', 1]);
  });

  it('an owner that ends gives up what it cannot give, before what is under way has ended', async () => {
    const patient = {
      finishMs: 600_000,
      cancelMs: 100,
      disconnectMs: 100,
      lastSnapshotByMs: 100,
      allMs: 600_000,
    };
    const [owner, copy] = await nodes(2, { endLimits: patient });
    // Which has not told that it follows.
    await query(
      `CREATE FUNCTION reading() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.problem = 'It reads.'; RETURN NEW; END $$`,
    );
    await query(
      'CREATE TRIGGER reading BEFORE UPDATE ON corollary.node FOR EACH ROW EXECUTE FUNCTION reading()',
    );
    await expect
      .poll(async () => (await listOf(owner)).nodes.every(({ problem }) => problem !== null))
      .toBe(true);
    const slow = slowImport(owner);
    // It is under way, so the log cannot be moved.
    await expect.poll(async () => (await moveTo(copy, owner, (await listOf(owner)).nodes)).status).toBe(409);
    services.splice(services.indexOf(owner), 1);
    const ended = owner.close();
    const answers = new Set<number>();
    // The owner takes writes until it has seen to whom it can give its logs.
    await expect
      .poll(async () => {
        const { status } = await copy.call('POST', '/tell', fact('b'));
        answers.add(status);
        const { nodes: listed, databases } = await listOf(copy);
        return [status, databases.every((each) => each.owner === idOf(listed, copy))];
      })
      .toEqual([200, true]);
    // On a slow machine it waited too long once; never is it unknown what was stored.
    expect(answers).not.toContain(504);
    await slow.end();
    await ended;
  });

  it('X-Route: direct, and a request that another node passed on, are 421 at a copy', async () => {
    const [owner, copy] = await nodes(2);
    const direct = await copy.call('POST', '/tell', fact('a'), { headers: { 'x-route': 'direct' } });
    expect([direct.status, direct.body.code, direct.body.leader]).toEqual([421, 'NotLeader', owner.address]);
    const forged = await copy.call('POST', '/tell', fact('a'), {
      headers: { 'x-corollary-node': 'e30.e30' },
    });
    expect([forged.status, forged.body.code]).toEqual([403, 'Forbidden']);
  });

  it('a key counts at every node, and who has none is refused before the hop', async () => {
    environment = { ...environment, API_KEY: 'the-key-of-this-test' };
    const [, copy] = await nodes(2);
    expect((await copy.call('POST', '/tell', fact('a'))).status).toBe(401);
    const headers = { 'x-api-key': 'the-key-of-this-test' };
    expect((await copy.call('POST', '/tell', fact('a'), { headers })).status).toBe(200);
  });

  it('keys are made through any node, and count at all of them', async () => {
    environment = { ...environment, AUTH_ENABLED: 'true', SERVICE_ADMIN_PASS: 'the-first-password' };
    const [owner, copy] = await nodes(2);
    const bootstrap = { username: 'admin', password: 'the-first-password' };
    const made = await copy.call<{ key: string }>('POST', '/auth/bootstrap', bootstrap);
    expect(made.status).toBe(201);
    const headers = { 'x-api-key': made.body.key };
    const reader = await owner.call<{ id: string; key: string }>(
      'POST',
      '/auth/keys',
      { role: 'reader' },
      { headers },
    );
    const asked = async () =>
      (await copy.call('POST', '/ask', question, { headers: { 'x-api-key': reader.body.key } })).status;
    await expect.poll(asked).toBe(200);
    expect((await owner.call('DELETE', `/auth/keys/${reader.body.id}`, undefined, { headers })).status).toBe(
      200,
    );
    await expect.poll(asked).toBe(401);
  });

  it('an owner that cannot be reached is 503, and one that dies after it got a write 504 without a key', async () => {
    const [, copy] = await nodes(2);
    let isDeaf = false;
    const deaf = createServer((request) => {
      isDeaf = true;
      request.socket.destroy();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => deaf.once('listening', resolve));
    const { port } = deaf.address() as AddressInfo;
    const atOwner = (address: string): Promise<unknown> =>
      query(
        `UPDATE corollary.node SET address = '${address}' WHERE id = (SELECT owner FROM corollary.log WHERE name = 'default')`,
      );
    await atOwner(`http://127.0.0.1:${port}`);
    const ownerAddress = async () =>
      (await copy.call<StorageState>('GET', '/admin/storage')).body.node?.ownerAddress;
    await expect.poll(ownerAddress).toBe(`http://127.0.0.1:${port}`);
    const unknown = await copy.call('POST', '/tell', fact('a'));
    expect([unknown.status, unknown.body.code, isDeaf]).toEqual([504, 'OutcomeUnknown', true]);
    await new Promise((resolve) => deaf.close(resolve));
    await atOwner('http://127.0.0.1:1');
    await expect.poll(ownerAddress).toBe('http://127.0.0.1:1');
    const refused = await copy.call('POST', '/tell', fact('a'));
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'NoOwner',
      '1',
    ]);
    // As while a command that moves the store has the log.
    await atOwner('');
    await expect.poll(ownerAddress).toBeNull();
    expect((await copy.call('POST', '/tell', fact('a'))).body.code).toBe('NoOwner');
  });

  it('lists the nodes with owner and lag, the same at each', async () => {
    const [owner, copy] = await nodes(2);
    await owner.call('POST', '/tell', fact('a'));
    const positions = async () => (await listOf(copy)).nodes.map(({ position }) => position);
    await expect.poll(positions).toEqual([3, 3]);
    const { log, nodes: listed } = await listOf(copy);
    expect(log).toMatchObject({ position: 3, epoch: 1, owner: idOf(listed, owner) });
    expect(Math.abs((log?.ownedSince ?? 0) - Date.now())).toBeLessThan(600_000);
    const place = ({
      address,
      role,
      self,
      lagRecords,
      alive,
      problem,
      usedBytes,
    }: NodeList['nodes'][number]) => ({
      address,
      role,
      self,
      lagRecords,
      alive,
      problem,
      isMeasured: (usedBytes ?? 0) > 1024 * 1024,
    });
    const fine = { lagRecords: 0, alive: true, problem: null, isMeasured: true };
    expect(listed.map(place)).toEqual(
      [
        { address: owner.address, role: 'owner', self: false, ...fine },
        { address: copy.address, role: 'copy', self: true, ...fine },
      ].toSorted((one, other) => (one.address < other.address ? -1 : 1)),
    );
    expect((await owner.call('GET', '/metrics')).body).toMatch(/^store_owned 1$/m);
    expect((await copy.call('GET', '/metrics')).body).toMatch(/^store_owned 0$/m);
  });

  it('moves the log to another node and back while clients write, and none of them gets an error', async () => {
    const [owner, copy] = await nodes(2);
    const { nodes: listed } = await listOf(owner);
    let isOver = false;
    const answers: number[] = [];
    const write = async (node: ServiceUnderTest, name: string): Promise<void> => {
      for (let n = 0; !isOver; n++)
        answers.push((await node.call('POST', '/tell', fact(`${name}_${n}`))).status);
    };
    const longWrites = async (): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const long = await fetch(`${copy.address}/tell`, {
          method: 'POST',
          headers: { 'x-tenant-id': 'default', 'content-type': 'application/json' },
          body: JSON.stringify(fact(`long_${n}`)) + ' '.repeat(1_200_000),
        });
        await long.text();
        answers.push(long.status);
      }
    };
    const writers = [write(owner, 'a'), write(owner, 'b'), write(copy, 'c'), write(copy, 'd'), longWrites()];
    for (const to of [copy, owner, copy]) {
      const enough = answers.length + 40;
      await expect.poll(() => answers.length).toBeGreaterThan(enough);
      // On a machine that is busy a write can take longer than a move waits for it: 409, and nothing has changed.
      await expect
        .poll(async () => {
          const { status, body } = await moveTo(to, owner, listed);
          return status === 409 ? null : [status, body.address];
        })
        .toEqual([200, to.address]);
    }
    isOver = true;
    await Promise.all(writers);
    expect(new Set(answers)).toEqual(new Set([200]));
    const headers = { 'x-consistency': 'strong' };
    for (const node of [owner, copy])
      expect((await node.call('POST', '/ask', question, { headers })).body.results).toHaveLength(
        answers.length,
      );
    expect((await listOf(owner)).log).toMatchObject({ epoch: 4, owner: idOf(listed, copy) });
    expect((await copy.call('GET', '/metrics')).body).toMatch(/^store_takes_total 4$/m);
  });

  it('does not move the log to a node that is unknown or gone, nor while a write takes long', async () => {
    const [owner, copy] = await nodes(2);
    const { nodes: listed } = await listOf(owner);
    const unknown = await owner.call('POST', '/admin/nodes/move', {
      to: '00000000-0000-4000-8000-000000000000',
    });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'NotFound']);
    const slow = slowImport(owner);
    await expect.poll(async () => (await moveTo(copy, owner, listed)).status).toBe(409);
    expect((await listOf(owner)).log?.owner).toBe(idOf(listed, owner));
    await slow.end();
    await copy.close();
    services.splice(services.indexOf(copy), 1);
    expect((await moveTo(copy, owner, listed)).body).toMatchObject({ code: 'NotFound' });
    expect((await owner.call('POST', '/tell', fact('after'))).status).toBe(200);
  });

  it('one that reads while PostgreSQL is away says how old that is, and stops at STALE_READS_MS', async () => {
    environment = { ...environment, STALE_READS_MS: '2000' };
    const [, copy] = await nodes(2);
    await server.stop();
    await expect
      .poll(async () => (await copy.call('GET', '/facts')).headers.get('x-stale-ms'))
      .toMatch(/^\d{4}$/);
    await expect.poll(async () => (await copy.call('GET', '/facts')).body.code).toBe('NoOwner');
    expect((await copy.call<Readiness>('GET', '/health/ready')).status).toBe(503);
    await server.start();
    await expect.poll(async () => (await copy.call('GET', '/facts')).status).toBe(200);
  });

  it('events go on at a copy, and a client that comes from another node is told to read again', async () => {
    const [owner, copy] = await nodes(2);
    const events = await eventsOf(copy);
    await owner.call('POST', '/tell', fact('seen'));
    const { id, kind } = await events.next();
    expect([kind, /^1\.0@[0-9a-f]{8}$/.test(id)]).toEqual(['fact.asserted', true]);
    await events.end();
    const elsewhere = await eventsOf(owner, id);
    expect((await elsewhere.next()).kind).toBe('reset');
    await elsewhere.end();
  });

  async function listOf(node: ServiceUnderTest): Promise<NodeList> {
    return (await node.call<NodeList>('GET', '/admin/nodes')).body;
  }

  function moveTo({ address }: ServiceUnderTest, at: ServiceUnderTest, listed: NodeList['nodes']) {
    const to = listed.find((node) => node.address === address)?.id;
    return at.call<LogMoved>('POST', '/admin/nodes/move', { to });
  }

  async function nodes(
    count: number,
    options: Parameters<typeof startServiceUnderTest>[1] = {},
  ): Promise<[ServiceUnderTest, ServiceUnderTest, ...ServiceUnderTest[]]> {
    for (let started = 0; started < count; started++)
      services.push(await startServiceUnderTest(environment, options));
    return services as [ServiceUnderTest, ServiceUnderTest, ...ServiceUnderTest[]];
  }

  /** A node that starts is ready before it has the copies that it is given later. */
  async function copyIsThere(copy: ServiceUnderTest): Promise<void> {
    await expect
      .poll(async () => {
        const { nodes: listed, databases } = await listOf(copy);
        return databases.every(({ copies }) => copies.includes(idOf(listed, copy) ?? ''));
      })
      .toBe(true);
  }

  async function query(text: string): Promise<void> {
    const client = new Client({ connectionString: environment?.['STORE_URL'] ?? server.url });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }
});

function idOf(listed: NodeList['nodes'], { address }: ServiceUnderTest): string | undefined {
  return listed.find((node) => node.address === address)?.id;
}

/** An import whose client has not sent everything. */
function slowImport({ address }: ServiceUnderTest): { end(): Promise<void> } {
  let end = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('a\n'));
      end = () => controller.close();
    },
  });
  const answered = fetch(`${address}/import?predicate=p`, {
    method: 'POST',
    headers: { 'x-tenant-id': 'default', 'content-type': 'text/csv' },
    body,
    duplex: 'half',
  } as RequestInit);
  return {
    end: async () => {
      end();
      await (await answered).text();
    },
  };
}

async function eventsOf({ address }: ServiceUnderTest, lastEventId?: string) {
  const gone = new AbortController();
  const response = await fetch(`${address}/events`, {
    headers: {
      'x-tenant-id': 'default',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: gone.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  return {
    async next(): Promise<{ id: string; kind: string }> {
      for (;;) {
        const found = /id: (\S+)\nevent: (\S+)\n/.exec(text);
        if (found !== null) {
          text = text.slice(found.index + found[0].length);
          return { id: found[1] ?? '', kind: found[2] ?? '' };
        }
        const { value } = await reader.read();
        text += new TextDecoder().decode(value);
      }
    },
    async end(): Promise<void> {
      gone.abort();
      await reader.cancel().catch(() => {
        // It was aborted.
      });
    },
  };
}
