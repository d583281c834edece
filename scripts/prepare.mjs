import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.mjs';

/**
 * What `npm start` and `npm test` need before they can do anything: a Node that is new enough, the
 * packages of the lockfile, and a build of the sources as they are now. Each step looks first and does
 * nothing where nothing is missing, so that a second start takes no time. Node built-ins only: on a
 * fresh clone nothing else is there.
 */

/** The project's folder, wherever the command was started from. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the project keeps what it remembers between runs; it goes away with node_modules. */
export const cache = join(root, 'node_modules/.cache/corollary');

/** A failure that is told in one line, without a stack: the user's or the machine's, not a bug. */
export class Refusal extends Error {}

/** Refuses a Node the product does not run on. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Refusal(
    `Corollary needs Node 20.19 or newer; this is Node ${process.versions.node}. See https://nodejs.org`,
  );
}

/** Installs the packages of the lockfile, unless exactly those are installed. */
export async function install() {
  if (isInstalled()) return;
  console.log('Installing packages (once; about a minute)...');
  // Electron's binary is fetched later, and only for those who can use it.
  const environment = { ...process.env, ELECTRON_SKIP_BINARY_DOWNLOAD: '1' };
  await runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], environment);
  if (!isInstalled()) throw new Refusal('npm ci ended well, but packages of package-lock.json are missing.');
}

/**
 * Whether every package of the lockfile is installed in its version, by npm's own list of what it
 * installed. Optional packages are those of other platforms.
 */
function isInstalled() {
  const listPath = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(listPath)) return false;
  /** @typedef {{version?: string, optional?: boolean, devOptional?: boolean}} Entry */
  /** @type {{packages: Record<string, Entry>}} */
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  /** @type {{packages: Record<string, Entry>}} */
  const present = JSON.parse(readFileSync(listPath, 'utf8'));
  return Object.entries(wanted.packages).every(
    ([path, entry]) =>
      path === '' ||
      entry.optional === true ||
      entry.devOptional === true ||
      (present.packages[path]?.version === entry.version && existsSync(join(root, path))),
  );
}

/**
 * Runs npm with its output on ours; throws when it fails.
 * @param {string[]} argumentList
 * @param {NodeJS.ProcessEnv} environment
 */
export async function runNpm(argumentList, environment, folder = root) {
  // Under `npm start` npm says where it is; started directly, the one on the path has to do (a .cmd file
  // on Windows, which only a shell starts).
  const npm = process.env['npm_execpath'];
  const options = { folder, environment, show: true };
  const { ok, output } =
    npm?.endsWith('.js') === true
      ? await runProgram(process.execPath, [npm, ...argumentList], options)
      : await runProgram('npm', argumentList, { ...options, shell: process.platform === 'win32' });
  if (!ok) throw new Refusal(`npm ${argumentList[0]} failed. ${output || 'Its own message is above.'}`);
}

const outputs = [
  'out/main/headless.js',
  'out/main/main.js',
  'out/main/service-thread.js',
  'out/preload/preload.cjs',
  'out/renderer/index.html',
  'out/mcp/proof-app.html',
  'out/bridge/corollary-mcp.js',
  'out/corollary.mcpb',
  'client/dist/index.js',
];

/** Builds, unless the build that is there was made from the sources as they are. */
export async function build() {
  const stamp = join(root, 'out/sources.sha256');
  const digest = sourcesDigest();
  const made = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (made === digest && outputs.every((path) => existsSync(join(root, path)))) return;
  console.log('Building...');
  rmSync(stamp, { force: true });
  // What `npm run build` does.
  await runBuild(['node_modules/electron-vite/bin/electron-vite.js', 'build', '--logLevel', 'warn']);
  await runBuild(['node_modules/vite/bin/vite.js', 'build', '--config', 'scripts/vite.proof-app.config.ts']);
  await runBuild(['scripts/build-bridge.mjs']);
  await runBuild(['node_modules/ts7/bin/tsc', '-p', 'client/tsconfig.json']);
  await runBuild(['scripts/compress-files.mjs']);
  const missing = outputs.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Refusal(`The build ended well, but made no ${missing.join(', ')}.`);
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(stamp, digest);
}

/**
 * Runs a part of the build; throws when it fails.
 * @param {string[]} argumentList its program, seen from the project's folder, and its arguments
 */
async function runBuild(argumentList) {
  const { ok } = await runProgram(process.execPath, argumentList, {
    folder: root,
    environment: { ...process.env, NODE_ENV: 'production' },
    show: true,
  });
  if (!ok) throw new Refusal('The build failed; its own message is above.');
}

/** A digest of all that goes into a build: names and bytes of the sources, in the order of their names. */
function sourcesDigest() {
  const hash = createHash('sha256').update(process.version);
  const configuration = [
    'package.json',
    'package-lock.json',
    'electron.vite.config.ts',
    'scripts/vite.proof-app.config.ts',
    'scripts/build-bridge.mjs',
    'scripts/compress-files.mjs',
    'LICENSE',
    'tsconfig/base.json',
    'tsconfig.json',
    'client/tsconfig.json',
  ];
  const sources = ['src', 'client/src']
    .flatMap(filesBelow)
    .filter((path) => !/\.(test|fuzz|long|bench)\.tsx?$/.test(path));
  for (const path of [...configuration, ...sources, ...filesBelow('resources')]) {
    const absolute = join(root, path);
    if (existsSync(absolute)) hash.update(`\n${path}\n`).update(readFileSync(absolute));
  }
  return hash.digest('hex');
}

/**
 * Paths, relative to the project, of all files below a folder of it, sorted.
 * @param {string} folder
 * @returns {string[]}
 */
export function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
    .sort();
}

/**
 * Ends with the npm that started us. npm passes a request to end on to its shell alone, and a shell that
 * ends by it leaves us behind; so a parent that is gone is taken as that request.
 */
function endWithParent() {
  if (process.platform === 'win32' || process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

/**
 * Runs a command's main function; a refusal becomes one line and exit code 1.
 * @param {() => Promise<void>} main
 */
export async function runCommand(main) {
  try {
    requireNode();
    endWithParent();
    await main();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}
