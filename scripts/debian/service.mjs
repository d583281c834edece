import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, install, Refusal, root } from '../prepare.mjs';
import { runProgram } from '../run-program.mjs';

/**
 * A service to talk to: one that runs, found by its endpoint file, or one of our own for as long as it is needed.
 * Kept: a service that was started here is stopped here, whatever happens in between.
 */

/** How long a service of our own may take to be ready: a large log is read first. */
const startLimitMs = 120_000;

/** @type {NodeJS.Signals[]} */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @typedef {object} Answer the fields that are read here, of answers and of problems
 * @property {number} asserted
 * @property {string} status
 * @property {number} count
 * @property {number} elapsedMs
 * @property {{y: string}[]} bindings
 * @property {string[]} results
 * @property {{roots: number[], steps: {id: number, kind: string, premises: number[]}[]}} proof
 * @property {string} [detail]
 * @property {string} [title]
 */
/**
 * @typedef {object} Service
 * @property {string} url
 * @property {() => Promise<void>} stop does nothing to a service that ran already
 */

/**
 * @param {string | null} url of a service; null: the one that runs, else one of our own
 * @returns {Promise<Service>}
 */
export async function findService(url) {
  const stop = async () => {};
  if (url !== null) {
    if (!URL.canParse(url))
      throw new Refusal(`--url takes an address such as http://127.0.0.1:9300, not "${url}".`);
    if (!(await answers(url))) throw new Refusal(`No service answers at ${url}.`);
    return { url, stop };
  }
  const running = readEndpoint(endpointFile());
  if (running !== null && (await answers(running))) {
    console.log(`Service: ${running} (running)`);
    return { url: running, stop };
  }
  return startService();
}

/** @param {string} url */
async function answers(url) {
  try {
    return (await fetch(new URL('/health/ready', url))).ok;
  } catch (error) {
    // What fetch throws where nobody listens.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * The address in an endpoint file, or null where there is none.
 * @param {string} path
 * @returns {string | null}
 */
function readEndpoint(path) {
  if (!existsSync(path)) return null;
  /** @type {{url?: unknown}} */
  const { url } = JSON.parse(readFileSync(path, 'utf8'));
  return typeof url === 'string' && URL.canParse(url) ? url : null;
}

/** A port that nobody listens on now. */
function freePort() {
  return new Promise((settle, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => settle(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** @returns {Promise<Service>} */
async function startService() {
  await install();
  await build();
  const folder = mkdtempSync(join(tmpdir(), 'corollary-sample-'));
  const endpoint = join(folder, 'endpoint.json');
  const environment = {
    ...process.env,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    COROLLARY_ENDPOINT_FILE: endpoint,
    LOG_LEVEL: 'WARN',
  };
  const child = spawn(process.execPath, [join(root, 'out/main/headless.js')], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  /** @type {Promise<void>} */
  const ended = new Promise((settle) => child.on('close', () => settle()));
  let over = false;
  void ended.then(() => (over = true));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    for (const signal of signals) process.off(signal, interrupt);
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupt = (/** @type {NodeJS.Signals} */ signal) => {
    void stop().then(() => process.kill(process.pid, signal));
  };
  for (const signal of signals) process.on(signal, interrupt);
  for (const started = Date.now(); !over && Date.now() - started < startLimitMs; ) {
    const url = readEndpoint(endpoint);
    if (url !== null && (await answers(url))) {
      console.log(`Service: ${url} (started for this, on the data of npm start)`);
      return { url, stop };
    }
    await new Promise((settle) => setTimeout(settle, 50));
  }
  const reason = over ? 'its message is above' : 'it was not ready in time';
  await stop();
  throw new Refusal(`The service could not be started: ${reason}.`);
}

/**
 * What lies behind fetch's own "fetch failed".
 * @param {TypeError} error
 */
function causeOf(error) {
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/**
 * A client of one database of the service.
 * @param {string} url
 * @param {{database: string, key: string | null}} options
 */
export function client(url, { database, key }) {
  const headers = {
    'Content-Type': 'application/json',
    'X-Database': database,
    'X-Tenant-ID': 'default',
    ...(key === null ? {} : { 'X-API-Key': key }),
  };
  return {
    /**
     * POSTs a body; `accept` names statuses that are no failure beside success.
     * @param {string} path
     * @param {unknown} body
     * @param {number[]} [accept]
     * @returns {Promise<Answer>}
     */
    async post(path, body, accept = []) {
      const response = await fetch(new URL(path, url), {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      }).catch((/** @type {unknown} */ error) => {
        if (!(error instanceof TypeError)) throw error;
        throw new Refusal(`The connection to ${url} was lost: ${causeOf(error)}.`);
      });
      const answer = /** @type {Answer} */ (await response.json());
      if (response.ok || accept.includes(response.status)) return answer;
      throw new Refusal(`${path} was refused with ${response.status}: ${answer.detail ?? answer.title}`);
    },
    /**
     * Has the built command line print the proof of a statement.
     * @param {string} statement
     */
    async printProof(statement) {
      const command = [
        join(root, 'out/main/headless.js'),
        'ask',
        '--proof',
        '--url',
        url,
        '--database',
        database,
      ];
      const environment = key === null ? process.env : { ...process.env, API_KEY: key };
      const { ok } = await runProgram(process.execPath, [...command, statement], {
        folder: root,
        environment,
        show: true,
      });
      if (!ok) throw new Refusal(`The proof of ${statement} could not be printed; the message is above.`);
    },
  };
}

/** The file in which a running service says where it can be reached; the service itself agrees with this. */
function endpointFile() {
  const named = process.env['COROLLARY_ENDPOINT_FILE'];
  if (named !== undefined && named !== '') return named;
  const home = homedir();
  const folder = () => {
    if (process.platform === 'win32') return process.env['LOCALAPPDATA'] ?? join(home, 'AppData/Local');
    if (process.platform === 'darwin') return join(home, 'Library/Application Support');
    return process.env['XDG_STATE_HOME'] ?? join(home, '.local/state');
  };
  return join(folder(), 'corollary/endpoint.json');
}
