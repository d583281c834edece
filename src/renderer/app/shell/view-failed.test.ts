import { expect, it, test } from 'vitest';
import { isMissingPart, reachableSpaces } from './view-failed.tsx';

it('knows a part that did not arrive by the words of each browser', () => {
  for (const message of [
    'Failed to fetch dynamically imported module: http://127.0.0.1:9301/assets/ask-view.js',
    'error loading dynamically imported module: http://127.0.0.1:9301/assets/ask-view.js',
    'Importing a module script failed.',
    'Unable to preload CSS for /assets/ask-view.css',
  ])
    expect(isMissingPart(new TypeError(message))).toBe(true);
});

it('takes no other fault for one', () => {
  expect(isMissingPart(new TypeError('x is not a function'))).toBe(false);
  expect(isMissingPart('Failed to fetch dynamically imported module')).toBe(false);
});

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
