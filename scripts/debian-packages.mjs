import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.mjs';

/** What the tests need of Debian and its kin, installed with apt-get. */

let isUpdated = false;

/** Whether packages can be installed here. */
export function hasPackages() {
  return process.platform === 'linux' && existsSync('/usr/bin/apt-get');
}

/**
 * Installs packages, as root or by sudo without a password, with the output on ours. Returns whether it worked.
 * @param {string[]} names
 */
export async function installPackages(...names) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q'];
  isUpdated ||= await run([...apt, 'update']);
  return isUpdated && (await run([...apt, 'install', '-y', '--no-install-recommends', ...names]));
}

/** The library that sets the wall clock of a process in tests; null: not installed. */
export function libfaketime() {
  if (!existsSync('/usr/lib')) return null;
  const paths = readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime/libfaketime.so.1'));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** @param {string[]} command */
async function run([program = '', ...argumentList]) {
  const { ok, output } = await runProgram(program, argumentList, { show: true });
  if (!ok) console.log(`${program} failed. ${output}`);
  return ok;
}
