/**
 * Chooses the port of the desktop's service.
 *
 * A PORT set by the user is never replaced. Otherwise, if the port is taken, the next free one from 9301 is used and
 * remembered, so that agents find the service again.
 */
import { createServer } from 'node:net';
import type { ServiceStart } from './service-host.ts';

const firstFallbackPort = 9301;
/** Number of ports tried before giving up. */
const fallbackPorts = 200;

export interface PortChoice {
  readonly usual: number;
  /** The user set the port: no other is tried. */
  readonly isFixed: boolean;
  readonly host: string;
}

/** Starts on the default port, or the next free one if that is taken, unless the user set the port. */
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
