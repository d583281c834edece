import { describe, expect, it } from 'vitest';
import { canonicalName, maxWordsInName, spellingsOf, wordRuns } from './mentions.ts';

describe('the word sequences of a text', () => {
  it('begin at each word and have up to five words', () => {
    const runs = [...wordRuns("Bob's new-ish car, 3.5 m!")].map((each) => each.map(({ raw }) => raw));
    expect(runs[0]).toEqual(['Bob', "Bob's", "Bob's new", "Bob's new-ish", "Bob's new-ish car"]);
    expect(runs[5]).toEqual(['3', '3.5', '3.5 m']);
    expect(runs).toHaveLength(8);
    for (const each of runs) expect(each.length).toBeLessThanOrEqual(maxWordsInName);
  });

  it('are empty if there is no word', () => {
    expect([...wordRuns('… !? \n')]).toEqual([]);
  });
});

describe('a name of several words', () => {
  it('matches with spaces, underscores or hyphens, in the usual cases', () => {
    const spellings = spellingsOf({ words: ['new', 'York'], raw: 'new  York' });
    for (const spelling of [
      'new  York',
      'new York',
      'new_york',
      'New_York',
      'new-york',
      'New York',
      'new york',
    ])
      expect(spellings).toContain(spelling);
  });

  it.each([
    ['New York', 'new_york', 'NEW-YORK', 'newYork', 'new  york!'],
    ['Größe', 'GRÖSSE'.toLowerCase().replace('ss', 'ß')],
    ['Å', 'a\u030a'],
  ])('matches %j and the like', (...names) => {
    expect(new Set(names.map(canonicalName)).size).toBe(1);
  });

  it('is empty if it has no letter or digit', () => {
    expect(canonicalName(' €-_!')).toBe('');
  });
});
