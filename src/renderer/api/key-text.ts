/** A key as it is typed, told of and used. What its letters mean is known to the service alone. */
import type { Snippet } from '../ui/shown-once.tsx';

export type TypedKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * What was typed or pasted as a key: white space around it is none of it, and what a header cannot carry is no key. A
 * header with its name (`Authorization: Bearer …`), as it stands in instructions, is taken for the key in it.
 */
export function typedKey(text: string): TypedKey {
  const trimmed = text.trim();
  const key = /^(?:authorization:\s*)?bearer\s+(\S+)$/i.exec(trimmed)?.[1] ?? trimmed;
  if (key === '') return { kind: 'none' };
  if (/\s/.test(key)) return { kind: 'problem', problem: 'A key is one word, without white space in it.' };
  if (!/^[\x21-\x7e]+$/.test(key))
    return { kind: 'problem', problem: 'A key has letters, digits and signs of ASCII alone.' };
  return { kind: 'key', key };
}

/** How a key is told from others without giving it away: `cor_1a2b3c4d…`; null where it is not of the service's making. */
export function shownPrefix(key: string): string | null {
  return /^cor_[0-9A-Za-z]{20,}$/.test(key) ? `${key.slice(0, 12)}…` : null;
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** How a key is used: by hand, and by an agent. Database and tenant are named where they are not the default. */
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
