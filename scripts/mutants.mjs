import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clauses } from './mutants/clauses.mjs';
import { probes, variants } from './mutants/probes.mjs';
import { Refusal, root, runCommand } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run test:mutants`: whether every clause of truth maintenance has a random test that fails without it.
 *
 * Each clause (scripts/mutants/clauses.mjs) is removed in a copy of the engine, and the fuzz that is named for it runs
 * there until it fails. A clause that goes unnoticed is a failure, and so is a fuzz that fails with all clauses in
 * place and only lower limits. The working tree is never edited; the copy is in the system's temporary folder and is
 * removed.
 *
 *   --only <text>    the clauses whose name contains it
 *   --seconds <n>    how long each fuzz may search for a case (30); a fifth of it with all clauses in place
 */

/** @typedef {import('./mutants/clauses.mjs').Clause} Clause */
/** @typedef {import('./mutants/clauses.mjs').Edit} Edit */
/**
 * @typedef {object} Outcome
 * @property {boolean} killed
 * @property {string} by what failed, and at which seed
 * @property {number} seconds
 * @property {{flavour: string, seed: number} | null} failed the case; null if none failed, or one did not terminate
 */

/** A fuzz that runs for this long after its time does not terminate. */
const graceSeconds = 60;

/**
 * Runs all clauses, or the requested ones.
 * @param {{only?: string | null, seconds?: number}} [options]
 * @returns {Promise<import('./check.mjs').Verdict>}
 */
export async function mutants({ only = null, seconds = 30 } = {}) {
  console.log('\n== clauses of truth maintenance');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-mutants-'));
  try {
    const isWanted = (/** @type {string} */ name) => only === null || name.includes(only);
    const wanted = clauses.filter(({ clause }) => isWanted(clause));
    const whole = Object.entries(variants)
      .filter(([variant, edits]) => edits.length > 0 && isWanted(asItIs(variant)))
      .map(([variant]) => variant);
    if (wanted.length + whole.length === 0) throw new Refusal(`No clause is called ${only ?? ''}.`);
    // Later edits of the working tree have no effect here.
    cpSync(join(root, 'src/engine'), join(folder, 'engine'), { recursive: true });
    const strange = [...Object.values(variants).flat(), ...clauses].filter(({ file, from }) => {
      return readFileSync(join(folder, 'engine', file), 'utf8').split(from).length !== 2;
    });
    if (strange.length > 0) {
      const each = strange.map(({ file, from }) => `${file}:\n${from}`);
      throw new Refusal(
        `The text that an edit replaces must occur exactly once in its file, but does not:\n${each.join('\n')}`,
      );
    }
    let failed = 0;
    for (const variant of whole) failed += await intact(folder, variant, seconds);
    for (const clause of wanted) {
      const outcome = await without(folder, clause, seconds);
      if (!outcome.killed) failed++;
      print(outcome.killed ? 'noticed' : 'UNNOTICED', clause.clause, outcome);
    }
    return { name: 'clauses of truth maintenance', passed: wanted.length + whole.length - failed, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * All fuzz of the unchanged engine, with the limits of the variant. (With its normal limits it runs in `npm test`.)
 * @param {string} folder
 * @param {string} variant
 * @param {number} seconds
 * @returns {Promise<number>} 1 if it fails
 */
async function intact(folder, variant, seconds) {
  copyEngine(folder, variant, []);
  const startedAt = performance.now();
  for (const probe of Object.keys(probes)) {
    const outcome = await run(folder, variant, probe, seconds / 5);
    if (!outcome.killed) continue;
    print('FAILED', asItIs(variant), outcome);
    return 1;
  }
  const spent = (performance.now() - startedAt) / 1000;
  print('passed', asItIs(variant), { by: '', seconds: spent });
  return 0;
}

/** @param {string} variant */
function asItIs(variant) {
  return `the unchanged engine, limits: ${variant}`;
}

/**
 * The fuzz without the clause: the probes named for it, one after the other, until one fails. The failed case must pass
 * with the clause.
 * @param {string} folder
 * @param {Clause} clause
 * @param {number} seconds
 * @returns {Promise<Outcome>}
 */
async function without(folder, clause, seconds) {
  const variant = clause.variant ?? 'roomy';
  copyEngine(folder, variant, [clause]);
  let spent = 0;
  for (const probe of clause.by) {
    const outcome = await run(folder, variant, probe, seconds);
    spent += outcome.seconds;
    if (!outcome.killed) continue;
    if (outcome.failed === null) return { ...outcome, seconds: spent };
    const { flavour, seed } = outcome.failed;
    copyEngine(folder, variant, []);
    const again = await run(folder, variant, `${probe.split(' ')[0]} ${flavour}`, seconds, seed);
    if (!again.killed) return { ...outcome, seconds: spent };
    return { ...outcome, killed: false, by: `with the clause too: ${outcome.by}`, seconds: spent };
  }
  return { killed: false, by: clause.by.join(', '), seconds: spent, failed: null };
}

/**
 * A fresh copy of the engine in the folder, with the edits of the variant and these.
 * @param {string} folder
 * @param {string} variant
 * @param {readonly Edit[]} edits
 */
function copyEngine(folder, variant, edits) {
  rmSync(join(folder, 'src'), { recursive: true, force: true });
  cpSync(join(folder, 'engine'), join(folder, 'src/engine'), { recursive: true });
  for (const name of ['package.json', 'vitest.config.ts']) cpSync(join(root, name), join(folder, name));
  rmSync(join(folder, 'node_modules'), { force: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const always = variants[variant];
  if (always === undefined) throw new Error(`there is no variant ${variant}`);
  for (const { file, from, to } of [...always, ...edits]) {
    const path = join(folder, 'src/engine', file);
    writeFileSync(path, readFileSync(path, 'utf8').split(from).join(to));
  }
}

/**
 * Runs one probe in the folder: a kind of fuzz, optionally restricted to one flavour.
 * @param {string} folder
 * @param {string} variant
 * @param {string} probe as `kind` or `kind flavour`
 * @param {number} seconds for each flavour
 * @param {number | null} [seed] the only one
 * @returns {Promise<Outcome>}
 */
async function run(folder, variant, probe, seconds, seed = null) {
  const [kind, flavour] = /** @type {[string, string | undefined]} */ (probe.split(' '));
  const fuzz = probes[kind];
  if (fuzz === undefined) throw new Error(`there is no probe ${kind}`);
  const titles = flavour === undefined ? fuzz.titles : `${fuzz.titles}.*\\(${flavour}\\)`;
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const startedAt = performance.now();
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // Vitest would write its configuration into node_modules, where another run may remove it.
  const select = ['--configLoader=runner', '--root', folder, '-t', titles, `src/engine/${fuzz.file}`];
  const show = ['--bail=1', '--testTimeout=0', '--reporter=json', `--outputFile.json=${report}`];
  const { late, interrupted, output } = await runProgram(
    process.execPath,
    [vitest, 'run', ...select, ...show],
    {
      folder,
      environment: {
        ...process.env,
        SEED: String(seed ?? 1),
        SEEDS: seed === null ? '1000000' : '1',
        FUZZ_MS: String(seconds * 1000),
        LIMITS: variant === 'roomy' ? 'as they are' : 'low',
      },
      limit: (seconds * fuzz.flavours + graceSeconds) * 1000,
      survive: true,
    },
  );
  if (interrupted) throw new Refusal('Interrupted.');
  const spent = (performance.now() - startedAt) / 1000;
  if (late) return { killed: true, by: `${probe}: does not terminate`, seconds: spent, failed: null };
  return { ...readReport(report, kind, output), seconds: spent };
}

/**
 * The failed case, from the message of the fuzz. Any other failure proves nothing.
 * @param {string} report
 * @param {string} kind
 * @param {string} output
 * @returns {Omit<Outcome, 'seconds'>}
 */
function readReport(report, kind, output) {
  /** @type {{numPassedTests: number, testResults: {assertionResults: {status: string, failureMessages: string[]}[]}[]}} */
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    throw new Refusal(`The fuzz did not run:\n${output}`);
  }
  const tests = result.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failure = tests.find(({ status }) => status === 'failed');
  if (failure === undefined) {
    if (result.numPassedTests > 0) return { killed: false, by: 'nothing', failed: null };
    throw new Refusal(`The fuzz did not run:\n${output}`);
  }
  const [message = ''] = failure.failureMessages;
  const found = /^(?:Error: )?(\w+), seed (\d+): (.*)/.exec(message);
  if (found === null) throw new Refusal(`The fuzz failed for another reason:\n${message}`);
  const [, flavour = '', seed = '', what = ''] = found;
  const by = `${kind} ${flavour}, seed ${seed}: ${what.slice(0, 90)}`;
  return { killed: true, by, failed: { flavour, seed: Number(seed) } };
}

/**
 * @param {string} verdict
 * @param {string} name
 * @param {Pick<Outcome, 'by' | 'seconds'>} outcome
 */
function print(verdict, name, { by, seconds }) {
  console.log(`${verdict.padEnd(9)}  ${name.padEnd(70)}  ${seconds.toFixed(0).padStart(3)} s  ${by}`);
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  await runCommand(async () => {
    /** @type {{only: string | null, seconds: number}} */
    const options = { only: null, seconds: 30 };
    const given = process.argv.slice(2);
    for (let at = 0; at < given.length; at += 2) {
      const value = given[at + 1];
      if (given[at] === '--only' && value !== undefined) options.only = value;
      else if (given[at] === '--seconds' && Number(value) > 0) options.seconds = Number(value);
      else throw new Refusal(`Unknown argument ${given[at]}. Known: --only <text>, --seconds <n>.`);
    }
    const { passed, failed } = await mutants(options);
    console.log(`${passed} passed, ${failed} failed`);
    if (failed > 0) process.exitCode = 1;
  });
}
