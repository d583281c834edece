import { describe, expect, test } from 'vitest';
import { emptyForm, factOfForm, factsOfStatements } from './fact-form.ts';

describe('the form of a fact', () => {
  test('fields left empty are not given', () => {
    const { body, problems } = factOfForm({ ...emptyForm, predicate: 'parent', args: ['a', 'b'] });
    expect(problems).toEqual({});
    expect(body).toEqual({ predicate: 'parent', args: ['a', 'b'], truthVal: true });
  });

  test('importance, confidence and source go into the metadata', () => {
    const { body } = factOfForm({
      ...emptyForm,
      predicate: 'p',
      source: 'a book',
      importance: '0.9',
      confidence: '1',
    });
    expect(body['metadata']).toEqual({ source: 'a book', importance: 0.9, confidence: 1 });
  });

  test('what the service would refuse is reported at its field', () => {
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
  test('one fact per full stop, explicit negation included', () => {
    expect(factsOfStatements('parent(alice, bob). -likes(bob, "tea, hot").')).toEqual({
      facts: [
        { predicate: 'parent', args: ['alice', 'bob'], truthVal: true },
        { predicate: 'likes', args: ['bob', 'tea, hot'], truthVal: false },
      ],
      problems: [],
    });
  });

  test('problems name their position', () => {
    const { problems } = factsOfStatements('p(a).\nq(b) :- p(b).\nr(');
    expect(problems).toHaveLength(2);
    expect(problems.join(' ')).toContain('Line 2: this is a rule');
    expect(problems.join(' ')).toContain('Line 3');
  });
});
