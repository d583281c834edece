import { describe, expect, test } from 'vitest';
import { emptyForm, factOfForm, factsOfStatements } from './fact-form.ts';

describe('the form of a fact', () => {
  test('omits empty fields', () => {
    const { body, problems } = factOfForm({ ...emptyForm, predicate: 'parent', args: ['a', 'b'] });
    expect(problems).toEqual({});
    expect(body).toEqual({ predicate: 'parent', args: ['a', 'b'], truthVal: true });
  });

  test('puts importance, confidence and source into the metadata', () => {
    const { body } = factOfForm({
      ...emptyForm,
      predicate: 'p',
      source: 'a book',
      importance: '0.9',
      confidence: '1',
    });
    expect(body['metadata']).toEqual({ source: 'a book', importance: 0.9, confidence: 1 });
  });

  test('reports at its field what the service would refuse', () => {
    const { problems } = factOfForm({
      ...emptyForm,
      predicate: 'two words',
      args: ['?x'],
      validUntil: 'soon',
      importance: '2',
    });
    expect(Object.keys(problems).sort()).toEqual(['args.0', 'importance', 'predicate', 'validUntil']);
  });
});

describe('facts as statements', () => {
  test('are one per full stop, including explicit negation', () => {
    expect(factsOfStatements('parent(alice, bob). -likes(bob, "tea, hot").')).toEqual({
      facts: [
        { predicate: 'parent', args: ['alice', 'bob'], truthVal: true },
        { predicate: 'likes', args: ['bob', 'tea, hot'], truthVal: false },
      ],
      problems: [],
    });
  });

  test('report problems with their position', () => {
    const { problems } = factsOfStatements('p(a).\nq(b) :- p(b).\nr(');
    expect(problems).toHaveLength(2);
    expect(problems.join(' ')).toContain('Line 2: this is a rule');
    expect(problems.join(' ')).toContain('Line 3');
  });
});
