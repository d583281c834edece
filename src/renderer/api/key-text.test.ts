import { describe, expect, test } from 'vitest';
import { expiryOf, keySnippets, shownPrefix, typedKey } from './key-text.ts';

describe('a typed key', () => {
  test('is accepted without the surrounding white space, whatever its form', () => {
    for (const text of ['x', '  x\r\n', '\tx ', '\u00a0x'])
      expect(typedKey(text)).toEqual({ kind: 'key', key: 'x' });
    expect(typedKey('bearer')).toEqual({ kind: 'key', key: 'bearer' });
    expect(typedKey(' \n')).toEqual({ kind: 'none' });
  });

  test('is accepted if its header can contain it', () => {
    expect(typedKey('Authorization: Bearer cor_1')).toEqual({ kind: 'key', key: 'cor_1' });
    expect(typedKey('bearer cor_1 ')).toEqual({ kind: 'key', key: 'cor_1' });
  });

  test('is rejected if no header can contain it', () => {
    for (const text of ['two words', 'a\nb', 'schlüssel', '\u0000', '😀'])
      expect(typedKey(text)).toMatchObject({ kind: 'problem' });
  });
});

test('shows only the prefix that all keys of the service share', () => {
  expect(shownPrefix(`cor_${'a'.repeat(49)}`)).toBe('cor_aaaaaaaa…');
  for (const key of ['hunter2', 'cor_short', `corx${'a'.repeat(49)}`]) expect(shownPrefix(key)).toBe(null);
});

describe('the snippets of a new key', () => {
  const at = { origin: 'http://127.0.0.1:9300', database: 'default', tenant: 'default' };

  test('name database and tenant unless they are the default', () => {
    const [curl, mcp] = keySnippets({ ...at, database: 'shop', tenant: "o'hara" }, 'k');
    expect(curl?.text).toContain(String.raw`-H 'X-Tenant-ID: o'\''hara'`);
    expect(curl?.text).toContain(`-H 'X-Database: shop'`);
    expect(JSON.parse(mcp?.text ?? '')).toEqual({
      mcpServers: {
        corollary: {
          url: 'http://127.0.0.1:9300/mcp',
          headers: { Authorization: 'Bearer k', 'X-Database': 'shop', 'X-Tenant-ID': "o'hara" },
        },
      },
    });
  });

  test('contain the tenant in manual calls in any case, since the call needs one', () => {
    const [curl, mcp] = keySnippets(at, 'k');
    expect(curl?.text).toContain(`-H 'X-Tenant-ID: default'`);
    expect(curl?.text).not.toContain('X-Database');
    expect(mcp?.text).not.toContain('X-Tenant-ID');
  });
});

const day = 86_400_000;

test('a key is good until the instant at which it ends', () => {
  const key = { createdAt: 0, expiresAt: 100 * day };
  expect(expiryOf(key, 100 * day - 1)).toBe('soon');
  expect(expiryOf(key, 100 * day)).toBe('over');
  expect(expiryOf({ createdAt: 0, expiresAt: null }, 1)).toBe('never');
});

test('the end is near in its last week; of a short life, in its last fifth', () => {
  expect(expiryOf({ createdAt: 0, expiresAt: 100 * day }, 93 * day - 1)).toBe('later');
  expect(expiryOf({ createdAt: 0, expiresAt: 100 * day }, 93 * day)).toBe('soon');
  expect(expiryOf({ createdAt: 0, expiresAt: 5 * day }, 4 * day - 1)).toBe('later');
  expect(expiryOf({ createdAt: 0, expiresAt: 5 * day }, 4 * day)).toBe('soon');
  expect(expiryOf({ createdAt: null, expiresAt: 5 * day }, 0)).toBe('soon');
});
