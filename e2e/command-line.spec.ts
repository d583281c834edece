/** The command line from a user's side: output and exit codes of the built program. */
import { expect } from '@playwright/test';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ServiceProcess, test } from './service.ts';

test('tells, teaches and asks, with the proof as indented text', async ({ service }) => {
  const told = await service.run(['tell', 'parent(alice, bob). parent(bob, carol).']);
  expect(told).toEqual({ code: 0, stdout: '2 asserted, 0 updated, 0 unchanged\n', stderr: '' });
  expect((await service.run(['tell', '-parent(carol, alice)'])).stdout).toBe(
    'asserted  -parent(carol, alice)\n',
  );
  const rule = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';
  expect((await service.run(['teach', rule])).stdout).toBe(`asserted  ${rule}\n`);
  const asked = await service.run(['ask', 'grandparent(?x, ?who)']);
  expect(asked).toEqual({ code: 0, stdout: 'grandparent(alice, carol)\n', stderr: '' });
  expect((await service.run(['ask', '--proof', 'grandparent(alice, ?who)?'])).stdout).toBe(
    `grandparent(alice, carol)  [by ${rule}]\n` +
      '  parent(alice, bob)  [stored]\n' +
      '  parent(bob, carol)  [stored]\n',
  );
  expect((await service.run(['ask', '-parent(carol, ?x)'])).stdout).toBe('-parent(carol, alice)\n');
});

test('searches by plain words', async ({ service }) => {
  await service.run(['tell', 'lives_in(carol, new_york). likes(dave, tea).']);
  const found = await service.run(['search', 'who lives in New York?']);
  expect(found.stdout.split('\n')[0]).toBe('fact        lives_in(carol, new_york)');
  expect(found.code).toBe(0);
  const nothing = await service.run(['search', 'quantum chromodynamics']);
  expect(nothing).toEqual({ code: 1, stdout: '', stderr: 'Nothing matches these words.\n' });
});

test('reads statements from standard input and answers as JSON on request', async ({ service }) => {
  const { stdout } = await service.run(['tell', '-', '--json'], 'p(a).\np("b, c"). % a comment\n');
  expect(JSON.parse(stdout)).toMatchObject({ status: 'asserted', asserted: 2 });
  const asked = await service.run(['ask', '--json', 'p(?x)']);
  expect(JSON.parse(asked.stdout)).toMatchObject({ results: ['p(a)', 'p("b, c")'], count: 2 });
});

test('uses the given database, tenant and scope', async ({ service }) => {
  await service.run(['tell', 'p(here)', '--tenant', 'one', '--scope', 's']);
  expect((await service.run(['ask', 'p(?x)', '--tenant', 'one', '--scope', 's'])).code).toBe(0);
  expect((await service.run(['ask', 'p(?x)', '--tenant', 'one', '--scope', 'other'])).code).toBe(1);
  expect((await service.run(['ask', 'p(?x)'])).code).toBe(1);
  const refused = await service.run(['ask', 'p(?x)', '--database', 'nowhere']);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain('DatabaseNotFound');
});

test('loads a sample and suggests questions', async ({ service }) => {
  expect((await service.run(['sample'])).stdout).toContain('family');
  const loaded = await service.run(['sample', 'family']);
  expect(loaded.code).toBe(0);
  const question = /Ask, for example:\n {2}(.+)/.exec(loaded.stdout)?.[1] ?? '';
  expect((await service.run(['ask', '--proof', question])).code).toBe(0);
  expect((await service.run(['sample', 'no-such'])).code).toBe(2);
});

test('says where the service runs, or that it does not', async ({ service }) => {
  const running = await service.run(['status']);
  expect(running.code).toBe(0);
  expect(running.stdout).toContain(`${service.url}/, ready`);
  await service.stop();
  const stopped = await service.run(['status']);
  expect(stopped.code).toBe(3);
  expect(stopped.stderr).toContain('corollary serve');
  expect((await service.run(['status', '--url', service.url])).code).toBe(3);
});

