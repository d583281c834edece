import { expect, test } from 'vitest';
import { ruleIdentity } from './print.ts';
import { parseRule } from './parse.ts';

function same(left: string, right: string): boolean {
  return ruleIdentity(parseRule(left)) === ruleIdentity(parseRule(right));
}

test('identifies rules with the same head and the same body in order, up to renaming of variables', () => {
  expect(same('g(?x, ?z) :- p(?x, ?y), p(?y, ?z)', 'g(?a,?c) :- p(?a,?b), p(?b,?c).')).toBe(true);
  expect(same('h(?n) :- ?n = count { ?y : p(?y) }', 'h(?m) :- ?m = count { ?z : p(?z) }')).toBe(true);
});

test('requires a one-to-one renaming, and distinguishes constants, order and ?_', () => {
  expect(same('h(?x) :- p(?x, ?y)', 'h(?x) :- p(?x, ?x)')).toBe(false);
  expect(same('h(?x) :- p(?x, ?y)', 'h(?x) :- p(?y, ?x)')).toBe(false);
  expect(same('h(?x) :- p(?x, ?y)', 'h(?x) :- p(?x, ?_)')).toBe(false);
  expect(same('h(?x) :- p(?x), q(?x)', 'h(?x) :- q(?x), p(?x)')).toBe(false);
  expect(same('h(?x) :- p(?x, a)', 'h(?x) :- p(?x, b)')).toBe(false);
  expect(same('h(?x) :- p(?x), not q(?x)', 'h(?x) :- p(?x), q(?x)')).toBe(false);
  expect(same('h(?x) :- p(?x), not q(?x)', 'h(?x) :- p(?x), -q(?x)')).toBe(false);
  expect(same('h(?x) :- p(?x)', '-h(?x) :- p(?x)')).toBe(false);
  expect(same('h(?x) :- p(?x), ?n = count { ?y : p(?y) }', 'h(?x) :- p(?x), ?n = sum { ?y : p(?y) }')).toBe(
    false,
  );
});
