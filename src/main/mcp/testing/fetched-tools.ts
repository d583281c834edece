/**
 * External test programs that need a newer Node than the product, and that Node: downloaded once, in pinned versions,
 * into a folder that is removed with node_modules. The product does not install them.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface FetchedTools {
  /** Paths of programs. */
  readonly node: string;
  readonly inspector: string;
}

const folder = fileURLToPath(new URL('../../../../node_modules/.cache/corollary/mcp-tools', import.meta.url));

const system = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${system}-${process.arch}`;
const wanted: Readonly<Record<string, string>> = {
  // Only the program, from the package `node` for this system.
  [nodePackage]: '22.23.3',
  '@modelcontextprotocol/inspector': '2.12.0',
};

const limitMs = 10 * 60_000;

/** Rejects with the obstacle if they are missing and cannot be downloaded. */
export async function fetchTools(): Promise<FetchedTools> {
  if (!areHere()) {
    mkdirSync(folder, { recursive: true });
    const manifest = { name: 'mcp-tools', version: '1.0.0', private: true };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const packages = Object.entries(wanted).map(([name, version]) => `${name}@${version}`);
    await runNpm(['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', ...packages]);
    if (!areHere()) throw new Error(`npm succeeded, but ${packages.join(' and ')} are not in ${folder}`);
  }
  const programs = join(folder, 'node_modules');
  return {
    node: join(programs, nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
    inspector: join(programs, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  };
}

function areHere(): boolean {
  return Object.entries(wanted).every(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    if (!existsSync(manifest)) return false;
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version === version;
  });
}

function runNpm(argumentList: readonly string[]): Promise<void> {
  // Under `npm run` npm says where it is; else the one on the path is used, which on Windows only a shell can start.
  const path = process.env['npm_execpath'];
  const isScript = path?.endsWith('.js') === true;
  const [program, before] = isScript ? [process.execPath, [path]] : ['npm', []];
  const options = { cwd: folder, timeout: limitMs, shell: !isScript && process.platform === 'win32' };
  return new Promise((resolve, reject) => {
    execFile(program, [...before, ...argumentList], options, (error, _stdout, stderr) => {
      if (error === null) return resolve();
      const why = stderr
        .split('\n')
        .filter((line) => line.startsWith('npm error'))
        .slice(0, 5)
        .join('\n');
      reject(
        new Error(
          `${Object.keys(wanted).join(' and ')} could not be fetched: they come from the package registry, which has ` +
            `to be reached once.\n${why}`,
        ),
      );
    });
  });
}
