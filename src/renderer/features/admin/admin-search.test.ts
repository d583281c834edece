import { expect, test } from 'vitest';
import { adminSearchOf, scopesAddress, withPart } from './admin-search.ts';

test('an address says which database and tenant are looked at; what can be no name is dropped', () => {
  expect(adminSearchOf({ of: 'shop', tenantOf: 'ac/me', databases: 'sh', tenants: '' })).toEqual({
    of: 'shop',
    tenantOf: 'ac/me',
    databases: 'sh',
  });
  expect(adminSearchOf({ of: '..', tenantOf: 'white space', databases: 3 })).toEqual({});
});

test('a list is narrowed to the names that have a part, whatever the case', () => {
  const rows = [{ name: 'Shop' }, { name: 'workshop' }, { name: 'sales' }];
  expect(withPart(rows, 'SHOP').map(({ name }) => name)).toEqual(['Shop', 'workshop']);
  expect(withPart(rows)).toEqual(rows);
});

test('the address of the Scopes view names what is no default, and the scope that is looked at', () => {
  expect(scopesAddress({ database: 'default', tenant: 'default' })).toBe('#/scopes');
  expect(scopesAddress({ database: 'shop', tenant: 'a&b' }, 'draft 1')).toBe(
    '#/scopes?database=shop&tenant=a%26b&source=draft+1',
  );
});
