import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cache, root } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * Electron's binary, which the package does not contain: found, or downloaded once.
 *
 * A failed attempt is remembered with the packages, so that the next start does not wait for it again; only an explicit
 * request starts another. Without the binary everything works except the desktop's own window.
 */

const failure = join(cache, 'electron-not-fetched');
const patience = { automatic: 2 * 60_000, asked: 30 * 60_000 };

/** The path of Electron's executable, or null if it has not been downloaded. */
export function findElectron() {
  const folder = join(root, 'node_modules/electron');
  const name = join(folder, 'path.txt');
  if (!existsSync(name)) return null;
  const path = join(folder, 'dist', readFileSync(name, 'utf8').trim());
  return existsSync(path) ? path : null;
}

/**
 * Downloads the binary unless it is present or an earlier attempt failed. Returns its path, or null after printing why
 * there is none.
 * @param {{asked: boolean}} options asked: try again after a failure, and wait longer
 */
export async function fetchElectron({ asked }) {
  const present = findElectron();
  if (present !== null) return present;
  if (existsSync(failure) && !asked) {
    console.log(
      'Without the desktop window: Electron could not be downloaded earlier (npm start -- --electron tries again).',
    );
    return null;
  }
  const limit = asked ? patience.asked : patience.automatic;
  console.log(
    `Downloading Electron for the desktop window (once, about 120 MB; at most ${limit / 60_000} minutes)...`,
  );
  const problem = await download(limit);
  const fetched = findElectron();
  if (fetched !== null) {
    rmSync(failure, { force: true });
    return fetched;
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(failure, `${problem}\n`);
  console.log(`Electron could not be downloaded (${problem}). Everything works in the browser instead;`);
  console.log('npm start -- --electron tries again.');
  return null;
}

/**
 * Runs the package's own installer and shows its progress. Returns its error.
 * @param {number} limit milliseconds
 */
async function download(limit) {
  const installer = createRequire(import.meta.url).resolve('electron/install.js');
  // A separate temporary folder, so that the downloaded part can be measured, and removed after a failure.
  const folder = mkdtempSync(join(tmpdir(), 'corollary-electron-'));
  const started = Date.now();
  const progress = setInterval(() => {
    showProgress((bytesBelow(folder) / 1e6).toFixed(0), Math.round((Date.now() - started) / 1000));
  }, 1000);
  const { late, output } = await runProgram(process.execPath, [installer], {
    folder: root,
    environment: { ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder, ELECTRON_GET_NO_PROGRESS: '1' },
    limit,
  });
  clearInterval(progress);
  if (process.stdout.isTTY && Date.now() - started > 1000) process.stdout.write('\n');
  rmSync(folder, { recursive: true, force: true });
  return late ? 'it took too long' : reason(output);
}

/**
 * The line of an error's report that says what happened.
 * @param {string} errors
 */
function reason(errors) {
  return (
    errors
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'the executable is missing'
  );
}

/**
 * Bytes of the files below a folder, some of which may disappear meanwhile.
 * @param {string} folder
 */
function bytesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/**
 * One line that is overwritten in a terminal, or else a new one every ten seconds.
 * @param {string} megabytes
 * @param {number} seconds
 */
function showProgress(megabytes, seconds) {
  if (process.stdout.isTTY) process.stdout.write(`\r  ${megabytes} MB, ${seconds} s `);
  else if (seconds % 10 === 0) console.log(`  ${megabytes} MB, ${seconds} s`);
}
