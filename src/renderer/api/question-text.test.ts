import { expect, test } from 'vitest';
import { apiFailureOf } from './problem.ts';
import { bareQuestion, questionSearchOf, refuseUnreadable } from './question-text.ts';

test('a question mark at the end of a question is allowed, and is no part of it', () => {
  expect([' p(a) ? ', 'p(?x)', 'p(?x), q(?x)?', '?x < 3'].map(bareQuestion)).toEqual([
    'p(a)',
    'p(?x)',
    'p(?x), q(?x)',
    '?x < 3',
  ]);
});

test('an address names a question, or none', () => {
  expect(questionSearchOf({ question: 'p(a)', other: 'x' })).toEqual({ question: 'p(a)' });
  expect([questionSearchOf({ question: '' }), questionSearchOf({ question: 3 })]).toEqual([{}, {}]);
});

test('what cannot be read is refused with a failure that can be shown', () => {
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
