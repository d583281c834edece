import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Readiness, SnapshotTaken } from '../../engine/contract/administration.ts';
import type { FactList } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import { parseConfig } from '../base/config.ts';
import { readEndpoint, removeEndpoint, writeEndpoint } from '../base/endpoint-file.ts';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { startService } from './service.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import { createLogger } from '../telemetry/logger.ts';

const log = createLogger({ level: 'ERROR', format: 'json', write: () => {} });
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-service-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** The refusal that a start ends with. */
async function refusalOf(start: Promise<unknown>): Promise<StartRefusal> {
  const error = await start.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof StartRefusal) return error;
  throw error ?? new Error('the service has started');
}

function configFor(environment: Record<string, string>) {
  return parseConfig({
    COROLLARY_ENDPOINT_FILE: join(folder, 'state', 'endpoint.json'),
    HOST: '127.0.0.1',
    PORT: '0',
    STORAGE_DIR: join(folder, 'data'),
    ...environment,
  });
}

describe('a start', () => {
  it('keeps earlier writes after a clean end', async () => {
    const environment = { STORAGE_DIR: join(folder, 'data') };
    const first = await startServiceUnderTest(environment);
    await first.call('POST', '/tell', { predicate: 'kept', args: ['x'] });
    await first.call('POST', '/teach', { text: 'found(?x) :- kept(?x)' });
    await first.close();
    const second = await startServiceUnderTest(environment);
    const { body } = await second.call<Answer>('POST', '/ask', { predicate: 'found', args: ['?x'] });
    expect(body.results).toEqual(['found(x)']);
    await second.close();
  });

  it('reads the snapshot and the later writes', async () => {
    const environment = { STORAGE_DIR: join(folder, 'data') };
    const first = await startServiceUnderTest(environment);
    await first.call('POST', '/tell', { predicate: 'kept', args: ['x'] });
    const { status, body: taken } = await first.call<SnapshotTaken>('POST', '/admin/snapshot');
    expect([status, taken.position]).toEqual([200, 2]);
    expect(await readdir(join(folder, 'data'))).toContain('0000000002.snapshot');
    await first.call('POST', '/tell', { predicate: 'kept', args: ['y'] });
    await first.close();
    const second = await startServiceUnderTest(environment);
    const { body } = await second.call<Answer>('POST', '/ask', { predicate: 'kept', args: ['?x'] });
    expect(body.results).toEqual(['kept(x)', 'kept(y)']);
    await second.close();
  });

  it('is refused if the port is taken, with the port and what to do', async () => {
    const first = await startService(configFor({}), { log });
    const config = configFor({ PORT: String(first.port), STORAGE_DIR: join(folder, 'other') });
    const refusal = await refusalOf(startService(config, { log }));
    expect(refusal.kind).toBe('port-taken');
    expect(refusal.message).toContain(`Port ${first.port}`);
    expect(refusal.message).toContain('PORT');
    await first.close();
  });

  it('is refused if the folder is in use, with its owner', async () => {
    const first = await startService(configFor({}), { log });
    const refusal = await refusalOf(startService(configFor({}), { log }));
    expect(refusal.kind).toBe('folder-locked');
    expect(refusal.message).toContain(String(process.pid));
    expect(refusal.owner).toBe(first.address);
    await first.close();
  });

  it('is refused for the folder if the same service has folder and port', async () => {
    const first = await startService(configFor({}), { log });
    const refusal = await refusalOf(startService(configFor({ PORT: String(first.port) }), { log }));
    expect(refusal.kind).toBe('folder-locked');
    expect(refusal.message).toContain(`process ${process.pid} at ${first.address}`);
    expect(refusal.owner).toBe(first.address);
    await first.close();
  });

  it('is refused if the host is not an address of this machine', async () => {
    const refusal = await refusalOf(startService(configFor({ HOST: '203.0.113.7' }), { log }));
    expect(refusal.kind).toBe('configuration');
    expect(refusal.message).toMatch(/^HOST: /);
  });

  it('is refused if the storage folder is invalid', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const refusal = await refusalOf(startService(configFor({ STORAGE_DIR: join(file, 'below') }), { log }));
    expect(refusal.message).toContain(file);
  });

  it('warns once if everyone in the network may do everything', async () => {
    const open = await startServiceUnderTest({ HOST: '0.0.0.0' });
    const closed = await startServiceUnderTest({ HOST: '0.0.0.0', API_KEY: 'k' });
    const warnings = (service: typeof open) => service.logged.filter(({ level }) => level === 'WARN');
    expect(warnings(open)).toHaveLength(1);
    expect(JSON.stringify(warnings(open))).toContain('authentication is off');
    expect(warnings(closed)).toEqual([]);
    await open.close();
    await closed.close();
  });
});

