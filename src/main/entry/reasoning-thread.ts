/**
 * A reasoning thread of the service: answers questions over copies of facts that the serving thread posts. It ends when its
 * owner terminates it, or with an error, upon which its owner starts another.
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  heapOf,
  pastReadings,
  present,
  ReasoningThread,
  retainedIn,
  serving,
  type ToReasoningThread,
} from '../../engine/index.ts';
import { jsonSlices } from '../base/json-slices.ts';
import { processMemory } from '../base/memory-gauge.ts';
import type { ReasoningSettings } from '../base/reasoning-settings.ts';

const owner = present(parentPort, 'this module is started as a thread');
// Its owner is of the same build.
const { memoryBytes, questionBytes, log } = workerData as ReasoningSettings;

const thread = new ReasoningThread({
  scheduler: serving,
  memoryBytes,
  questionBytes,
  // In a worker, V8 tells of the worker's heap.
  heap: heapOf(processMemory(null), {
    remedy: 'start fewer reasoning threads, which share one heap',
    // It stops only this thread, where what others ask next must not be refused for the garbage of what was refused.
    pauseFactor: 2,
    minPauseMs: 0,
  }),
  write: jsonSlices,
  retained: log && retainedIn(log),
  readings: pastReadings,
  post: (message, transfer) => owner.postMessage(message, transfer),
});
owner.on('message', (message: ToReasoningThread) => thread.take(message));
