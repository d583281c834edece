import { describe, expect, test } from 'vitest';
import {
  bindingsOf,
  goalsOfQuestion,
  nextSort,
  readQuestion,
  sortedAnswers,
  sortOf,
  sortText,
} from './answer.ts';

describe('reading a question', () => {
  test('one atom is a pattern with its variables in order', () => {
    expect(readQuestion('edge(?to, a, ?from, ?to, ?_)')).toMatchObject({
      ok: true,
      question: { variables: ['to', 'from'], atom: { predicate: 'edge' } },
    });
  });

  test('a conjunction, a comparison or a default negation is not a single atom', () => {
    for (const text of ['p(?x), q(?x)', '?x < 3, p(?x)', 'not p(a)']) {
      const read = readQuestion(text);
      expect(read.ok && read.question.atom).toBe(null);
    }
  });

  test('a question mark at the end is accepted', () => {
    expect(readQuestion('parent(a, ?x) ?')).toMatchObject({ ok: true, question: { text: 'parent(a, ?x)' } });
  });

  test('the goals are its atoms, without duplicates', () => {
    const read = readQuestion('p(?x), not q(?x), ?x < 3, -r(?x), p(?x)');
    expect(read.ok && goalsOfQuestion(read.question)).toEqual(['p(?x)', '-r(?x)']);
  });

  test('an error says where', () => {
    const read = readQuestion('parent(a,');
    expect(read.ok ? '' : read.message).toMatch(/line 1, column/);
  });

  test('a stored fact binds the named variables only', () => {
    expect(
      bindingsOf({ predicate: 'p', args: ['a', '?x', '?_', '?y'], negated: false }, ['a', '1', '2', '3']),
    ).toEqual({
      x: '1',
      y: '3',
    });
  });
});

function answersOf(...values: readonly string[]) {
  return { results: values.map((x) => `p(${x})`), bindings: values.map((x) => ({ x })) };
}

const valuesOf = (answers: ReturnType<typeof answersOf>) => answers.bindings.map(({ x }) => x);

test('sorts numbers before texts, by value', () => {
  const answers = answersOf('pear', '10', '9', 'Apple', '1e1', '-3', '1a');
  const up = sortedAnswers(answers, { column: 'x', direction: 'asc' });
  expect(valuesOf(up)).toEqual(['-3', '9', '10', '1e1', '1a', 'Apple', 'pear']);
  const down = sortedAnswers(answers, { column: 'x', direction: 'desc' });
  expect(valuesOf(down)).toEqual(['pear', 'Apple', '1a', '10', '1e1', '9', '-3']);
  expect(down.results[0]).toBe('p(pear)');
});

test('keeps the order of answers without a sort', () => {
  const answers = answersOf('b', 'a');
  expect(sortedAnswers(answers, null)).toBe(answers);
});

test('cycles a header through ascending, descending and unsorted', () => {
  const up = nextSort(null, 'x');
  expect(up).toEqual({ column: 'x', direction: 'asc' });
  const down = nextSort(up, 'x');
  expect(down).toEqual({ column: 'x', direction: 'desc' });
  expect(nextSort(down, 'x')).toBeNull();
  expect(nextSort(down, 'y')).toEqual({ column: 'y', direction: 'asc' });
});

test('reads the sort from an address, and drops a variable that the question lacks', () => {
  for (const sort of [
    { column: 'x', direction: 'asc' },
    { column: 'x', direction: 'desc' },
  ] as const)
    expect(sortOf(sortText(sort), ['x', 'y'])).toEqual(sort);
  const whole = { column: null, direction: 'desc' } as const;
  expect(sortOf(sortText(whole), [])).toEqual(whole);
  for (const text of [undefined, '', '?z', 'answer', 'x', '--?x']) expect(sortOf(text, ['x'])).toBeNull();
});
