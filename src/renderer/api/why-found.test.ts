import { expect, test } from 'vitest';
import { reasonInWords, whyFound } from './why-found.ts';

test('a hit is explained by what found it, not by what only orders it', () => {
  const words = { signal: 'words', rank: 1, detail: 'lives' } as const;
  const mention = { signal: 'mention', rank: 2, detail: 'carol' } as const;
  const graph = { signal: 'graph', rank: 1, detail: '0.375' } as const;
  expect(whyFound([words, mention, graph])).toBe('names carol');
  expect(whyFound([graph, words])).toBe('has the words lives');
  expect(whyFound([graph])).toBe('');
  expect(reasonInWords(graph)).toBe('is near the names, 0.375');
});
