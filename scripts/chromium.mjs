import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { hasPackages, installPackages } from './debian-packages.mjs';
import { root } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * The browser of the end-to-end tests: found if one is installed, installed if none is. Playwright's own is preferred,
 * being the version it was tested with.
 */

/**
 * Features that Chromium runs without. Its address bar is two pages in every window, though no window is visible: half
 * of the time to open one. Playwright disables the others itself; of two such lists Chromium uses the later.
 */
const withoutFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/** The arguments of every launch: no sandbox (a container has none), no background requests. */
export const browserArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${withoutFeatures.join(',')}`,
];

/** @type {Partial<Record<NodeJS.Platform, string[]>>} */
const installed = {
  linux: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].map((name) =>
    join(process.env[name] ?? 'C:\\', 'Google\\Chrome\\Application\\chrome.exe'),
  ),
};

/** Whether Playwright's own Chromium is installed. */
function playwrightHasChromium() {
  /** @type {typeof import('@playwright/test')} */
  const { chromium } = createRequire(import.meta.url)('@playwright/test');
  return existsSync(chromium.executablePath());
}

/**
 * The Chromium to start: null for Playwright's own (it finds that itself; if there is none at all, it fails with its
 * own message), else the path of the system's.
 */
export function findChromium() {
  const chosen = process.env['CHROMIUM_PATH'];
  if (chosen !== undefined && chosen !== '') return chosen;
  if (playwrightHasChromium()) return null;
  return (installed[process.platform] ?? []).find((path) => existsSync(path)) ?? null;
}

/**
 * Ensures a Chromium: on Debian and its derivatives by apt, elsewhere by Playwright's own installer. Returns whether
 * there is one afterwards.
 */
export async function ensureChromium() {
  if (findChromium() !== null || playwrightHasChromium()) return true;
  if (hasPackages()) {
    console.log('No Chromium found: installing it with apt-get.');
    await installPackages('chromium');
    if (findChromium() !== null) return true;
  }
  console.log("No Chromium found: downloading Playwright's own.");
  const playwright = join(root, 'node_modules/@playwright/test/cli.js');
  const { ok, output } = await runProgram(process.execPath, [playwright, 'install', 'chromium'], {
    folder: root,
    show: true,
  });
  if (!ok) console.log(`Playwright could not download it. ${output}`);
  return playwrightHasChromium();
}
