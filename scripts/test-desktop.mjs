import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { desktopSpecs, recordFlows } from './desktop-flows.mjs';
import { ensureDisplay, startDisplay } from './display.mjs';
import { ensureElectron25 } from './electron-25.mjs';
import { findElectron } from './electron-binary.mjs';
import { build, install, root, runCommand } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run test:desktop`: the tests of the desktop application in a real Electron. The pinned one counts where its
 * binary was downloaded (`npm start -- --electron`); else Electron 25 is fetched, once. Further arguments go to
 * Playwright.
 *
 *   --record   also writes docs/desktop-flows.md, if nothing failed
 */
await runCommand(async () => {
  await install();
  await build();
  if (findElectron() === null) await ensureElectron25();
  await ensureDisplay();
  const display = await startDisplay();
  const folder = mkdtempSync(join(tmpdir(), 'corollary-desktop-report-'));
  const report = join(folder, 'report.json');
  try {
    const { code } = await runProgram(
      process.execPath,
      [
        join(root, 'node_modules/@playwright/test/cli.js'),
        'test',
        '--reporter=list,json',
        ...desktopSpecs,
        ...process.argv.slice(2).filter((argument) => argument !== '--record'),
      ],
      {
        folder: root,
        environment: {
          ...process.env,
          ...display.environment,
          DESKTOP_KEYS: '1',
          LONG: '1',
          PLAYWRIGHT_JSON_OUTPUT_FILE: report,
        },
        show: true,
      },
    );
    process.exitCode = code ?? 1;
    const electron = findElectron() === null ? '25.1.1' : pinnedVersion();
    if (code === 0 && process.argv.includes('--record'))
      recordFlows(report, { electron, platform: `${process.platform} ${process.arch}` });
  } finally {
    display.end();
    rmSync(folder, { recursive: true, force: true });
  }
});

function pinnedVersion() {
  /** @type {{version: string}} */
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/electron/package.json'), 'utf8'));
  return version;
}
