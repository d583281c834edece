import {
  type CallToolResult,
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeEndpoint } from '../base/endpoint-file.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { readBridgeArguments } from './arguments.ts';
import { runBridge } from './run-bridge.ts';
import { BreakingService } from './testing/breaking-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'corollary-bridge-'));
let service: ServiceUnderTest;
beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

let files = 0;

/** A bridge in this process and the client's transport to it. `come` moves the service to a new address. */
function startBridge(options: readonly string[] = [], key?: string) {
  const endpointFile = join(folder, `endpoint-${files++}.json`);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const told = new AbortController();
  const said: string[] = [];
  const running = runBridge(
    readBridgeArguments(['--no-start', ...options], key === undefined ? {} : { API_KEY: key }),
    {
      input,
      output,
      environment: { COROLLARY_ENDPOINT_FILE: endpointFile },
      program: null,
      say: (line) => said.push(line),
      told: told.signal,
    },
  );
  const received: JSONRPCMessage[] = [];
  const transport: Transport = {
    async start() {},
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      await running;
    },
  };
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as JSONRPCMessage;
      received.push(message);
      transport.onmessage?.(message);
    }
  });
  endings.push(async () => {
    told.abort();
    await running;
  });
  const come = (url: string) =>
    writeEndpoint(endpointFile, { url, pid: process.pid, version: '1', startedAt: 0 });
  return { transport, received, said, come, go: () => rmSync(endpointFile, { force: true }) };
}

async function connect(transport: Transport, options: ConstructorParameters<typeof Client>[1] = {}) {
  const client = new Client({ name: 'tester', version: '1' }, options);
  await client.connect(transport);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<CallToolResult> {
  return client.callTool({ name, arguments: args });
}

function methods(received: readonly JSONRPCMessage[]): string[] {
  return received.flatMap((message) => ('method' in message ? [message.method] : []));
}

/** Starting processes and services is slow on a busy machine. */
function eventually<Seen>(look: () => Seen) {
  return expect.poll(look);
}

describe('the bridge', () => {
  it("passes on the service's tools, resources, prompts and completions unchanged", async () => {
    const bridge = startBridge();
    await bridge.come(service.address);
    const over = await connect(bridge.transport);
    const direct = await connect(new StreamableHTTPClientTransport(new URL(`${service.address}/mcp`)));
    await call(over, 'tell', { predicate: 'parent', args: ['alice', 'bob'] });
    const asked = async (client: Client) => ({
      server: client.getServerVersion(),
      instructions: client.getInstructions(),
      tools: await client.listTools(),
      resources: await client.listResources(),
      templates: await client.listResourceTemplates(),
      read: await client.readResource({ uri: 'kb://rules' }),
      prompts: await client.listPrompts(),
      prompt: await client.getPrompt({ name: 'extract_facts', arguments: { text: 'x' } }),
      completed: await client.complete({
        ref: { type: 'ref/resource', uri: 'kb://facts/{predicate}' },
        argument: { name: 'predicate', value: 'p' },
      }),
      refused: await client.callTool({ name: 'ask', arguments: { predicate: 3 } }),
      unknown: await client.readResource({ uri: 'kb://nothing' }).catch((error: unknown) => String(error)),
    });
    expect(await asked(over)).toEqual(await asked(direct));
    await direct.close();
  });

  it("passes on the client's name, which appears in the source of its facts", async () => {
    const bridge = startBridge(['--tenant', 'named']);
    await bridge.come(service.address);
    const client = await connect(bridge.transport);
    await call(client, 'tell', { predicate: 'p', args: ['a'] });
    const { body } = await service.call<{ facts: { metadata: { source: string } }[] }>(
      'GET',
      '/facts',
      undefined,
      {
        headers: { 'x-tenant-id': 'named' },
      },
    );
    expect(body.facts[0]?.metadata.source).toBe('tester');
  });

  it('passes on the stateless revision, including its change streams and their end', async () => {
    const bridge = startBridge();
    await bridge.come(service.address);
    const client = await connect(bridge.transport, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const listening = await client.listen({ resourceSubscriptions: ['kb://predicates'] });
    const updated = new Promise((resolve) => {
      client.setNotificationHandler('notifications/resources/updated', resolve);
    });
    await call(client, 'tell', { predicate: 'fresh', args: ['a'] });
    await updated;
    await listening.close();
    await eventually(async () => (await service.call<string>('GET', '/metrics')).body).toMatch(
      /^service_mcp_sse_subscribers 0$/m,
    );
    expect((await call(client, 'ask', { predicate: 'fresh', args: ['?x'] })).structuredContent).toMatchObject(
      {
        results: ['fresh(a)'],
      },
    );
  });

  it('answers each request once: it refuses an id in use and drops a notification without a session', async () => {
    const bridge = startBridge();
    await bridge.come(service.address);
    await bridge.transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await bridge.transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await bridge.transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await eventually(() => bridge.received.length).toBe(2);
    expect(bridge.received).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 1, error: { code: -32051, message: expect.stringContaining('Mcp-Session-Id') as string } },
    ]);
  });
});

