/** The end of a service: what it waits for, and for how long. */
import type { NodeList } from '../../engine/contract/administration.ts';
import type { HttpApp } from '../http/app.ts';
import type { Activity } from '../http/limits.ts';
import type { SecurePort } from './secure-port.ts';

/**
 * The owner of a log gives another node this long to take it before the end begins, so that writes go on there: as long as
 * the writes under way and the other node may take. What is beyond `quickHandOverMs` lessens the time of running calls.
 */
export const handOverMs = 4000;
const quickHandOverMs = 1500;

/** Limits for the phases of the shutdown, in milliseconds. */
export interface EndLimits {
  /** Running calls may take this long to finish before they are cancelled, and as long again to notice. */
  readonly finishMs: number;
  readonly cancelMs: number;
  /** Connections that do not end by themselves are cut after this time. */
  readonly disconnectMs: number;
  /**
   * A final snapshot that has not been written this long after the beginning of the shutdown is abandoned: the log
   * contains everything in it.
   */
  readonly lastSnapshotByMs: number;
  /** After this time nothing waits any more for a disk that does not answer. What was answered is durable. */
  readonly allMs: number;
}

export const defaultEndLimits: EndLimits = {
  finishMs: 5000,
  cancelMs: 1500,
  disconnectMs: 1000,
  lastSnapshotByMs: 8500,
  allMs: 9700,
};

/** Resolves when the work has ended, with true, or after `limitMs`, with false. Rejects as the work does. */
export async function endsWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), isOver]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lets running calls finish, then cancels them. `spentMs`: how long the shutdown has taken already. */
export async function finishCalls(
  activity: Activity,
  { finishMs, cancelMs }: EndLimits,
  spentMs: number,
): Promise<void> {
  activity.endStreams();
  if (await activity.idle(Math.min(finishMs, Math.max(0, quickHandOverMs + finishMs - spentMs)))) return;
  activity.cancelCalls();
  await activity.idle(cancelMs);
}

/** Closes the listening socket and the connections; cuts those that are stuck. */
export async function disconnect(app: HttpApp['app'], afterMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), afterMs);
  await app.close();
  clearTimeout(timer);
}

/** The same for HTTPS. */
export async function disconnectSecure(port: SecurePort | null, afterMs: number): Promise<void> {
  const timer = setTimeout(() => port?.cut(), afterMs);
  await port?.close();
  clearTimeout(timer);
}

/** The node to which the owner of a log gives it at its end: alive, able to follow, and the least behind; null: none. */
export function successorIn({ nodes }: NodeList): string | null {
  const fit = nodes.filter(({ alive, self, problem }) => alive && !self && problem === null);
  return fit.toSorted((one, other) => one.lagRecords - other.lagRecords)[0]?.id ?? null;
}
