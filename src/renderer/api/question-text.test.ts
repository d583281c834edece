import { expect, test } from 'vitest';
import { apiFailureOf } from './problem.ts';
import { bareQuestion, questionSearchOf, refuseUnreadable } from './question-text.ts';

test('accepts a question mark at the end and drops it', () => {
  expect([' p(a) ? ', 'p(?x)', 'p(?x), q(?x)?', '?x < 3'].map(bareQuestion)).toEqual([
    'p(a)',
    'p(?x)',
    'p(?x), q(?x)',
    '?x < 3',
  ]);
});

test('reads a question, or none, from an address', () => {
  expect(questionSearchOf({ question: 'p(a)', other: 'x' })).toEqual({ question: 'p(a)' });
  expect([questionSearchOf({ question: '' }), questionSearchOf({ question: 3 })]).toEqual([{}, {}]);
});

test('reports an unreadable question with a message to show', () => {
  expect(() => refuseUnreadable('p(a)')).not.toThrow();
  let failure = null;
  try {
    refuseUnreadable('p(');
  } catch (error) {
    failure = apiFailureOf(error);
  }
  expect(failure).toMatchObject({
    code: 'ValidationException',
    title: 'The question cannot be read',
    requestId: '',
  });
  expect(failure?.detail).not.toBe('');
});