describe('while the service is unreachable, the bridge', () => {
  it('waits and calls the service when it appears', async () => {
    const bridge = startBridge();
    const connecting = connect(bridge.transport);
    await bridge.come(service.address);
    const client = await connecting;
    expect(await call(client, 'predicates', {})).toHaveProperty('structuredContent');
  });

  it('reports it after the wait with what to do, and keeps looking', async () => {
    const bridge = startBridge(['--wait', '0.1']);
    const ask = (id: string) =>
      bridge.transport.send({ jsonrpc: '2.0', id, method: 'initialize', params: opening });
    await ask('first');
    await eventually(() => bridge.received).toMatchObject([
      {
        id: 'first',
        error: { code: -32050, message: expect.stringContaining('Start Corollary') as string },
      },
    ]);
    await bridge.come(service.address);
    await eventually(() => bridge.said).toContainEqual(`connected to ${service.address}`);
    await ask('again');
    await eventually(() => bridge.received.at(-1)).toMatchObject({ id: 'again', result: {} });
  });

  it('reconnects at a new address, opens a session, renews subscriptions and reports that lists may have changed', async () => {
    const bridge = startBridge();
    const first = await startServiceUnderTest();
    await bridge.come(first.address);
    const client = await connect(bridge.transport);
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
    await client.subscribeResource({ uri: 'kb://predicates' });
    await client.subscribeResource({ uri: 'kb://rules' });
    await client.unsubscribeResource({ uri: 'kb://rules' });
    bridge.received.length = 0;
    await first.close();
    await bridge.come(service.address);
    await eventually(() => methods(bridge.received)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
    ]);
    bridge.received.length = 0;
    await call(client, 'tell', { predicate: 'elsewhere', args: [files] });
    await eventually(() => methods(bridge.received)).toContain('notifications/resources/updated');
  });

  it('listens again without a session: it acknowledges once and reports that everything may have changed', async () => {
    const bridge = startBridge();
    const first = await startServiceUnderTest();
    await bridge.come(first.address);
    const notifications = { resourcesListChanged: true, resourceSubscriptions: ['kb://rules'] };
    const _meta = {
      [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
      [CLIENT_INFO_META_KEY]: { name: 'raw', version: '1' },
      [CLIENT_CAPABILITIES_META_KEY]: {},
    };
    const listen = {
      jsonrpc: '2.0',
      id: 9,
      method: 'subscriptions/listen',
      params: { notifications, _meta },
    } as const;
    await bridge.transport.send(listen);
    const acknowledged = 'notifications/subscriptions/acknowledged';
    await eventually(() => methods(bridge.received)).toEqual([acknowledged]);
    await first.close();
    await bridge.come(service.address);
    await eventually(() => methods(bridge.received)).toEqual([
      acknowledged,
      'notifications/resources/list_changed',
      'notifications/resources/updated',
    ]);
    expect(bridge.received.at(-1)).toMatchObject({
      params: { uri: 'kb://rules', _meta: { [SUBSCRIPTION_ID_META_KEY]: 9 } },
    });
    await bridge.transport.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 9 },
    });
  });
});

describe('if the service refuses the bridge, it', () => {
  it('reports a missing key or an unknown database at once', async () => {
    const guarded = await startServiceUnderTest({ API_KEY: 'right' });
    endings.push(() => guarded.close());
    const wrong = startBridge([], 'wrong');
    await wrong.come(guarded.address);
    await expect(connect(wrong.transport)).rejects.toMatchObject({
      message: expect.stringContaining('COROLLARY_API_KEY') as string,
    });
    const right = startBridge([], 'right');
    await right.come(guarded.address);
    expect((await (await connect(right.transport)).listTools()).tools.length).toBeGreaterThan(0);
    const nowhere = startBridge(['--database', 'nowhere']);
    await nowhere.come(service.address);
    await expect(connect(nowhere.transport)).rejects.toMatchObject({
      message: expect.stringContaining('nowhere') as string,
    });
  });

  it('reports a key that is revoked while it is connected', async () => {
    const guarded = await startServiceUnderTest({ AUTH_ENABLED: 'true' });
    endings.push(() => guarded.close());
    const admin = await guarded.call<{ key: string }>('POST', '/auth/bootstrap', {
      username: 'admin',
      password: 'corollary-admin',
    });
    const headers = { authorization: `Bearer ${admin.body.key}` };
    const { body } = await guarded.call<{ id: string; key: string }>(
      'POST',
      '/auth/keys',
      { role: 'reader' },
      { headers },
    );
    const bridge = startBridge([], body.key);
    await bridge.come(guarded.address);
    const client = await connect(bridge.transport);
    await client.listTools();
    await guarded.call('DELETE', `/auth/keys/${body.id}`, undefined, { headers });
    await expect(client.listTools()).rejects.toMatchObject({
      code: -32051,
      message: expect.stringContaining('COROLLARY_API_KEY') as string,
    });
  });
});

