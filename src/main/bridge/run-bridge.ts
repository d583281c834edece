/** Connects standard input and output with the service, until the client has gone or the program is told to end. */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { type Environment, endpointFileOf } from '../base/config.ts';
import type { BridgeArguments } from './arguments.ts';
import { Bridge } from './bridge.ts';
import { ClientLines } from './client-lines.ts';
import { findService } from './find-service.ts';
import { createFetch } from './http-fetch.ts';
import { Connection } from './keep-connected.ts';
import { Link } from './link.ts';
import { ServiceStarter } from './start-service.ts';

/** The process in which a bridge runs. */
export interface BridgeSurroundings {
  readonly input: Readable;
  readonly output: Writable;
  readonly environment: Environment;
  /** The built service beside this program, or null. */
  readonly program: string | null;
  /** For people who look for the cause of a problem; never protocol. */
  say(line: string): void;
  /** Aborts when the program is told to end. */
  readonly told: AbortSignal;
}

/** Milliseconds that the client gets to read the last answers. */
const flushMs = 500;

/** Resolves when the client has gone, or `told` has aborted, and the session has ended. */
export async function runBridge(given: BridgeArguments, surroundings: BridgeSurroundings): Promise<void> {
  const { input, output, environment, program, say, told } = surroundings;
  const endpointFile = endpointFileOf(environment);
  const now = (): number => performance.now();
  const prefix = randomUUID();
  let ids = 0;
  const nextId = (): string => `corollary-mcp-${prefix}-${++ids}`;
  const looking = createFetch();
  const mayStart = given.mayStart && given.url === null;
  const connection = new Connection({
    find: () => findService({ url: given.url, endpointFile }, looking.fetch),
    starter: mayStart ? new ServiceStarter({ endpointFile, program, environment, now, say }) : null,
    makeLink: (url) =>
      new Link({
        url,
        headers: headersOf(given),
        onMessage: (message) => bridge.tell(message),
        onGap: () => bridge.tellStale(),
        nextId,
      }),
    resume: (link, signal) => bridge.resume(link, signal),
    onReturn: () => bridge.tellStale(),
    now,
    say,
  });
  const bridge: Bridge = new Bridge({
    connection,
    waitMs: given.waitMs,
    now,
    send: (message) => lines.send(message),
    say,
    nextId,
  });
  const clientEnded = new AbortController();
  const clientGone = new AbortController();
  const lines: ClientLines = new ClientLines(input, output, {
    onMessage: (message, bytes) => bridge.take(message, bytes),
    onEnd: (how) => (how === 'ended' ? clientEnded : clientGone).abort(),
  });
  const gone = AbortSignal.any([told, clientGone.signal]);
  lines.start();
  connection.start();
  await aborted(AbortSignal.any([gone, clientEnded.signal]));
  // A client that closed only its side may still be reading: answer its calls first.
  await Promise.race([bridge.drained(), aborted(gone), aborted(AbortSignal.timeout(given.waitMs))]);
  // A look for the service that is still running ends with its connection.
  looking.close();
  await connection.close();
  await lines.flushed(flushMs);
}

function headersOf({ database, tenant, key }: BridgeArguments): Record<string, string> {
  const place = { 'X-Database': database, 'X-Tenant-ID': tenant };
  return key === null ? place : { ...place, Authorization: `Bearer ${key}` };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
