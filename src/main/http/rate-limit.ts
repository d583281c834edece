/**
 * The rate limit: a bucket of tokens for each credential, else address.
 *
 * A bucket holds a minute's worth and refills evenly, so that a client may come in bursts but not for long.
 * Buckets that are full again say nothing and are dropped when there are many.
 */
import { EngineError } from '../../engine/index.ts';

export interface RateLimit {
  /** Takes one token of `client`, or refuses with RateLimited and the seconds until there is one. */
  take(client: string): void;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was true, in milliseconds of the clock. */
  at: number;
}

const manyBuckets = 10_000;

export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  const level = (bucket: Bucket, at: number): number =>
    Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMs);
  return {
    take(client) {
      const at = now();
      if (buckets.size >= manyBuckets)
        for (const [name, bucket] of buckets) if (level(bucket, at) >= perMinute) buckets.delete(name);
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
      buckets.set(client, { tokens: tokens - 1, at });
    },
  };
}
