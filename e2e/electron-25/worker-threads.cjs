/**
 * `node:worker_threads` of the main process in Electron 25: its Node 18 cannot run the service, so the thread runs in
 * a child of the Node that runs the tests (`COROLLARY_TEST_NODE`), and `thread-relay.mjs` passes its messages on.
 *
 * Where a test has made the service for Node 18 (`COROLLARY_TEST_SERVICE`), its thread runs within Electron.
 */
const { EventEmitter } = require('node:events');
const { spawn } = require('node:child_process');
const { basename, join } = require('node:path');
// Not `node:worker_threads`, which is this module.
const { Worker } = require('worker_threads');

const {
  COROLLARY_TEST_NODE: node = 'node',
  COROLLARY_TEST_ROOT: root = '.',
  COROLLARY_TEST_SERVICE: service,
} = process.env;

class WorkerWithin extends Worker {
  constructor(file, options) {
    super(join(service, basename(file)), options);
  }
}

class WorkerOfChild extends EventEmitter {
  #child;

  constructor(file, { workerData, env }) {
    super();
    const relay = join(root, 'e2e/electron-25/thread-relay.mjs');
    this.#child = spawn(node, [relay, join(root, 'out/main', basename(file))], {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.on('message', ({ kind, message }) => {
      if (kind === 'error') this.emit('error', new Error(message));
      else this.emit('message', message);
    });
    this.#child.on('error', (error) => this.emit('error', error));
    this.#child.on('exit', (code) => this.emit('exit', code ?? 1));
    this.#child.send({ kind: 'start', message: { workerData, env } });
  }

  postMessage(message) {
    if (this.#child.connected) this.#child.send({ kind: 'message', message });
  }

  async terminate() {
    this.#child.kill('SIGKILL');
  }
}

exports.Worker = service === undefined ? WorkerOfChild : WorkerWithin;
