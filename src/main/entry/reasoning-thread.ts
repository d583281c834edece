/**
 * A reasoning thread of the service: answers questions over copies of facts that the serving thread posts. It ends when its
 * owner terminates it, or with an error, upon which its owner starts another.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { present, ReasoningThread, rehearse, serving, type ToReasoningThread } from '../../engine/index.ts';
import { jsonSlices } from '../base/json-slices.ts';
import type { ReasoningSettings } from '../base/reasoning-settings.ts';

const owner = present(parentPort, 'this module is started as a thread');
// Its owner is of the same build.
const { memoryBytes, questionBytes } = workerData as ReasoningSettings;

const parts = { scheduler: serving, memoryBytes, questionBytes, write: jsonSlices };
const thread = new ReasoningThread({
  ...parts,
  post: (message, transfer) => owner.postMessage(message, transfer),
});

/** Milliseconds after the start in which the thread does nothing, since the service itself starts then. */
const quietMs = 1000;
let isNeeded = false;
owner.on('message', (message: ToReasoningThread) => {
  isNeeded = true;
  thread.take(message);
});
// A question that comes before or meanwhile does not wait for it: what is needed is compiled by that.
setTimeout(() => {
  if (!isNeeded) void rehearse(parts, () => nextTurn());
}, quietMs);
