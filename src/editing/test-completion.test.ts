import { expect, test } from 'vitest';
import { testCompletionsAt } from './test-completion.ts';

const labels = (text: string) =>
  testCompletionsAt(text, text.length)?.suggestions.map(({ label }) => label) ?? null;

test('the words that begin a test and its statements are offered where these begin, once a letter is typed', () => {
  expect(labels('t')).toEqual(['test']);
  expect(labels('% a note\nt')).toEqual(['test']);
  expect(labels('test "x" {\n  expect p(a).\n}\nt')).toEqual(['test']);
  expect(labels('test "x" {\n  g')).toEqual(['given', 'expect']);
  expect(labels('test "x" { given p(a). e')).toEqual(['given', 'expect']);
  expect(labels('test "x" {')).toEqual([]);
  expect(labels('test "x" {\n  ')).toEqual([]);
});

test('within a statement it is for others to say', () => {
  expect(labels('test "x" {\n  expect p')).toBeNull();
  expect(labels('test "x" {\n  expect p(a), q')).toBeNull();
});
