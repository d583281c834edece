import { expect, it } from 'vitest';
import { rowKeyOf, rowKeys } from './row-keys.ts';

const press = (key: string, held: { ctrlKey?: boolean; metaKey?: boolean; altKey?: boolean } = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});

it('returns the grid key that was pressed, in either case', () => {
  expect(rowKeyOf(press('e'), 'rules')).toBe('toggle');
  expect(rowKeyOf(press('E'), 'rules')).toBe('toggle');
  expect(rowKeyOf(press('Delete'), 'accessKeys')).toBe('revoke');
});

it('ignores other keys, and keys with a modifier', () => {
  expect(rowKeyOf(press('e'), 'scopes')).toBeNull();
  for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }])
    expect(rowKeyOf(press('e', held), 'rules')).toBeNull();
});

it('gives no key two meanings in one grid', () => {
  for (const { keys } of Object.values(rowKeys)) {
    const pressed = Object.values(keys).map(({ key }) => key.toLowerCase());
    expect(new Set(pressed).size).toBe(pressed.length);
  }
});
