/** Keys as text: typed, displayed and used. Only the service can verify one. */
import type { KeyRole } from '../../engine/contract/authentication.ts';
import type { Snippet } from '../ui/dialogs.tsx';

/** A typed key, or why it is not one. */
type TypedKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Reads a typed or pasted key: trims white space and rejects what a header cannot carry. Accepts a whole
 * `Authorization: Bearer …` header, as instructions show it.
 */
export function typedKey(text: string): TypedKey {
  const trimmed = text.trim();
  const key = /^(?:authorization:\s*)?bearer\s+(\S+)$/i.exec(trimmed)?.[1] ?? trimmed;
  if (key === '') return { kind: 'none' };
  if (/\s/.test(key)) return { kind: 'problem', problem: 'A key is one word, without white space in it.' };
  if (!/^[\x21-\x7e]+$/.test(key))
    return { kind: 'problem', problem: 'A key consists of ASCII letters, digits and signs only.' };
  return { kind: 'key', key };
}

/** Returns a key's public prefix, `cor_1a2b3c4d…`; null if the service did not issue it. */
export function shownPrefix(key: string): string | null {
  return /^cor_[0-9A-Za-z]{20,}$/.test(key) ? `${key.slice(0, 12)}…` : null;
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns snippets for using a key, by hand and by an agent. They name database and tenant unless these are the
 * default.
 */
export function keySnippets(
  {
    origin,
    database,
    tenant,
  }: { readonly origin: string; readonly database: string; readonly tenant: string },
  key: string,
): Snippet[] {
  const authorization = `Bearer ${key}`;
  const place = {
    ...(database === 'default' ? {} : { 'X-Database': database }),
    ...(tenant === 'default' ? {} : { 'X-Tenant-ID': tenant }),
  };
  const headers = { Authorization: authorization, ...place };
  const curl = Object.entries({ ...headers, 'X-Tenant-ID': tenant }).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`,
  );
  return [
    { title: 'curl', text: [`curl ${quoted(`${origin}/predicates`)}`, ...curl].join(' \\\n') },
    {
      title: 'MCP',
      text: JSON.stringify({ mcpServers: { corollary: { url: `${origin}/mcp`, headers } } }, null, 2),
    },
    { title: 'Header', text: `Authorization: ${authorization}` },
  ];
}

/** Describes the permissions of each role of a key. */
export const roleWords: Readonly<Record<KeyRole, string>> = {
  reader: 'Asks, looks, exports and tries changes; changes no knowledge.',
  writer: 'Also asserts and retracts facts, teaches rules, works with scopes, imports, and tends the memory.',
  admin: 'Also creates and deletes databases, tenants and keys, and sees to the service.',
  replica: 'For a follower that copies this service: nothing but replication.',
};

/** How close a key is to its expiry. */
type Expiry = 'never' | 'later' | 'soon' | 'over';

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
