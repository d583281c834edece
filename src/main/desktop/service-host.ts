/**
 * Runs the service on its own thread, so that derivation and garbage collection never freeze the windows.
 *
 * The thread ends when the service has closed; one that ends by itself after it was ready is reported as lost. The
 * module does not use Electron, so it is tested under plain Node.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  isThreadMessage,
  type Refusal,
  type ThreadCommand,
  type ThreadSettings,
  type WithdrawnConclusions,
} from '../base/service-messages.ts';
import { createServer } from 'node:net';

/** Milliseconds for a service to finish before its thread is terminated; its own limit is 10 s. */
const closeLimitMs = 15_000;

/** Milliseconds to wait for the number of agents when leaving: a silent service must not block that. */
const answerLimitMs = 2_000;

export interface RunningService {
  readonly address: string;
  readonly port: number;
  /** Resolves when the thread has ended without a call of `close`, with the reason if known. */
  readonly lost: Promise<string>;
  /** Number of connected agents; 0 once it has ended, and if it does not answer within two seconds. */
  agents(): Promise<number>;
  /** Closes the service and ends its thread. Also resolves if it has ended before. */
  close(): Promise<void>;
}

export type ServiceStart =
  | { readonly outcome: 'running'; readonly service: RunningService }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

interface ThreadListener {
  /** Gets how much of the stored knowledge has been read, in per cent. */
  readonly onOpening?: (percent: number) => void;
  /** Gets the conclusions that were withdrawn, while the service runs. */
  readonly onWithdrawn?: (withdrawn: readonly WithdrawnConclusions[]) => void;
}

/** Starts the thread `file`; resolves when the service is ready or has refused to start. */
export function startServiceThread(
  file: string,
  settings: ThreadSettings,
  { onOpening, onWithdrawn }: ThreadListener = {},
): Promise<ServiceStart> {
  const worker = new Worker(file, {
    workerData: settings,
    env: { ...settings.environment },
    name: 'service',
  });
  const ended = new Promise<string>((resolve) => {
    let reason: string | null = null;
    worker.once('error', (error) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.once('exit', (code) => resolve(reason ?? `its thread ended with code ${code}`));
  });

  return new Promise((resolve) => {
    let refusal: Refusal | null = null;
    // After a refusal the thread ends by itself; only then are its port and folder certainly free.
    void ended.then((reason) => {
      refusal ??= { reason: 'failed', message: `The service could not be started: ${reason}.`, owner: null };
      resolve({ outcome: 'refused', refusal });
    });
    worker.on('message', (message: unknown) => {
      if (!isThreadMessage(message)) throw new Error('the service thread sent a message of an unknown kind');
      if (message.kind === 'opening') onOpening?.(message.percent);
      if (message.kind === 'withdrawn') onWithdrawn?.(message.withdrawn);
      if (message.kind === 'ready') resolve({ outcome: 'running', service: running(worker, message, ended) });
      if (message.kind === 'refused') refusal = message.refusal;
    });
  });
}

function running(
  worker: Worker,
  { address, port }: { address: string; port: number },
  ended: Promise<string>,
): RunningService {
  let closing: Promise<void> | null = null;
  const lost = new Promise<string>((resolve) => {
    void ended.then((reason) => {
      if (closing === null) resolve(reason);
    });
  });
  const close = async () => {
    worker.postMessage({ kind: 'close' } satisfies ThreadCommand);
    const limit = setTimeout(() => void worker.terminate(), closeLimitMs);
    await ended;
    clearTimeout(limit);
  };
  const agents = async () => {
    let hear: (message: unknown) => void = () => undefined;
    const answer = new Promise<number>((resolve) => {
      hear = (message) => {
        if (isThreadMessage(message) && message.kind === 'agents') resolve(message.count);
      };
    });
    worker.on('message', hear);
    worker.postMessage({ kind: 'count-agents' } satisfies ThreadCommand);
    const count = await Promise.race([answer, ended.then(() => 0), pause(answerLimitMs, 0, { ref: false })]);
    worker.off('message', hear);
    return count;
  };
  return { address, port, lost, agents, close: () => (closing ??= close()) };
}

const firstFallbackPort = 9301;
/** Number of ports tried before giving up. */
const fallbackPorts = 200;

interface PortChoice {
  readonly usual: number;
  /** The user set the port: no other is tried. */
  readonly isFixed: boolean;
  readonly host: string;
}

/**
 * Starts on the default port, or the next free one if that is taken.
 *
 * A PORT set by the user is never replaced. Otherwise the next free port from 9301 is used and remembered, so that
 * agents find the service again.
 */
export async function startOnFreePort(
  start: (port: number) => Promise<ServiceStart>,
  { usual, isFixed, host }: PortChoice,
): Promise<ServiceStart> {
  let outcome = await start(usual);
  for (const port of fallbackCandidates(usual)) {
    if (isFixed || outcome.outcome === 'running' || outcome.refusal.reason !== 'port-taken') break;
    // Checking first saves the start of a service; another program may still take the port in between.
    if (await isFree(port, host)) outcome = await start(port);
  }
  return outcome;
}

/** The ports to try if `taken` is taken, in order. */
export function fallbackCandidates(taken: number): number[] {
  const all = Array.from({ length: fallbackPorts }, (_, index) => firstFallbackPort + index);
  return all.filter((port) => port !== taken);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
