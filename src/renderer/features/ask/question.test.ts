import { describe, expect, test } from 'vitest';
import { type KnownQuestion, trim, withAsked } from '../../api/known-questions.ts';
import { bindingsOf, goalsOf, readQuestion } from './question.ts';

describe('reading a question', () => {
  test('one atom is a pattern with its variables in order', () => {
    expect(readQuestion('edge(?to, a, ?from, ?to, ?_)')).toMatchObject({
      ok: true,
      question: { variables: ['to', 'from'], atom: { predicate: 'edge' } },
    });
  });

  test('a conjunction, a comparison or a default negation is no single atom', () => {
    for (const text of ['p(?x), q(?x)', '?x < 3, p(?x)', 'not p(a)']) {
      const read = readQuestion(text);
      expect(read.ok && read.question.atom).toBe(null);
    }
  });

  test('a question mark at the end is taken for what it is', () => {
    expect(readQuestion('parent(a, ?x) ?')).toMatchObject({ ok: true, question: { text: 'parent(a, ?x)' } });
  });

  test('what a change could make a difference to are its atoms, each once', () => {
    const read = readQuestion('p(?x), not q(?x), ?x < 3, -r(?x), p(?x)');
    expect(read.ok && goalsOf(read.question)).toEqual(['p(?x)', '-r(?x)']);
  });

  test('what cannot be read says where', () => {
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

describe('the questions of a space', () => {
  const question = (text: string, kind: KnownQuestion['kind']): KnownQuestion => ({
    text,
    kind,
    askedAt: 0,
    count: null,
  });

  test('a question asked again moves to the top and is listed once', () => {
    const list = withAsked([question('a', 'asked'), question('b', 'saved')], 'b', 5, 2);
    expect(list).toEqual([{ text: 'b', kind: 'saved', askedAt: 5, count: 2 }, question('a', 'asked')]);
  });

  test('too many questions push out the oldest that are not saved', () => {
    const list = Array.from({ length: 205 }, (_, index) =>
      question(String(index), index >= 200 ? 'saved' : 'asked'),
    );
    const trimmed = trim(list);
    expect(trimmed).toHaveLength(200);
    expect(trimmed.filter((kept) => kept.kind === 'saved')).toHaveLength(5);
    expect(trimmed.at(194)?.text).toBe('194');
  });
});
