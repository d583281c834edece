import { setTimeout as resolveAfter } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await resolveAfter(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
