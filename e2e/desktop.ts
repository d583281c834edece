/** The desktop application under test: the pinned Electron if its binary was downloaded, else Electron 25. */
import { _electron as electron, type ElectronApplication } from '@playwright/test';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasDisplay } from '../scripts/display.mjs';
import { findElectron25 } from '../scripts/electron-25.mjs';
import { makeApplication } from './electron-25/application.ts';
import { makeService } from './electron-25/service.ts';
import { root } from './root.ts';

const names = { win32: 'electron.exe', darwin: 'Electron.app/Contents/MacOS/Electron' } as const;

/** The user that runs Electron in place of root. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** The installed binary; tests download nothing. */
function pinnedElectron(): string | null {
  const installed = join(root, 'node_modules', 'electron');
  const folder = process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(installed, 'dist');
  const named = join(installed, 'path.txt');
  const usual =
    process.platform === 'win32' || process.platform === 'darwin' ? names[process.platform] : 'electron';
  const binary = join(folder, existsSync(named) ? readFileSync(named, 'utf8').trim() : usual);
  return existsSync(binary) ? binary : null;
}

/** Whether every user can read the path, so that `nobody` can run what is in it. */
function isOpenToAll(path: string): boolean {
  for (let each = path; ; each = dirname(each)) {
    if ((statSync(each).mode & 0o005) !== 0o005) return false;
    if (each === dirname(each)) return true;
  }
}

const pinned = pinnedElectron();
const binary = pinned ?? findElectron25();

/** Why the tests cannot run here; null if they can. */
export const missing =
  binary === null
    ? 'no Electron binary on this machine (npm run test:desktop fetches one)'
    : !hasDisplay()
      ? 'no display for Electron (npm run test:desktop starts one)'
      : isRoot && !isOpenToAll(root)
        ? 'Electron does not run as root, and other users cannot read this folder'
        : null;

/** Whether this is the pinned Electron. */
export const isPinned = pinned !== null;

export interface Launch {
  readonly argv?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The processes of the applications: Playwright does not know that of one that has ended. */
const processes = new WeakMap<ElectronApplication, number>();

/** Milliseconds after which an application that does not end is killed. */
const patienceMs = 10_000;

/**
 * Ends the application. Playwright waits for a page that it has lost for as long as the test may take, so its processes
 * are killed then; the test has failed already.
 */
export async function closeDesktop(app: ElectronApplication): Promise<void> {
  const pid = processes.get(app);
  const timer = setTimeout(() => {
    // Playwright starts it as the leader of a group.
    if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  }, patienceMs);
  await app.close();
  clearTimeout(timer);
}

/** One installation with data of its own. */
export class Desktop {
  readonly folder: string;
  /** Whether this is the pinned Electron. */
  readonly isPinned = isPinned;
  readonly #script: string | null;
  readonly #executable: string;

  private constructor(folder: string, script: string | null) {
    this.folder = folder;
    this.#script = script;
    this.#executable = join(folder, 'run.sh');
    const command = [
      ...(isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] : []),
      ...(existsSync('/usr/bin/dbus-run-session') ? ['dbus-run-session', '--'] : []),
    ];
    writeFileSync(this.#executable, `#!/bin/sh\nexec ${command.join(' ')} '${binary ?? ''}' "$@"\n`);
    chmodSync(this.#executable, 0o755);
  }

  static async make(): Promise<Desktop> {
    const folder = mkdtempSync(join(tmpdir(), 'corollary-desktop-'));
    const script = isPinned ? null : await makeApplication(folder);
    if (isRoot) chownSync(folder, nobody, nobody);
    return new Desktop(folder, script);
  }

  /** Gives files in the installation's folder to the user that runs Electron. */
  own(folder: string): void {
    if (!isRoot) return;
    chownSync(folder, nobody, nobody);
    for (const name of readdirSync(folder)) chownSync(join(folder, name), nobody, nobody);
  }

  /** The environment in which the service runs on a thread of Electron, as the pinned one runs it anyway. */
  async serviceWithin(): Promise<Readonly<Record<string, string>>> {
    if (isPinned) return {};
    return { COROLLARY_TEST_SERVICE: await makeService(join(this.folder, 'within')) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The options of one start. */
  start({ argv = [], environment = {} }: Launch = {}) {
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    return {
      executablePath: this.#executable,
      args: [...(isPinned ? [root] : []), `--user-data-dir=${join(this.folder, 'user')}`, ...argv],
      env: {
        ...inherited,
        HOME: this.folder,
        PORT: '0',
        COROLLARY_ENDPOINT_FILE: join(this.folder, 'endpoint.json'),
        XDG_CONFIG_HOME: join(this.folder, 'config'),
        XDG_DATA_HOME: join(this.folder, 'share'),
        ...(this.#script === null
          ? {}
          : {
              COROLLARY_TEST_MAIN: this.#script,
              COROLLARY_TEST_NODE: process.execPath,
              COROLLARY_TEST_ROOT: root,
            }),
        ...environment,
      },
    };
  }

  /** The start of the same application by root, which has no sandbox. */
  startAsRoot() {
    const { args, env } = this.start();
    return { binary: binary ?? '', args: ['--no-sandbox', ...args], env };
  }

  async launch(options: Launch = {}): Promise<ElectronApplication> {
    const app = await electron.launch({ ...this.start(options), chromiumSandbox: true });
    const { pid } = app.process();
    if (pid !== undefined) processes.set(app, pid);
    // The configuration's reaches only the pages of Playwright's own browsers.
    app.context().setDefaultTimeout(120_000);
    return app;
  }
}
