import { defineConfig } from '@playwright/test';
import { basename } from 'node:path';
import { browserArguments, findChromium } from './scripts/chromium.mjs';
import { desktopSpecs } from './scripts/desktop-flows.mjs';

/**
 * The workbench in Chromium, as a user meets it. The tests start the headless service themselves, each
 * on a free port and in a folder of its own, so nothing is started here, and several can run at a time, those of one file too:
 * else one worker would go through the longest file alone at the end.
 */
const executablePath = findChromium();
const desktopFiles = [...desktopSpecs, 'desktop-pictures.spec.ts'].map((path) => `**/${basename(path)}`);
// LONG=1 (npm run test:long) adds what takes longer, and what another test shows in another view.
const isLong = process.env['LONG'] === '1';
const untilLong = isLong ? [] : ['**/*.long.spec.ts'];

export default defineConfig({
  testDir: 'e2e',
  projects: [
    {
      // Windows of one display, which share the focus and the keys: one program at a time.
      name: 'desktop',
      workers: 1,
      testMatch: desktopFiles,
      // Only `npm run pictures -- --desktop` takes them.
      testIgnore: process.env['DESKTOP_FRAMES'] === undefined ? ['**/desktop-pictures.spec.ts'] : [],
    },
    { name: 'workbench', testIgnore: [...untilLong, ...desktopFiles] },
  ],
  outputDir: 'e2e/.results',
  // The pictures of e2e/screens.spec.ts, which are documentation too.
  snapshotPathTemplate: 'docs/screenshots/{arg}{ext}',
  // One more than the smallest machine has processors: a test often waits for its page.
  workers: 3,
  fullyParallel: true,
  ...(isLong ? {} : { grepInvert: /@long/ }),
  forbidOnly: true,
  // On a shared machine one in thousands of steps meets a pause of seconds. What passed only the second time is told by
  // name, with how it failed the first time (scripts/test.mjs), and is looked into.
  retries: 1,
  // No test is about how long something takes: these are for what hangs, on a machine that is busy with other things. A test
  // takes seconds; one that hangs must leave time to see the others.
  timeout: isLong ? 1_200_000 : 300_000,
  maxFailures: isLong ? 0 : 10,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    // What is not there is told, not waited for until the test ends.
    actionTimeout: 120_000,
    viewport: { width: 1440, height: 900 },
    screenshot: 'only-on-failure',
    // Recording every test takes a third of the tests' time: run what failed again with `--trace on`.
    trace: 'off',
    launchOptions: {
      args: [...browserArguments, '--process-per-site'],
      ...(executablePath === null ? {} : { executablePath }),
    },
  },
});
