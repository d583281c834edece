import { describe, expect, test } from 'vitest';
import { JsonListReader } from './json-list.ts';

/** Reads the text in pieces of so many bytes. */
function readIn(size: number, text: string, field: string | null): { elements: unknown[]; rest: unknown } {
  const reader = new JsonListReader(field);
  const bytes = new TextEncoder().encode(text);
  const elements: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) elements.push(...reader.read(bytes.slice(at, at + size)));
  return { elements, rest: reader.end() };
}

describe('a list of an answer that arrives in pieces', () => {
  const answer = {
    results: ['p("],[", \\"é\\")', '}'],
    bindings: [{ a: 'x,y', b: '[1' }, { a: '😀"\\', b: '' }, {}],
    nested: { bindings: [1, 2] },
    count: 3,
    hints: ['none'],
  };
  const rest = { results: [], bindings: [], nested: answer.nested, count: 3, hints: [] };

  test.each([1, 2, 3, 7, 50, 1_000])(
    'has the elements of the field, wherever pieces of %i bytes end',
    (size) => {
      for (const text of [JSON.stringify(answer), JSON.stringify(answer, null, 2)]) {
        expect(readIn(size, text, 'bindings')).toEqual({ elements: answer.bindings, rest });
        expect(readIn(size, text, 'results')).toEqual({ elements: answer.results, rest });
        expect(readIn(size, text, 'none')).toEqual({ elements: [], rest });
      }
    },
  );

  test.each([1, 4, 1_000])('is the answer itself, in pieces of %i bytes', (size) => {
    const facts = [{ args: ['a', 'b'] }, { args: [] }, 7, 'x'];
    expect(readIn(size, JSON.stringify(facts), null)).toEqual({ elements: facts, rest: [] });
    expect(readIn(size, '[]', null)).toEqual({ elements: [], rest: [] });
  });

  test('is refused if the answer breaks off', () => {
    const text = JSON.stringify(answer);
    for (const length of [0, 1, 20, text.length - 1])
      expect(() => readIn(5, text.slice(0, length), 'bindings')).toThrow(SyntaxError);
  });
});
