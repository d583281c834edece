import { describe, expect, test } from 'vitest';
import { completionsAt, hoverAt, statementStart, variablesAround } from './completion.ts';
import type { Knowledge } from './knowledge.ts';

const knowledge: Knowledge = {
  predicates: [
    { name: 'parent', arity: 2, facts: 12, derived: 0, rules: 0, scopes: [null], example: 'parent(a, b)' },
    { name: 'ancestor', arity: 2, facts: 0, derived: 30, rules: 2, scopes: [], example: null },
  ],
  rules: [],
};

function at(text: string) {
  const offset = text.indexOf('|');
  return completionsAt(text.replace('|', ''), offset, knowledge);
}

describe('completion', () => {
  test('offers predicates with arity and counts, the busiest first', () => {
    const { suggestions, from } = at('ancestor(?x, ?y) :- pa|');
    expect(from).toBe(20);
    expect(suggestions[0]).toMatchObject({
      label: 'parent',
      detail: '/2 · 12 facts',
      insert: 'parent(${1:?x}, ${2:?y})',
    });
    expect(suggestions.map((suggestion) => suggestion.label)).toContain('not');
  });

  test('after the minus of an explicit negation offers predicates only', () => {
    const { suggestions, from } = at('p(?x) :- -pa|');
    expect(from).toBe(10);
    expect(suggestions.every((suggestion) => suggestion.kind === 'predicate')).toBe(true);
  });

  test('inside an argument list offers the variables of the statement', () => {
    const { suggestions } = at('q(?other). p(?x, ?long_one) :- q(?|');
    expect(suggestions.map((suggestion) => suggestion.label)).toEqual(['?x', '?long_one']);
  });

  test('offers nothing in comments and strings', () => {
    expect(at('% pa|').suggestions).toEqual([]);
    expect(at('p("pa|').suggestions).toEqual([]);
  });

  test('a statement starts after the full stop of the one before, not after a dot in a constant', () => {
    expect(statementStart('p(a.b). q(?x', 12)).toBe(7);
    expect(variablesAround('p(?a).\nq(?b) :- r(?c', 20)).toEqual(['?b', '?c']);
  });

  test('hover tells what is known of a predicate', () => {
    expect(hoverAt('parent', knowledge)[0]).toContain('12 facts');
    expect(hoverAt('unheard', knowledge)).toEqual([]);
  });
});
