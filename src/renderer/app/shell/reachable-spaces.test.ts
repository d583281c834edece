import { expect, test } from 'vitest';
import { reachableSpaces } from './reachable-spaces.ts';

const here = { database: 'shop', tenant: 'acme' };
const named = (...names: string[]) => names.map((name) => ({ name }));

test('offers the tenants that the key names, in the current database', () => {
  const rights = { databases: [], tenants: ['globex', 'abc'] };
  expect(reachableSpaces(rights, here, named('default', 'shop'), named('acme'))).toEqual([
    { database: 'shop', tenant: 'abc' },
    { database: 'shop', tenant: 'globex' },
  ]);
});

test('offers another database with its tenants if the current one is inaccessible', () => {
  const rights = { databases: ['lab'], tenants: [] };
  expect(reachableSpaces(rights, here, named('lab'), named('x', 'acme'))).toEqual([
    { database: 'lab', tenant: 'acme' },
    { database: 'lab', tenant: 'x' },
  ]);
  expect(reachableSpaces(rights, here, named('lab'), [])).toEqual([{ database: 'lab', tenant: 'acme' }]);
});

test('does not offer a database that the key names but that does not exist', () => {
  expect(reachableSpaces({ databases: ['lab'], tenants: [] }, here, [], [])).toEqual([]);
});
