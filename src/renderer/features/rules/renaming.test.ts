import { describe, expect, test } from 'vitest';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseRule } from '../../../engine/language/parse.ts';
import { nameProblem, renamedRules, renameWritesOf } from './renaming.ts';

const from = { name: 'p', arity: 1 };

function rule(text: string): StoredRule {
  const rest = { scope: 'draft', name: 'n', description: null, enabled: false };
  return { id: text, text, ...parseRule(text), ...rest, createdAt: 0, etag: '"1"', fired: 3 };
}

const fact: StoredFact = {
  id: 'f1-0',
  predicate: 'p',
  args: ['a'],
  truthVal: false,
  scope: null,
  validFrom: null,
  validUntil: 17,
  metadata: { source: 'x' },
  createdAt: 1,
  updatedAt: 1,
  importId: null,
  salience: 0.5,
  derived: false,
  provenance: null,
};

describe('renaming a predicate', () => {
  test('changes heads, bodies, negations and braces, and keeps other arities and arguments', () => {
    const rules = [
      'p(?x) :- p(?x, ?y), not p(?y), q(p)',
      'r(?n) :- ?n = count { ?x : -p(?x) }',
      'q(?x) :- r(?x)',
    ].map(rule);
    expect(renamedRules(rules, from, 's').map(({ after }) => after)).toEqual([
      's(?x) :- p(?x, ?y), not s(?y), q(p)',
      'r(?n) :- ?n = count { ?x : -s(?x) }',
    ]);
  });

  test('keeps the other fields of facts and rules', () => {
    const rules = renamedRules([rule('q(?x) :- p(?x)')], from, 's');
    expect(renameWritesOf(from, 's', rules, [fact], 9)).toEqual([
      {
        operation: 'assertFacts',
        input: {
          body: {
            facts: [
              {
                predicate: 's',
                args: ['a'],
                truthVal: false,
                unscoped: true,
                validUntil: 17,
                metadata: { source: 'x' },
              },
            ],
          },
        },
      },
      {
        operation: 'retractPattern',
        input: { body: { predicate: 'p', args: ['?a0'], ifGeneration: 9 } },
      },
      {
        operation: 'updateRule',
        input: {
          params: { id: 'q(?x) :- p(?x)' },
          body: {
            text: 'q(?x) :- s(?x)',
            name: 'n',
            description: null,
            enabled: false,
            scope: 'draft',
          },
        },
        ifMatch: '"1"',
      },
    ]);
    expect(renameWritesOf(from, 's', [], [], 9)).toEqual([]);
  });

  test('rejects an invalid name, or the same', () => {
    expect(nameProblem(from, 'p')).not.toBeNull();
    expect(nameProblem(from, 'a b')).not.toBeNull();
    expect(nameProblem(from, '<=')).not.toBeNull();
    expect(nameProblem(from, 'is')).toBeNull();
  });
});
