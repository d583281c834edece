/**
 * `node:worker_threads` of the main process in Electron 25: its Node 18 cannot run the service, so the thread runs in
 * a child of the Node that runs the tests (`COROLLARY_TEST_NODE`), and `thread-relay.mjs` passes its messages on.
 */
const { EventEmitter } = require('node:events');
const { spawn } = require('node:child_process');
const { basename, join } = require('node:path');

const { COROLLARY_TEST_NODE: node = 'node', COROLLARY_TEST_ROOT: root = '.' } = process.env;

exports.Worker = class Worker extends EventEmitter {
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
};
