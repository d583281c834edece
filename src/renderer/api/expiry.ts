/** How close a key is to its expiry. */
export type Expiry = 'never' | 'later' | 'soon' | 'over';

const dayMs = 86_400_000;
const soonMs = 7 * dayMs;
/** Fraction of its life at which a short-lived key is about to expire. */
const lastPart = 0.2;

/**
 * Classifies the expiry; times are epoch milliseconds. `soon` means within a week, or for keys that live less than
 * five weeks within the last fifth of their life.
 */
export function expiryOf(
  { createdAt, expiresAt }: { readonly createdAt: number | null; readonly expiresAt: number | null },
  now: number,
): Expiry {
  if (expiresAt === null) return 'never';
  if (expiresAt <= now) return 'over';
  const near = createdAt === null ? soonMs : Math.min(soonMs, (expiresAt - createdAt) * lastPart);
  return expiresAt - now <= near ? 'soon' : 'later';
}
