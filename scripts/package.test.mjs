import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectLicences, licencesText } from './licences.mjs';
import { makePackages, unsignedNote } from './package.mjs';
import { root } from './prepare.mjs';

const folder = mkdtempSync(join(tmpdir(), 'corollary-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the licences', () => {
  it('include a text for every package that the service uses or bundles, and all their dependencies', () => {
    const licences = collectLicences();
    /** @type {{dependencies: Record<string, string>}} */
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const names = licences.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(dependencies), 'react', '@mantine/core', 'avvio']),
    );
    expect(names).not.toContain('vitest');
    expect(names).not.toContain('electron');
    for (const { name, text } of licences) expect(text.length, name).toBeGreaterThan(40);
    expect(licencesText()).toContain('\nfastify 5.');
  });

  it('permit distributing the product under its own', () => {
    const permissive =
      /(^|\W)(MIT|Apache-2\.0|ISC|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|OFL-1\.1|Python-2\.0|PSF-2\.0)(\W|$)/;
    expect(collectLicences().filter(({ licence }) => !permissive.test(licence))).toEqual([]);
  });
});

const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';

/**
 * A folder as Electron ships it, as far as a packager reads it: a program with the wire of fuses, all but the first on.
 */
function electronStandIn() {
  const path = join(folder, 'electron');
  mkdirSync(join(path, 'resources'), { recursive: true });
  const fuses = Buffer.from([1, 9]);
  const program = [
    Buffer.from('a program'),
    Buffer.from(sentinel),
    fuses,
    Buffer.from('111111111'),
    Buffer.alloc(64),
  ];
  writeFileSync(join(path, 'electron'), Buffer.concat(program), { mode: 0o755 });
  for (const file of ['LICENSE', 'LICENSES.chromium.html', 'version'])
    writeFileSync(join(path, file), '45.4.1');
  return path;
}

/** @typedef {{files?: Record<string, Node>, offset?: string, size?: number, unpacked?: boolean}} Node of an archive */

/**
 * Unpacks an archive of Electron's: the length of its header's text at byte 12, the text, then the files.
 * @param {string} archive
 * @param {string} target
 * @returns {string[]} the paths of all files, those too that lie beside the archive
 */
function unpack(archive, target) {
  const bytes = readFileSync(archive);
  const base = 8 + bytes.readUInt32LE(4);
  /** @type {Node} */
  const header = JSON.parse(bytes.toString('utf8', 16, 16 + bytes.readUInt32LE(12)));
  /** @type {string[]} */
  const paths = [];
  /** @param {Node} node @param {string} path */
  const walk = (node, path) => {
    for (const [name, child] of Object.entries(node.files ?? {}))
      walk(child, path === '' ? name : `${path}/${name}`);
    if (node.files !== undefined) return;
    paths.push(path);
    if (node.unpacked === true) return;
    const start = base + Number(node.offset);
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), bytes.subarray(start, start + Number(node.size)));
  };
  walk(header, '');
  return paths;
}

describe('npm run package', () => {
  it('says which packages are not signed', () => {
    expect(unsignedNote('darwin', [], {})).toContain('for macOS are not signed');
    expect(unsignedNote('linux', ['--mac', '--win'], {})).toContain('for macOS and Windows are not signed');
    expect(unsignedNote('linux', ['--win'], { CSC_LINK: 'certificate.p12' })).toBeNull();
    expect(unsignedNote('win32', [], { WIN_CSC_LINK: 'certificate.pfx' })).toBeNull();
    expect(unsignedNote('linux', [], {})).toBeNull();
    expect(unsignedNote('darwin', ['--linux', 'dir'], {})).toBeNull();
  });

  it('names the source of an Electron that could not be downloaded', async () => {
    const builder = join(folder, 'builder');
    const program = join(builder, 'node_modules/electron-builder');
    mkdirSync(program, { recursive: true });
    writeFileSync(join(program, 'package.json'), '{"type": "module"}');
    writeFileSync(join(program, 'cli.js'), "console.error('cannot download electron'); process.exit(1);");
    vi.stubEnv('COROLLARY_BUILDER', builder);
    vi.stubEnv('ELECTRON_DIST', undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(makePackages(['--linux', 'dir'])).rejects.toThrow(
      /Electron 45\.4\.1 .*ELECTRON_DIST=FOLDER npm run package/,
    );
    vi.stubEnv('ELECTRON_DIST', join(folder, 'nowhere'));
    await expect(makePackages([])).rejects.toThrow('ELECTRON_DIST: there is no folder');
  });
});

describe.runIf(process.env['LONG'] === '1')('npm run package -- --linux dir', () => {
  it('packs only what runs, sets the fuses, and its service starts with Node alone', async () => {
    process.env['ELECTRON_DIST'] = electronStandIn();
    const output = join(folder, 'dist');
    await makePackages(['--linux', 'dir', `--config.directories.output=${output}`]);
    const installed = join(output, 'linux-unpacked');

    const program = readFileSync(join(installed, 'corollary'), 'latin1');
    const wire = program.slice(program.indexOf(sentinel) + sentinel.length + 2);
    // In the order of Electron: as Node 0, cookies 1, NODE_OPTIONS 0, inspect 0, integrity 1, archive alone 1, -, file:
    // 0.
    expect(wire.slice(0, 8)).toBe('01001110');
    expect(readFileSync(join(installed, 'LICENCES.txt'), 'utf8')).toContain('fastify');

    const app = join(folder, 'app');
    const paths = unpack(join(installed, 'resources/app.asar'), app);
    expect(paths).toEqual(
      expect.arrayContaining([
        'package.json',
        'out/main/main.js',
        'out/main/headless.js',
        'out/preload/preload.cjs',
        'out/renderer/index.html',
        'out/mcp/proof-app.html',
        'resources/samples/index.json',
        'node_modules/fastify/package.json',
      ]),
    );
    expect(
      paths.filter((path) => /^(src|scripts|e2e|bench|docs|client)\/|\.test\.|\.d\.ts$|\.map$/.test(path)),
    ).toEqual([]);
    expect(
      paths.filter((path) => /node_modules\/(electron|vitest|react|monaco-editor)\//.test(path)),
    ).toEqual([]);
    for (const file of ['out/bridge/corollary-mcp.js', 'out/corollary.mcpb'])
      expect(existsSync(join(installed, 'resources/app.asar.unpacked', file)), file).toBe(true);

    const service = spawn(process.execPath, [join(app, 'out/main/headless.js')], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        HOST: '127.0.0.1',
        PORT: '0',
        STORAGE_DIR: join(folder, 'data'),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    service.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (log += text));
    try {
      await expect.poll(() => /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0]).toBeDefined();
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0];
      expect((await fetch(`${address}/health`)).status).toBe(200);
      expect(await (await fetch(`${address}/`)).text()).toContain('<div id="root">');
    } finally {
      service.kill('SIGTERM');
      expect(await once(service, 'exit')).toEqual([0, null]);
    }
  });
});
