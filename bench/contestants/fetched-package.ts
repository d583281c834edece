/**
 * Contestants that are large npm packages: downloaded once, in pinned versions, into the user's cache, since the
 * product does not install them. Without the package registry they are left out.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const limitMs = 5 * 60_000;

/** A pinned package, and its location once it was downloaded. */
export class FetchedPackage {
  readonly name: string;
  readonly version: string;
  readonly #folder: string;

  constructor(name: string, version: string) {
    this.name = name;
    this.version = version;
    const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
    this.#folder = join(caches, 'corollary', 'bench', `${name.replace(/\W+/g, '-')}-${version}`);
  }

  /** The path for a `require` of the package. */
  get path(): string {
    return join(this.#folder, 'node_modules', this.name);
  }

  /** Downloads it unless it is present; returns null if it is available, else the reason for the user. */
  fetch(): string | null {
    if (existsSync(join(this.path, 'package.json'))) return null;
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, 'package.json'), JSON.stringify({ private: true }));
    // Under `npm run` npm says where it is; else the one on the path is used.
    const script = process.env['npm_execpath'];
    const [program, before] = script?.endsWith('.js') === true ? [process.execPath, [script]] : ['npm', []];
    const wanted = `${this.name}@${this.version}`;
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const result = spawnSync(program, [...before, 'install', ...options, wanted], {
      cwd: this.#folder,
      timeout: limitMs,
      encoding: 'utf8',
    });
    if (result.status === 0 && existsSync(join(this.path, 'package.json'))) return null;
    const why = result.error?.message ?? result.stderr.trim().split('\n')[0] ?? '';
    return `${wanted} could not be downloaded, which needs the package registry once: ${why}`;
  }
}
