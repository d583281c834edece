import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { describeVariables } from '../src/main/base/config.ts';
import { root } from './prepare.mjs';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'corollary-container-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** @typedef {{name: string, rest: string}} Instruction */

/**
 * The instructions of each stage of the Dockerfile.
 * @returns {Instruction[][]}
 */
function stages() {
  const text = readFileSync(join(root, 'packaging/Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ');
  /** @type {Instruction[][]} */
  const found = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === 'FROM') found.push([]);
    found.at(-1)?.push({ name, rest });
  }
  return found;
}

const [, packages = [], final = []] = stages();

/** @param {string} name */
function only(name) {
  const [instruction, ...others] = final.filter((each) => each.name === name);
  if (instruction === undefined || others.length > 0) throw new Error(`the image has not one ${name}`);
  return instruction.rest;
}

const environment = Object.fromEntries(
  only('ENV')
    .split(/\s+/)
    .map((setting) => /** @type {[string, string]} */ (setting.split('=', 2))),
);

describe('the image', () => {
  it("uses the product's Node, in three stages, and does not run as root", () => {
    expect(stages().map(([from]) => from?.rest.split(' ')[0])).toEqual(
      Array(3).fill('node:24-bookworm-slim'),
    );
    expect(only('USER')).toBe('node');
  });

  it('sets only known variables, with language models allowed', () => {
    const known = describeVariables();
    for (const name of Object.keys(environment)) if (name !== 'NODE_ENV') expect(known).toContain(name);
    expect(environment).toMatchObject({ EXTRACTION_ENABLED: 'true', HOST: '0.0.0.0' });
    expect(environment['STORAGE_DIR']?.startsWith(`${only('VOLUME')}/`)).toBe(true);
  });

  it('copies only existing files, and excludes the rest from the build', () => {
    for (const { rest } of final.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from')))
      expect(existsSync(join(root, rest.split(' ')[0] ?? ''))).toBe(true);
    const ignored = readFileSync(join(root, 'packaging/Dockerfile.dockerignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', 'node_modules', 'out', 'data']));
  });
});

describe('the check before a start of image and unit', () => {
  const check = join(root, 'packaging/before-start.mjs');
  const program = join(folder, 'program.mjs');
  writeFileSync(program, "console.log('served')");
  /**
   * @param {Record<string, string>} settings
   * @param {string[]} words
   */
  const start = (settings, ...words) =>
    run(process.execPath, ['--import', check, program, ...words], { env: settings }).then(
      ({ stdout }) => stdout.trim(),
      (/** @type {{code: number, stderr: string}} */ { code, stderr }) => `${code}: ${stderr.trim()}`,
    );

  it('requires a key wherever others can reach the service', async () => {
    expect(await start({ HOST: '0.0.0.0' })).toMatch(/^2: .*\n.*set API_KEY/);
    expect(await start({ HOST: '::', AUTH_ENABLED: 'false', API_KEY: '' }, 'serve')).toMatch(/^2: /);
    for (const settings of [{ API_KEY: 'k' }, { AUTH_ENABLED: 'true' }])
      expect(await start({ HOST: '0.0.0.0', ...settings })).toBe('served');
    for (const HOST of ['127.0.0.1', '::1', 'localhost', '']) expect(await start({ HOST })).toBe('served');
  });

  it('applies to the service only, not to other commands', async () => {
    expect(await start({ HOST: '0.0.0.0' }, '--verify')).toBe('served');
    expect(await start({ HOST: '0.0.0.0' }, 'status')).toBe('served');
  });
});

describe('the unit of systemd', () => {
  it('is accepted by systemd, and can write only to its state', () => {
    const unit = readFileSync(join(root, 'packaging/corollary.service'), 'utf8');
    expect(unit).toContain('ProtectSystem=strict');
    expect(unit).toContain('Environment=HOST=0.0.0.0');
    expect(unit).toContain('--import /opt/corollary/packaging/before-start.mjs');
    if (!existsSync('/usr/bin/systemd-analyze')) return;
    const here = unit.replace('/usr/bin/node', process.execPath);
    writeFileSync(join(folder, 'corollary.service'), here);
    const verified = execFileSync('/usr/bin/systemd-analyze', ['verify', join(folder, 'corollary.service')], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(verified).toBe('');
  });
});

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Does what the image's last stage does, with its folders below one of ours; the build is the existing one. */
async function followDockerfile() {
  const app = join(folder, 'app');
  mkdirSync(app);
  for (const { name, rest } of packages) {
    if (name === 'COPY')
      for (const file of rest.split(' ').slice(0, -1)) cpSync(join(root, file), join(app, file));
    if (name === 'RUN') await run('sh', ['-c', rest], { cwd: app });
  }
  for (const { name, rest } of final) {
    if (name !== 'COPY') continue;
    const [first = '', ...others] = rest.split(' ');
    if (first === '--from=packages') continue;
    const sources = (first.startsWith('--from=') ? others : [first, ...others]).slice(0, -1);
    for (const source of sources) {
      const path = source.replace(/^\/app\//, '');
      cpSync(join(root, path), join(app, path), { recursive: true });
    }
  }
  return app;
}

describe.runIf(process.env['LONG'] === '1')('a container', () => {
  it('starts as another user with only its packages, is healthy when ready, and ends cleanly by SIGTERM', async () => {
    const app = await followDockerfile();
    const data = join(folder, 'data');
    mkdirSync(data);
    const isRoot = process.getuid?.() === 0;
    // An unprivileged user, as `node` is in the image.
    const user = isRoot ? { uid: 65534, gid: 65534 } : {};
    if (isRoot) {
      chownSync(data, 65534, 65534);
      execFileSync('chmod', ['755', folder]);
    }
    const env = {
      ...Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, value.replace('/data', data)]),
      ),
      PATH: process.env['PATH'] ?? '',
      PORT: String(await freePort()),
      API_KEY: 'of-whoever-tests-this',
    };
    const [command = '', ...words] = JSON.parse(only('ENTRYPOINT'));
    expect(command).toBe('node');
    /** @type {[string, ...string[]]} */
    const check = JSON.parse(only('HEALTHCHECK').replace(/^.*?CMD /, ''));
    const healthy = () =>
      run(process.execPath, check.slice(1), { cwd: app, env, ...user }).then(
        () => true,
        () => false,
      );
    expect(await healthy()).toBe(false);
    const service = spawn(process.execPath, words, { cwd: app, env, stdio: 'ignore', ...user });
    try {
      await expect.poll(healthy, { interval: 500 }).toBe(true);
      expect((await fetch(`http://127.0.0.1:${env.PORT}/rules`)).status).toBe(401);
      expect(existsSync(join(data, 'endpoint.json'))).toBe(true);
    } finally {
      service.kill('SIGTERM');
      expect(await once(service, 'exit')).toEqual([0, null]);
    }
    expect(existsSync(join(data, 'endpoint.json'))).toBe(false);
  });
});