describe('the language model', () => {
  it.each([
    [{}, 'off'],
    [{ EXTRACTION_ENABLED: 'true' }, 'off'],
    [{ OPENAI_API_KEY: 'a-secret-key' }, 'off'],
    [{ OPENAI_API_KEY: 'a-secret-key', EXTRACTION_ENABLED: 'true' }, 'ready'],
    [{ LOCAL_LLM_BASE_URL: 'http://127.0.0.1:9', EXTRACTION_ENABLED: 'true' }, 'ready'],
  ])('with %j is %s, and its key is in no line of the log', async (environment, state) => {
    const service = await startServiceUnderTest(environment);
    const { body } = await service.call<Readiness>('GET', '/health/ready');
    await service.close();
    expect(body).toMatchObject({ status: 'ready', subsystems: { llm: state } });
    expect(JSON.stringify(service.logged)).not.toContain('a-secret-key');
  });
});

describe('a log that cannot be written', () => {
  it('makes writes return 507 while reads continue, is not ready, and recovers', async () => {
    const storage = join(folder, 'data');
    const fact = (n: number) => ({ predicate: 'kept', args: [n] });
    const before = await startServiceUnderTest({ STORAGE_DIR: storage });
    await before.call('POST', '/tell', fact(1));
    await before.close();
    // The first write of a process creates a file: without the folder that fails.
    const service = await startServiceUnderTest({ STORAGE_DIR: storage });
    const { id } = (await service.call<{ id: string }>('POST', '/tx/begin')).body;
    const within = { headers: { 'x-transaction-id': id } };
    for (const n of [6, 7]) await service.call('POST', '/tell', fact(n), within);
    await rename(storage, `${storage}-away`);
    for (const [path, body] of [
      ['/tell', fact(2)],
      ['/assert/facts', [fact(3), fact(4)]],
      ['/teach', { text: 'found(?x) :- kept(?x)' }],
      [`/tx/commit/${id}`, undefined],
      ['/databases', { name: 'other' }],
      ['/admin/snapshot', undefined],
    ] as const) {
      const refused = await service.call('POST', path, body);
      expect([refused.status, refused.body.code]).toEqual([507, 'StorageUnavailable']);
      expect(refused.body.detail).not.toContain(storage);
    }
    const asked = { predicate: 'kept', args: ['?x'] };
    expect((await service.call<Answer>('POST', '/ask', asked)).body.results).toEqual(['kept(1)']);
    const ready = () => service.call<Readiness>('GET', '/health/ready');
    expect(await ready()).toMatchObject({ status: 503, body: { subsystems: { storage: 'failed' } } });
    expect((await service.call('GET', '/health')).status).toBe(200);
    expect((await service.call<string>('GET', '/metrics')).body).toContain('service_storage_ready 0\n');
    await rename(`${storage}-away`, storage);
    await expect.poll(async () => (await ready()).status).toBe(200);
    expect((await service.call('POST', '/tell', fact(5))).status).toBe(200);
    expect((await service.call<Answer>('POST', '/ask', asked)).body.results).toEqual(['kept(1)', 'kept(5)']);
    // The transaction whose commit was refused is still open and complete.
    expect((await service.call('POST', `/tx/commit/${id}`)).status).toBe(200);
    expect((await service.call<Answer>('POST', '/ask', asked)).body.count).toBe(4);
    await service.close();
  });
});

