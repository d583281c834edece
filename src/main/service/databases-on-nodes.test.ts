/** Databases on several services over one store in a real PostgreSQL server: each has an owner of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LogMoved, NodeList } from '../../engine/contract/administration.ts';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../../engine/testing/private-postgres.ts';
import type { Environment } from '../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

const fact = (name: string) => ({ predicate: 'p', args: [name] });
const question = { text: 'p(?x)' };
const second = { 'x-database': 'second' };

describe.skipIf(postgresMissing !== null)(`databases on nodes${postgresNotice}`, () => {
  let server: PrivatePostgres;
  let folder: string;
  let environment: Environment;
  let number = 0;
  const services: ServiceUnderTest[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'corollary-databases-'));
    await writeFile(join(folder, 'secret'), 'a secret of at least 32 characters\n');
  });
  afterAll(async () => {
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const name = `databases${number++}`;
    await query(`CREATE DATABASE ${name}`);
    environment = {
      STORE_URL: server.url.replace(/postgres$/, name),
      NODE_SECRET_FILE: join(folder, 'secret'),
    };
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  it('a database belongs to the node that created it, and any node takes what is for it, at once', async () => {
    const [one, two] = await nodes();
    expect((await two.call('POST', '/databases', { name: 'second' })).status).toBe(201);
    const told = await one.call('POST', '/tell', fact('a'), { headers: second });
    expect([told.status, told.body.generation]).toEqual([200, 1]);
    expect((await two.call('POST', '/tell', fact('b'))).body.generation).toBe(1);
    const [atOne, atTwo] = await ownersOf(two);
    expect([atOne.address, atTwo.address]).toEqual([one.address, two.address]);
    for (const node of [one, two]) {
      const strong = { 'x-consistency': 'strong' };
      const asked = async (headers: object) =>
        (await node.call('POST', '/ask', question, { headers: { ...strong, ...headers } })).body.results;
      expect([await asked(second), await asked({})]).toEqual([['p(a)'], ['p(b)']]);
      const token = { 'x-at-least': told.headers.get('x-token') ?? '' };
      expect((await node.call('POST', '/ask', question, { headers: { ...token, ...second } })).status).toBe(
        200,
      );
      // A token is one of its database.
      expect((await node.call('POST', '/ask', question, { headers: token })).status).toBe(409);
    }
    const { body } = await one.call<{ databases: { name: string; facts: number }[] }>('GET', '/databases');
    expect(body.databases.map(({ name, facts }) => [name, facts])).toEqual([
      ['default', 1],
      ['second', 1],
    ]);
    await expect
      .poll(async () => (await one.call('GET', '/metrics')).body)
      .toMatch(/^store_owned 1$[^]*^store_copies 1$/m);
    expect((await one.call('POST', '/databases', { name: 'second' })).status).toBe(409);
  });

  it('transactions and sessions of MCP are with the owner of their database', async () => {
    const [one, two] = await nodes();
    await two.call('POST', '/databases', { name: 'second' });
    const { id } = (await one.call<{ id: string }>('POST', '/tx/begin', {}, { headers: second })).body;
    const headers = { ...second, 'x-transaction-id': id };
    expect((await one.call('POST', '/tell', fact('pending'), { headers })).status).toBe(200);
    expect((await one.call('POST', `/tx/commit/${id}`, {}, { headers: second })).status).toBe(200);
    const accept = { accept: 'application/json, text/event-stream' };
    const send = (method: string, params: object, more: object) =>
      one.call<string>(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', method, params, ...(method.startsWith('notifications/') ? {} : { id: 1 }) },
        { headers: { ...accept, ...more } },
      );
    const capabilities = { protocolVersion: '2025-06-18', capabilities: {} };
    const begun = await send(
      'initialize',
      { ...capabilities, clientInfo: { name: 'test', version: '1' } },
      second,
    );
    // Later requests need not name the database.
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    await send('notifications/initialized', {}, session);
    const told = await send('tools/call', { name: 'tell', arguments: { text: 'p(agent)' } }, session);
    expect([told.status, told.body.includes('isError')]).toEqual([200, false]);
    const asked = await two.call('POST', '/ask', question, { headers: second });
    expect(asked.body.results).toEqual(['p(agent)', 'p(pending)']);
    expect((await one.call('POST', '/ask', question)).body.results).toEqual([]);
  });

  it('one database moves, and then what is left; the writes to others do not wait', async () => {
    const [one, two] = await nodes();
    await one.call('POST', '/databases', { name: 'second' });
    const { nodes: listed } = await listOf(one);
    const to = listed.find(({ address }) => address === two.address)?.id;
    // 409 until it has told that it follows.
    const moved = async (given: object) => {
      const { status, body } = await two.call<LogMoved>('POST', '/admin/nodes/move', given);
      return status === 409 ? null : [status, body.address];
    };
    await expect.poll(() => moved({ to, database: 'second' })).toEqual([200, two.address]);
    const owners = async () => (await ownersOf(one)).map(({ address }) => address);
    expect(await owners()).toEqual([one.address, two.address]);
    expect((await one.call('POST', '/tell', fact('a'), { headers: second })).status).toBe(200);
    await expect.poll(() => moved({ to })).toEqual([200, two.address]);
    expect(await owners()).toEqual([two.address, two.address]);
    const told = two.logged.map(({ msg }) => String(msg));
    expect(told).toContain('Database second: The log was given to this node, and writes go on here.');
    expect(told.filter((message) => message.includes('is gone'))).toEqual([]);
    const unknown = await one.call('POST', '/admin/nodes/move', { to, database: 'none' });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'DatabaseNotFound']);
  });

  it('a deleted database is gone at every node, with all its frames; created again, its generations go on', async () => {
    const [one, two] = await nodes();
    await two.call('POST', '/databases', { name: 'second' });
    for (const name of ['a', 'b']) await one.call('POST', '/tell', fact(name), { headers: second });
    expect(await one.call('DELETE', '/databases/second')).toMatchObject({ status: 200, body: { facts: 2 } });
    for (const node of [one, two])
      await expect
        .poll(async () => (await node.call('POST', '/ask', question, { headers: second })).body.code)
        .toBe('DatabaseNotFound');
    const [log] = await query("SELECT id, ended, owner FROM corollary.log WHERE name = 'second'");
    expect(log).toMatchObject({ ended: true, owner: null });
    expect(await query(`SELECT 1 FROM corollary.frame WHERE log = ${Number(log?.['id'])}`)).toEqual([]);
    expect((await listOf(one)).databases.map(({ name }) => name)).toEqual(['default']);
    expect((await one.call('POST', '/databases', { name: 'second' })).status).toBe(201);
    const told = await two.call('POST', '/tell', fact('c'), { headers: second });
    expect([told.status, told.body.generation]).toEqual([200, 4]);
    expect((await one.call('POST', '/ask', question, { headers: second })).body.results).toEqual(['p(c)']);
  });

  it('what a node left half made or half removed when it was killed ends, and the name is free', async () => {
    const [one] = await nodes();
    await one.call('POST', '/databases', { name: 'second' });
    await one.call('POST', '/tell', fact('a'), { headers: second });
    await one.call('DELETE', '/databases/second');
    // As if it had been killed after the record of the deletion, or after the row of a new log.
    await query("UPDATE corollary.log SET ended = false WHERE name = 'second'");
    await query(`INSERT INTO corollary.log (name, history, epoch, owner, first_sequence, last_sequence, last_checksum)
      VALUES ('third', gen_random_uuid(), 0, gen_random_uuid(), 1, 0, 0)`);
    const ended = () => query('SELECT name FROM corollary.log WHERE ended ORDER BY 1');
    await expect.poll(ended).toEqual([{ name: 'second' }, { name: 'third' }]);
    const { body } = await one.call<{ databases: { name: string }[] }>('GET', '/databases');
    expect(body.databases.map(({ name }) => name)).toEqual(['default']);
    for (const name of ['second', 'third'])
      expect((await one.call('POST', '/databases', { name })).status).toBe(201);
  });

  it('a creation that is repeated with its key at another node gets the first answer', async () => {
    const [one, two] = await nodes();
    const headers = { 'idempotency-key': 'create-1' };
    const first = await one.call('POST', '/databases', { name: 'second' }, { headers });
    const repeated = await two.call('POST', '/databases', { name: 'second' }, { headers });
    expect([repeated.status, repeated.body]).toEqual([201, first.body]);
    // Keys of requests to different databases are apart.
    const told = await two.call('POST', '/tell', fact('a'), { headers: { ...second, ...headers } });
    expect(told.status).toBe(200);
  });

  it('keys are the same everywhere: one for a single database, created at one node and revoked at another', async () => {
    environment = { ...environment, AUTH_ENABLED: 'true', API_KEY: 'the-key-of-this-test' };
    const [one, two] = await nodes();
    const admin = { headers: { 'x-api-key': 'the-key-of-this-test' } };
    await two.call('POST', '/databases', { name: 'second' }, admin);
    const made = await two.call<{ key: string; id: string }>(
      'POST',
      '/auth/keys',
      { role: 'writer', databases: ['second'] },
      admin,
    );
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const key = { 'x-api-key': made.body.key };
    const told = async (more: object) =>
      (await two.call('POST', '/tell', fact('a'), { headers: { ...key, ...more } })).status;
    await expect.poll(() => told(second)).toBe(200);
    expect(await told({})).toBe(403);
    expect((await one.call('DELETE', `/auth/keys/${made.body.id}`, undefined, admin)).status).toBe(200);
    await expect.poll(() => told(second)).toBe(401);
  });

  it('an owner that ends leaves its databases to another node, and those of others go on', async () => {
    const [one, two] = await nodes();
    await two.call('POST', '/databases', { name: 'second' });
    await two.call('POST', '/tell', fact('a'), { headers: second });
    await two.close();
    services.splice(services.indexOf(two), 1);
    expect((await one.call('POST', '/tell', fact('b'))).status).toBe(200);
    await expect
      .poll(async () => (await one.call('POST', '/tell', fact('c'), { headers: second })).status)
      .toBe(200);
    expect((await one.call('POST', '/ask', question, { headers: second })).body.results).toEqual([
      'p(a)',
      'p(c)',
    ]);
    // One that starts later opens all of them.
    const three = await startServiceUnderTest(environment);
    services.push(three);
    expect((await three.call('POST', '/ask', question, { headers: second })).body.results).toEqual([
      'p(a)',
      'p(c)',
    ]);
  });

  it('events at a copy are those of their database, and a backup has all databases', async () => {
    const [one, two] = await nodes();
    await two.call('POST', '/databases', { name: 'second' });
    const gone = new AbortController();
    const headers = { 'x-tenant-id': 'default', ...second };
    const stream = await fetch(`${one.address}/events`, { headers, signal: gone.signal });
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    await two.call('POST', '/tell', fact('elsewhere'));
    await two.call('POST', '/tell', fact('here'), { headers: second });
    let text = '';
    while (!text.includes('fact.asserted')) text += new TextDecoder().decode((await reader.read()).value);
    expect([text.includes('p(here)'), text.includes('elsewhere')]).toEqual([true, false]);
    gone.abort();
    const backup = await fetch(`${one.address}/admin/backup`, { method: 'POST' });
    const bytes = new Uint8Array(await backup.arrayBuffer());
    expect([backup.status, bytes.length]).toEqual([200, Number(backup.headers.get('content-length'))]);
    const text8 = new TextDecoder('latin1').decode(bytes);
    expect([text8.includes('elsewhere'), text8.includes('here'), text8.includes('second')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('of three nodes two have each database, so each has a part of all; any of them answers for all, and lists all', async () => {
    const [one, two] = await nodes();
    const three = await startServiceUnderTest(environment);
    services.push(three);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const [at, name] of names.entries()) {
      const node = services[at % 3] as ServiceUnderTest;
      expect((await node.call('POST', '/databases', { name })).status).toBe(201);
      const headers = { 'x-database': name };
      expect((await one.call('POST', '/tell', fact(`in_${name}`), { headers })).status).toBe(200);
    }
    const held = async (node: ServiceUnderTest) => {
      const { databases, nodes: listed } = await listOf(one);
      const { id } = listed.find(({ address }) => address === node.address) ?? { id: '' };
      return databases.flatMap(({ name, owner, copies }) =>
        owner === id || copies.includes(id) ? [name] : [],
      );
    };
    await expect
      .poll(async () => (await listOf(one)).databases.map(({ owner, copies }) => [owner, ...copies].length))
      .toEqual(Array.from({ length: 7 }, () => 2));
    const parts = await Promise.all(services.map(held));
    for (const part of parts) expect(part.length).toBeLessThan(7);
    expect(parts.flat()).toHaveLength(14);
    const counts = async (node: ServiceUnderTest) => {
      const { body } = await node.call<{ databases: { name: string; facts: number }[] }>('GET', '/databases');
      return body.databases.map(({ name, facts }) => [name, facts]);
    };
    for (const node of services)
      await expect
        .poll(() => counts(node))
        .toEqual(['a', 'b', 'c', 'd', 'default', 'e', 'f'].map((name) => [name, name === 'default' ? 0 : 1]));
    for (const [at, node] of services.entries()) {
      const missing = names.find((name) => parts[at]?.includes(name) === false);
      expect((await node.call('GET', '/health/ready')).status).toBe(200);
      for (const name of names) {
        const headers = { 'x-database': name };
        const told = await node.call('POST', '/tell', fact(`at_${at}`), { headers });
        const token = { 'x-at-least': told.headers.get('x-token') ?? '' };
        for (const more of [token, { 'x-consistency': 'strong' }]) {
          const asked = await node.call('POST', '/ask', question, { headers: { ...headers, ...more } });
          expect([asked.status, asked.body.results]).toEqual([
            200,
            expect.arrayContaining([`p(in_${name})`, `p(at_${at})`]),
          ]);
        }
      }
      if (missing === undefined) continue;
      // What it does not have comes from another node: a stream, a file, a tool of an agent, and what is not there.
      const headers = { 'x-tenant-id': 'default', 'x-database': missing };
      const gone = new AbortController();
      const stream = await fetch(`${node.address}/events`, { headers, signal: gone.signal });
      const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
      await node.call('POST', '/tell', fact('seen'), { headers });
      let text = '';
      while (!text.includes('p(seen)')) text += new TextDecoder().decode((await reader.read()).value);
      gone.abort();
      const exported = await fetch(`${node.address}/export?format=datalog`, { headers });
      expect([exported.status, (await exported.text()).includes(`in_${missing}`)]).toEqual([200, true]);
      const params = { name: 'ask', arguments: { text: 'p(?x)' } };
      const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const called = await node.call('POST', '/mcp', rpc, { headers: { ...headers, accept: '*/*' } });
      expect([called.status, JSON.stringify(called.body).includes(`in_${missing}`)]).toEqual([200, true]);
      expect((await node.call('POST', '/databases', { name: missing })).status).toBe(409);
      const direct = await node.call('POST', '/ask', question, {
        headers: { ...headers, 'x-route': 'direct' },
      });
      expect(direct.status).toBe(421);
    }
    // A node that does not have a database makes a copy before it is given the writes.
    const missing = names.find((name) => parts[1]?.includes(name) === false) ?? '';
    const to = (await listOf(one)).nodes.find(({ address }) => address === two.address)?.id;
    await expect
      .poll(async () => (await three.call('POST', '/admin/nodes/move', { to, database: missing })).status)
      .toBe(200);
    expect(await held(two)).toContain(missing);
    await expect
      .poll(async () => (await listOf(one)).databases.every(({ copies }) => copies.length === 1))
      .toBe(true);
    const headers = { 'x-database': missing };
    expect((await three.call('POST', '/tell', fact('moved'), { headers })).status).toBe(200);
    // A deleted one is gone at each, and what ends gives its databases to those that have copies.
    expect((await one.call('DELETE', `/databases/${missing}`)).status).toBe(200);
    for (const node of services)
      await expect
        .poll(async () => (await node.call('POST', '/ask', question, { headers })).body.code)
        .toBe('DatabaseNotFound');
    await two.close();
    services.splice(services.indexOf(two), 1);
    for (const name of names.filter((each) => each !== missing))
      for (const node of services) {
        const asked = await node.call('POST', '/tell', fact('last'), { headers: { 'x-database': name } });
        expect([name, asked.status]).toEqual([name, 200]);
      }
  });

  async function listOf(node: ServiceUnderTest): Promise<NodeList> {
    return (await node.call<NodeList>('GET', '/admin/nodes')).body;
  }

  /** The nodes that have `default` and `second`. */
  async function ownersOf(node: ServiceUnderTest) {
    const { databases, nodes: listed } = await listOf(node);
    const ownerOf = (name: string) => {
      const { owner } = databases.find((database) => database.name === name) ?? {};
      return { address: listed.find(({ id }) => id === owner)?.address };
    };
    return [ownerOf('default'), ownerOf('second')] as const;
  }

  async function nodes(): Promise<[ServiceUnderTest, ServiceUnderTest]> {
    for (let started = 0; started < 2; started++) services.push(await startServiceUnderTest(environment));
    return services as unknown as [ServiceUnderTest, ServiceUnderTest];
  }

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: environment?.['STORE_URL'] ?? server.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }
});
