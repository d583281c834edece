import { expect, test } from 'vitest';
import { nextSort, sortedAnswers, sortOf, sortText } from './answer.ts';

function answersOf(...values: readonly string[]) {
  return { results: values.map((x) => `p(${x})`), bindings: values.map((x) => ({ x })) };
}

const valuesOf = (answers: ReturnType<typeof answersOf>) => answers.bindings.map(({ x }) => x);

test('numbers sort before texts, by value', () => {
  const answers = answersOf('pear', '10', '9', 'Apple', '1e1', '-3', '1a');
  const up = sortedAnswers(answers, { column: 'x', direction: 'asc' });
  expect(valuesOf(up)).toEqual(['-3', '9', '10', '1e1', '1a', 'Apple', 'pear']);
  const down = sortedAnswers(answers, { column: 'x', direction: 'desc' });
  expect(valuesOf(down)).toEqual(['pear', 'Apple', '1a', '10', '1e1', '9', '-3']);
  expect(down.results[0]).toBe('p(pear)');
});

test('without a sort the answers keep their order', () => {
  const answers = answersOf('b', 'a');
  expect(sortedAnswers(answers, null)).toBe(answers);
});

test('a header cycles through ascending, descending and unsorted', () => {
  const up = nextSort(null, 'x');
  expect(up).toEqual({ column: 'x', direction: 'asc' });
  const down = nextSort(up, 'x');
  expect(down).toEqual({ column: 'x', direction: 'desc' });
  expect(nextSort(down, 'x')).toBeNull();
  expect(nextSort(down, 'y')).toEqual({ column: 'y', direction: 'asc' });
});

test('an address contains the sort; a variable the question lacks is dropped', () => {
  for (const sort of [
    { column: 'x', direction: 'asc' },
    { column: 'x', direction: 'desc' },
  ] as const)
    expect(sortOf(sortText(sort), ['x', 'y'])).toEqual(sort);
  const whole = { column: null, direction: 'desc' } as const;
  expect(sortOf(sortText(whole), [])).toEqual(whole);
  for (const text of [undefined, '', '?z', 'answer', 'x', '--?x']) expect(sortOf(text, ['x'])).toBeNull();
});
