import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { check, longestNote, tool } from './check.mjs';
import { ensureChromium } from './chromium.mjs';
import { hasPackages, installPackages, libfaketime } from './debian-packages.mjs';
import { ensureDisplay, startDisplay } from './display.mjs';
import { ensureElectron25, findElectron25 } from './electron-25.mjs';
import { findElectron } from './electron-binary.mjs';
import { mutants } from './mutants.mjs';
import { build, filesBelow, install, Refusal, runCommand } from './prepare.mjs';

/**
 * `npm test`: all tests, from a fresh clone. Installs what is missing (packages, a Chromium), builds, checks, runs the
 * end-to-end tests, and prints one count as its last line: tests and checks that passed, and those that failed.
 *
 *   --unit   only the checks and the unit tests
 *   --e2e    only the end-to-end tests; further arguments go to Playwright
 *   --long   fuzz for longer, run the tests that take minutes, and check that the fuzz notices every removed clause
 */

/** @typedef {import('./check.mjs').Verdict} Verdict */

/**
 * Runs the end-to-end tests.
 * @param {string[]} argumentList passed on to Playwright
 * @param {boolean} long also those that take longer
 * @returns {Promise<Verdict>}
 */
async function endToEnd(argumentList, long) {
  console.log('\n== end-to-end tests');
  if (!filesBelow('e2e').some((path) => path.endsWith('.spec.ts'))) {
    throw new Refusal('There are no end-to-end tests in e2e/.');
  }
  if (!(await ensureChromium())) {
    throw new Refusal(
      'There is no Chromium, and none could be installed. Install one, or set CHROMIUM_PATH.',
    );
  }
  if (libfaketime() === null && hasPackages()) {
    console.log('No libfaketime found, which sets the clock in tests: installing it with apt-get.');
    await installPackages('libfaketime');
  }
  const folder = mkdtempSync(join(tmpdir(), 'corollary-test-'));
  const report = join(folder, 'playwright.json');
  const display = await displayForElectron(long);
  const environment = {
    PLAYWRIGHT_JSON_OUTPUT_FILE: report,
    ...(long ? { LONG: '1' } : {}),
    ...display?.environment,
  };
  const { ok } = await tool(
    'node_modules/@playwright/test/cli.js',
    ['test', '--reporter=list,json', ...argumentList],
    { show: true, environment },
  ).finally(() => display?.end());
  const { passed, failed, notes } = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  return {
    name: 'end-to-end tests',
    passed,
    failed: failed + ((ok && passed > 0) || failed > 0 ? 0 : 1),
    notes,
  };
}

/**
 * The display of the tests in the real Electron, if there is one to be had; without, they skip themselves. The long run
 * fetches an Electron first.
 * @param {boolean} long
 */
async function displayForElectron(long) {
  try {
    const isThere = () => findElectron() !== null || findElectron25() !== null;
    if (long) {
      if (!isThere()) await ensureElectron25();
      await ensureDisplay();
    }
    return isThere() ? await startDisplay() : null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.log(`The desktop application is not tested in a real Electron: ${error.message}`);
    return null;
  }
}

/**
 * @typedef {{status: string, error?: {message?: string}}} TestRun
 * @typedef {{title: string, file: string, line: number, tests: {status: string, results: TestRun[]}[]}} Spec
 * @typedef {{specs?: Spec[], suites?: Suite[]}} Suite
 */

/**
 * @param {Suite} suite
 * @returns {Spec[]}
 */
function specsOf({ specs = [], suites = [] }) {
  return [...specs, ...suites.flatMap(specsOf)];
}

/**
 * Playwright's counts and the messages of tests that failed, even once; nothing if there is no report.
 * @param {string} path
 * @returns {{passed: number, failed: number, notes: string[]}}
 */
function readReport(path) {
  try {
    /** @type {{stats: {expected: number, unexpected: number, flaky: number}, suites: Suite[]}} */
    const { stats, suites } = JSON.parse(readFileSync(path, 'utf8'));
    const notes = suites.flatMap(specsOf).flatMap(({ title, file, line, tests }) =>
      tests
        .filter(({ status }) => status === 'unexpected' || status === 'flaky')
        .map(({ status, results }) => {
          const message = results.find(({ error }) => error !== undefined)?.error?.message ?? 'no message';
          const outcome = status === 'flaky' ? 'failed once, then passed' : 'failed';
          return `${file}:${line} ${title}: ${outcome}\n${stripVTControlCharacters(message).slice(0, longestNote)}`;
        }),
    );
    return { passed: stats.expected + stats.flaky, failed: stats.unexpected, notes };
  } catch (error) {
    console.error(
      `No report of the end-to-end tests: ${error instanceof Error ? error.message : String(error)}`,
    );
    return { passed: 0, failed: 0, notes: [] };
  }
}

/**
 * A verdict even if a part could not run at all.
 * @param {string} name
 * @param {() => Promise<Verdict>} part
 * @returns {Promise<Verdict>}
 */
async function attempt(name, part) {
  try {
    return await part();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    return { name, passed: 0, failed: 1 };
  }
}

await runCommand(async () => {
  const flags = ['--unit', '--e2e', '--long'];
  const given = process.argv.slice(2);
  const unitOnly = given.includes('--unit');
  const e2eOnly = given.includes('--e2e');
  const rest = given.filter((argument) => !flags.includes(argument));
  if (rest.length > 0 && !e2eOnly)
    throw new Refusal(`Unknown argument ${rest[0]}. Known: ${flags.join(', ')}.`);
  await install();
  /** @type {Verdict[]} */
  const verdicts = [];
  const built = await attempt('build', async () => {
    await build();
    return { name: 'build', passed: 1, failed: 0 };
  });
  verdicts.push(built);
  const long = given.includes('--long');
  if (!e2eOnly) verdicts.push(...(await check({ long })));
  if (!e2eOnly && long) verdicts.push(await attempt('clauses of truth maintenance', () => mutants()));
  if (!unitOnly && built.failed === 0)
    verdicts.push(await attempt('end-to-end tests', () => endToEnd(rest, long)));
  report(verdicts);
});

/**
 * Prints each part, and the sum as the last line. What failed is named beside its part once more: of a long log often
 * only the end is kept.
 * @param {Verdict[]} verdicts
 */
function report(verdicts) {
  console.log('');
  for (const note of verdicts.flatMap(({ notes = [] }) => notes)) console.log(`${note}\n`);
  for (const { name, passed, failed } of verdicts) {
    if (failed === 0) console.log(`passed  ${name} (${passed} passed, 0 failed)`);
  }
  for (const { name, passed, failed, notes = [] } of verdicts) {
    if (failed === 0) continue;
    console.log(`FAILED  ${name} (${passed} passed, ${failed} failed)`);
    const failures = notes.filter((note) => !note.includes(': failed once, then passed'));
    for (const note of failures.slice(0, 5)) console.log(note.slice(0, 300).replaceAll(/^/gm, '        '));
  }
  const passed = verdicts.reduce((sum, verdict) => sum + verdict.passed, 0);
  const failed = verdicts.reduce((sum, verdict) => sum + verdict.failed, 0);
  if (failed > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed`);
}
