import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { variableNames } from '../src/main/base/config.ts';
import { isOpenedFile } from '../src/desktop-contract/files.ts';
import { isLink } from '../src/desktop-contract/places.ts';
import { root } from './prepare.mjs';

/** @param {string} path */
function yamlOf(path) {
  return parse(readFileSync(join(root, path), 'utf8'));
}

/** @type {{scripts: Record<string, string>, main: string, bin: Record<string, string>, files: string[]}} */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('the workflows', () => {
  const folder = '.github/workflows';
  for (const file of readdirSync(join(root, folder))) {
    const { permissions, jobs } = yamlOf(`${folder}/${file}`);
    /** @typedef {{uses?: string, run?: string, with?: Record<string, unknown>}} Step */
    /** @type {Record<string, {'runs-on': string, 'timeout-minutes'?: number, steps: Step[], permissions?: unknown}>} */
    const all = jobs;
    const steps = Object.values(all).flatMap((job) => job.steps);

    it(`${file} may only read the repository, and stores no token where programs run`, () => {
      expect(permissions).toEqual({ contents: 'read' });
      for (const job of Object.values(all)) expect(job.permissions).toBeUndefined();
      for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/checkout')))
        expect(step.with).toEqual({ 'persist-credentials': false });
    });

    it(`${file} uses actions and systems of fixed versions, and limits the time of every job`, () => {
      for (const { uses } of steps)
        expect(uses ?? 'actions/none@v1').toMatch(/^actions\/[a-z-]+@(v\d+|[0-9a-f]{40})$/);
      for (const job of Object.values(all)) {
        expect(job['runs-on']).not.toContain('latest');
        expect(job['timeout-minutes']).toBeGreaterThan(0);
      }
    });

    it(`${file} runs only existing scripts`, () => {
      const commands = steps.map(({ run = '' }) => run).join('\n');
      for (const [, script = ''] of commands.matchAll(/npm run ([a-z:]+)/g))
        expect(manifest.scripts).toHaveProperty(script);
      for (const [path] of commands.matchAll(/\be2e\/\S+/g)) expect(existsSync(join(root, path))).toBe(true);
      // Client input in an event is never part of a command.
      expect(commands).not.toMatch(/\$\{\{\s*github\.event/);
    });
  }
});

describe('the packages', () => {
  const builder = yamlOf('packaging/electron-builder.yml');

  it('have every format, and contain every program that package.json names', () => {
    expect([builder.linux.target, builder.mac.target, builder.win.target].flat()).toEqual([
      'AppImage',
      'deb',
      'rpm',
      'dmg',
      'zip',
      'nsis',
    ]);
    for (const program of [manifest.main, ...Object.values(manifest.bin)])
      expect(builder.files).toContain(program.replace(/[^/]+$/, '**'));
  });

  it('of npm contain the same as those of the desktop application, and no sources', () => {
    const wanted = /** @type {string[]} */ (builder.files)
      .filter((pattern) => /^(out|resources)\//.test(pattern))
      .map((pattern) => pattern.replace(/\*+$/, ''));
    expect(manifest.files).toEqual(expect.arrayContaining(wanted));
    expect(manifest.files.filter((path) => !/^(out|resources|packaging)\/./.test(path))).toEqual([]);
    for (const path of manifest.files.filter((each) => !each.startsWith('out/')))
      expect(existsSync(join(root, path)), path).toBe(true);
  });

  it('close every hole that Electron leaves open, except what a client needs to start it', () => {
    expect(builder.electronFuses).toMatchObject({
      runAsNode: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableCookieEncryption: true,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
    });
    expect(builder.asarUnpack).toContain('out/bridge/**');
  });

  it('and a clone use the same folder, which can be chosen in both', () => {
    expect(readFileSync(join(root, 'scripts/start.mjs'), 'utf8')).not.toContain('STORAGE_DIR');
    expect(readFileSync(join(root, 'packaging/electron-builder.yml'), 'utf8')).not.toContain('STORAGE_DIR');
  });

  it('leave the knowledge where it is, whatever is installed or removed', () => {
    expect(builder.nsis.deleteAppDataOnUninstall).toBe(false);
    // The builder's own scripts remove only links and the profile of AppArmor, which the .deb and .rpm bring.
    for (const target of [builder.deb, builder.rpm, builder.linux]) {
      expect(target?.afterInstall).toBeUndefined();
      expect(target?.afterRemove).toBeUndefined();
      expect(target?.appArmorProfile).toBeUndefined();
    }
  });

  it('have their icons, and open links and files of their kinds', () => {
    for (const icon of [builder.mac.icon, builder.win.icon, 'resources/icons/512x512.png'])
      expect(existsSync(join(root, icon)), icon).toBe(true);
    expect(builder.protocols[0].schemes).toEqual(['corollary']);
    expect(isLink(`${builder.protocols[0].schemes[0]}://facts`)).toBe(true);
    for (const { ext } of builder.fileAssociations) expect(isOpenedFile(`facts.${ext}`)).toBe(true);
    expect(builder.linux.mimeTypes).toEqual([
      'x-scheme-handler/corollary',
      builder.fileAssociations[0].mimeType,
    ]);
  });
});

describe('packaging/compose.yaml', () => {
  const service = yamlOf('packaging/compose.yaml').services.corollary;

  it('publishes the service to this machine only, requires a key, and writes only to its volume', () => {
    expect(service.ports).toEqual(['127.0.0.1:9300:9300']);
    expect(service.environment.API_KEY).toMatch(/^\$\{API_KEY:\?/);
    expect(service).toMatchObject({
      read_only: true,
      init: true,
      cap_drop: ['ALL'],
      volumes: ['knowledge:/data'],
    });
  });
});

describe('packaging/nodes', () => {
  const known = new Set([...variableNames(), 'POD_IP']);

  it('composes three nodes that reach each other by name, over one store, and publishes only the proxy', () => {
    const text = readFileSync(join(root, 'packaging/nodes/compose.yaml'), 'utf8');
    const { services } = parse(text, { merge: true });
    for (const name of ['node-1', 'node-2', 'node-3']) {
      const { environment, ports, read_only: isReadOnly } = services[name];
      expect(environment.NODE_ADDRESS).toBe(`http://${name}:9300`);
      expect(environment.STORE_URL).toContain('@postgres/corollary');
      expect(Object.keys(environment).filter((variable) => !known.has(variable))).toEqual([]);
      expect([ports, isReadOnly]).toEqual([undefined, true]);
    }
    expect(services.proxy.ports).toEqual(['127.0.0.1:9300:9300']);
  });

  it('deploys three nodes to Kubernetes that keep two alive, with settings that exist', () => {
    const text = readFileSync(join(root, 'packaging/nodes/kubernetes.yaml'), 'utf8');
    const [deployment, service, budget] = parseAllDocuments(text).map((document) => document.toJS());
    expect([deployment.kind, deployment.spec.replicas]).toEqual(['Deployment', 3]);
    const [{ env, readinessProbe, livenessProbe, ports }] = deployment.spec.template.spec.containers;
    const named = env.map((/** @type {{ name: string }} */ { name }) => name);
    expect(named.filter((/** @type {string} */ name) => !known.has(name))).toEqual([]);
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    expect(livenessProbe.httpGet.path).toBe('/health');
    expect(service.spec.ports[0].port).toBe(ports[0].containerPort);
    expect(budget.spec.minAvailable).toBe(2);
  });
});