test('reports wrong use with an exit code and in plain words', async ({ service }) => {
  for (const words of [
    ['frobnicate'],
    ['ask', '--nonsense'],
    ['tell'],
    ['serve', 'now'],
    ['tell', 'p(?x)'],
    ['tell', 'a(?x) :- b(?x)'],
    ['teach', 'p(a)'],
    ['tell', 'p(a'],
  ]) {
    const { code, stderr, stdout } = await service.run(words);
    expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

test('prints its version, and its help with every variable', async ({ service }) => {
  expect((await service.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const help = await service.run(['--help']);
  expect(help.code).toBe(0);
  for (const word of ['serve', 'STORAGE_DIR', 'RATE_LIMIT_PER_MINUTE', 'default: 9300'])
    expect(help.stdout).toContain(word);
});

test('serves an editor on standard input and output', async ({ service }) => {
  const messages = [
    { id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } },
    { id: 2, method: 'shutdown' },
    { method: 'exit' },
  ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
  const input = messages.map((message) => `Content-Length: ${message.length}\r\n\r\n${message}`).join('');
  const { code, stdout, stderr } = await service.run(['lsp', '--stdio'], input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Content-Length: \d+\r\n\r\n\{"jsonrpc":"2.0","id":1,"result":\{"serverInfo"/);
});

test('ends cleanly on SIGTERM, leaving no endpoint file behind', async ({ service }) => {
  const file = service.environment['COROLLARY_ENDPOINT_FILE'] ?? '';
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url: service.url, pid: service.pid });
  expect(await service.stop()).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(service.log.split('\n').filter((line) => /"(ERROR|WARN)"/.test(line))).toEqual([]);
});

test('ends at once on a second signal, with exit code 1, and loses nothing acknowledged', async ({
  service,
}) => {
  await service.run(['tell', 'kept(a).']);
  // An import with an unfinished body delays the shutdown.
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
  socket.write(
    'POST /import HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: default\r\nTransfer-Encoding: chunked\r\n' +
      'Content-Type: application/x-ndjson\r\n\r\n',
  );
  expect((await service.run(['status'])).code).toBe(0);
  process.kill(service.pid, 'SIGTERM');
  await expect.poll(() => service.log).toContain('shutting down');
  expect(await service.stop()).toBe(1);
  expect(service.log).toContain('told again: ending at once');
  socket.destroy();
  await service.start();
  expect((await service.run(['ask', 'kept(?x)'])).stdout).toContain('kept(a)');
});

test('continues when its output is closed', async ({ service }) => {
  service.closeOutput();
  for (let asked = 0; asked < 3; asked++) expect((await service.run(['status'])).code).toBe(0);
  expect(await service.stop()).toBe(0);
});

test('says why it cannot start: port, folder, configuration, damage', async ({ service }) => {
  const port = new URL(service.url).port;
  const other = join(service.folder, 'other');
  const taken = await service.run(['serve'], '', { STORAGE_DIR: other, PORT: port });
  expect(taken.code).toBe(4);
  expect(taken.stderr).toContain(`Port ${port}`);
  const locked = await service.run(['serve'], '', { PORT: '0' });
  expect(locked.code).toBe(5);
  expect(locked.stderr).toContain(String(service.pid));
  expect(locked.stderr).toContain(service.url);
  const wrong = await service.run([], '', { PORT: 'x', ENCRYPTION_KEY: 'tooshort' });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('PORT: got "x", takes ');
  expect(wrong.stderr).toContain('ENCRYPTION_KEY: got 8 characters, takes ');
  for (const { stderr } of [taken, locked, wrong]) expect(stderr).not.toMatch(/\n\s+at /);
});

test('refuses a damaged log, naming file and offset, and changes nothing', async () => {
  const service = new ServiceProcess();
  try {
    await service.start();
    for (const name of ['a', 'b', 'c']) await service.run(['tell', `p(${name})`]);
    // A clean shutdown would write a snapshot and remove the log it covers.
    await service.kill();
    const segment = readdirSync(service.storageDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.includes('lock'))
      .map((name) => join(service.storageDir, name))
      .find((path) => existsSync(path) && readFileSync(path).includes('"p"'));
    const bytes = readFileSync(segment ?? '');
    const middle = bytes.indexOf('"a"');
    bytes.write('"X"', middle);
    writeFileSync(segment ?? '', bytes);
    const refused = await service.run(['serve']);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain(segment?.split('/').at(-1) ?? '');
    expect(refused.stderr).toMatch(/offset \d+/);
    expect(readFileSync(segment ?? '')).toEqual(bytes);
    bytes.write('"a"', middle);
    writeFileSync(segment ?? '', bytes);
    appendFileSync(segment ?? '', 'torn');
    await service.start();
    expect((await service.run(['ask', 'p(?x)'])).stdout).toBe('p(a)\np(b)\np(c)\n');
    expect(service.log).toMatch(/"WARN"/);
  } finally {
    await service.dispose();
  }
});

test('refuses a damaged snapshot, naming file and offset, and changes nothing', async () => {
  const service = new ServiceProcess();
  try {
    await service.start();
    for (const name of ['a', 'b']) await service.run(['tell', `p(${name})`]);
    await service.stop();
    const snapshot = readdirSync(service.storageDir).find((name) => name.endsWith('.snapshot')) ?? '';
    const path = join(service.storageDir, snapshot);
    const bytes = readFileSync(path);
    const middle = bytes.length >>> 1;
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    writeFileSync(path, bytes);
    const refused = await service.run(['serve']);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain(snapshot);
    expect(refused.stderr).toMatch(/offset \d+/);
    expect(readFileSync(path)).toEqual(bytes);
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    writeFileSync(path, bytes);
    await service.start();
    expect((await service.run(['ask', 'p(?x)'])).stdout).toBe('p(a)\np(b)\n');
  } finally {
    await service.dispose();
  }
});

test('--reset-admin revokes all admin keys while the service is stopped, says so and exits 0', async () => {
  const service = new ServiceProcess({ AUTH_ENABLED: 'true', SERVICE_ADMIN_PASS: 'a password of the test' });
  const body = JSON.stringify({ username: 'admin', password: 'a password of the test' });
  const headers = { 'content-type': 'application/json' };
  const bootstrap = () => fetch(`${service.url}/auth/bootstrap`, { method: 'POST', headers, body });
  const isRequired = async () => {
    const status = (await (await fetch(`${service.url}/auth/status`)).json()) as Record<string, unknown>;
    return status['bootstrapRequired'];
  };
  try {
    await service.start();
    const { key } = (await (await bootstrap()).json()) as { key: string };
    expect((await service.run(['tell', 'p(a)'], '', { API_KEY: key })).code).toBe(0);
    const refused = await service.run(['--reset-admin']);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('in use');
    await service.kill();
    const reset = await service.run(['--reset-admin']);
    expect(reset.code).toBe(0);
    expect(reset.stdout).toContain('1 admin key was revoked');
    await service.start();
    expect(await isRequired()).toBe(true);
    expect((await service.run(['ask', 'p(?x)'], '', { API_KEY: key })).code).toBe(4);
    expect((await bootstrap()).status).toBe(201);
    expect(await isRequired()).toBe(false);
    expect(service.log + reset.stdout).not.toContain(key);
  } finally {
    await service.dispose();
  }
});

test('serves HTTPS from a key store with TLS_ENABLED, prints where, and its commands still work', async () => {
  const keystores = join(import.meta.dirname, '..', 'src', 'main', 'tls', 'testing', 'keystores');
  const tls = { TLS_ENABLED: 'true', TLS_PORT: '0', TLS_KEYSTORE_PATH: join(keystores, 'ec.jks') };
  const service = new ServiceProcess({ ...tls, TLS_KEYSTORE_PASSWORD: 'changeit' });
  try {
    const refused = await service.run(['serve'], '', { TLS_KEYSTORE_PASSWORD: 'not-the-secret' });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('TLS_KEYSTORE_PASSWORD: got 14 characters');
    await service.start();
    expect((await service.run(['tell', 'p(a)'])).code).toBe(0);
    await expect.poll(() => service.log).toContain('"secureAddress":"https://127.0.0.1:');
    const address = /"secureAddress":"([^"]+)"/.exec(service.log)?.[1] ?? '';
    const ca = readFileSync(join(keystores, 'ec.pem'));
    const request = get(`${address}/health`, { ca, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(await text(response)).toContain('"status":"ok"');
    expect(await service.stop()).toBe(0);
    expect(service.log + refused.stderr).not.toMatch(/changeit|not-the-secret/);
  } finally {
    await service.dispose();
  }
});
