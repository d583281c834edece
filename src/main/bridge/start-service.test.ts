import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRecordOf, writeStartRecord } from '../base/start-record.ts';
import { ServiceStarter } from './start-service.ts';

let folder = '';
let now = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-start-'));
  now = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program in place of the service: it records how it was started, then does as instructed. */
function program(name: string, then: string): string {
  const file = join(folder, name);
  const note =
    "require('node:fs').appendFileSync(process.env.NOTES, JSON.stringify({ env: process.env, args: process.argv.slice(2) }) + '\\n');";
  writeFileSync(file, `process.env.NOTES ??= ${JSON.stringify(join(folder, 'notes'))};${note}${then}`);
  return file;
}

interface Note {
  readonly env: Record<string, string>;
  readonly args: readonly string[];
}

function notes(): Note[] {
  try {
    const lines = readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Note);
  } catch {
    return [];
  }
}

function starter(file: string | null, environment: Record<string, string> = {}): ServiceStarter {
  return new ServiceStarter({
    endpointFile: join(folder, 'endpoint.json'),
    program: file,
    environment: { PATH: process.env['PATH'] ?? '', ...environment },
    now: () => now,
    say: () => {},
  });
}

/** Starting processes and services is slow on a busy machine. */
function eventually<Seen>(look: () => Seen) {
  return expect.poll(look);
}

describe('starting the service', () => {
  it("starts the one beside the bridge on loopback, with the user's data folder and without our secrets", async () => {
    const environment = {
      XDG_DATA_HOME: '/data',
      COROLLARY_API_KEY: 'k',
      API_KEY: 'k',
      PORT: '1',
      HOST: '0.0.0.0',
    };
    await starter(program('service.cjs', ''), environment).start();
    await eventually(() => notes().length).toBe(1);
    const [{ env, args } = { env: {}, args: [] }] = notes();
    expect(args).toEqual(['serve']);
    expect(env).toMatchObject({ HOST: '127.0.0.1', COROLLARY_ENDPOINT_FILE: join(folder, 'endpoint.json') });
    if (process.platform === 'linux') expect(env['STORAGE_DIR']).toBe('/data/corollary');
    for (const name of ['API_KEY', 'COROLLARY_API_KEY', 'PORT']) expect(env).not.toHaveProperty(name);
    expect(statSync(join(folder, 'service.log')).mode & 0o777).toBe(0o600);
  });

  it('restarts the last service as it was, rather than the one beside the bridge', async () => {
    await writeStartRecord(startRecordOf(join(folder, 'endpoint.json')), {
      command: process.execPath,
      args: [program('last.cjs', ''), 'serve', 'as-before'],
      environment: { STORAGE_DIR: '/elsewhere', PORT: '9399' },
      needs: [],
      lacks: [],
    });
    await starter(program('service.cjs', '')).start();
    await eventually(() => notes().length).toBe(1);
    expect(notes()[0]).toMatchObject({
      args: ['serve', 'as-before'],
      env: { STORAGE_DIR: '/elsewhere', PORT: '9399', HOST: '127.0.0.1' },
    });
  });

  it('starts the last application by its options alone', async () => {
    const application = join(folder, 'application');
    writeFileSync(application, `#!/bin/sh\necho "$@" > ${join(folder, 'started')}\n`, { mode: 0o700 });
    await writeStartRecord(startRecordOf(join(folder, 'endpoint.json')), {
      command: application,
      args: ['--hidden'],
      environment: {},
      needs: [],
      lacks: [],
    });
    if (process.platform === 'win32') return;
    await starter(program('service.cjs', '')).start();
    await eventually(() => existsSync(join(folder, 'started'))).toBe(true);
    await eventually(() => readFileSync(join(folder, 'started'), 'utf8').trim()).toBe('--hidden');
    expect(notes()).toEqual([]);
  });

  it('refuses to start one that would be open without its missing secret, and starts it if the secret is available', async () => {
    await writeStartRecord(startRecordOf(join(folder, 'endpoint.json')), {
      command: process.execPath,
      args: [program('last.cjs', '')],
      environment: {},
      needs: ['API_KEY'],
      lacks: ['ANTHROPIC_API_KEY'],
    });
    const without = starter(null, { COROLLARY_API_KEY: 'k' });
    await without.start();
    expect(without.why).toContain('API_KEY');
    expect(notes()).toEqual([]);
    await starter(null, { API_KEY: 'k' }).start();
    await eventually(() => notes().length).toBe(1);
    expect(notes()[0]?.env['API_KEY']).toBe('k');
  });

  it('says that nothing is installed', async () => {
    const nowhere = starter(join(folder, 'missing.js'));
    await nowhere.start();
    expect(nowhere.why).toMatch(/no Corollary is installed/);
  });

  it("reports a failed start in the service's own words, and does not retry at once", async () => {
    const file = program(
      'bad.cjs',
      "console.error('Corollary cannot start.'); console.error('{\"level\":1}'); process.exit(2);",
    );
    const failing = starter(file);
    await failing.start();
    await eventually(() => failing.why).toBe('Corollary could not be started: Corollary cannot start.');
    await failing.start();
    now = 29_000;
    await failing.start();
    expect(notes().length).toBe(1);
    now = 31_000;
    await failing.start();
    await eventually(() => notes().length).toBe(2);
  });

  it('starts it on another port if its own is taken by another program', async () => {
    const file = program('taken.cjs', "process.exit(process.env.PORT === '0' ? 0 : 4);");
    const other = starter(file);
    await other.start();
    await eventually(() => notes().length).toBe(1);
    await eventually(async () => {
      now += 3000;
      await other.start();
      return notes().length;
    }).toBe(2);
    expect(notes()[1]?.env['PORT']).toBe('0');
  });
});
