/**
 * Finds the running service: at a given address, or at the one that the endpoint file names.
 *
 * The file may belong to a service that ended without removing it. So it counts only if its process is alive and its
 * address answers as this service does. Looks once, without waiting; callers that wait look again.
 */
import { readEndpoint } from '../base/endpoint-file.ts';
import type { HttpFetch } from './http-fetch.ts';

export type FoundService =
  | { readonly kind: 'ready'; readonly url: string }
  /** The service is there, but does not take requests yet, or any more. */
  | { readonly kind: 'not-ready'; readonly url: string }
  /** `why` is a sentence for the user. */
  | { readonly kind: 'none'; readonly why: string };

const lookMs = 3000;

/** Looks once. Never rejects because of what it finds. */
export async function findService(
  place: { readonly url: URL | null; readonly endpointFile: string },
  fetch: HttpFetch['fetch'],
): Promise<FoundService> {
  if (place.url !== null) return look(place.url.href.replace(/\/+(mcp\/?)?$/, ''), fetch);
  const endpoint = await readEndpoint(place.endpointFile).catch(() => null);
  if (endpoint === null || !isAlive(endpoint.pid)) return { kind: 'none', why: 'Corollary is not running' };
  return look(endpoint.url.replace(/\/+$/, ''), fetch);
}

async function look(url: string, fetch: HttpFetch['fetch']): Promise<FoundService> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(lookMs) });
    const answer: unknown = await response.json();
    // With a full disk the service is not ready, but answers; that is enough as long as the engine is open.
    if (isReadiness(answer))
      return { kind: answer.subsystems.engine === 'ready' ? 'ready' : 'not-ready', url };
    return { kind: 'none', why: `what answers at ${url} is not Corollary` };
  } catch (error) {
    return { kind: 'none', why: `Corollary does not answer at ${url} (${wordsOf(error)})` };
  }
}

/** A process of another user is alive too. */
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
  if (error instanceof SyntaxError) return 'its answer is not JSON';
  return error.name === 'TimeoutError' || error.name === 'AbortError' ? 'no answer in time' : error.message;
}
