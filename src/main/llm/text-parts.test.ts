import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overlapCharacters, partCharacters, partsOf } from './free-text.ts';

function whole(text: string) {
  return [{ start: 0, end: text.length }];
}

describe('a long text', () => {
  it('is split into parts of at most 8,000 characters', () => {
    const parts = partsOf('x'.repeat(100_000), whole('x'.repeat(100_000)));
    for (const part of parts)
      expect(part.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThanOrEqual(partCharacters);
  });

  it('is split between paragraphs, else between sentences, lines or words', () => {
    const sentence = 'It was so. ';
    const paragraph = `${sentence.repeat(60).trim()}\n\n`;
    const text = paragraph.repeat(30);
    for (const [piece] of partsOf(text, whole(text)).slice(0, -1))
      expect(text.slice(0, piece?.end).endsWith('\n\n')).toBe(true);
    const sentences = sentence.repeat(3000);
    for (const [piece] of partsOf(sentences, whole(sentences)).slice(0, -1)) {
      expect(sentences.slice(0, piece?.end).endsWith('so. ')).toBe(true);
      expect(sentences.slice(piece?.start).startsWith('It')).toBe(true);
    }
  });

  it('overlaps from part to part, so that text at a cut is whole in one of them', () => {
    const text = 'He went. '.repeat(4000);
    const parts = partsOf(text, whole(text));
    for (const [at, [piece]] of parts.slice(1).entries()) {
      const before = parts[at]?.[0]?.end ?? 0;
      expect(piece?.start).toBeLessThan(before);
      expect(before - (piece?.start ?? 0)).toBeLessThanOrEqual(overlapCharacters);
    }
  });

  it('combines short stretches in one part', () => {
    const runs = Array.from({ length: 1000 }, (_, at) => ({ start: at * 100, end: at * 100 + 50 }));
    expect(partsOf('', runs)).toHaveLength(Math.ceil((1000 * 50) / partCharacters));
  });

  it('is fully covered by its parts, in order, none empty, no character split, whatever it contains', () => {
    const unit = fc.constantFrom(
      'a',
      'b. ',
      '\n\n',
      '😀',
      ' ',
      'word '.repeat(300),
      '😀'.repeat(4001),
      '\n'.repeat(9000),
    );
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 30 }), (units) => {
        const text = units.join('');
        let covered = 0;
        for (const part of partsOf(text, whole(text)))
          for (const { start, end } of part) {
            expect(start).toBeLessThanOrEqual(covered);
            expect(end).toBeGreaterThan(start);
            expect(end).toBeGreaterThan(covered);
            expect(end - start).toBeLessThanOrEqual(partCharacters);
            expect(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(text.slice(start, end))).toBe(false);
            covered = end;
          }
        expect(covered).toBe(text.length);
      }),
    );
  });
});
