/** Descriptions of keys in words, and the filter over them. */
import type { KeyView } from '../../../engine/contract/authentication.ts';
import { expiryOf } from '../../api/expiry.ts';
import { formatAmount } from '../../ui/format.ts';

type Restrictions = Pick<KeyView, 'databases' | 'tenants'>;

function namesInWords(names: readonly string[], one: string): string | null {
  if (names.length === 0) return null;
  return names.length === 1 ? `${one} ${names[0]}` : formatAmount(names.length, one);
}

/** What a key can access, such as `database shop, 2 tenants`; `everything` without restrictions. */
export function reachInWords({ databases, tenants }: Restrictions): string {
  const parts = [namesInWords(databases, 'database'), namesInWords(tenants, 'tenant')];
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? 'everything' : said.join(', ');
}

/** The status of a key in a word or two. */
export function standingOf(key: KeyView, now: number): 'in force' | 'ends soon' | 'expired' {
  const expiry = expiryOf(key, now);
  if (expiry === 'over') return 'expired';
  return expiry === 'soon' ? 'ends soon' : 'in force';
}

/** The keys with a word that contains `part`, ignoring case. */
export function keysWith(keys: readonly KeyView[], part: string, now: number): KeyView[] {
  const wanted = part.trim().toLowerCase();
  return keys.filter((key) =>
    [
      key.prefix,
      key.role,
      key.description ?? '',
      standingOf(key, now),
      ...key.databases,
      ...key.tenants,
    ].some((word) => word.toLowerCase().includes(wanted)),
  );
}

/**
 * Warnings before a key is revoked, beyond that it cannot be undone. `keys` are all keys the caller can see;
 * `isWhole`: the caller is unrestricted.
 */
export function revocationWarnings(
  key: KeyView,
  {
    keys,
    ownId,
    isWhole,
  }: { readonly keys: readonly KeyView[]; readonly ownId: string | null; readonly isWhole: boolean },
): string[] {
  const warnings: string[] = [];
  if (key.id === ownId) warnings.push('You are signed in with this key: you will be signed out.');
  const admins = keys.filter(({ role }) => role === 'admin');
  if (key.role === 'admin' && admins.length === 1)
    warnings.push(
      isWhole
        ? 'It is the last admin key: without it, the bootstrap is open again to anyone with the user name and password of the service.'
        : 'It is the last admin key that you can see.',
    );
  return warnings;
}
