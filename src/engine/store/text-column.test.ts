import { expect, test } from 'vitest';
import { TextColumn } from './generations.ts';

test('returns texts from their positions, however many and however long', () => {
  const column = new TextColumn();
  const texts = Array.from({ length: 40_000 }, (_, at) =>
    at % 9999 === 0 ? 'é😀'.repeat(at + 1) : at % 3 === 0 ? '' : `\ufefftext ${at}`,
  );
  for (const [at, text] of texts.entries())
    if (at % 2 === 0) column.add(text);
    else column.addUtf8(new TextEncoder().encode(text));
  expect(column.count).toBe(texts.length);
  expect(texts.every((text, at) => column.text(at) === text)).toBe(true);
});
