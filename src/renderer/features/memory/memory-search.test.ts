import { describe, expect, it } from 'vitest';
import {
  leastOf,
  predicateListOf,
  memorySearchOf,
  listedPredicatesOf,
  thresholdOf,
} from './memory-search.ts';

describe('the address of the Memory view', () => {
  it('is read back as written', () => {
    const search = {
      part: 'evict',
      threshold: '0.2',
      ahead: '7',
      within: 'week',
      predicates: 'likes,lives_in',
      episodes: 'visited',
      least: '5',
      fact: 'f12-0',
    };
    expect(memorySearchOf(search)).toEqual(search);
  });

  it('omits what is not understood', () => {
    expect(
      memorySearchOf({
        part: 'nothing',
        threshold: '1.5',
        ahead: '8',
        within: 'year',
        predicates: 'not a predicate,?x',
        least: '1',
        fact: '',
        other: 'x',
      }),
    ).toEqual({});
    for (const threshold of ['', ' ', 'NaN', '-0.1', 'Infinity', 'abc'])
      expect(memorySearchOf({ threshold })).toEqual({});
    for (const least of ['2.5', '0', '1000001', 'many']) expect(memorySearchOf({ least })).toEqual({});
  });

  it('falls back to valid values', () => {
    expect(thresholdOf({})).toBe(0.05);
    expect(thresholdOf({ threshold: '0' })).toBe(0);
    expect(leastOf({})).toBe(3);
    expect(leastOf({ least: '12' })).toBe(12);
  });

  it('contains every predicate once, even one of odd characters', () => {
    expect(listedPredicatesOf('a,b,a,http://x/y#z,')).toEqual(['a', 'b', 'http://x/y#z']);
    expect(predicateListOf(['a', 'ü'])).toBe('a,ü');
    expect(predicateListOf([])).toBeUndefined();
  });
});
