/**
 * Which port the desktop's service is started on.
 *
 * A PORT that the user set is theirs to free: it is never replaced. Otherwise a port that is taken gives way to
 * the next free one from 9301, which the shell remembers, so that agents find the service where it was.
 */
import { createServer } from 'node:net';
import type { ServiceStart } from './service-host.ts';

const firstFallbackPort = 9301;
/** How many ports are looked at before the search is given up. */
const fallbackPorts = 200;

export interface PortChoice {
  readonly usual: number;
  /** The user set the port: it is that one or none. */
  readonly isFixed: boolean;
  readonly host: string;
}

/** Starts on the usual port, and where that is taken on the next free one, unless the user set the port. */
export async function startOnFreePort(
  start: (port: number) => Promise<ServiceStart>,
  { usual, isFixed, host }: PortChoice,
): Promise<ServiceStart> {
  let outcome = await start(usual);
  for (const port of fallbackCandidates(usual)) {
    if (isFixed || outcome.outcome === 'running' || outcome.refusal.reason !== 'port-taken') break;
    // Looking first spares the start of a service; another program may still be faster than we are.
    if (await isFree(port, host)) outcome = await start(port);
  }
  return outcome;
}

/** The ports to look at when `taken` is not to be had, in order. */
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
