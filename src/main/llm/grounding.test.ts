import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groundsOf } from './extraction.ts';

function groundsIn(text: string, hint = '') {
  return groundsOf(text, [{ start: 0, end: text.length }], hint);
}

describe('a quote', () => {
  it('is found at its exact position', () => {
    expect(groundsIn('😀 Alice knows Bob.').find('knows Bob')).toEqual({ start: 9, end: 18 });
  });

  it('is found despite different white space', () => {
    const text = 'Alice\n   knows\tBob.';
    expect(groundsIn(text).find(' Alice knows  Bob')).toEqual({ start: 0, end: 18 });
  });

  it.each(['Alice loves Bob', '', '  ', '.', '…', 'alice knows'])('%j is not found', (quote) => {
    expect(groundsIn('Alice knows Bob.').find(quote)).toBeNull();
  });

  it('is found only within the part that the model received', () => {
    const text = 'one two three';
    expect(groundsOf(text, [{ start: 4, end: 7 }], '').find('two')).toEqual({ start: 4, end: 7 });
    expect(groundsOf(text, [{ start: 4, end: 7 }], '').find('three')).toBeNull();
  });

  it('gets the offsets of its position, whatever the white space', () => {
    const words = fc.array(fc.constantFrom('a', 'bc', '😀', 'ü', '.'), { minLength: 1, maxLength: 8 });
    const space = fc.constantFrom(' ', '\n', '\t ', '\u00a0', '');
    fc.assert(
      fc.property(words, fc.array(space, { minLength: 8, maxLength: 8 }), (found, spaces) => {
        const text = `x ${found.map((word, at) => `${word}${spaces[at] ?? ''}`).join('')} y`;
        const quote = found.join(' ');
        const span = groundsIn(text).find(quote);
        const squeeze = (each: string): string => each.replace(/\s/g, '');
        if (/[\p{L}\p{N}]/u.test(quote))
          expect(squeeze(text.slice(span?.start, span?.end))).toBe(squeeze(quote));
        else expect(span).toBeNull();
      }),
    );
  });
});

describe('a constant', () => {
  it.each(['alice', 'ALICE', 'new_york', 'New-York', 'NewYork', '42', 'al'])(
    '%j is named in the text',
    (constant) => {
      expect(groundsIn('Alice moved to New York with 42 cats and Al.').names(constant)).toBe(true);
    },
  );

  it.each(['bob', 'cat_', 'li', 'new_jersey', '4', '', '€'])('%j is not', (constant) => {
    const text = 'Alice moved to New York with 42 dogs.';
    expect(groundsIn(text).names(constant)).toBe(false);
  });

  it('is named if the caller mentioned it', () => {
    expect(groundsIn('I am 30.', 'the speaker is Alice').names('alice')).toBe(true);
  });
});
