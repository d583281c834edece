import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The client's id if it is 1 to 128 printable ASCII characters, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\x20-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}
