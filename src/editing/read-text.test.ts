import { describe, expect, test } from 'vitest';
import { parseEditorText, symbolAt, usesOf } from './read-text.ts';
import { renameInText } from './renaming.ts';

function usesAt(marked: string, mode: 'program' | 'question' = 'program'): string[] {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const read = parseEditorText(text, mode);
  const symbol = symbolAt(read, offset);
  return symbol === null
    ? []
    : usesOf(read, symbol).map(({ span }) => `${text.slice(span.start, span.end)} ${span.start}`);
}

describe('the names of a text', () => {
  test('identify a predicate by name and arity, in facts, heads, bodies and braces, whatever its sign', () => {
    expect(
      usesAt('p(a). p(a, b). -|p(c).\nq(?n) :- ?n = count { ?x : p(?x), not p(?x) }, r("p(x)").'),
    ).toEqual(['p 0', 'p 16', 'p 49', 'p 60']);
  });

  test('identify a variable within its statement', () => {
    expect(usesAt('q(?x) :- p(?x|). r(?x) :- p(?x).')).toEqual(['?x 2', '?x 11']);
  });

  test('have positions within the question', () => {
    expect(usesAt('parent(?x, ?y), |parent(?y, ?z)?', 'question')).toEqual(['parent 0', 'parent 16']);
  });

  test('exclude constants and comments', () => {
    expect(usesAt('p(a, |parent). % parent(a)')).toEqual([]);
    expect(usesAt('p(a). % par|ent(a)')).toEqual([]);
  });

  test('rename a predicate only where it is meant', () => {
    expect(
      renameInText('p(p). p(a, b). % p(x)\nq(?x) :- p(?x), broken', 'program', { name: 'p', arity: 1 }, 'is'),
    ).toBe('is(p). p(a, b). % p(x)\nq(?x) :- is(?x), broken');
  });
});

test('names in a constraint are found at their places', () => {
  const read = parseEditorText('!- p(?x), not q(?x, b)', 'constraint');
  expect(read.isWhole).toBe(true);
  expect(read.predicates.map(({ name, span }) => [name, span.start])).toEqual([
    ['p', 3],
    ['q', 14],
  ]);
  expect(read.variables.map(({ name, within }) => [name, within])).toEqual([
    ['?x', 'atom'],
    ['?x', 'absence'],
  ]);
  expect(parseEditorText('p(a).', 'constraint').isWhole).toBe(false);
});
