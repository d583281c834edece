/** Starts reasoning threads: workers that run the program `entry/reasoning-thread.ts`. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromReasoningThread, ThreadHost } from '../../engine/index.ts';
import type { ReasoningSettings } from '../base/reasoning-settings.ts';

/** Processor time that a question has on the serving thread, in milliseconds. */
const defaultAfterMs = 15;
/** What it has done in two slices more may be done again. */
const twoSlicesMs = 10;
/** A question that has taken so long may be one that takes until its limits: it begins on the thread too. */
const lateMs = 500;
/**
 * Beside the thread it ends here when it has built so many bytes. What it built is freed in one turn, a tenth of a millisecond for
 * each megabyte: the collection that another allocation begins frees it on the serving thread.
 */
const bothBytes = 128 * 1024 * 1024;
/** Or has had so many times what it had when it began there: that is all it loses, so a twentieth of its time. */
const bothTimes = 20;
/**
 * Heap of all threads together, in megabytes: what is large lies outside of it. In Electron all heaps of a process share 4 GB.
 */
const heapMb = 1536;
const leastHeapMb = 256;

/** The built program beside this one; null: this program was not built. */
export function reasoningFile(): string | null {
  const file = join(dirname(fileURLToPath(import.meta.url)), 'reasoning-thread.js');
  return existsSync(file) ? file : null;
}

/** A host of `count` threads with these budgets in bytes. `afterMs`: see `ThreadHost`. */
export function reasoningHost(
  file: string,
  {
    count,
    afterMs = defaultAfterMs,
    ...settings
  }: ReasoningSettings & { readonly count: number; readonly afterMs?: number | undefined },
): ThreadHost {
  return {
    count,
    afterMs,
    untilMs: afterMs + twoSlicesMs,
    lateMs,
    bothBytes,
    bothTimes,
    readsLog: settings.log !== null,
    start({ message, ended }) {
      const worker = new Worker(file, {
        workerData: settings,
        resourceLimits: { maxOldGenerationSizeMb: Math.max(leastHeapMb, Math.floor(heapMb / count)) },
        name: 'reasoning',
      });
      let isOver = false;
      const end = (error: unknown): void => {
        if (isOver) return;
        isOver = true;
        ended(error);
      };
      worker.on('message', (from: FromReasoningThread) => {
        if (!isOver) message(from);
      });
      worker.on('error', end);
      worker.on('exit', (code) => end(new Error(`it ended with ${code}`)));
      // Waiting for a question must not keep the process alive.
      worker.unref();
      return {
        post: (to, transfer) => worker.postMessage(to, transfer),
        terminate: () => {
          isOver = true;
          void worker.terminate();
        },
      };
    },
  };
}
