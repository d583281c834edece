import type { ServerResponse } from 'node:http';
import type { Task } from './activity.ts';
import { limits } from './limits.ts';

/** Resolves when the connection takes more, or when the stream is over; a stuck one is cut off. */
export function drained(raw: ServerResponse, task: Task): Promise<void> {
  if (task.signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => raw.destroy(), limits.silentAnswerMs);
    const finish = (): void => {
      clearTimeout(timer);
      raw.off('drain', finish);
      task.signal.removeEventListener('abort', finish);
      resolve();
    };
    raw.on('drain', finish);
    task.signal.addEventListener('abort', finish);
  });
}
