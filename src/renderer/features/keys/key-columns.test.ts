import { describe, expect, test } from 'vitest';
import type { KeyView } from '../../../engine/contract/authentication.ts';
import '../../api/testing/browser.ts';
import { keysWith, reachInWords, revocationWarnings, standingOf } from './key-columns.tsx';

const day = 86_400_000;
const key = (part: Partial<KeyView>): KeyView => ({
  id: 'k',
  prefix: 'cor_abcdefgh',
  role: 'reader',
  databases: [],
  tenants: [],
  description: null,
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  ...part,
});

test('describes the reach of a key in a few words', () => {
  expect(reachInWords({ databases: [], tenants: [] })).toBe('everything');
  expect(reachInWords({ databases: ['shop'], tenants: ['a', 'b'] })).toBe('database shop, 2 tenants');
});

test('shows the status of a key as a word, not as a colour alone', () => {
  expect(standingOf(key({}), 5)).toBe('valid');
  expect(standingOf(key({ expiresAt: 100 * day }), 99 * day)).toBe('ending');
  expect(standingOf(key({ expiresAt: 100 * day }), 100 * day)).toBe('expired');
});

test('finds keys by any text shown', () => {
  const keys = [
    key({ id: 'a', description: 'Reports' }),
    key({ id: 'b', role: 'writer', tenants: ['acme'] }),
    key({ id: 'c', prefix: 'cor_zzzzzzzz', expiresAt: 1 }),
  ];
  const found = (part: string) => keysWith(keys, part, 10).map(({ id }) => id);
  expect(found('')).toEqual(['a', 'b', 'c']);
  expect(found(' REPORT ')).toEqual(['a']);
  expect(found('acme')).toEqual(['b']);
  expect(found('writer')).toEqual(['b']);
  expect(found('expired')).toEqual(['c']);
  expect(found('zzz')).toEqual(['c']);
});

describe('before revoking a key', () => {
  const admin = key({ id: 'a', role: 'admin' });
  const whole = { ownId: null, isWhole: true };

  test('warns users that revoking their own key signs them out', () => {
    const warnings = revocationWarnings(admin, {
      ...whole,
      keys: [admin, key({ role: 'admin' })],
      ownId: 'a',
    });
    expect(warnings).toEqual([expect.stringContaining('signed out')]);
  });

  test('warns of the last admin key, if the caller sees all keys', () => {
    const keys = [admin, key({})];
    expect(revocationWarnings(admin, { ...whole, keys })).toEqual([expect.stringContaining('bootstrap')]);
    expect(revocationWarnings(admin, { keys, ownId: null, isWhole: false })).toEqual([
      expect.stringContaining('that you can see'),
    ]);
  });

  test('does not warn otherwise', () => {
    expect(revocationWarnings(key({}), { ...whole, keys: [admin, key({})] })).toEqual([]);
  });
});
