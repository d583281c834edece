/** The phases in which the service ends, and their limits. */
import type { HttpApp } from '../http/app.ts';
import type { Activity } from '../http/limits.ts';
import type { SecurePort } from './secure-port.ts';

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

/** Resolves when the work has ended, with true, or after `limitMs`, with false. Rejects as the work does. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
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

/** Lets running calls finish, and cancels those that do not. */
export async function finishCalls(activity: Activity, { finishMs, cancelMs }: EndLimits): Promise<void> {
  activity.endStreams();
  if (await activity.idle(finishMs)) return;
  activity.cancelCalls();
  await activity.idle(cancelMs);
}

/** Closes the listening socket and the connections; cuts those that are stuck. */
export async function disconnect(app: HttpApp['app'], afterMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), afterMs);
  await app.close();
  clearTimeout(timer);
}

/** The same of the port with TLS. */
export async function disconnectSecure(port: SecurePort | null, afterMs: number): Promise<void> {
  const timer = setTimeout(() => port?.cut(), afterMs);
  await port?.close();
  clearTimeout(timer);
}
