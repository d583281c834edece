import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { isVariable, type Literal, type Rule } from '../contract/language.ts';
import { ruleProblems } from './check.ts';
import { renderRule } from './print.ts';
import {
  isAbsence,
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  variablesAtLevel,
  variablesOfBraces,
} from './terms.ts';

const cases = process.env['LONG'] === '1' ? 300_000 : 10_000;

/**
 * Safety as the contract words it, by the simplest closure: grow the set of bound variables while anything binds
 * another, then check whether every variable that must be bound is.
 */
function isSafe(
  body: readonly Literal[],
  head: readonly string[],
  outside: Set<string>,
  given: Set<string>,
): boolean {
  const visible = new Set([...outside, ...variablesAtLevel(body)]);
  const bound = new Set(given);
  const known = (term: string): boolean => !isVariable(term) || bound.has(term);
  const sharedOf = (literal: Literal): string[] =>
    isAggregate(literal) ? variablesOfBraces(literal).filter((variable) => visible.has(variable)) : [];
  for (let before = -1; before !== bound.size; ) {
    before = bound.size;
    for (const literal of body) {
      if (isPositiveAtom(literal))
        for (const term of literal.args) if (isNamedVariable(term)) bound.add(term);
      if (isArithmetic(literal) && literal.args.slice(0, 2).every(known))
        bound.add(literal.args[2] as string);
      if (isAggregate(literal) && sharedOf(literal).every(known)) bound.add(literal.result);
      if (isComparison(literal) && literal.predicate === '=' && literal.args.some(known))
        for (const term of literal.args) bound.add(term);
      bound.delete('?_');
    }
  }
  return (
    head.every(known) &&
    body.every((literal) => {
      if (isPositiveAtom(literal)) return true;
      if (isAbsence(literal)) return literal.args.every((term) => term === '?_' || known(term));
      if (!isAggregate(literal)) return literal.args.every(known);
      if (![...sharedOf(literal), literal.result].every(known)) return false;
      return isSafe(
        literal.body,
        literal.over,
        new Set([...visible, ...literal.over]),
        new Set(sharedOf(literal)),
      );
    })
  );
}

function randomTerm(prng: Prng): string {
  return prng.pick(['?x', '?y', '?z', '?x', '?y', 'a', '?_']);
}

function randomLiteral(prng: Prng, depth: number): Literal {
  const flags = { negated: false, naf: false };
  const kind = prng.below(depth > 0 ? 10 : 8);
  if (kind < 3) return { predicate: 'p', args: [randomTerm(prng)], negated: false, naf: kind === 2 };
  if (kind < 6)
    return { predicate: prng.pick(['=', '=', '<']), args: [randomTerm(prng), randomTerm(prng)], ...flags };
  if (kind < 8)
    return { predicate: '+', args: [randomTerm(prng), randomTerm(prng), randomTerm(prng)], ...flags };
  return {
    aggregate: 'count',
    result: prng.pick(['?x', '?y', '?n', '?_']),
    over: [prng.pick(['?x', '?y', '?n', '?u', '?_'])],
    body: [randomLiteral(prng, depth - 1), { predicate: 'q', args: [prng.pick(['?u', '?x'])], ...flags }],
  };
}

test('refuses a rule as unsafe exactly if the contract does', () => {
  let safe = 0;
  for (let seed = 0; seed < cases; seed++) {
    const prng = new Prng(seed);
    const body = Array.from({ length: 1 + prng.below(4) }, () => randomLiteral(prng, 2));
    const head = [prng.pick(['?x', '?y', 'a', '?n', '?_'])];
    const rule: Rule = { head: { predicate: 'h', args: head, negated: false }, body };
    const expected = isSafe(body, head, new Set(head.filter(isNamedVariable)), new Set());
    const problems = ruleProblems(rule);
    expect(problems.length === 0, `seed ${seed}: ${renderRule(rule)}`).toBe(expected);
    for (const problem of problems) expect(problem.message).toContain(problem.variable);
    if (expected) safe++;
  }
  expect(safe).toBeGreaterThan(cases / 20);
});