const opening = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

describe('a call whose connection breaks', () => {
  const breaking = new BreakingService();
  let client: Client;
  let bridge: ReturnType<typeof startBridge>;

  beforeAll(async () => {
    bridge = startBridge();
    // Shared by the tests of this group.
    const end = endings.splice(0);
    await bridge.come(await breaking.start());
    client = await connect(bridge.transport);
    endOfGroup.push(...end);
  });
  const endOfGroup: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of endOfGroup) await end();
    await breaking.stop();
  });
  afterEach(() => {
    breaking.calls.length = 0;
    breaking.fates = [];
  });

  it('is retried if it only reads or is idempotent', async () => {
    for (const name of ['reads', 'same'])
      for (const fate of ['break', 'break-after'] as const) {
        breaking.calls.length = 0;
        breaking.fates = [fate];
        expect(await call(client, name, {})).toEqual({ content: [{ type: 'text', text: name }] });
        expect(breaking.calls).toEqual([name, name]);
      }
  });

  it('is reported with an unknown outcome and not retried if it may have changed something', async () => {
    for (const fate of ['break', 'break-after'] as const) {
      breaking.calls.length = 0;
      breaking.fates = [fate];
      await expect(call(client, 'changes', {})).rejects.toMatchObject({
        code: -32052,
        message: expect.stringContaining('may or may not have been carried out') as string,
      });
      expect(breaking.calls).toEqual(['changes']);
    }
  });

  it('is retried as a dry run, and never if it had a precondition', async () => {
    breaking.fates = ['break'];
    await call(client, 'changes', { dryRun: true });
    expect(breaking.calls).toEqual(['changes', 'changes']);
    breaking.fates = ['break'];
    await expect(call(client, 'same', { ifGeneration: 3 })).rejects.toMatchObject({ code: -32052 });
  });

  it('is always retried if the service had lost the session, because it was never accepted', async () => {
    breaking.fates = ['forget'];
    expect(await call(client, 'changes', {})).toMatchObject({ content: [{ text: 'changes' }] });
    expect(breaking.calls).toEqual(['changes', 'changes']);
  });

  it('is retried a limited number of times', async () => {
    breaking.fates = ['break', 'break', 'break', 'break', 'break', 'break'];
    await expect(call(client, 'reads', {})).rejects.toMatchObject({ code: -32052 });
    expect(breaking.calls.length).toBe(3);
  });

  it('is cancelled at the service when the client cancels it, and the client gets no answer', async () => {
    breaking.fates = ['hang'];
    const cancelling = new AbortController();
    const called = client.callTool({ name: 'reads', arguments: {} }, { signal: cancelling.signal });
    await eventually(() => breaking.calls).toEqual(['reads']);
    const before = bridge.received.length;
    breaking.aborted.length = 0;
    cancelling.abort();
    await expect(called).rejects.toThrow(/abort/i);
    await eventually(() => breaking.aborted).toEqual(['reads']);
    expect(breaking.cancelled.length).toBe(1);
    await client.ping();
    expect(bridge.received.slice(before).filter((message) => 'error' in message)).toEqual([]);
  });

  it("passes on progress, requests of the service and the client's responses", async () => {
    breaking.fates = ['progress'];
    const progress: unknown[] = [];
    await client.callTool({ name: 'reads', arguments: {} }, { onprogress: (each) => progress.push(each) });
    expect(progress).toEqual([{ progress: 1, total: 2 }]);
    breaking.tell({ jsonrpc: '2.0', id: 'of the service', method: 'ping' });
    await eventually(() => breaking.answers).toEqual([{ jsonrpc: '2.0', id: 'of the service', result: {} }]);
  });
});

describe('a session', () => {
  it('survives the loss of its notification stream, and the client learns that lists may have changed', async () => {
    const breaking = new BreakingService();
    const bridge = startBridge();
    await bridge.come(await breaking.start());
    endings.push(() => breaking.stop());
    const client = await connect(bridge.transport);
    await eventually(() => breaking.streams).toBe(1);
    bridge.received.length = 0;
    breaking.cutStreams();
    await eventually(() => methods(bridge.received)).toEqual(['notifications/tools/list_changed']);
    expect([breaking.streams, breaking.sessions]).toEqual([1, 1]);
    await client.ping();
  });

  it("is never reopened in another revision without the client's knowledge", async () => {
    const breaking = new BreakingService();
    const bridge = startBridge();
    await bridge.come(await breaking.start());
    endings.push(() => breaking.stop());
    const client = await connect(bridge.transport);
    breaking.revision = '2025-06-18';
    breaking.fates = ['forget'];
    await expect(call(client, 'reads', {})).rejects.toMatchObject({
      code: -32051,
      message: expect.stringContaining('reconnect') as string,
    });
  });
});
