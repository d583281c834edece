import { expect, test } from 'vitest';
import { apiFailureOf } from './problem.ts';
import { questionSearchOf } from './question-search.ts';
import { bareQuestion, endsInPlainWord, isBareWords, readingOf, refuseUnreadable } from './question-text.ts';

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

test.each([
  ['parent(alice, ?x)', 'goal'],
  ['parent(alice, ?x)?', 'goal'],
  ['parent(?x, ?y), not visited(?x), ?x < 3', 'goal'],
  ['raining', 'goal'],
  ['who is ann’s grandmother', 'words'],
  ["who is ann's grandmother?", 'words'],
  ['Does Carol (the elder) live here?', 'words'],
  ['"carol"', 'words'],
  ['wer wohnt in Köln?', 'words'],
  ['parent(alice, ?x', 'broken'],
  ['parent alice, ?x', 'broken'],
  ['p(?x) :- q(?x)', 'broken'],
  ['p(?x) < ', 'broken'],
])('%s is read as %s', (text, reading) => {
  expect(readingOf(text)).toBe(reading);
});

test.each([
  ['carol', true],
  ['Carol?', true],
  ['carol, dave', true],
  ['raining', true],
  ['p(a)', false],
  ['-raining', false],
  ['?x = 3', false],
  ['', false],
])('%s may be meant as words: %s', (text, isBare) => {
  expect(isBareWords(text)).toBe(isBare);
});

test.each([
  ['who is ', true],
  ["ann's ", true],
  ['', false],
  ['carol, ', false],
  ['not ', false],
  ['p(?x), not ', false],
  ['?x < 3 ', false],
])('after %s another plain word follows: %s', (text, isWord) => {
  expect(endsInPlainWord(text)).toBe(isWord);
});
