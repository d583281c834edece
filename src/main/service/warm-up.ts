/**
 * Makes a service quick before it is first asked. V8 runs code slowly until it was called often, so the first questions
 * after a start cost a multiple of later ones: what is asked most is therefore done before, to a service of the same make
 * that is all in memory, says nothing, and is dropped afterwards.
 *
 * Nobody waits for it: each request is a short piece of work, and none is made while the service itself is at work or was a
 * moment ago. It leaves nothing behind but compiled code.
 */
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { postInMemory } from './memory-connection.ts';
import { warmUpRequests } from './warm-up-requests.ts';

/** Milliseconds between two requests: whoever came meanwhile has their turn. */
const betweenMs = 1;
/** Milliseconds for which nobody may have asked the service: who has just started it asks first, and one who works goes on. */
export const usualQuietMs = 1000;
/** Milliseconds after which it is given up: a service that is asked all the time warms up by itself. */
const mostMs = 300_000;

/** What of the service that is warmed up says whether it may be disturbed. */
export interface Warming {
  /** Calls that are running, and calls so far. */
  readonly activity: { readonly running: number; readonly started: number };
  /** Aborts when the service ends. */
  readonly signal: AbortSignal;
  /** Milliseconds for which nobody may have asked it. */
  readonly quietMs: number;
}

/** A service that nobody else reaches. */
export interface Rehearsal {
  /** Does not listen, and takes connections all the same. */
  readonly server: Server;
  close(): Promise<void>;
}

/** Resolves with true when it is done, with false where it was given up. Rejects where a request is not answered as it should be: a bug. */
export async function warmUp(
  { activity, signal, quietMs }: Warming,
  open: () => Promise<Rehearsal>,
): Promise<boolean> {
  const until = performance.now() + mostMs;
  let started = -1;
  const mayGoOn = async (): Promise<boolean> => {
    await pause(betweenMs);
    while (!signal.aborted && performance.now() < until) {
      if (activity.running === 0 && activity.started === started) return true;
      ({ started } = activity);
      // Ends early where the service does, which is looked at next.
      await pause(quietMs, null, { signal }).catch(() => null);
    }
    return false;
  };
  if (!(await mayGoOn())) return false;
  const rehearsal = await open();
  try {
    let session: string | null = null;
    for (const { path, body } of warmUpRequests()) {
      if (!(await mayGoOn())) return false;
      const headers = session === null ? {} : { 'mcp-session-id': session };
      const answer = await postInMemory(rehearsal.server, path, headers, body);
      if (answer.status >= 300) throw new Error(`warming up: ${path} was answered with ${answer.status}`);
      const { 'mcp-session-id': given } = answer.headers;
      if (typeof given === 'string') session = given;
    }
    return true;
  } finally {
    await rehearsal.close();
  }
}
