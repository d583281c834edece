import { expect, test } from 'vitest';
import { namedBy } from '../language/argument-names.ts';
import { headingsOf } from './fact-lines.ts';

test('a heading has the names of arguments in their order, also of names that look like integers', () => {
  const entry = (names: string[], ...args: string[]) => ({
    predicate: 'sold',
    args,
    named: namedBy(names, args),
  });
  expect(headingsOf([entry(['shop', 'year'], 'a', 'a')])).toEqual(['% sold(shop, year)']);
  const years = ['shop', '2027', '2026'];
  // Equal values do not tell which is which, another entry does.
  expect(headingsOf([entry(years, 'a', '7', '7')])).toEqual([]);
  expect(headingsOf([entry(years, 'a', '7', '7'), entry(years, 'a', '7', '8')])).toEqual([
    '% sold(shop, 2027, 2026)',
  ]);
});
