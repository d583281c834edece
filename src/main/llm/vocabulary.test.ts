import { describe, expect, it } from 'vitest';
import type { VocabularyEntry } from '../../engine/index.ts';
import { maxRelationsShown, maxShownCharacters, Vocabulary } from './vocabulary.ts';

function entry(predicate: string, arity: number, more: Partial<VocabularyEntry> = {}): VocabularyEntry {
  return { predicate, arity, negated: false, facts: 1, rules: 0, example: null, ...more };
}

describe("a model's predicate", () => {
  const vocabulary = new Vocabulary([
    entry('worksFor', 2),
    entry('born_in', 2),
    entry('bornIn', 3),
    entry('is-a', 2),
    entry('isA', 2),
    entry('flies', 1, { negated: true }),
  ]);

  it.each([
    ['works_for', 2, 'worksFor'],
    ['WORKS FOR', 2, 'worksFor'],
    ['Born-In', 2, 'born_in'],
    ['Born-In', 3, 'bornIn'],
    ['Flies', 1, 'flies'],
  ])(
    '%j of %i arguments becomes the existing %j, which differs only in case and punctuation',
    (given, arity, name) => {
      expect(vocabulary.spelt(given, arity)).toBe(name);
    },
  );

  it.each([
    ['worksFor', 2, 'it is there'],
    ['works_for', 3, 'that has another number of arguments'],
    ['is_a', 2, 'there are two it could be'],
    ['works_at', 2, 'it is another word'],
    ['☃', 1, 'it has no letters to compare'],
  ])('%j of %i arguments is unchanged: %s', (given, arity) => {
    expect(vocabulary.spelt(given, arity)).toBe(given);
  });
});

describe('the vocabulary for a model', () => {
  it('lists the most used relations with an example each', () => {
    const vocabulary = new Vocabulary([
      entry('parent', 2, { facts: 9, example: 'parent(a, b)' }),
      entry('flies', 1, { facts: 2, negated: true, example: '-flies(tux)' }),
      entry('grandparent', 2, { facts: 0, rules: 1 }),
    ]);
    expect(vocabulary.shown()).toEqual([
      { relation: 'parent', arguments: 2, facts: 9, example: 'parent(a, b)' },
      { relation: '-flies', arguments: 1, facts: 2, example: '-flies(tux)' },
      { relation: 'grandparent', arguments: 2, facts: 0, concludedByRules: 1 },
    ]);
  });

  it('is bounded in number and size, and omits long examples', () => {
    const many = new Vocabulary(Array.from({ length: 5000 }, (_, at) => entry(`p${at}`, 1)));
    expect(many.shown()).toHaveLength(maxRelationsShown);
    const large = new Vocabulary(Array.from({ length: 200 }, (_, at) => entry(`${'p'.repeat(250)}${at}`, 1)));
    expect(JSON.stringify(large.shown()).length).toBeLessThan(maxShownCharacters + 1000);
    const long = new Vocabulary([entry('p', 1, { example: `p(${'x'.repeat(1000)})` })]);
    expect(long.shown()[0]).not.toHaveProperty('example');
  });
});
