import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../src/engine/contract/operations.ts';
import { systemOrigin } from '../src/engine/index.ts';
import { createBridgeTest } from '../src/main/bridge/test-bridge.ts';
import { writeEndpoint } from '../src/main/base/endpoint-file.ts';
import { startServiceUnderTest } from '../src/main/testing/service-under-test.ts';
import { buildProgram, manifest } from './build-bridge.mjs';

// There are no packages outside of the project: what runs here needs only Node.
const folder = mkdtempSync(join(tmpdir(), 'corollary-bridge-'));
const file = join(folder, 'bridge', 'corollary-mcp.js');
/** @type {import('../src/main/testing/service-under-test.ts').ServiceUnderTest} */
let service;

beforeAll(async () => {
  await buildProgram(join(folder, 'bridge'));
  service = await startServiceUnderTest({ API_KEY: 'right' });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** @type {import('../src/engine/index.ts').Caller} */
const caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'default',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'r',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

/**
 * A test of such a bridge.
 * @param {Partial<import('../src/main/bridge/test-bridge.ts').BridgeTestParts>} [parts]
 */
function bridgeTest(parts = {}) {
  return createBridgeTest({
    bridge: () => ({ command: process.execPath, args: [file] }),
    address: () => service.address,
    endpointFile: null,
    version: '1',
    ...parts,
  });
}

/** @param {string} text of a program in place of the bridge */
function programOf(text) {
  const program = join(folder, 'program.mjs');
  writeFileSync(program, text);
  return () => ({ command: process.execPath, args: [program] });
}

const place = { database: 'default', tenant: 'default', key: 'right' };

/**
 * Starting processes is slow on a busy machine.
 * @param {() => unknown} look
 */
function eventually(look) {
  return expect.poll(look);
}

describe('the built bridge', () => {
  it('is one file that runs without installed packages', () => {
    expect(readdirSync(join(folder, 'bridge'))).toEqual(['corollary-mcp.js']);
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect(execFileSync(process.execPath, [file, '--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
    expect(execFileSync(process.execPath, [file, '--help'], { encoding: 'utf8' })).toContain(
      'COROLLARY_API_KEY',
    );
  });

  it('is in a bundle that names the existing tools', () => {
    const named = Object.values(operations).flatMap((spec) => ('tool' in spec ? [spec.tool.name] : []));
    expect(new Set(manifest().tools.map(({ name }) => name))).toEqual(new Set(named));
  });

  it('reports a wrong command line and exits with 2, without standard output', () => {
    /** @type {{status?: number, stdout?: string, stderr?: string}} */
    let ended = {};
    try {
      execFileSync(process.execPath, [file, '--key', 'k'], { encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      ended = /** @type {typeof ended} */ (error);
    }
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toContain('COROLLARY_API_KEY');
  });
});

describe('the test of the bridge', () => {
  it('starts it, shakes hands through it and lists the tools', async () => {
    expect(await bridgeTest()(caller, place)).toMatchObject({
      isConnected: true,
      server: expect.stringMatching(/^corollary \d/),
      revision: '2025-11-25',
      tools: 10,
      detail: null,
    });
  });

  it('uses the endpoint file if there is one, and says so if it leads elsewhere', async () => {
    const endpointFile = join(folder, 'endpoint.json');
    const test = bridgeTest({ endpointFile });
    expect(await test(caller, place)).toMatchObject({
      isConnected: false,
      detail: expect.stringContaining('gone'),
    });
    const endpoint = { url: service.address, version: '1', startedAt: 0 };
    await writeEndpoint(endpointFile, { ...endpoint, pid: process.pid });
    expect(await test(caller, place)).toMatchObject({ isConnected: true });
    await writeEndpoint(endpointFile, { ...endpoint, pid: process.pid + 1 });
    expect(await test(caller, place)).toMatchObject({ detail: expect.stringContaining('another service') });
  });

  it('reports a refusal of the service: a wrong key, an unknown database', async () => {
    expect(await bridgeTest()(caller, { ...place, key: 'wrong' })).toMatchObject({
      isConnected: false,
      detail: expect.stringContaining('COROLLARY_API_KEY'),
    });
    expect(await bridgeTest()(caller, { ...place, database: 'nowhere' })).toMatchObject({
      isConnected: false,
      detail: expect.stringContaining('nowhere'),
    });
  });

  it('reports a bridge that is not built, cannot be started, or ends', async () => {
    /** @type {[() => ({command: string, args: string[]} | null), string][]} */
    const cases = [
      [() => null, 'not built'],
      [() => ({ command: join(folder, 'no-node'), args: [] }), 'Node'],
      [programOf('process.stderr.write("it is broken"); process.exit(1)'), 'it is broken'],
    ];
    for (const [bridge, words] of cases)
      expect(await bridgeTest({ bridge })(caller, place)).toMatchObject({
        isConnected: false,
        detail: expect.stringContaining(words),
      });
  });

  it('runs for four at once, leaves no process behind, and ends with its caller', async () => {
    const pids = join(folder, 'pids');
    const stubborn = `import { appendFileSync } from 'node:fs'; process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
      appendFileSync(${JSON.stringify(pids)}, process.pid + ' ');`;
    const test = bridgeTest({ bridge: programOf(stubborn) });
    const gone = new AbortController();
    const begun = [1, 2, 3, 4].map(() => test({ ...caller, signal: gone.signal }, place));
    await expect(test(caller, place)).rejects.toMatchObject({
      code: 'RateLimited',
      members: { retryAfterSeconds: 2 },
    });
    await eventually(() => started()).toHaveLength(4);
    gone.abort(new Error('gone'));
    for (const each of await Promise.allSettled(begun)) expect(each.status).toBe('rejected');
    for (const pid of started()) expect(() => process.kill(pid, 0)).toThrow('ESRCH');

    function started() {
      try {
        return readFileSync(pids, 'utf8').trim().split(' ').map(Number);
      } catch {
        return [];
      }
    }
  });
});
