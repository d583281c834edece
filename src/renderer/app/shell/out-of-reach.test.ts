import { expect, test } from 'vitest';
import { reachableSpaces } from './out-of-reach.tsx';

const here = { database: 'shop', tenant: 'acme' };
const named = (...names: string[]) => names.map((name) => ({ name }));

test('the tenants that the key names are offered, in the present database', () => {
  const rights = { databases: [], tenants: ['globex', 'abc'] };
  expect(reachableSpaces(rights, here, named('default', 'shop'), named('acme'))).toEqual([
    { database: 'shop', tenant: 'abc' },
    { database: 'shop', tenant: 'globex' },
  ]);
});

test('where the database is out of reach, another is offered with the tenants there are', () => {
  const rights = { databases: ['lab'], tenants: [] };
  expect(reachableSpaces(rights, here, named('lab'), named('x', 'acme'))).toEqual([
    { database: 'lab', tenant: 'acme' },
    { database: 'lab', tenant: 'x' },
  ]);
  expect(reachableSpaces(rights, here, named('lab'), [])).toEqual([{ database: 'lab', tenant: 'acme' }]);
});

test('a database that the key names and nobody has made is not offered', () => {
  expect(reachableSpaces({ databases: ['lab'], tenants: [] }, here, [], [])).toEqual([]);
});
