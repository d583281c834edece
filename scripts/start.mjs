import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchElectron } from './electron-binary.mjs';
import { build, install, root, runCommand } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm start`: from a fresh clone to a usable workbench. Installs and builds what is missing, then opens the desktop
 * app if Electron's binary and a display are available, else runs the service in this very process, which prints the
 * workbench's address.
 *
 *   --electron   try again to download Electron's binary
 *   --headless   the service without a window
 *
 * Any other argument is passed to the command line of the service (serve, ask, tell, teach, status, --help). Nothing is
 * written into the working directory, and nothing is left running: the service has no process of its own, and the
 * desktop app is awaited.
 */

/** Why no window can be opened here, or null if one can. */
function windowless() {
  if (process.platform !== 'linux') return null;
  if (!process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return 'there is no display';
  if (process.getuid?.() === 0) return 'Electron does not start as root';
  return null;
}

/**
 * Runs the desktop app until it ends. Returns false if it could not start.
 * @param {string} binary
 */
async function runDesktop(binary) {
  const environment = { ...process.env };
  delete environment['ELECTRON_RUN_AS_NODE'];
  const started = Date.now();
  const { code, signal, interrupted, output } = await runProgram(binary, [root], {
    environment,
    show: true,
    survive: true,
  });
  // A binary that cannot run here (a library or a sandbox is missing) ends at once, by a signal or with a code that the
  // app itself never uses.
  const broken = (code === null || code === 127) && !interrupted && Date.now() - started < 10_000;
  if (broken)
    console.log(
      `The desktop app could not be started: ${sandboxRefusal() ?? signal ?? (output || 'a library is missing')}.`,
    );
  else process.exitCode = code ?? (interrupted ? 0 : 1);
  return !broken;
}

/**
 * Why Chromium gets no sandbox here, and what to do about it; null if the system is not to blame. Since Ubuntu 23.10 a
 * program needs an AppArmor profile for it, which the .deb of the application installs and a clone does not have.
 */
function sandboxRefusal() {
  const switches = {
    'kernel/apparmor_restrict_unprivileged_userns': '1',
    'kernel/unprivileged_userns_clone': '0',
    'user/max_user_namespaces': '0',
  };
  const found = Object.entries(switches).find(([path, closed]) => {
    const file = `/proc/sys/${path}`;
    return existsSync(file) && readFileSync(file, 'utf8').trim() === closed;
  });
  if (found === undefined) return null;
  const [path, closed] = found;
  const open = closed === '1' ? '0' : path.startsWith('user/') ? '10000' : '1';
  return (
    'this system does not let Chromium make its sandbox. Install the .deb, which has a profile for it, ' +
    `or allow it until the next restart: sudo sysctl -w ${path.replace('/', '.')}=${open}`
  );
}

/**
 * Runs the built service in this process: its handlers for signals are the only ones.
 * @param {string[]} argumentList
 */
async function runHeadless(argumentList) {
  const program = join(root, 'out/main/headless.js');
  process.argv = [process.argv0, program, ...argumentList];
  await import(pathToFileURL(program).href);
}

await runCommand(async () => {
  const given = process.argv.slice(2);
  const asked = given.includes('--electron');
  const forService = given.filter((argument) => argument !== '--electron' && argument !== '--headless');
  await install();
  await build();
  process.env['HOST'] ??= '127.0.0.1';
  if (forService.length > 0) return runHeadless(forService);
  if (given.includes('--headless')) return runHeadless([]);

  // Nothing is downloaded for a window that cannot be opened.
  const reason = windowless();
  if (reason !== null && !asked) console.log(`Without the desktop window: ${reason}.`);
  const binary = reason === null || asked ? await fetchElectron({ asked }) : null;
  if (binary !== null && reason === null && (await runDesktop(binary))) return;
  await runHeadless([]);
});
