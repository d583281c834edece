import { expect, test } from 'vitest';
import { ErasedFacts } from './erased-facts.ts';

const erased = new ErasedFacts(['alice', 'O"Neil (sen.)']);

test('a name is found as a text of JSON, and as words in one', () => {
  for (const value of [
    ['alice'],
    { atom: 'knows(alice, bob)' },
    { note: 'line\nalice' },
    ['O"Neil (sen.)'],
    { atom: `knows(${JSON.stringify('O"Neil (sen.)')}, bob)` },
  ])
    expect(erased.isIn(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
});

test('a longer word that contains a name is another one', () => {
  for (const value of [['malice'], ['alices'], ['alice_2'], ['O"Neil (jun.)'], 'knows(bob, malice)'])
    expect(erased.isIn(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
});

test('a summary is about the values that it sums up', () => {
  const consolidated = { from: 'met', position: 1, values: [{ value: 'alice', createdAt: 1 }], count: 1 };
  expect(erased.has(['bob', '1'], { consolidated })).toBe(true);
  expect(erased.has(['bob', '1'], { note: 'alice' })).toBe(false);
  expect(erased.has(['bob', 'alice'])).toBe(true);
});
