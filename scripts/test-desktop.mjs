import { join } from 'node:path';
import { ensureDisplay, startDisplay } from './display.mjs';
import { ensureElectron25 } from './electron-25.mjs';
import { findElectron } from './electron-binary.mjs';
import { build, install, root, runCommand } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run test:desktop`: the tests of the desktop application in a real Electron. The pinned one counts where its
 * binary was downloaded (`npm start -- --electron`); else Electron 25 is fetched, once. Further arguments go to
 * Playwright.
 */
await runCommand(async () => {
  await install();
  await build();
  if (findElectron() === null) await ensureElectron25();
  await ensureDisplay();
  const display = await startDisplay();
  try {
    const { code } = await runProgram(
      process.execPath,
      [
        join(root, 'node_modules/@playwright/test/cli.js'),
        'test',
        'e2e/desktop.spec.ts',
        'e2e/desktop-platform.spec.ts',
        ...process.argv.slice(2),
      ],
      { folder: root, environment: { ...process.env, ...display.environment }, show: true },
    );
    process.exitCode = code ?? 1;
  } finally {
    display.end();
  }
});
