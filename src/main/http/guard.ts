/**
 * Who may go on: credential (401), then rate limit (429).
 *
 * Every route that needs a credential passes here, those of the table and the others alike.
 */
import type { FastifyRequest } from 'fastify';
import type { Identity } from '../base/identity.ts';
import type { HttpHost } from './host.ts';
import { createRateLimit, networkOf } from './rate-limit.ts';

export interface Guard {
  /** Sets and answers who calls. Refuses with Unauthenticated or RateLimited. */
  identify(request: FastifyRequest): Identity;
}

export function createGuard(host: HttpHost): Guard {
  const { rateLimitPerMinute } = host.settings;
  const limit =
    rateLimitPerMinute === null ? null : createRateLimit(rateLimitPerMinute, () => performance.now());
  return {
    identify(request) {
      const identity = host.authenticate(request.headers);
      limit?.take(identity.credential ?? `address ${networkOf(request.ip)}`);
      request.identity = identity;
      return identity;
    },
  };
}
