import { expect, test } from 'vitest';
import { adminSearchOf, scopesAddress, withPart } from './admin-search.ts';

test('reads the chosen database and tenant from an address, and drops invalid names', () => {
  expect(adminSearchOf({ of: 'shop', tenantOf: 'ac/me', databases: 'sh', tenants: '' })).toEqual({
    of: 'shop',
    tenantOf: 'ac/me',
    databases: 'sh',
  });
  expect(adminSearchOf({ of: '..', tenantOf: 'white space', databases: 3 })).toEqual({});
});

test('filters a list by a part of the name, ignoring case', () => {
  const rows = [{ name: 'Shop' }, { name: 'workshop' }, { name: 'sales' }];
  expect(withPart(rows, 'SHOP').map(({ name }) => name)).toEqual(['Shop', 'workshop']);
  expect(withPart(rows)).toEqual(rows);
});

test('puts non-default values and the chosen scope into the address of the Scopes view', () => {
  expect(scopesAddress({ database: 'default', tenant: 'default' })).toBe('#/scopes');
  expect(scopesAddress({ database: 'shop', tenant: 'a&b' }, 'draft 1')).toBe(
    '#/scopes?database=shop&tenant=a%26b&source=draft+1',
  );
});
