/**
 * `npm run cluster`: three nodes over one store, on this machine, to try and to show what happens when one is gone.
 *
 * It builds what is missing, creates a private PostgreSQL server in a temporary folder, starts three services and a proxy
 * that hands each connection to the next node that answers, prints the addresses, and ends all of it on Ctrl+C. What was
 * stored ends with it.
 *
 *   --port N   the port of the proxy; default 9300
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { build, install, Refusal, root, runCommand } from './prepare.mjs';

const nodeCount = 3;

/** The folder of PostgreSQL's programs. Refuses with what to do where it is not installed. */
function postgresPrograms() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const found = folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb')));
  if (found === undefined)
    throw new Refusal(
      'PostgreSQL is not installed here: install it (Debian: apt-get install postgresql), and try again.',
    );
  return found;
}

/** A port that is free now. @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Creates and starts a PostgreSQL server in this folder; returns its address and how to end it. PostgreSQL refuses to run as
 * root, so root starts it as `nobody`.
 * @param {string} folder
 */
async function startPostgres(folder) {
  const programs = postgresPrograms();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chownSync(folder, Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })), -1);
    chmodSync(folder, 0o755);
  }
  const data = join(folder, 'postgres');
  /** @param {string[]} command */
  const run = (...command) => {
    const [name = '', ...rest] = command;
    const whole = [join(programs, name), ...rest];
    const [first = '', ...others] = isRoot
      ? ['setpriv', '--reuid=nobody', '--clear-groups', ...whole]
      : whole;
    execFileSync(first, others, { cwd: '/', stdio: 'ignore', env: { ...process.env, LC_ALL: 'C' } });
  };
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8');
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`;
  run('pg_ctl', '-D', data, '-l', join(folder, 'postgres.log'), '-o', options, '-w', 'start');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => run('pg_ctl', '-D', data, '-m', 'fast', '-w', 'stop'),
  };
}

/**
 * Starts a node; resolves when it has printed its address.
 * @param {number} number
 * @param {string} folder
 * @param {string} storeUrl
 */
async function startNode(number, folder, storeUrl) {
  const port = await freePort();
  const child = spawn(process.execPath, [join(root, 'out/main/headless.js'), 'serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl+C reaches this process alone, which ends the nodes in turn.
    detached: true,
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      STORE_URL: storeUrl,
      NODE_SECRET_FILE: join(folder, 'node-secret'),
      COROLLARY_ENDPOINT_FILE: join(folder, `node-${number}.json`),
      LOG_FORMAT: 'plain',
      LOG_LEVEL: 'WARN',
    },
  });
  child.stderr.on('data', (/** @type {Buffer} */ bytes) => {
    process.stderr.write(`node ${number}: ${bytes.toString()}`);
  });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Refusal(`Node ${number} ended with code ${code}.`)));
  });
  child.on('exit', (code, signal) => console.log(`Node ${number} ended (${signal ?? code}).`));
  return { child, port };
}

/**
 * A proxy that hands each connection to the next node that accepts it.
 * @param {number} port
 * @param {number[]} targets
 */
async function startProxy(port, targets) {
  let next = 0;
  const proxy = createServer((client) => {
    client.on('error', () => client.destroy());
    /** @param {number} tries */
    const pass = (tries) => {
      if (tries === targets.length) {
        client.destroy();
        return;
      }
      const node = connect(targets[next++ % targets.length] ?? 0, '127.0.0.1');
      node.once('error', () => {
        if (node.connecting || node.bytesRead === 0) pass(tries + 1);
        else client.destroy();
      });
      node.once('connect', () => {
        node.removeAllListeners('error').on('error', () => client.destroy());
        client.once('close', () => node.destroy());
        node.once('close', () => client.end());
        client.pipe(node).pipe(client);
      });
    };
    pass(0);
  });
  await new Promise((resolve, reject) => {
    proxy.once('error', () => reject(new Refusal(`Port ${port} is taken: name another one with --port.`)));
    proxy.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  return proxy;
}

/** The port that the arguments name. @param {readonly string[]} given */
function portOf(given) {
  const at = given.indexOf('--port');
  const port = at < 0 ? 9300 : Number(given[at + 1]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Refusal('--port takes 1 to 65535.');
  return port;
}

/** Resolves when this process is told to end. */
function told() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
}

await runCommand(async () => {
  const port = portOf(process.argv.slice(2));
  postgresPrograms();
  await install();
  await build();
  const folder = mkdtempSync(join(tmpdir(), 'corollary-cluster-'));
  /** @type {(() => unknown)[]} */
  const ends = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const server = await startPostgres(folder);
    ends.unshift(server.stop);
    writeFileSync(join(folder, 'node-secret'), randomBytes(32).toString('hex'), { mode: 0o600 });
    const ports = [];
    for (let number = 1; number <= nodeCount; number++) {
      const node = await startNode(number, folder, server.url);
      ports.push(node.port);
      ends.unshift(
        () =>
          new Promise((resolve) => {
            if (node.child.exitCode !== null || node.child.signalCode !== null) return resolve(undefined);
            node.child.once('exit', resolve).kill('SIGTERM');
          }),
      );
      console.log(`Node ${number}: http://127.0.0.1:${node.port}/ (process ${node.child.pid})`);
    }
    const proxy = await startProxy(port, ports);
    ends.unshift(() => proxy.close());
    console.log(`All of them, by turns: http://127.0.0.1:${port}/`);
    console.log(`PostgreSQL: ${server.url}`);
    console.log('Kill a node (kill -9 PROCESS) and go on asking. Ctrl+C ends everything.');
    await told();
  } finally {
    for (const end of ends) await end();
  }
});
