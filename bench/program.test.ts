import { expect, test } from 'vitest';
import { corollaryRule, n3Rule, prologAtom, prologRule, rule } from './program.ts';

const step = rule(['tc', '?x', '?z'], ['tc', '?x', '?y'], ['edge', '?y', '?z']);

test('a rule reads the same in every language it is printed in', () => {
  expect(corollaryRule(step)).toBe('tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)');
  expect(prologRule(step)).toBe('tc(X, Z) :- tc(X, Y), edge(Y, Z).');
  expect(n3Rule(step)).toBe('{ ?x :tc ?y . ?y :edge ?z } => { ?x :tc ?z } .');
});

test('constants stay as they are', () => {
  expect(prologAtom(['tc', 'n0', '?y'])).toBe('tc(n0, Y)');
});

test('an atom that is no triple is refused by N3', () => {
  expect(() => n3Rule(rule(['p', '?x'], ['q', '?x', '?y']))).toThrow('two arguments');
});
