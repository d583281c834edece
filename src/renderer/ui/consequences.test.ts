import { expect, test } from 'vitest';
import {
  conclusionsInWords,
  consequencesInWords,
  countOfConclusions,
  notWorkedOutInWords,
} from './consequences.ts';

test('reports consequences as far as they are computed, and never as none if that is unknown', () => {
  const words = (gained: number, lost: number, notWorkedOut: string[] | null = null): string =>
    consequencesInWords({ gained, lost, ...(notWorkedOut && { consequencesComplete: false, notWorkedOut }) });
  expect(words(0, 0)).toBe('No conclusion would change.');
  expect(words(1, 0)).toBe('Would withdraw 0 and gain 1 conclusion.');
  expect(words(11_325, 5)).toBe('Would withdraw 5 and gain 11,325 conclusions.');
  expect(words(0, 0, ['kids/2'])).toBe('Not worked out: kids/2.');
  expect(words(2, 0, ['childless/1', 'kids/2'])).toBe(
    'Would withdraw at least 0 and gain at least 2 conclusions. Not worked out: childless/1, kids/2.',
  );
  expect(
    notWorkedOutInWords({ consequencesComplete: false, notWorkedOut: ['a/1', 'b/1', 'c/1', 'd/1', 'e/1'] }),
  ).toBe(' Not worked out: a/1, b/1, c/1, d/1 and 1 more.');
  expect(notWorkedOutInWords({ consequencesComplete: false, notWorkedOut: [] })).toBe(
    ' Not all is worked out.',
  );
});

test.each([
  [{ derived: 11_325, derivedComplete: true }, '11,325', '11,325 conclusions'],
  [{ derived: 1, derivedComplete: true }, '1', '1 conclusion'],
  [{ derived: 150, derivedComplete: false }, '150+', '150 or more conclusions'],
  [{ derived: 0, derivedComplete: false }, '?', 'conclusions not worked out'],
])('says whether a count of conclusions is complete (%o)', (counted, short, words) => {
  expect([countOfConclusions(counted), conclusionsInWords(counted)]).toEqual([short, words]);
});
