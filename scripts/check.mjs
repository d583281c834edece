import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportedNames } from './exported-names.mjs';
import { filesBelow, Refusal, root, runCommand } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run check`: every check that needs no browser. Types, lint, format, import boundaries, dead code, file length,
 * exported names and the unit tests, each a section of the output with its verdict, and at the end the names of those
 * that failed. Two run at a time, beside the unit tests one; a section is printed when it is complete, so that no two mix.
 *
 *   --static   without the unit tests: half a minute
 */

/**
 * One step's verdict. `passed` and `failed` count tests for the unit tests; any other step counts as one.
 * `notes`: the part of its output to repeat at the end.
 * @typedef {{name: string, passed: number, failed: number, notes?: string[]}} Verdict
 * @typedef {{ok: boolean, output: string}} Outcome output is the text for the reader
 */

const tsc = 'node_modules/ts7/bin/tsc';
/** Characters. */
export const longestNote = 1_500;

/** @type {Record<string, () => Promise<Outcome>>} */
const steps = {
  types: () => tool(tsc, ['--noEmit', '-p', 'tsconfig.json']),
  'types without DOM': () => tool(tsc, ['--noEmit', '-p', 'tsconfig/node.json']),
  'types without Node': () => tool(tsc, ['--noEmit', '-p', 'tsconfig/renderer.json']),
  'types of the client': () => tool(tsc, ['--noEmit', '-p', 'client/tsconfig.json']),
  'types of scripts': () => tool(tsc, ['--noEmit', '-p', 'tsconfig/scripts.json']),
  lint: () => tool('node_modules/oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', '.']),
  format: () => tool('node_modules/@biomejs/biome/bin/biome', ['format', '--colors=off', '.']),
  boundaries,
  'dead code': () =>
    tool('node_modules/knip/bin/knip.js', ['--no-progress', '--config', 'scripts/knip.json']),
  'file length': fileLength,
  'exported names': exportedNames,
  'install scripts': installScripts,
};

/**
 * Runs all steps and the unit tests, which often wait and leave time for the steps.
 * @param {{long?: boolean, isStatic?: boolean}} [options] long: fuzz for longer, and run the tests that take minutes;
 *   isStatic: without the unit tests
 * @returns {Promise<Verdict[]>}
 */
export async function check({ long = false, isStatic = false } = {}) {
  const waiting = Object.entries(steps);
  /** @type {Verdict[]} */
  const verdicts = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, step] = next;
      const { ok, output } = await step();
      console.log(`\n== ${name}: ${ok ? 'passed' : 'FAILED'}`);
      if (!ok || output.trim() !== '') console.log(output.trim());
      verdicts.push({ name, passed: ok ? 1 : 0, failed: ok ? 0 : 1 });
    }
  };
  if (isStatic) {
    await Promise.all([worker(), worker()]);
    return verdicts;
  }
  const [tested] = await Promise.all([unitTests({ long }), worker()]);
  return [...verdicts, tested];
}

/**
 * Runs the unit tests with their progress on our output. A run that fails without a failed test (a crash, a file that
 * does not load, no tests at all) counts as one failure.
 * @param {{long: boolean}} options
 * @returns {Promise<Verdict>}
 */
async function unitTests({ long }) {
  console.log('\n== unit tests');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-check-'));
  const report = join(folder, 'vitest.json');
  const { ok } = await tool(
    'node_modules/vitest/vitest.mjs',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    { show: true, environment: long ? { LONG: '1' } : {} },
  );
  const { passed, failed, notes } = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  const missing = (ok && passed > 0) || failed > 0 ? 0 : 1;
  return { name: 'unit tests', passed, failed: failed + missing, notes };
}

/**
 * @typedef {{fullName: string, status: string, failureMessages: string[]}} TestRun
 * @typedef {{name: string, message: string, assertionResults: TestRun[]}} TestFile
 */

/**
 * Vitest's counts and the messages of tests that failed, even once; nothing if there is no report.
 * @param {string} path
 * @returns {{passed: number, failed: number, notes: string[]}}
 */
function readReport(path) {
  try {
    /** @type {{numPassedTests: number, numFailedTests: number, testResults: TestFile[]}} */
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
    const notes = testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`${relative(root, name)}: ${message.slice(0, longestNote)}`]),
      ...assertionResults
        .filter(({ status, failureMessages }) => status === 'failed' || failureMessages.length > 0)
        .map(({ fullName, status, failureMessages }) => {
          const outcome = status === 'failed' ? 'failed' : 'failed once, then passed';
          return `${relative(root, name)} ${fullName}: ${outcome}\n${failureMessages.join('\n')}`.slice(
            0,
            longestNote,
          );
        }),
    ]);
    return { passed: numPassedTests, failed: numFailedTests, notes };
  } catch (error) {
    console.error(`No report of the unit tests: ${error instanceof Error ? error.message : String(error)}`);
    return { passed: 0, failed: 0, notes: [] };
  }
}

/**
 * The import rules of scripts/dependency-cruiser.cjs. A misconfigured run sees too little and finds no violation, so it
 * must have seen every source file, and resolved about one import for each of them.
 * @returns {Promise<Outcome>}
 */
async function boundaries() {
  const folders = ['src', 'client/src', 'e2e', 'bench'].filter((folder) => filesBelow(folder).length > 0);
  const { stdout, output } = await tool('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    'scripts/dependency-cruiser.cjs',
    '--output-type',
    'json',
    ...folders,
  ]);
  /** @typedef {{rule: {name: string, severity: string}, from: string, to: string, cycle?: {name: string}[]}} Violation */
  /** @type {{modules: {source: string, dependencies: unknown[]}[], summary: {violations: Violation[]}}} */
  let result;
  try {
    result = JSON.parse(stdout);
  } catch {
    return { ok: false, output: `dependency-cruiser gave no result:\n${output}` };
  }
  const seen = new Set(result.modules.map(({ source }) => source));
  const sources = folders.flatMap(filesBelow).filter((path) => /\.tsx?$/.test(path));
  const unseen = sources.filter((path) => !seen.has(path));
  const dependencies = result.modules.reduce((sum, module) => sum + module.dependencies.length, 0);
  const lines = result.summary.violations.map(
    ({ rule, from, to, cycle }) =>
      `${rule.name}: ${from} -> ${cycle === undefined ? to : cycle.map(({ name }) => name).join(' -> ')}`,
  );
  lines.push(...unseen.map((path) => `not seen by dependency-cruiser: ${path}`));
  if (sources.length < 20 || dependencies < sources.length) {
    lines.push(`only ${sources.length} files and ${dependencies} imports seen: the configuration is broken`);
  }
  const summary = `${sources.length} files, ${dependencies} imports`;
  return { ok: lines.length === 0, output: [...lines, summary].join('\n') };
}

/**
 * No source file over 800 lines.
 * @returns {Promise<Outcome>}
 */
function fileLength() {
  const files = ['src', 'client/src', 'e2e', 'bench', 'scripts'].flatMap(filesBelow);
  const sources = files.filter((path) => /\.(tsx?|mjs|cjs|css)$/.test(path));
  const lines = sources
    .map((path) => ({ path, length: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }))
    .filter(({ length }) => length > 800)
    // Generated from the contract, and as long as that.
    .filter(({ path }) => path !== 'client/src/types.ts' && path !== 'client/src/operations.ts')
    .map(({ path, length }) => `${path}: ${length} lines, 800 allowed`);
  return Promise.resolve({ ok: lines.length === 0 && sources.length > 0, output: lines.join('\n') });
}

/**
 * Packages that may have an install script although none is run here (.npmrc): installing them elsewhere may run it.
 */
const allowedInstallScripts = new Map([
  [
    'core-js-pure',
    'prints a request for donations; comes with openapi-explorer, of which one file is built in',
  ],
]);

/**
 * Only packages allowed by name have an install script in the lockfile, and every allowed one does.
 * @returns {Promise<Outcome>}
 */
function installScripts() {
  /** @type {{packages: Record<string, {hasInstallScript?: boolean}>}} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const names = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const lines = [
    ...names
      .filter((name) => !allowedInstallScripts.has(name))
      .map((name) => `${name} has an install script`),
    ...[...allowedInstallScripts.keys()]
      .filter((name) => !names.includes(name))
      .map((name) => `${name} no longer has an install script: remove it from the list`),
  ];
  return Promise.resolve({ ok: lines.length === 0, output: lines.join('\n') });
}

/**
 * Runs a tool of node_modules under this Node. Its output is collected, or shown as it arrives.
 * @param {string} path
 * @param {string[]} argumentList
 * @param {{show?: boolean, environment?: Record<string, string>}} [options]
 */
export function tool(path, argumentList, { show = false, environment = {} } = {}) {
  return runProgram(process.execPath, [join(root, path), ...argumentList], {
    folder: root,
    environment: { ...process.env, ...environment },
    show,
  });
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  await runCommand(async () => {
    const argumentList = process.argv.slice(2);
    const unknown = argumentList.find((argument) => argument !== '--static');
    if (unknown !== undefined) throw new Refusal(`Unknown argument ${unknown}: there is only --static.`);
    const verdicts = await check({ isStatic: argumentList.length > 0 });
    const failed = verdicts.filter((verdict) => verdict.failed > 0);
    if (failed.length === 0) {
      console.log('\nAll checks passed.');
    } else {
      console.log(`\nFailed: ${failed.map(({ name }) => name).join(', ')}`);
      process.exitCode = 1;
    }
  });
}
