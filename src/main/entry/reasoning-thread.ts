/**
 * A reasoning thread of the service: answers questions over copies of facts that the serving thread posts. It ends when its
 * owner terminates it, or with an error, upon which its owner starts another.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { present, ReasoningThread, serving, type ToReasoningThread } from '../../engine/index.ts';
import { jsonSlices } from '../base/json-slices.ts';
import type { ReasoningSettings } from '../base/reasoning-settings.ts';

const owner = present(parentPort, 'this module is started as a thread');
// Its owner is of the same build.
const { memoryBytes, questionBytes } = workerData as ReasoningSettings;

const thread = new ReasoningThread({
  scheduler: serving,
  memoryBytes,
  questionBytes,
  write: jsonSlices,
  post: (message, transfer) => owner.postMessage(message, transfer),
});
owner.on('message', (message: ToReasoningThread) => thread.take(message));
