import { expect, it } from 'vitest';
import { rowKeyOf, rowKeys } from './row-keys.ts';

const press = (key: string, held: { ctrlKey?: boolean; metaKey?: boolean; altKey?: boolean } = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});

it('names the key of the grid that was pressed, in either case', () => {
  expect(rowKeyOf(press('e'), 'rules')).toBe('toggle');
  expect(rowKeyOf(press('E'), 'rules')).toBe('toggle');
  expect(rowKeyOf(press('Delete'), 'accessKeys')).toBe('revoke');
});

it('leaves alone what is no key of the grid, or has a modifier', () => {
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
