/**
 * The built bridge from its clients' side: started by the official SDKs, in front of the built service, which stops
 * and restarts.
 */
import { unpackExtension, v0_3 } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test as base } from '@playwright/test';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ServiceProcess } from './service.ts';

const program = fileURLToPath(new URL('../out/bridge/corollary-mcp.js', import.meta.url));
const bundle = fileURLToPath(new URL('../out/corollary.mcpb', import.meta.url));

/** A service that uses another port at each start. */
const test = base.extend<{ service: ServiceProcess }>({
  service: async ({ browserName: _browserName }, provide) => {
    const service = new ServiceProcess({ PORT: '0' });
    try {
      await provide(service);
    } finally {
      await service.dispose();
    }
  },
});

function starting(
  environment: Readonly<Record<string, string>>,
  options: readonly string[] = [],
  file: string = program,
) {
  return {
    command: process.execPath,
    args: [file, ...options],
    env: { ...environment },
    stderr: 'ignore' as const,
  };
}

interface Calls {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function call(client: Calls, name: string, args: Record<string, unknown>) {
  const result = (await client.callTool({ name, arguments: args })) as {
    content: { text: string }[];
    isError?: boolean;
    structuredContent?: Record<string, unknown>;
  };
  expect(result.isError ?? false, result.content[0]?.text).toBe(false);
  return result.structuredContent ?? {};
}

const ancestor = {
  head: { predicate: 'ancestor', args: ['?x', '?y'] },
  body: [{ predicate: 'parent', args: ['?x', '?y'] }],
};

/** Tell, teach, ask with proof, forget; `between` runs before the question. */
async function tour(client: Calls, between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  expect(await call(client, 'tell', { predicate: 'parent', args: ['alice', 'bob'] })).toMatchObject({
    status: 'asserted',
  });
  await call(client, 'teach', ancestor);
  await between();
  const answer = await call(client, 'ask', { predicate: 'ancestor', args: ['alice', '?who'] });
  expect(answer).toMatchObject({ results: ['ancestor(alice, bob)'] });
  expect(JSON.stringify(answer['proof'])).toContain('parent(alice, bob)');
  expect(await call(client, 'forget', { predicate: 'parent', args: ['alice', 'bob'] })).toMatchObject({
    status: 'retracted',
  });
}

test('the service is killed and restarted on another port between two calls, and the client continues', async ({
  service,
}) => {
  await service.start();
  const client = new Client({ name: 'second', version: '1' });
  const told: string[] = [];
  for (const method of [
    'notifications/tools/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
  ] as const)
    client.setNotificationHandler(method, () => {
      told.push(method);
    });
  await client.connect(new StdioClientTransport(starting(service.environment, ['--no-start'])));
  await client.subscribeResource({ uri: 'kb://predicates' });
  await tour(client, async () => {
    const { url } = service;
    await service.kill();
    // This start is not announced: the following call waits for it.
    setTimeout(() => void service.start(), 300);
    await expect.poll(() => told.includes('notifications/tools/list_changed')).toBe(true);
    expect(service.url).not.toBe(url);
  });
  await expect
    .poll(() => told.filter((method) => method === 'notifications/resources/updated').length)
    .toBeGreaterThan(1);
  await client.close();
});

test('a client of the stateless revision and its subscription continue over a restart', async ({
  service,
}) => {
  await service.start();
  const client = new Client(
    { name: 'stateless', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StdioClientTransport(starting(service.environment, ['--no-start'])));
  let updates = 0;
  client.setNotificationHandler('notifications/resources/updated', () => {
    updates++;
  });
  await client.listen({ resourceSubscriptions: ['kb://predicates'] });
  await tour(client, async () => {
    await expect.poll(() => updates).toBeGreaterThan(0);
    await service.kill();
    await service.start();
  });
  const before = updates;
  await call(client, 'tell', { predicate: 'new', args: ['thing'] });
  await expect.poll(() => updates).toBeGreaterThan(before);
  await client.close();
});

test.describe('with a running service', () => {
  // One service for all tests.
  test.describe.configure({ mode: 'default' });
  const service = new ServiceProcess({ PORT: '0' });
  test.beforeAll(() => service.start());
  test.afterAll(() => service.dispose());

  test('a client of the first SDK tells, teaches, asks with proof and forgets over the bridge', async () => {
    const client = new FirstClient({ name: 'first', version: '1' });
    await client.connect(new FirstTransport(starting(service.environment)));
    await tour(client);
    await client.close();
  });

  test('two bridges serve two tenants at once, and neither sees the other', async () => {
    const tenants = ['ours', 'theirs'];
    const clients = await Promise.all(
      tenants.map(async (tenant) => {
        const client = new Client({ name: tenant, version: '1' });
        await client.connect(new StdioClientTransport(starting(service.environment, ['--tenant', tenant])));
        return client;
      }),
    );
    await Promise.all(
      clients.map((client, index) =>
        call(client, 'tell', { predicate: 'mine', args: [tenants[index] ?? ''] }),
      ),
    );
    for (const [index, client] of clients.entries())
      expect(await call(client, 'ask', { predicate: 'mine', args: ['?x'] })).toMatchObject({
        results: [`mine(${tenants[index]})`],
      });
    await Promise.all(clients.map((client) => client.close()));
  });

  test('the bridge ends cleanly on SIGTERM and at the end of its input, its session with it', async () => {
    for (const end of [
      (bridge: ChildProcess) => bridge.kill('SIGTERM'),
      (bridge: ChildProcess) => bridge.stdin?.end(),
    ]) {
      const bridge = spawn(process.execPath, [program], {
        env: service.environment,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      bridge.stdin.write(
        `${JSON.stringify(initialize)}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`,
      );
      await nextLine(bridge);
      await expect.poll(() => sessionsOf(service)).toBe(1);
      end(bridge);
      expect(await once(bridge, 'exit')).toEqual([0, null]);
      await expect.poll(() => sessionsOf(service)).toBe(0);
    }
  });

  test('requests sent before the end of the input are answered', async () => {
    const bridge = spawn(process.execPath, [program], {
      env: service.environment,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines: unknown[] = [];
    createInterface(bridge.stdout).on('line', (line) => lines.push(JSON.parse(line)));
    const call = { name: 'ask', arguments: { predicate: 'p', args: ['?x'] } };
    bridge.stdin.end(
      [
        initialize,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      ]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(''),
    );
    expect((await once(bridge, 'exit'))[0]).toBe(0);
    expect(lines).toMatchObject([
      { id: 0, result: { protocolVersion: '2025-11-25' } },
      { id: 1, result: {} },
    ]);
  });

  test('a client that never reads its answers can still end the bridge', async () => {
    const bridge = spawn(process.execPath, [program], {
      env: service.environment,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    bridge.stdin.write(`${JSON.stringify(initialize)}\n`);
    for (let id = 1; id <= 200; id++)
      bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`);
    await expect.poll(() => bridge.stdout.readableLength).toBeGreaterThan(0);
    bridge.kill('SIGTERM');
    const [code, signal] = (await once(bridge, 'exit')) as [number | null, string | null];
    expect([code, signal]).toEqual([0, null]);
  });
});

test.describe('without a service', () => {
  let home = '';

  test.beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'corollary-e2e-'));
  });

  test.afterEach(() => {
    const endpoint = endpointOf(home);
    if (endpoint !== null) process.kill(endpoint.pid, 'SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });

  test('two bridges that start at once start one service, which outlives them and is restarted as it was', async () => {
    const environment = environmentOf(home);
    const clients = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const client = new Client({ name, version: '1' });
        await client.connect(new StdioClientTransport(starting(environment)));
        return client;
      }),
    );
    await Promise.all(
      clients.map((client, index) => call(client, 'tell', { predicate: 'n', args: [index] })),
    );
    for (const client of clients)
      expect(await call(client, 'ask', { predicate: 'n', args: ['?x'] })).toMatchObject({ count: 2 });
    await Promise.all(clients.map((client) => client.close()));
    const endpoint = endpointOf(home);
    expect(await (await fetch(`${endpoint?.url}/health`)).json()).toMatchObject({ status: 'ok' });
    for (const name of ['endpoint.json', 'service.json', 'service.log'])
      expect(statSync(join(stateFolder(home), name)).mode & 0o777, name).toBe(0o600);

    // The bundle is elsewhere: the bridge starts the program that ran last.
    process.kill(endpoint?.pid ?? 0, 'SIGKILL');
    const folder = join(home, 'bundle');
    await unpackExtension({ mcpbPath: bundle, outputDir: folder, silent: true });
    const client = new Client({ name: 'bundle', version: '1' });
    const file = join(folder, 'server', 'corollary-mcp.mjs');
    await client.connect(new StdioClientTransport(starting(environment, [], file)));
    expect(await call(client, 'ask', { predicate: 'n', args: ['?x'] })).toMatchObject({ count: 2 });
    await client.close();
    expect(endpointOf(home)?.pid).not.toBe(endpoint?.pid);
  });

  test('if nothing can be started, initialize returns what to do', async () => {
    const bridge = spawn(process.execPath, [program, '--no-start', '--wait', '0.2'], {
      env: environmentOf(home),
    });
    bridge.stdin.write(`${JSON.stringify(initialize)}\n`);
    const answer = await nextLine(bridge);
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 0, error: { code: -32050 } });
    expect(JSON.stringify(answer)).toContain('Start Corollary');
    bridge.stdin.end();
    expect((await once(bridge, 'exit'))[0]).toBe(0);
  });
});

test('the bundle has a valid manifest, the bridge, an icon and the licence', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-e2e-'));
  try {
    expect(await unpackExtension({ mcpbPath: bundle, outputDir: folder, silent: true })).toBe(true);
    const manifest = v0_3.McpbManifestSchema.parse(
      JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')),
    );
    expect(manifest.user_config?.['key']?.sensitive).toBe(true);
    expect(Object.keys(manifest.user_config ?? {})).toEqual(['database', 'tenant', 'key', 'url']);
    for (const file of [manifest.server.entry_point, manifest.icon ?? '', 'LICENSE'])
      expect(existsSync(join(folder, file)), file).toBe(true);
    expect(readFileSync(join(folder, manifest.server.entry_point))).toEqual(readFileSync(program));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

function environmentOf(home: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home };
}

function stateFolder(home: string): string {
  return join(home, '.local/state/corollary');
}

function endpointOf(home: string): { url: string; pid: number } | null {
  const file = join(stateFolder(home), 'endpoint.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { url: string; pid: number }) : null;
}

async function nextLine(bridge: ChildProcess): Promise<unknown> {
  const { stdout } = bridge;
  if (stdout === null) throw new Error('the bridge has no output');
  const lines = createInterface(stdout);
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  return JSON.parse(line);
}

/** Open notification streams: each session here has one. */
async function sessionsOf(service: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^service_mcp_sse_subscribers (\d+)$/m.exec(metrics)?.[1]);
}
