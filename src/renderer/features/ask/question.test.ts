import { describe, expect, test } from 'vitest';
import { bindingsOf, goalsOfQuestion, readQuestion } from './question.ts';

describe('reading a question', () => {
  test('reads one atom as a pattern with its variables in order', () => {
    expect(readQuestion('edge(?to, a, ?from, ?to, ?_)')).toMatchObject({
      ok: true,
      question: { variables: ['to', 'from'], atom: { predicate: 'edge' } },
    });
  });

  test('reads a conjunction, a comparison or a default negation as a body', () => {
    for (const text of ['p(?x), q(?x)', '?x < 3, p(?x)', 'not p(a)']) {
      const read = readQuestion(text);
      expect(read.ok && read.question.atom).toBe(null);
    }
  });

  test('accepts a question mark at the end', () => {
    expect(readQuestion('parent(a, ?x) ?')).toMatchObject({ ok: true, question: { text: 'parent(a, ?x)' } });
  });

  test('returns its atoms as goals, without duplicates', () => {
    const read = readQuestion('p(?x), not q(?x), ?x < 3, -r(?x), p(?x)');
    expect(read.ok && goalsOfQuestion(read.question)).toEqual(['p(?x)', '-r(?x)']);
  });

  test('reports the position of an error', () => {
    const read = readQuestion('parent(a,');
    expect(read.ok ? '' : read.message).toMatch(/line 1, column/);
  });

  test('binds only the named variables of a stored fact', () => {
    expect(
      bindingsOf({ predicate: 'p', args: ['a', '?x', '?_', '?y'], negated: false }, ['a', '1', '2', '3']),
    ).toEqual({
      x: '1',
      y: '3',
    });
  });
});
