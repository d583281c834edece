/** How the end of a key stands. Times are epoch milliseconds. */
export type Expiry = 'never' | 'later' | 'soon' | 'over';

const dayMs = 86_400_000;
const soonMs = 7 * dayMs;
/** Of its life, what is left when the end of a key that lives for a few days is near. */
const lastPart = 0.2;

/** `soon`: in a week, or, of a key that lives for less than five, in the last fifth of its life. */
export function expiryOf(
  { createdAt, expiresAt }: { readonly createdAt: number | null; readonly expiresAt: number | null },
  now: number,
): Expiry {
  if (expiresAt === null) return 'never';
  if (expiresAt <= now) return 'over';
  const near = createdAt === null ? soonMs : Math.min(soonMs, (expiresAt - createdAt) * lastPart);
  return expiresAt - now <= near ? 'soon' : 'later';
}
