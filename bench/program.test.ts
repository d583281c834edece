import { expect, test } from 'vitest';
import { souffleProgram } from './contestants/souffle.ts';
import {
  aggregate,
  corollaryRule,
  count,
  fitsN3,
  gringoRule,
  n3Rule,
  not,
  prologAtom,
  prologRule,
  rule,
  souffleRule,
} from './program.ts';

const step = rule(['tc', '?x', '?z'], ['tc', '?x', '?y'], ['edge', '?y', '?z']);
const leaf = rule(['leaf', '?x'], ['edge', '?_', '?x'], not('edge', '?x', '?_'));
const reaches = rule(['reaches', '?x', '?n'], ['node', '?x'], count('?n', '?y', ['tc', '?x', '?y']));

test('prints a rule with the same meaning in every language', () => {
  expect(corollaryRule(step)).toBe('tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)');
  expect(prologRule(step)).toBe('tc(X, Z) :- tc(X, Y), edge(Y, Z).');
  expect(gringoRule(step)).toBe(prologRule(step));
  expect(souffleRule(step)).toBe('tc(x, z) :- tc(x, y), edge(y, z).');
  expect(n3Rule(step)).toBe('{ ?x :tc ?y . ?y :edge ?z } => { ?x :tc ?z } .');
});

test('prints default negation with the same meaning in every language that has it', () => {
  expect(corollaryRule(leaf)).toBe('leaf(?x) :- edge(?_, ?x), not edge(?x, ?_)');
  expect(prologRule(leaf)).toBe('leaf(X) :- edge(_, X), \\+ edge(X, _).');
  expect(gringoRule(leaf)).toBe('leaf(X) :- edge(_, X), not edge(X, _).');
  expect(souffleRule(leaf)).toBe('leaf(x) :- edge(_, x), !edge(x, _).');
});

test('prints a count with the same meaning in every language that has it', () => {
  expect(corollaryRule(reaches)).toBe('reaches(?x, ?n) :- node(?x), ?n = count { ?y : tc(?x, ?y) }');
  expect(prologRule(reaches)).toBe('reaches(X, N) :- node(X), aggregate_all(count, tc(X, Y), N).');
  expect(gringoRule(reaches)).toBe('reaches(X, N) :- node(X), N = #count { Y : tc(X, Y) }.');
  expect(souffleRule(reaches)).toBe('reaches(x, n) :- node(x), n = count : { tc(x, y) }.');
});

test('prints a sum with the same meaning in every language that has it', () => {
  const sold = rule(['sold', '?k', '?n'], aggregate('sum', '?n', ['?v', '?x'], ['sale', '?x', '?k', '?v']));
  expect(corollaryRule(sold)).toBe('sold(?k, ?n) :- ?n = sum { ?v, ?x : sale(?x, ?k, ?v) }');
  expect(prologRule(sold)).toBe('sold(K, N) :- aggregate_all(sum(V), sale(X, K, V), N).');
  expect(gringoRule(sold)).toBe('sold(K, N) :- N = #sum { V, X : sale(X, K, V) }.');
  expect(souffleRule(sold)).toBe('sold(k, n) :- n = sum to_number(v) : { sale(x, k, v) }.');
});

test('keeps constants unchanged, except for Soufflé, which reads them as variables without quotes', () => {
  expect(prologAtom(['tc', 'n0', '?y'])).toBe('tc(n0, Y)');
  expect(souffleRule(rule(['from', '?y'], ['tc', 'n0', '?y']))).toBe('from(y) :- tc("n0", y).');
});

test('gives N3 positive rules of triples only', () => {
  expect([step, leaf, reaches, rule(['p', '?x'], ['q', '?x', '?y'])].map(fitsN3)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(() => n3Rule(leaf)).toThrow('two arguments');
});

test('declares input and derived relations in a program for Soufflé, and outputs the answers of a bound goal by a rule', () => {
  expect(souffleProgram([['edge', 2]], [step], ['tc', 'n0', '?y']).split('\n')).toEqual([
    '.decl edge(c0: symbol, c1: symbol)',
    '.input edge',
    '.decl tc(c0: symbol, c1: symbol)',
    '.pragma "magic-transform" "*"',
    '.decl answer_of_the_question(c0: symbol)',
    'tc(x, z) :- tc(x, y), edge(y, z).',
    'answer_of_the_question(y) :- tc("n0", y).',
    '.printsize answer_of_the_question',
    '',
  ]);
  expect(souffleProgram([['edge', 2]], [reaches], ['reaches', '?x', '?n'])).toContain(
    '.decl reaches(c0: symbol, c1: number)\n',
  );
});

test('reads the facts and counts them in a program for Soufflé without rules', () => {
  expect(souffleProgram([['edge', 2]], [], ['tc', '?x', '?y'])).toBe(
    '.decl edge(c0: symbol, c1: symbol)\n.input edge\n.printsize edge\n',
  );
});
