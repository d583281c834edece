import { expect, it } from 'vitest';
import { formOf, hashOf, newKeyText, prefixOf } from './authentication.ts';

it('consists of cor_, 256 random bits and a checksum, in letters and digits', () => {
  const keys = Array.from({ length: 200 }, newKeyText);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatch(/^cor_[0-9A-Za-z]{49}$/);
    expect(formOf(key)).toBe('key');
    expect(key.startsWith(prefixOf(key))).toBe(true);
    expect(prefixOf(key)).toHaveLength(12);
    expect(hashOf(key)).toHaveLength(32);
  }
});

it('rejects a key with a changed, dropped or swapped character by its checksum', () => {
  const key = newKeyText();
  for (let at = 4; at < key.length; at++) {
    const other = key[at] === 'x' ? 'y' : 'x';
    expect(formOf(`${key.slice(0, at)}${other}${key.slice(at + 1)}`), `at ${at}`).toBe('mistyped');
    expect(formOf(key.slice(0, at) + key.slice(at + 1))).toBe('foreign');
    const [one, next] = [key[at] ?? '', key[at + 1] ?? ''];
    if (next !== '' && one !== next)
      expect(formOf(key.slice(0, at) + next + one + key.slice(at + 2)), `at ${at}`).toBe('mistyped');
  }
});

it.each(['', 'cor_', 'secret', `cor_${'-'.repeat(49)}`, `xor_${'0'.repeat(49)}`, `cor_${'é'.repeat(49)}`])(
  'rejects %j as not a key of the service',
  (text) => {
    expect(formOf(text)).toBe('foreign');
  },
);
