import { describe, expect, test } from 'vitest';
import { bindingsOf, goalsOfQuestion, readQuestion } from './answer.ts';

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
