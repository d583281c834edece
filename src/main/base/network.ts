/** Addresses of peers, as far as limits count them. */
import { isIPv6 } from 'node:net';

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
