import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Mention } from '../../engine/contract/mention.ts';
import {
  isReadAsAnother,
  kindOfMention,
  namesInWords,
  cutAtMentions,
  quotedName,
  readingsInWords,
} from './mentions.ts';

function mention(text: string, part: string, more: Partial<Mention> = {}): Mention {
  const start = text.indexOf(part);
  return { start, end: start + part.length, text: part, constants: [part], predicates: [], ...more };
}

/** The parts with the mentioned ones in brackets. */
function marked(text: string, mentions: readonly Mention[]): string {
  return cutAtMentions(text, mentions)
    .map((part) => (part.mention === null ? part.text : `[${part.text}]`))
    .join('');
}

describe('the parts of a text', () => {
  test('are the mentions and what lies between them', () => {
    const text = 'who is ann, of Rome';
    expect(marked(text, [mention(text, 'Rome'), mention(text, 'ann')])).toBe('who is [ann], of [Rome]');
    expect(marked('ann', [mention('ann', 'ann')])).toBe('[ann]');
    expect(marked('nothing here', [])).toBe('nothing here');
    expect(cutAtMentions('', [])).toEqual([]);
  });

  test('are counted in UTF-16 units, so that characters of two units shift nothing', () => {
    const text = '👩‍👧 of 𝒜nna 🎉 and Zoë';
    expect(marked(text, [mention(text, '𝒜nna'), mention(text, 'Zoë')])).toBe('👩‍👧 of [𝒜nna] 🎉 and [Zoë]');
  });

  test('skip what overlaps or lies outside', () => {
    const text = 'new york';
    const whole = mention(text, 'new york');
    const outside = { ...whole, start: 4, end: 90 };
    expect(marked(text, [whole, mention(text, 'york'), outside])).toBe('[new york]');
    expect(marked(text, [{ ...whole, start: 3, end: 3 }])).toBe('new york');
  });

  test('are always the whole text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.tuple(fc.integer({ min: -2, max: 30 }), fc.integer({ min: -2, max: 30 }))),
        (text, spans) => {
          const mentions = spans.map(([start, end]) => ({
            start: Math.max(0, start),
            end,
            text: '',
            constants: [],
            predicates: [],
          }));
          expect(
            cutAtMentions(text, mentions)
              .map((part) => part.text)
              .join(''),
          ).toBe(text);
        },
      ),
    );
  });
});

describe('a mention', () => {
  test('is read as another name only if letters or digits differ', () => {
    expect(isReadAsAnother(mention('New York', 'New York', { constants: ['new_york'] }))).toBe(false);
    expect(isReadAsAnother(mention('zoe', 'zoe', { constants: ['Zoë'] }))).toBe(false);
    expect(isReadAsAnother(mention('lives in', 'lives in', { constants: [], predicates: ['livesIn'] }))).toBe(
      false,
    );
    expect(isReadAsAnother(mention('agnez', 'agnez', { constants: ['agnes'] }))).toBe(true);
  });

  test.each([
    ['siblings', 'sibling', false],
    ['parents of', 'parentOf', true],
    ['lived', 'lives', true],
    ['liking', 'like', false],
    ['likes', 'like', false],
    ['like', 'likes', false],
    ['cities', 'city', false],
    ['sibbling', 'sibling', true],
    ['s', 'e', true],
  ])('in another English form is no other spelling: %s for the predicate %s', (text, name, isAnother) => {
    expect(isReadAsAnother(mention(text, text, { constants: [], predicates: [name] }))).toBe(isAnother);
    expect(isReadAsAnother(mention(text, text, { constants: [name] }))).toBe(true);
  });

  test('says what it was taken for', () => {
    const text = 'agnez and anna and rutth';
    expect(
      readingsInWords([
        mention(text, 'agnez', { constants: ['agnes'] }),
        mention(text, 'anna'),
        mention(text, 'rutth', { constants: ['ruth', 'rutha'] }),
      ]),
    ).toBe('“agnez” is read as agnes; “rutth” is read as ruth, rutha');
    expect(readingsInWords([mention(text, 'anna')])).toBe('');
    expect(namesInWords(mention(text, 'anna', { constants: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }))).toBe(
      'a, b, c, d, e and 2 more',
    );
  });

  test('says what it names', () => {
    expect(kindOfMention(mention('a', 'a'))).toBe('constant');
    expect(kindOfMention(mention('a', 'a', { constants: [], predicates: ['p', 'q'] }))).toBe('predicates');
    expect(kindOfMention(mention('a', 'a', { predicates: ['a'] }))).toBe('constant and predicate');
  });
});

test('a name is quoted with marks that it does not have', () => {
  expect(quotedName('new_york')).toBe('"new_york"');
  expect(quotedName('the "Rose"')).toBe('“the "Rose"”');
  expect(quotedName('"“`')).toBe('"“`');
});
