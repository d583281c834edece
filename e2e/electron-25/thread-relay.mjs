/** Runs the service's thread for `worker-threads.cjs`, and ends with it. */
import process from 'node:process';
import { Worker } from 'node:worker_threads';

/** @type {Worker | null} */
let worker = null;

process.on('message', (/** @type {{kind: string, message: any}} */ { kind, message }) => {
  if (kind === 'start') start(message);
  else worker?.postMessage(message);
});
// The application has ended without a word: so does its service.
process.on('disconnect', () => process.exit(1));

/** @param {{workerData: unknown, env: NodeJS.ProcessEnv}} options */
function start({ workerData, env }) {
  worker = new Worker(/** @type {string} */ (process.argv[2]), { workerData, env, name: 'service' });
  worker.on('message', (message) => process.send?.({ kind: 'message', message }));
  worker.on('error', (error) => process.send?.({ kind: 'error', message: error.message }));
  worker.on('exit', (code) => process.exit(code));
}
