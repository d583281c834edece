import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.mjs';

/**
 * The prerequisites of `npm start` and `npm test`: a recent enough Node, the packages of the lockfile, and a build of
 * the current sources. Each step checks first and does nothing if nothing is missing, so that a second start takes no
 * time. Node built-ins only: a fresh clone has nothing else.
 */

/** The project's folder, whatever the working directory of the command. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** The folder for what the project remembers between runs; it is removed with node_modules. */
export const cache = join(root, 'node_modules/.cache/corollary');

/** A failure that is reported in one line, without a stack: the user's or the machine's, not a bug. */
export class Refusal extends Error {}

/** Rejects a Node that the product does not support. */
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
  // Electron's binary is downloaded later, and only if it can be used.
  const environment = { ...process.env, ELECTRON_SKIP_BINARY_DOWNLOAD: '1' };
  await runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], environment);
  if (!isInstalled()) throw new Refusal('npm ci succeeded, but packages of package-lock.json are missing.');
}

/**
 * Whether every package of the lockfile is installed in its version, by npm's own list of installed packages. Optional
 * packages are those of other platforms.
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
  // Under `npm start` npm says where it is; started directly, the one on the path is used (a .cmd file on Windows,
  // which only a shell can start).
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
  'out/main/reasoning-thread.js',
  'out/preload/preload.cjs',
  'out/renderer/index.html',
  'out/renderer/documentation/index.html',
  'out/mcp/proof-app.html',
  'out/bridge/corollary-mcp.js',
  'out/corollary.mcpb',
  'out/corollary.vsix',
  'client/dist/index.js',
];

/** Builds, unless the existing build was made from the current sources. */
export async function build() {
  const stamp = join(root, 'out/sources.sha256');
  const digest = sourcesDigest();
  const made = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (made === digest && outputs.every((path) => existsSync(join(root, path)))) return;
  console.log('Building...');
  rmSync(stamp, { force: true });
  // The steps of `npm run build`.
  await runBuild(['node_modules/electron-vite/bin/electron-vite.js', 'build', '--logLevel', 'warn']);
  await runBuild(['node_modules/vite/bin/vite.js', 'build', '--config', 'scripts/vite.proof-app.config.ts']);
  await runBuild(['scripts/build-bridge.mjs']);
  await runBuild(['scripts/build-vscode.mjs']);
  await runBuild(['node_modules/ts7/bin/tsc', '-p', 'client/tsconfig.json']);
  await runBuild(['scripts/documentation/build.mjs']);
  await runBuild(['scripts/compress-files.mjs']);
  const missing = outputs.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Refusal(`The build succeeded, but made no ${missing.join(', ')}.`);
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(stamp, digest);
}

/**
 * Runs a part of the build; throws when it fails.
 * @param {string[]} argumentList its program, relative to the project's folder, and its arguments
 */
async function runBuild(argumentList) {
  const { ok } = await runProgram(process.execPath, argumentList, {
    folder: root,
    environment: { ...process.env, NODE_ENV: 'production' },
    show: true,
  });
  if (!ok) throw new Refusal('The build failed; its own message is above.');
}

/** A digest of everything that goes into a build: names and bytes of the sources, in the order of their names. */
function sourcesDigest() {
  const hash = createHash('sha256').update(process.version);
  const configuration = [
    'package.json',
    'package-lock.json',
    'electron.vite.config.ts',
    'scripts/vite.proof-app.config.ts',
    'scripts/build-bridge.mjs',
    'scripts/build-vscode.mjs',
    'scripts/licences.mjs',
    'scripts/zip.mjs',
    'scripts/compress-files.mjs',
    'LICENSE',
    'tsconfig/base.json',
    'tsconfig.json',
    'client/tsconfig.json',
  ];
  const sources = ['src', 'client/src']
    .flatMap(filesBelow)
    .filter((path) => !/\.(test|fuzz|long|bench)\.tsx?$/.test(path));
  const others = ['resources', 'docs', 'scripts/documentation', 'packaging/vscode'].flatMap(filesBelow);
  for (const path of [...configuration, ...sources, ...others]) {
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
 * Ends with the npm that started us. npm passes a request to end only to its shell, which ends without us; so the loss
 * of the parent counts as that request.
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
