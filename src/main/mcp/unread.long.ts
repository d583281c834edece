/**
 * Clients that open a notification stream and never read it, until the system's buffers are full.
 *
 * Further notifications must not pile up in the service, on either kind of stream.
 */
import { type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** More notifications than the buffers of two connected sockets hold: some eleven megabytes. */
const documents = 800;
const rounds = 80;
/** Changes within 100 ms are notified together. */
const apartMs = 120;

const predicates = Array.from({ length: documents }, (_, index) => `p${String(index).padStart(60, '0')}`);
const uris = predicates.map((predicate) => `kb://facts/${predicate}`);
const accept = 'application/json, text/event-stream';
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

type Headers = Record<string, string>;

function open(method: string, headers: Headers, body: string | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL('/mcp', service.address),
      { method, headers: { accept, 'content-type': 'application/json', ...headers } },
      (response) => resolve(response.setEncoding('utf8').pause()),
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function change(tenant: string, round: number): Promise<void> {
  const facts = predicates.map((predicate) => ({ predicate, args: [round] }));
  const headers = { 'x-tenant-id': tenant };
  expect((await service.call('POST', '/assert/facts', { facts }, { headers })).status).toBe(200);
  await setTimeout(apartMs);
}

/** Open notification streams. */
async function subscribers(): Promise<string | undefined> {
  const { body } = await service.call<string>('GET', '/metrics');
  return /^service_mcp_sse_subscribers (\d+)/m.exec(body)?.[1];
}

it('sends a session one notification for each changed document when its stream is read again', async () => {
  const tenant = { 'x-tenant-id': 'session' };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'slow', version: '1' },
  };
  const post = (message: unknown, headers: Headers = {}) =>
    service.call<string>('POST', '/mcp', message, { headers: { accept, ...tenant, ...headers } });
  const opened = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  for (const uri of uris)
    await post({ jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } }, session);
  const stream = await open('GET', { ...tenant, ...session }, null);
  for (let round = 0; round < rounds; round++) await change('session', round);
  let text = '';
  stream.on('data', (chunk: string) => (text += chunk)).resume();
  const toldOf = (uri: string | undefined): number => text.split(`"uri":"${uri}"`).length - 1;
  await expect.poll(() => toldOf(uris.at(-1))).toBeGreaterThan(0);
  await setTimeout(1000);
  expect(toldOf(uris[0])).toBeLessThan(rounds);
  const before = toldOf(uris[0]);
  await change('session', rounds);
  await expect.poll(() => toldOf(uris[0])).toBe(before + 1);
  stream.destroy();
  await expect.poll(() => subscribers()).toBe('0');
});

it('cuts off an unread stream without a session', async () => {
  const tenant = { 'x-tenant-id': 'stateless' };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'slow', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: uris }, _meta: meta },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const stream = await open('POST', { ...tenant, ...headers }, JSON.stringify(message));
  expect(stream.statusCode).toBe(200);
  stream.on('error', () => stream.destroy());
  for (let round = 0; round < rounds; round++) await change('stateless', round);
  await expect.poll(() => subscribers()).toBe('0');
  stream.destroy();
});
