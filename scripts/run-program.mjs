import { spawn } from 'node:child_process';

/**
 * Runs another program to its end. A signal to this process does not leave it behind: Ctrl-C and a request to end are
 * passed on, its end is awaited, and then this process ends by the same signal.
 */

/** @type {NodeJS.Signals[]} */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @typedef {object} Options
 * @property {string} [folder] working directory
 * @property {NodeJS.ProcessEnv} [environment] all of it; ours when absent
 * @property {boolean} [show] output goes to ours as it arrives, instead of being collected
 * @property {boolean} [shell] start it by a shell
 * @property {number} [limit] milliseconds, after which it is killed
 * @property {boolean} [survive] do not end by the signal that was passed on
 *
 * @typedef {object} Result
 * @property {boolean} ok it ended with code 0
 * @property {number | null} code null if a signal ended it, or it could not be started
 * @property {NodeJS.Signals | null} signal that ended it
 * @property {boolean} interrupted a signal was passed on to it
 * @property {boolean} late it was killed at the limit
 * @property {string} output both its streams as they arrived, and why it could not be started
 * @property {string} stdout
 */

/**
 * Runs a program; never rejects.
 * @param {string} program
 * @param {string[]} argumentList
 * @param {Options} [options]
 * @returns {Promise<Result>}
 */
export function runProgram(program, argumentList, options = {}) {
  const { folder, environment = process.env, show = false, shell = false, limit, survive = false } = options;
  const stream = show ? 'inherit' : 'pipe';
  const child = spawn(program, argumentList, {
    env: environment,
    shell,
    stdio: [show ? 'inherit' : 'ignore', stream, stream],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  let output = '';
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    output += chunk;
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    output += chunk;
  });
  /** @type {NodeJS.Signals | null} */
  let passed = null;
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    passed = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  let late = false;
  const timer =
    limit === undefined
      ? undefined
      : setTimeout(() => {
          late = true;
          child.kill('SIGKILL');
        }, limit);
  return new Promise((settle) => {
    const end = (/** @type {number | null} */ code, /** @type {NodeJS.Signals | null} */ signal) => {
      clearTimeout(timer);
      for (const name of signals) process.off(name, pass);
      if (passed !== null && !survive) process.kill(process.pid, passed);
      else settle({ ok: code === 0, code, signal, interrupted: passed !== null, late, output, stdout });
    };
    child.on('error', (error) => {
      output += error.message;
      end(null, null);
    });
    child.on('close', end);
  });
}
