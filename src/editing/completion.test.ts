import { describe, expect, test } from 'vitest';
import {
  completionsAt,
  type DescribedKnowledge,
  hoverAt,
  statementStart,
  variablesAround,
} from './completion.ts';
import { parseRule } from '../engine/language/parse.ts';

const knowledge: DescribedKnowledge = {
  predicates: [
    {
      name: 'parent',
      arity: 2,
      facts: 12,
      rules: 0,
      scopes: [null, 'draft'],
      example: 'parent(a, b)',
    },
    {
      name: 'ancestor',
      arity: 2,
      facts: 0,
      rules: 2,
      scopes: [],
      example: null,
    },
    {
      name: 'lives_in',
      arity: 2,
      facts: 1,
      rules: 0,
      scopes: [],
      example: null,
      declaration: {
        name: 'lives_in',
        arity: 2,
        description: null,
        arguments: [
          { name: 'person', description: 'who', type: 'entity' },
          { name: 'city', description: null, type: { oneOf: ['rome', 'oslo'] } },
        ],
        key: ['person'],
        onConflict: 'warn',
        check: 'warn',
      },
    },
  ],
  rules: [],
};

const text = 'ancestor(?x, ?y) :- parent(?x, ?y)';
const rule = { ...parseRule(text), text };

function at(text: string) {
  const offset = text.indexOf('|');
  return completionsAt(text.replace('|', ''), offset, knowledge);
}

describe('declared arguments', () => {
  const labels = (where: string) => at(where).suggestions.map(({ label }) => label);

  test('are suggested in braces, those that are not given yet', () => {
    expect(at('p(?x) :- lives_in{|').suggestions).toMatchObject([
      { kind: 'argument', label: 'person', detail: 'entity', insert: 'person: ', documentation: 'who' },
      { kind: 'argument', label: 'city', detail: 'rome, oslo' },
    ]);
    expect(labels('p(?x) :- -lives_in{person: "a, {", ci|')).toEqual(['city']);
    expect(at('p(?x) :- lives_in{person: ?x, ci|').from).toBe('p(?x) :- lives_in{person: ?x, '.length);
    expect(labels('p(?x) :- lives_in{person: |')).toEqual(['?x']);
    expect(labels('p(?x) :- parent{|')).not.toContain('person');
  });

  test('name the placeholders of a predicate and are described', () => {
    const [suggested] = at('lives|').suggestions.filter(({ label }) => label === 'lives_in');
    expect(suggested?.insert).toBe('lives_in(${1:?person}, ${2:?city})');
    expect(suggested?.documentation).toContain('key person');
    expect(hoverAt({ name: 'lives_in', arity: 2, samples: [] }, knowledge, () => null).join('\n')).toContain(
      ':declare lives_in(person: entity "who", city: {rome, oslo}) key person',
    );
  });
});

describe('completion', () => {
  test('offers predicates with arity and counts, the most used first', () => {
    const { suggestions, from } = at('ancestor(?x, ?y) :- pa|');
    expect(from).toBe(20);
    expect(suggestions[0]).toMatchObject({
      label: 'parent',
      detail: '/2 · 12 facts',
      insert: 'parent(${1:?x}, ${2:?y})',
    });
    expect(suggestions.map((suggestion) => suggestion.label)).toContain('not');
  });

  test('offers only predicates after the minus of an explicit negation', () => {
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

  test('starts a statement after the previous full stop, not after a dot in a constant', () => {
    expect(statementStart('p(a.b). q(?x', 12)).toBe(7);
    expect(variablesAround('p(?a).\nq(?b) :- r(?c', 20)).toEqual(['?b', '?c']);
  });

  test('shows on hover what is known of a predicate', () => {
    const told = (name: string, arity: number | null, samples: string[] = []) =>
      hoverAt({ name, arity, samples }, { ...knowledge, rules: [rule] }, () => 'conclusions').join('\n');
    expect(told('parent', 2)).toMatch(/12 facts · conclusions · 0 rules · in 1 scope: draft/);
    expect(told('parent', 2)).toContain('parent(a, b).\n% 11 more');
    expect(told('parent', 2, ['parent(c, d)'])).toContain('parent(c, d).');
    expect(told('parent', 2)).toContain('Used by\n```corollary\nancestor(?x, ?y) :- parent(?x, ?y).');
    expect(told('ancestor', null)).toContain('Concluded by');
    expect(told('parent', 3)).toBe('');
    expect(told('unheard', null)).toBe('');
  });
});

test('a declared predicate is completed and described by the names of its arguments', () => {
  const [parent, ...others] = knowledge.predicates;
  if (parent === undefined) throw new Error('a predicate');
  const declaration = {
    name: 'parent',
    arity: 2,
    description: 'who has whom as a child',
    arguments: [
      { name: 'elder', description: null, type: 'entity' as const },
      { name: 'child', description: null, type: 'entity' as const },
    ],
    key: ['child'],
    onConflict: 'warn' as const,
    check: 'warn' as const,
  };
  const declared: DescribedKnowledge = { ...knowledge, predicates: [{ ...parent, declaration }, ...others] };
  expect(completionsAt('pa', 2, declared).suggestions[0]?.insert).toBe('parent(${1:?elder}, ${2:?child})');
  const hover = hoverAt({ name: 'parent', arity: 2, samples: [] }, declared, () => null).join('\n');
  expect(hover).toContain('who has whom as a child');
  expect(hover).toContain('elder: entity, child: entity');
  expect(hover).toContain('key child');
});
