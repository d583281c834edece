import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseList, TenantList } from '../../engine/contract/administration.ts';
import { type Engine, openEngine, serving } from '../../engine/index.ts';
import { parseConfig } from '../base/config.ts';
import { createDispatcher, type Identity } from '../base/dispatch.ts';
import { findInstallation } from '../base/installation.ts';
import { KnownAgents } from '../mcp/agents.ts';
import { createHandlers } from '../service/handlers.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createHttpApp, type HttpApp } from './app.ts';

/** Databases and tenants over HTTP: contract section 9. */

describe('databases and tenants', () => {
  let service: ServiceUnderTest;

  beforeAll(async () => {
    service = await startServiceUnderTest();
  });

  afterAll(() => service.close());

  const tell = (database: string, tenant: string, argument = 'a') =>
    service.call(
      'POST',
      '/tell',
      { predicate: 'p', args: [argument] },
      { headers: { 'x-database': database, 'x-tenant-id': tenant } },
    );

  it('are created, listed, emptied and deleted', async () => {
    const made = await service.call('POST', '/databases', { name: 'team' });
    expect(made).toMatchObject({ status: 201, body: { name: 'team' } });
    expect((await service.call('POST', '/databases', { name: 'team' })).status).toBe(409);
    const tenant = await service.call('POST', '/admin/databases/team/tenants', { name: 'one' });
    expect(tenant).toMatchObject({ status: 201, body: { name: 'one' } });
    const again = await service.call('POST', '/admin/databases/team/tenants', { name: 'one' });
    expect(again).toMatchObject({ status: 409, body: { code: 'Conflict' } });
    await tell('team', 'one');
    await tell('team', 'two');
    const { body: tenants } = await service.call<TenantList>('GET', '/admin/databases/team/tenants');
    expect(tenants.tenants).toMatchObject([
      { name: 'one', facts: 1 },
      { name: 'two', facts: 1 },
    ]);
    expect((await service.call('POST', '/admin/databases/team/tenants/one/nuke')).body).toEqual({
      status: 'nuked',
      facts: 1,
      rules: 0,
      generation: 3,
    });
    expect((await service.call('DELETE', '/admin/databases/team/tenants/one')).body).toEqual({
      status: 'deleted',
      facts: 0,
      rules: 0,
      generation: 3,
    });
    expect((await service.call('POST', '/admin/databases/team/nuke')).body).toEqual({
      status: 'nuked',
      facts: 1,
      rules: 0,
      generation: 4,
    });
    expect((await service.call('DELETE', '/databases/team')).body).toEqual({
      name: 'team',
      status: 'deleted',
      facts: 0,
      rules: 0,
    });
    const { body: databases } = await service.call<DatabaseList>('GET', '/databases');
    expect(databases.databases.map(({ name }) => name)).toEqual(['default']);
  });

  it('are listed with every field of the contract and their contents', async () => {
    const createdAt = expect.any(Number);
    const made = await service.call('POST', '/databases', { name: 'told' });
    expect(made).toMatchObject({ status: 201, body: { name: 'told', createdAt } });
    const tenant = await service.call('POST', '/admin/databases/told/tenants', { name: 'one' });
    expect(tenant).toMatchObject({ status: 201, body: { name: 'one', createdAt } });
    const headers = { 'x-database': 'told', 'x-tenant-id': 'one' };
    for (const args of [['a'], ['b']])
      await service.call('POST', '/tell', { predicate: 'p', args }, { headers });
    await service.call('POST', '/teach', { text: 'q(?x) :- p(?x)' }, { headers });
    const { databases } = (await service.call<DatabaseList>('GET', '/databases')).body;
    expect(databases.find(({ name }) => name === 'told')).toMatchObject({
      name: 'told',
      createdAt: (made.body as unknown as { createdAt: number }).createdAt,
      tenants: 1,
      facts: 2,
      rules: 1,
    });
    const { tenants } = (await service.call<TenantList>('GET', '/admin/databases/told/tenants')).body;
    expect(tenants).toMatchObject([{ name: 'one', createdAt, facts: 2 }]);
    expect((await service.call('POST', '/admin/databases/told/nuke')).body).toMatchObject({
      status: 'nuked',
      facts: 2,
      rules: 1,
      generation: 4,
    });
    await service.call('POST', '/tell', { predicate: 'p', args: ['c'] }, { headers });
    expect((await service.call('DELETE', '/databases/told')).body).toMatchObject({
      name: 'told',
      status: 'deleted',
      facts: 1,
      rules: 0,
    });
    expect(await service.call('GET', '/facts', undefined, { headers })).toMatchObject({
      status: 404,
      body: { code: 'DatabaseNotFound' },
    });
  });

  it('have percent-encoded names in paths', async () => {
    for (const name of ['a/b', '100%', '%2F', '?', '#', '..a', '~!@$&*()', 'a+b', '"', '\\', ';=,']) {
      const path = `/admin/databases/default/tenants/${encodeURIComponent(name)}`;
      await tell('default', name);
      expect((await service.call('POST', `${path}/nuke`)).body, name).toMatchObject({ facts: 1 });
      expect((await service.call('DELETE', path)).status).toBe(200);
      expect(await service.call('DELETE', path)).toMatchObject({
        status: 404,
        body: { code: 'TenantNotFound' },
      });
    }
    expect((await service.call('POST', '/databases', { name: 'a-b_c.1' })).status).toBe(201);
    expect((await service.call('DELETE', '/databases/%61-b_c%2E1')).status).toBe(200);
  });

  it.each([
    ['DELETE', '/databases/a%20b', 400, 'ValidationException'],
    ['DELETE', '/databases/a%2Fb', 400, 'ValidationException'],
    ['DELETE', '/databases/none', 404, 'DatabaseNotFound'],
    ['DELETE', '/databases/default', 409, 'Conflict'],
    ['POST', '/admin/databases/none/nuke', 404, 'DatabaseNotFound'],
    ['GET', '/admin/databases/none/tenants', 404, 'DatabaseNotFound'],
    ['POST', '/admin/databases/none/tenants', 404, 'DatabaseNotFound'],
    ['POST', '/admin/databases/default/tenants', 400, 'ValidationException'],
    ['POST', '/admin/databases/default/tenants/none/nuke', 404, 'TenantNotFound'],
    ['POST', '/admin/databases/default/tenants/a%20b/nuke', 400, 'ValidationException'],
    ['DELETE', '/admin/databases/none/tenants/none', 404, 'DatabaseNotFound'],
  ])('reject %s %s with %i %s', async (method, path, status, code) => {
    const body = method === 'POST' && path.endsWith('tenants') ? { nmae: 'x' } : undefined;
    expect(await service.call(method, path, body)).toMatchObject({ status, body: { code } });
  });

  it('need no tenant header and ignore the database header', async () => {
    const response = await fetch(`${service.address}/admin/databases/default/tenants`, {
      headers: { 'x-database': 'none' },
    });
    expect(response.status).toBe(200);
  });

  it('are deleted during reads and writes, which get a whole answer or DatabaseNotFound', async () => {
    for (let round = 0; round < 5; round++) {
      await service.call('POST', '/databases', { name: 'busy' });
      const headers = { 'x-database': 'busy' };
      const call = (method: string, path: string, body?: unknown) =>
        service.call(method, path, body, { headers });
      await call('POST', '/teach', { text: 'path(?x, ?y) :- edge(?x, ?y)' });
      await call('POST', '/teach', { text: 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)' });
      const facts = Array.from({ length: 60 }, (_, at) => ({
        predicate: 'edge',
        args: [`${at}`, `${at + 1}`],
      }));
      await call('POST', '/assert/facts', { facts });
      const busy = Array.from({ length: 40 }, (_, at) => {
        if (at === 20) return service.call('DELETE', '/databases/busy');
        if (at % 4 === 0) return call('POST', '/ask', { predicate: 'path', args: ['?x', '?y'] });
        if (at % 4 === 1) return call('POST', '/tell', { predicate: 'edge', args: [`${at}`, 'x'] });
        if (at % 4 === 2)
          return call('POST', '/retract', { predicate: 'edge', args: [`${at}`, `${at + 1}`] });
        return call('GET', '/facts?sort=createdAt');
      });
      for (const { status, body } of await Promise.all(busy))
        if (status !== 200) expect(body).toMatchObject({ status: 404, code: 'DatabaseNotFound' });
    }
    expect(service.logged.filter(({ level }) => level === 'error' || level === 50)).toEqual([]);
  });
});

describe('a restricted credential', () => {
  let engine: Engine;
  let http: HttpApp;
  let address: string;
  const limited: Identity = { credential: 'k1', role: 'admin', databases: ['mine'], tenants: ['me'] };

  beforeAll(async () => {
    engine = await openEngine({ storageDir: null });
    const state = {
      engine,
      get language(): never {
        throw new Error('nothing here is about language');
      },
      agents: new KnownAgents({
        tell: () => never(),
        place: () => never(),
        sendCall: () => null,
        testBridge: () => never(),
      }),
      get authentication(): never {
        throw new Error('nothing here is about keys');
      },
      version: '0.0.0',
      uptimeMs: () => 0,
      replicationStatus: () => never(),
      moveLog: () => never(),
      storagePlace: null,
      databases: (caller: Parameters<typeof engine.databases>[0]) => engine.databases(caller),
      readiness: () => never(),
    };
    const sources = {
      counters: () => null,
      figures: () => null,
      traffic: () => null,
      node: () => null,
      passedOn: () => null,
      replication: () => null,
      scheduler: serving,
      isStorageReady: () => true,
      uptimeMs: state.uptimeMs,
    };
    http = await createHttpApp({
      ...findInstallation(),
      log: createLogger({ level: 'ERROR', format: 'json', write: () => {} }),
      settings: parseConfig({}),
      dispatcher: createDispatcher(createHandlers(state), {
        leaderUrl: null,
        checkOutputs: true,
        beginQuestion: () => () => {},
        onCall: () => {},
      }),
      metrics: createMetrics(sources, []),
      phase: () => 'ready',
      hasDatabase: (name) => engine.hasDatabase(name),
      token: (database) => engine.token(database),
      atLeast: (database, token) => engine.atLeast(database, token),
      confirm: () => engine.confirm(),
      remembers: (caller) => engine.remembers(caller),
      keptImport: () => null,
      whenErased: () => undefined,
      metricsHistory: () => '',
      abandon: (caller) => engine.abandon(caller),
      authenticate: (headers) =>
        headers['x-api-key'] === 'reader' ? { ...limited, role: 'reader' } : limited,
      holds: () => true,
      admitTry: () => {},
      nodes: null,
      needsCredential: false,
    });
    await http.app.listen({ host: '127.0.0.1', port: 0 });
    address = `http://127.0.0.1:${(http.app.server.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    await http.app.close();
    await engine.close();
  });

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it.each([
    ['DELETE', '/databases/default'],
    ['DELETE', '/databases/none'],
    ['DELETE', '/databases/mine'],
    ['POST', '/admin/databases/mine/nuke'],
    ['GET', '/admin/databases/default/tenants'],
    ['GET', '/admin/databases/not%20a%20name/tenants'],
    ['POST', '/admin/databases/default/tenants'],
    ['POST', '/admin/databases/none/tenants/me/nuke'],
    ['POST', '/admin/databases/mine/tenants/other/nuke'],
    ['DELETE', '/admin/databases/mine/tenants/other'],
  ])('gets 403 for %s %s before any other check', async (method, path) => {
    expect(await call(method, path)).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });

  it('reaches what it covers, and sees nothing else in lists', async () => {
    expect((await call('POST', '/databases', { name: 'other' })).status).toBe(403);
    expect((await call('GET', '/admin/databases/mine/tenants')).status).toBe(404);
    expect((await call('POST', '/databases', { name: 'mine' })).status).toBe(201);
    expect((await call('POST', '/admin/databases/mine/tenants', { name: 'other' })).status).toBe(403);
    expect((await call('POST', '/admin/databases/mine/tenants', { name: 'me' })).status).toBe(201);
    expect((await call('GET', '/databases')).body).toMatchObject({
      databases: [{ name: 'mine', tenants: 1 }],
    });
    expect((await call('POST', '/admin/databases/mine/tenants/me/nuke')).status).toBe(200);
  });

  it('needs the admin role for everything except the lists', async () => {
    const asReader = { 'x-api-key': 'reader' };
    expect((await call('GET', '/databases', undefined, asReader)).status).toBe(200);
    expect((await call('GET', '/admin/databases/mine/tenants', undefined, asReader)).status).toBe(200);
    for (const path of ['mine/nuke', 'mine/tenants', 'mine/tenants/me/nuke', 'none/nuke'])
      expect((await call('POST', `/admin/databases/${path}`, undefined, asReader)).status).toBe(403);
    expect((await call('DELETE', '/databases/none', undefined, asReader)).status).toBe(403);
  });
});

function never(): never {
  throw new Error('nobody asks');
}
