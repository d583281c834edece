import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { parseRule } from './parse.ts';
import { checkStratified, negativeCycles, type ScopedRule, stratify, strataOf } from './stratify.ts';

function rules(...texts: (string | [scope: string, text: string])[]): ScopedRule[] {
  return texts.map((each, index) => {
    const [scope, text] = typeof each === 'string' ? [null, each] : each;
    return { rule: parseRule(text), scope, id: `r${index}` };
  });
}

function refusal(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test('rejects a cycle through default negation with a 422 that names the cycle', () => {
  const error = refusal(() =>
    checkStratified(rules('win(?x) :- move(?x, ?y), not lose(?y)', 'lose(?x) :- move(?x, ?y), win(?y)')),
  );
  expect(error.status).toBe(422);
  expect(error.code).toBe('RuleException');
  expect(error.message).toContain(
    'win/1 depends on not (or an aggregate of) lose/1, lose/1 depends on win/1',
  );
});

test('rejects a cycle through an aggregate at any depth', () => {
  const nested = 'h(?n) :- ?n = count { ?m : ?m = count { ?x : g(?x) } }';
  expect(refusal(() => checkStratified(rules(nested, 'g(?x) :- h(?x)'))).members['cycle']).toEqual([
    'h/1',
    'g/1',
    'h/1',
  ]);
});

test('stratifies positive recursion of every kind', () => {
  checkStratified(
    rules('t(?x, ?z) :- t(?x, ?y), t(?y, ?z)', 't(?x, ?y) :- e(?x, ?y)', 'a(?x) :- b(?x)', 'b(?x) :- a(?x)'),
  );
});

test('distinguishes relations by arity and by truth value: -p(?x) :- q(?x), not p(?x) is legal', () => {
  checkStratified(rules('-p(?x) :- q(?x), not p(?x)', 'p(?x) :- q(?x), not p(?x, ?_)'));
  expect(negativeCycles(rules('-p(?x) :- q(?x), not p(?x)', 'p(?x) :- q(?x), not -p(?x)'))).toHaveLength(1);
});

test('combines unscoped rules with those of any one scope, never of two', () => {
  checkStratified(rules(['s', 'a(?x) :- q(?x), not b(?x)'], ['t', 'b(?x) :- q(?x), not a(?x)']));
  const error = refusal(() => checkStratified(rules('b(?x) :- a(?x)', ['s', 'a(?x) :- q(?x), not b(?x)'])));
  expect(error.code).toBe('RuleException');
  refusal(() => checkStratified(rules('b(?x) :- a(?x)', ['s', 'a(?x) :- q(?x), not b(?x)']), 's'));
});

test('puts what is read under not or in an aggregate into a strictly lower stratum', () => {
  const { stratumOf, components } = strataOf(
    rules(
      'p(?x) :- q(?x), not r(?x)',
      'r(?x) :- s(?x)',
      'n(?c) :- ?c = count { ?x : p(?x) }',
      'p(?x) :- p(?x), r(?x)',
    ).map((each) => each.rule),
  );
  expect(stratumOf.get('s/1')).toBe(0);
  expect(stratumOf.get('r/1')).toBe(0);
  expect(stratumOf.get('p/1')).toBe(1);
  expect(stratumOf.get('n/1')).toBe(2);
  const order = components.flat();
  expect(order.indexOf('r/1')).toBeLessThan(order.indexOf('p/1'));
  expect(order.indexOf('p/1')).toBeLessThan(order.indexOf('n/1'));
});

test('gives a view the strata of its own scope', () => {
  const strata = stratify(rules('a(?x) :- b(?x)', ['s', 'b(?x) :- q(?x), not c(?x)']));
  expect(strata.view(null).stratumOf.get('a/1')).toBe(0);
  expect(strata.view('s').stratumOf.get('a/1')).toBe(1);
  expect(strata.view('other').stratumOf.get('a/1')).toBe(0);
});

test('handles a chain of 20,000 rules without a stack overflow', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => `p${index}(?x) :- p${index + 1}(?x)`);
  expect(negativeCycles(rules(...chain, 'p20000(?x) :- q(?x), not p0(?x)'))).toHaveLength(1);
});
