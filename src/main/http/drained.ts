import type { ServerResponse } from 'node:http';
import type { Task } from './activity.ts';
import { limits } from './limits.ts';

/** Resolves when the connection accepts more, or when the stream is over; cuts off a stuck connection. */
export function drained(raw: ServerResponse, task: Task): Promise<void> {
  if (task.aborted) return Promise.resolve();
  const signal = task.toSignal();
  return new Promise((resolve) => {
    const timer = setTimeout(() => raw.destroy(), limits.silentAnswerMs);
    const finish = (): void => {
      clearTimeout(timer);
      raw.off('drain', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    raw.on('drain', finish);
    signal.addEventListener('abort', finish);
  });
}
