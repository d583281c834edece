/**
 * The built desktop application as Electron 25 can run it: the main process as CommonJS of Node 18, the service in a
 * Node of today, and polyfills for the page. Only tests use it.
 *
 * It cannot show what only the pinned Electron has: ES modules inside asar and the asynchronous keyring. `service.ts` makes
 * the service's thread for within Electron.
 */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../root.ts';

const here = join(root, 'e2e/electron-25');

/** Makes the application in `folder`; returns its main script. */
export async function makeApplication(folder: string): Promise<string> {
  const main = join(folder, 'out/main');
  mkdirSync(join(folder, 'out/preload'), { recursive: true });
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    resolve: { alias: { 'node:worker_threads': join(here, 'worker-threads.cjs') } },
    build: {
      ssr: join(root, 'out/main/main.js'),
      target: 'node18',
      outDir: main,
      emptyOutDir: false,
      rolldownOptions: {
        external: ['electron', ...builtinModules, ...builtinModules.map((name) => `node:${name}`)].filter(
          (name) => name !== 'node:worker_threads',
        ),
        output: { format: 'cjs', entryFileNames: 'main.cjs' },
      },
    },
    ssr: { noExternal: true },
  });
  copyFileSync(join(root, 'out/preload/preload.cjs'), join(folder, 'out/preload/preload.cjs'));
  symlinkSync(join(root, 'resources'), join(folder, 'resources'));
  const polyfills = readFileSync(join(here, 'polyfills.cjs'), 'utf8');
  const pagePreload = join(folder, 'page-preload.cjs');
  writeFileSync(
    pagePreload,
    readFileSync(join(here, 'page-preload.cjs'), 'utf8').replace('POLYFILLS', JSON.stringify(polyfills)),
  );
  const start = join(folder, 'start.cjs');
  writeFileSync(
    start,
    `${polyfills}
const { app, safeStorage, session } = require('electron');
// Electron 25 has only the synchronous interface of the keyring.
let keyring = Promise.resolve();
if (process.env.COROLLARY_TEST_KEYRING === 'waits')
  keyring = new Promise((resolve) => { globalThis.unlockKeyring = resolve; });
Object.assign(safeStorage, {
  getSelectedStorageBackend: () =>
    process.env.COROLLARY_TEST_KEYRING === undefined ? 'basic_text' : 'gnome_libsecret',
  isAsyncEncryptionAvailable: async () => {
    globalThis.isKeyringAsked = true;
    await keyring;
    return safeStorage.isEncryptionAvailable();
  },
  encryptStringAsync: async (text) => safeStorage.encryptString(text),
  decryptStringAsync: async (bytes) => ({ result: safeStorage.decryptString(bytes), shouldReEncrypt: false }),
});
void app.whenReady().then(() => session.defaultSession.setPreloads([${JSON.stringify(pagePreload)}]));
require(${JSON.stringify(join(main, 'main.cjs'))});
`,
  );
  return start;
}