describe('the end', () => {
  /** Like the end of a service, with less time. */
  const endLimits = {
    finishMs: 100,
    cancelMs: 100,
    disconnectMs: 100,
    lastSnapshotByMs: 8500,
    allMs: 60_000,
  };

  it('finishes a running call, refuses new ones with NotReady, and keeps answering health', async () => {
    const service = await startServiceUnderTest({}, { endLimits: { ...endLimits, finishMs: 600_000 } });
    // A call that runs until this test says otherwise: an import whose body goes on.
    const running = request(`${service.address}/import`, {
      method: 'POST',
      headers: { 'x-tenant-id': 'default', 'content-type': 'application/x-ndjson' },
    });
    const answered = once(running, 'response') as Promise<[IncomingMessage]>;
    running.write(`{"predicate":"edge","args":[1,2]}\n`.repeat(6000));
    await expect.poll(() => service.engine.counters().factsAsserted).toBe(1);
    const closed = service.close();
    const refused = await service.call('POST', '/ask', { predicate: 'edge', args: ['1', '?y'] });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'NotReady', detail: 'the service is shutting down' },
    });
    expect((await service.call('GET', '/nowhere')).status).toBe(503);
    expect((await service.call('GET', '/health')).status).toBe(200);
    expect((await service.call('GET', '/metrics')).status).toBe(200);
    const ready = await service.call<Readiness>('GET', '/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { status: 'not_ready' } });
    running.end(`{"predicate":"edge","args":[2,3]}\n`);
    const [response] = await answered;
    expect([response.statusCode, await text(response)]).toEqual([
      200,
      expect.stringContaining('"asserted":2'),
    ]);
    await closed;
    await expect(fetch(`${service.address}/health`)).rejects.toThrow('fetch failed');
  });

  it('does not wait for connections that are idle or have sent half a request', async () => {
    const service = await startServiceUnderTest();
    const sockets = [];
    for (const sent of ['', 'GET /hea', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
      const socket = connect(service.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => {}).write(sent);
      sockets.push(socket);
    }
    await once(sockets.at(-1) as Socket, 'data');
    await service.close();
    for (const socket of sockets) if (!socket.resume().closed) await once(socket, 'close');
  });

  it('cuts off a client that never reads, and keeps everything acknowledged', async () => {
    const environment = { STORAGE_DIR: join(folder, 'data') };
    const service = await startServiceUnderTest(environment, { endLimits });
    // More than the buffers of both ends hold.
    for (let part = 0; part < 3; part++) {
      const facts = Array.from({ length: 400 }, (_, n) => ({
        predicate: 'wide',
        args: [`${part * 400 + n} ${'x'.repeat(10_000)}`],
      }));
      await service.call('POST', '/assert/facts', { facts });
    }
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    socket.write('GET /export HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: default\r\n\r\n');
    await once(socket, 'readable');
    await service.close();
    socket.destroy();
    const again = await startServiceUnderTest(environment);
    expect((await again.call<FactList>('GET', '/facts?limit=1')).body.total).toBe(1200);
    await again.close();
  });

  it('ends an import whose body does not end, says so in its last line, and keeps what was stored', async () => {
    const environment = { STORAGE_DIR: join(folder, 'data') };
    const service = await startServiceUnderTest(environment, {
      endLimits: { ...endLimits, disconnectMs: 1000 },
    });
    let answer = '';
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
    socket.write(
      'POST /import HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: default\r\nTransfer-Encoding: chunked\r\n' +
        'Content-Type: application/x-ndjson\r\n\r\n',
    );
    for (let batch = 0; batch < 30; batch++) {
      const lines = Array.from(
        { length: 1000 },
        (_, n) => `{"predicate":"n","args":[${batch * 1000 + n}]}\n`,
      );
      const chunk = lines.join('');
      socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    await expect.poll(() => service.engine.counters().factsAsserted).toBeGreaterThan(0);
    await service.close();
    await expect.poll(() => answer).toMatch(/"code":"NotReady"/);
    const stored = service.engine.counters().factsAsserted;
    const again = await startServiceUnderTest(environment);
    expect((await again.call<FactList>('GET', '/facts?limit=1')).body.total).toBe(stored);
    await again.close();
  });

  it('ends change streams and MCP streams at once', async () => {
    const service = await startServiceUnderTest();
    const headers = { 'x-tenant-id': 'default' };
    const streams = await Promise.all(
      ['/events', '/mcp/sse'].map((path) => fetch(`${service.address}${path}`, { headers })),
    );
    const ended = Promise.all(streams.map((stream) => stream.text()));
    await service.close();
    expect(await ended).toEqual([expect.stringContaining('retry:'), expect.stringContaining('endpoint')]);
  });

  it('waits at most ten seconds for a disk that does not answer, and logs it', async () => {
    const service = await startServiceUnderTest({}, { endLimits: { ...endLimits, allMs: 200 } });
    // No disk can be made to hang here, so the end of the engine, which waits for it, never resolves instead.
    const { engine } = service;
    const close = engine.close.bind(engine);
    engine.close = () => new Promise(() => {});
    await service.close();
    await close();
    expect(service.isDiskStuck).toBe(true);
    expect(service.logged.at(-1)).toMatchObject({ level: 'WARN' });
    expect(service.logged.at(-1)?.['msg']).toContain('the disk does not answer');
  });

  it('may be requested twice', async () => {
    const service = await startServiceUnderTest();
    await Promise.all([service.close(), service.close()]);
    await expect(fetch(`${service.address}/health`)).rejects.toThrow('fetch failed');
  });
});

describe('the endpoint file', () => {
  it('exists while the service runs, for its user only, and is removed afterwards', async () => {
    const config = configFor({});
    const file = config.endpointFile ?? '';
    const service = await startService(config, { log });
    expect(await readEndpoint(file)).toMatchObject({ url: service.address, pid: process.pid });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await service.close();
    expect(await readEndpoint(file)).toBeNull();
  });

  it("contains no key, and another service's file is left alone", async () => {
    const config = configFor({ API_KEY: 'the-key' });
    const file = config.endpointFile ?? '';
    const service = await startService(config, { log });
    expect(await readFile(file, 'utf8')).not.toContain('the-key');
    await writeEndpoint(file, { url: 'http://127.0.0.1:1', pid: 1, version: '0', startedAt: 0 });
    await service.close();
    expect(await readEndpoint(file)).toMatchObject({ pid: 1 });
    await removeEndpoint(join(folder, 'not-there.json'));
  });

  it('is treated as absent if it is invalid', async () => {
    const file = join(folder, 'endpoint.json');
    await writeFile(file, '{"url": 7}');
    expect(await readEndpoint(file)).toBeNull();
    await writeFile(file, 'broken');
    expect(await readEndpoint(file)).toBeNull();
  });
});
