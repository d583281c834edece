import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectAgent } from '../mcp/testing/agent-clients.ts';
import { message, rpc } from '../a2a/testing/conversation.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

interface WrittenRecord {
  readonly actor: string | null;
  readonly operation: { readonly kind: string; readonly facts?: readonly { readonly predicate: string }[] };
  readonly origin?: Readonly<Record<string, string>>;
}

async function serviceInFolder(
  environment: Record<string, string> = {},
): Promise<{ service: ServiceUnderTest; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-origins-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const service = await startServiceUnderTest({ STORAGE_DIR: folder, ...environment });
  onTestFinished(() => service.close());
  return { service, folder };
}

/** The records in the folder's log, by the predicate of the one fact that they assert. */
async function originsIn(folder: string): Promise<Map<string, WrittenRecord>> {
  const found = new Map<string, WrittenRecord>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.log')))
    for (const [line] of (await readFile(join(folder, file), 'utf8')).matchAll(/\{"sequence":.*/g)) {
      const record = JSON.parse(line) as WrittenRecord;
      found.set(record.operation.facts?.[0]?.predicate ?? record.operation.kind, record);
    }
  return found;
}

test('a record says from which surface, client and session a write came, and why', async () => {
  const { service, folder } = await serviceInFolder();
  const tell = (predicate: string, headers: Record<string, string> = {}) =>
    service.call('POST', '/tell', { predicate, args: ['a'] }, { headers });
  await tell('plainly');
  await tell('importing', {
    'x-client': 'importer/1.4',
    'x-reason': encodeURIComponent('corrected "after" the Prüfung'),
  });
  await tell('bench', { 'x-client': 'workbench/0.1.0' });
  await tell('terminal', { 'x-client': 'cli/0.1.0' });
  for (const transport of ['Streamable HTTP', 'SSE'] as const) {
    const path = transport === 'SSE' ? '/mcp/sse' : '/mcp';
    const kind = { generation: 1, transport, path, revision: '2025-06-18' } as const;
    const agent = await connectAgent(kind, service.address, { 'x-reason': 'asked' }, 'helper');
    await agent.call('tell', { text: `${transport === 'SSE' ? 'stream' : 'agent'}(a)` });
    await agent.close();
  }
  await service.call('POST', '/a2a', rpc('message/send', { message: message('0.3', 'friend(a).') }));
  const records = await originsIn(folder);
  const originOf = (name: string): unknown => records.get(name)?.origin;
  expect(originOf('createDatabase')).toEqual({ surface: 'system' });
  expect(originOf('plainly')).toEqual({ surface: 'http' });
  expect(originOf('importing')).toEqual({
    surface: 'http',
    client: 'importer/1.4',
    reason: 'corrected "after" the Prüfung',
  });
  expect(originOf('bench')).toEqual({ surface: 'workbench', client: 'workbench/0.1.0' });
  expect(originOf('terminal')).toEqual({ surface: 'cli', client: 'cli/0.1.0' });
  const session = expect.stringMatching(/^[0-9a-f]{32,64}$/) as unknown;
  const helper = { surface: 'mcp', client: 'helper/1.0.0', session, reason: 'asked' };
  expect(originOf('agent')).toEqual(helper);
  expect(originOf('stream')).toEqual(helper);
  expect(originOf('friend')).toMatchObject({ surface: 'a2a' });
});

test('a record names the key of the write', async () => {
  const { service, folder } = await serviceInFolder({
    AUTH_ENABLED: 'true',
    SERVICE_ADMIN_PASS: 'a long password',
  });
  const { body: admin } = await service.call<{ key: string }>('POST', '/auth/bootstrap', {
    username: 'admin',
    password: 'a long password',
  });
  const headers = { authorization: `Bearer ${admin.key}` };
  const { body: writer } = await service.call<{ id: string; key: string }>(
    'POST',
    '/auth/keys',
    { role: 'writer', description: 'nightly import' },
    { headers },
  );
  await service.call(
    'POST',
    '/tell',
    { predicate: 'named', args: [] },
    { headers: { authorization: `Bearer ${writer.key}` } },
  );
  expect((await originsIn(folder)).get('named')).toMatchObject({
    actor: writer.id,
    origin: { surface: 'http', keyName: 'nightly import' },
  });
});

test.each([
  ['x-reason', '100% sure', 'X-Reason'],
  ['x-reason', 'a'.repeat(501), 'X-Reason'],
  ['x-client', 'a'.repeat(201), 'X-Client'],
])('a malformed %s header is 400 and nothing is stored', async (name, value, named) => {
  const service = await startServiceUnderTest();
  onTestFinished(() => service.close());
  const refused = await service.call(
    'POST',
    '/tell',
    { predicate: 'p', args: [] },
    { headers: { [name]: value } },
  );
  expect(refused).toMatchObject({ status: 400, body: { code: 'ValidationException' } });
  expect(refused.body.detail).toContain(named);
  expect((await service.call('POST', '/query', { predicate: 'p', args: [] })).body).toEqual([]);
});
