/**
 * Where the running service is: at a given address, or at the one that the endpoint file names.
 *
 * The file may be of a service that ended without removing it. So it counts only while its process lives and its
 * address answers as this service does. One look, no waiting: whoever waits looks again.
 */
import { readEndpoint } from '../base/endpoint-file.ts';
import type { HttpFetch } from './http-fetch.ts';

export type Found =
  | { readonly kind: 'ready'; readonly url: string }
  /** It is there, and cannot be asked yet, or not any more. */
  | { readonly kind: 'not-ready'; readonly url: string }
  /** `why` is a sentence for the user. */
  | { readonly kind: 'none'; readonly why: string };

const lookMs = 3000;

/** Looks once. Never rejects for what it finds. */
export async function findService(
  place: { readonly url: URL | null; readonly endpointFile: string },
  fetch: HttpFetch['fetch'],
): Promise<Found> {
  if (place.url !== null) return look(place.url.href.replace(/\/+(mcp\/?)?$/, ''), fetch);
  const endpoint = await readEndpoint(place.endpointFile).catch(() => null);
  if (endpoint === null || !isAlive(endpoint.pid)) return { kind: 'none', why: 'Corollary is not running' };
  return look(endpoint.url.replace(/\/+$/, ''), fetch);
}

async function look(url: string, fetch: HttpFetch['fetch']): Promise<Found> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(lookMs) });
    const answer: unknown = await response.json();
    // With a disk that is full it is not ready, but answers: only the engine has to be there.
    if (isReadiness(answer))
      return { kind: answer.subsystems.engine === 'ready' ? 'ready' : 'not-ready', url };
    return { kind: 'none', why: `what answers at ${url} is not Corollary` };
  } catch (error) {
    return { kind: 'none', why: `Corollary does not answer at ${url} (${wordsOf(error)})` };
  }
}

/** A process that belongs to somebody else lives too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isReadiness(value: unknown): value is { subsystems: { engine: string } } {
  if (typeof value !== 'object' || value === null) return false;
  const { subsystems } = value as { subsystems?: { engine?: unknown } | null };
  return typeof subsystems === 'object' && typeof subsystems?.engine === 'string';
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SyntaxError) return 'its answer is no JSON';
  return error.name === 'TimeoutError' || error.name === 'AbortError' ? 'no answer in time' : error.message;
}
