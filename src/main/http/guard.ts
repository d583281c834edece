/**
 * Checks a request: credential (401), then rate limit (429).
 *
 * Every route that needs a credential passes here, those of the table and all others.
 */
import type { FastifyRequest } from 'fastify';
import { isIPv6 } from 'node:net';
import { EngineError } from '../../engine/index.ts';
import type { Identity } from '../base/identity.ts';
import type { HttpHost } from './host.ts';

export interface RequestGuard {
  /** Identifies the caller and notes it on the request. Refuses with Unauthenticated or RateLimited. */
  identify(request: FastifyRequest): Identity;
}

/** Creates the guard, with a rate limit if the settings have one. */
export function createGuard(host: HttpHost): RequestGuard {
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

/**
 * The rate limit: a token bucket for each credential, else address.
 *
 * A bucket holds a minute's worth and refills evenly, so a client may come in bursts but not for long. Full buckets
 * carry no information and are dropped, a few with each call; there are never more than `maxBuckets`, and the least
 * recently used one goes first. An IPv6 address counts by its network, since one client has all addresses of it.
 */

interface RateLimit {
  /** Takes a token of `client`, or refuses with RateLimited and the seconds until there is one. */
  take(client: string): void;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was computed, in milliseconds of the clock. */
  at: number;
}

const maxBuckets = 100_000;
/** Buckets checked with each call. */
const lookedAt = 4;

/** Creates a rate limit; `now` returns milliseconds. */
export function createRateLimit(perMinute: number, now: () => number, most = maxBuckets): RateLimit {
  const perMs = perMinute / 60_000;
  /** Least recently used first. */
  const buckets = new Map<string, Bucket>();
  const level = (bucket: Bucket, at: number): number =>
    Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMs);
  return {
    take(client) {
      const at = now();
      let left = lookedAt;
      for (const [name, bucket] of buckets) {
        if (left-- === 0 || (buckets.size < most && level(bucket, at) < perMinute)) break;
        if (name !== client) buckets.delete(name);
      }
      const bucket = buckets.get(client);
      const tokens = bucket === undefined ? perMinute : level(bucket, at);
      if (tokens < 1) {
        const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perMs / 1000));
        throw new EngineError(
          'RateLimited',
          `more than ${perMinute} requests a minute: try again in ${retryAfterSeconds} s`,
          { retryAfterSeconds },
        );
      }
      buckets.delete(client);
      buckets.set(client, { tokens: tokens - 1, at });
    },
  };
}

/**
 * The part of an address that is counted: all of an IPv4 address, also if mapped into IPv6; the first 64 bits of an
 * IPv6 address.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? before : [...before, ...zeros(8 - before.length - after.length), ...after];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

function zeros(count: number): string[] {
  return Array.from({ length: Math.max(0, count) }, () => '0');
}
