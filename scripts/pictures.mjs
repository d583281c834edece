import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from './check.mjs';
import { ensureChromium } from './chromium.mjs';
import { ensureDisplay, startDisplay } from './display.mjs';
import { ensureElectron25 } from './electron-25.mjs';
import { findElectron } from './electron-binary.mjs';
import { packed, readPicture } from './picture-file.mjs';
import { Refusal, runCommand } from './prepare.mjs';

/**
 * `npm run pictures`: retakes the pictures of docs/screenshots from the existing build, and compresses them: a picture
 * of a workbench has few relevant colours, and with a palette of 256 takes a third of the space. The loss is below the
 * threshold of the comparison.
 *
 *   npm run pictures                   every view of the workbench, in Chromium
 *   npm run pictures -- --desktop      the windows of the desktop application, in the Electron of its tests, on a virtual
 *                                      display with a window manager
 *   npm run pictures -- --pack-only    only compresses
 */

const folder = 'docs/screenshots';
function packAll() {
  let bytes = 0;
  const names = readdirSync(folder).filter((name) => name.endsWith('.png'));
  for (const name of names) {
    const path = join(folder, name);
    const file = readFileSync(path);
    const picture = readPicture(file);
    const written = picture === null ? file : packed(picture);
    if (picture !== null) writeFileSync(path, written);
    bytes += written.length;
  }
  console.log(`${names.length} pictures, ${(bytes / 1e6).toFixed(1)} MB`);
}

async function takeOfDesktop() {
  if (findElectron() === null) await ensureElectron25();
  await ensureDisplay();
  const frames = mkdtempSync(join(tmpdir(), 'corollary-frames-'));
  const display = await startDisplay({ frames });
  try {
    const { ok } = await tool(
      'node_modules/@playwright/test/cli.js',
      ['test', 'e2e/desktop-pictures.spec.ts'],
      {
        show: true,
        environment: { ...display.environment, DESKTOP_FRAMES: frames },
      },
    );
    if (!ok) throw new Refusal('Not all pictures could be taken: see above.');
  } finally {
    display.end();
    rmSync(frames, { recursive: true, force: true });
  }
}

await runCommand(async () => {
  if (process.argv.includes('--desktop')) return takeOfDesktop();
  if (!process.argv.includes('--pack-only')) {
    if (!(await ensureChromium()))
      throw new Refusal('There is no Chromium. Install one, or set CHROMIUM_PATH.');
    const { ok } = await tool(
      'node_modules/@playwright/test/cli.js',
      ['test', 'screens', '--update-snapshots=all'],
      { show: true, environment: { LONG: '1' } },
    );
    if (!ok) throw new Refusal('Not all pictures could be taken: see above.');
  }
  packAll();
});
