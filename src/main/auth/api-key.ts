/**
 * Authentication by one key for all (`API_KEY`): whoever shows it is admin, everyone else is refused.
 *
 * Keys are compared by their hashes in constant time, so that neither length nor content shows in the time a
 * refusal takes. A key is never kept in an error, an identity or a log line.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { EngineError } from '../../engine/index.ts';
import { anonymous, type Identity } from '../identity.ts';

/** Who the headers of a request make the caller; refuses with Unauthenticated. */
export type Authenticate = (headers: IncomingHttpHeaders) => Identity;

const admin: Identity = { credential: 'api-key', role: 'admin', databases: [], tenants: [] };

/** With no key, authentication is off and everyone is let in as nobody in particular. */
export function createAuthenticator(apiKey: string | null): Authenticate {
  if (apiKey === null) return () => anonymous;
  const expected = digest(apiKey);
  return (headers) => {
    const shown = presentedKey(headers);
    if (shown === null)
      throw new EngineError('Unauthenticated', 'show the key as "Authorization: Bearer …" or "X-API-Key: …"');
    if (!timingSafeEqual(digest(shown), expected))
      throw new EngineError('Unauthenticated', 'the key is not valid');
    return admin;
  };
}

/** The key a request shows: of `Authorization: Bearer`, else of `X-API-Key`; null where it shows none. */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
