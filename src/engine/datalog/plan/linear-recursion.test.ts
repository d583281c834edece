import { expect, test } from 'vitest';
import { type ScopeChoice, FactStore } from '../../store/fact-store.ts';
import type { RuleRecord } from '../../store/rule-store.ts';
import { parseRule } from '../../language/parse.ts';
import { renderBody } from '../../language/print.ts';
import type { FactoredPart } from './linear-recursion.ts';
import { Program } from '../model/program.ts';
import { TableSet } from '../tables/table-set.ts';

function kept(text: string, at: number, scope: string | null): RuleRecord {
  const about = { name: null, description: null, enabled: true, createdAt: 0, changedIn: 0 };
  return { id: `r${at}`, rule: parseRule(text), text, identity: text, scope, ...about };
}

const everything: ScopeChoice = { kind: 'all' };

/** The factored program of `t` with these arguments bound; the rules are unscoped unless scopes are given. */
function factored(
  rules: readonly string[],
  boundPositions: readonly number[],
  { arity = 2, scopes = [], view = everything }: Options = {},
): FactoredPart[] | null {
  const program = new Program(rules.map((text, at) => kept(text, at, scopes[at] ?? null)));
  const set = new TableSet(new FactStore(0), program, { withHeights: false, isMaintained: false }, new Map());
  return set.factored(set.table({ view, predicate: 't', arity, negated: false }, boundPositions));
}

interface Options {
  readonly arity?: number;
  readonly scopes?: readonly (string | null)[];
  readonly view?: ScopeChoice;
}

/** `target(head) :- demand(terms), body` of every part. */
function parts(found: FactoredPart[] | null): string[] | null {
  if (found === null) return null;
  return found.map(({ target, headTerms, demand, demandTerms, body }) => {
    const rest = body === null ? ', stored' : body.length === 0 ? '' : `, ${renderBody(body)}`;
    return `${target}(${headTerms.join(' ')}) :- ${demand}(${demandTerms.join(' ')})${rest}`;
  });
}

const exit = 't(?x, ?z) :- edge(?x, ?z)';
const right = 't(?x, ?z) :- edge(?x, ?y), t(?y, ?z)';
const left = 't(?x, ?z) :- t(?x, ?y), edge(?y, ?z)';
const double = 't(?x, ?z) :- t(?x, ?y), t(?y, ?z)';

test('right recursion with the first argument bound becomes what is reached', () => {
  expect(parts(factored([exit, right], [0]))).toEqual([
    'reach(?seed 0 ?seed 0) :- demand(?seed 0)',
    'rows(?seed 0 ?1) :- reach(?seed 0 ?0), stored',
    'rows(?seed 0 ?z) :- reach(?seed 0 ?x), edge(?x, ?z)',
    'reach(?seed 0 ?y) :- reach(?seed 0 ?x), edge(?x, ?y)',
  ]);
});

test('left recursion is factored from its other end', () => {
  expect(factored([exit, left], [0])).toBeNull();
  expect(parts(factored([exit, left], [1]))).toEqual([
    'reach(?seed 0 ?seed 0) :- demand(?seed 0)',
    'rows(?0 ?seed 0) :- reach(?seed 0 ?1), stored',
    'rows(?x ?seed 0) :- reach(?seed 0 ?z), edge(?x, ?z)',
    'reach(?seed 0 ?y) :- reach(?seed 0 ?z), edge(?y, ?z)',
  ]);
});

test('rules that recur at either end are factored together', () => {
  const found = parts(factored([exit, right, left], [0]));
  expect(found).toHaveLength(5);
  expect(found?.[4]).toBe('rows(?x ?z) :- rows(?x ?y), edge(?y, ?z)');
});

test('without a rule that recurs to the right there is nothing to factor', () => {
  expect(factored([exit], [0])).toBeNull();
  expect(factored([left], [0])).toBeNull();
});

test('all bound or all free needs no factoring', () => {
  expect(factored([exit, right], [])).toBeNull();
  expect(factored([exit, right], [0, 1])).toBeNull();
});

test('recursion that is not linear stays as it is', () => {
  expect(factored([exit, double], [0])).toBeNull();
  expect(factored([exit, right, double], [0])).toBeNull();
});

test('recursion through another relation stays as it is', () => {
  expect(factored(['t(?x, ?z) :- edge(?x, ?y), u(?y, ?z)', 'u(?x, ?z) :- t(?x, ?z)', exit], [0])).toBeNull();
});

test('a free argument that does not go through untouched is not factored', () => {
  const refused = [
    't(?x, ?z) :- edge(?x, ?y), t(?y, ?w), label(?w, ?z)',
    't(?x, ?z) :- edge(?x, ?y), t(?y, ?z), good(?z)',
    't(?x, ?z) :- edge(?x, ?y), t(?y, ?z), ?z != a',
    't(?x, ?x) :- edge(?x, ?y), t(?y, ?x)',
    't(?x, a) :- edge(?x, ?y), t(?y, a)',
    't(?x, ?z) :- edge(?z, ?y), t(?y, ?x)',
    't(?x, ?z) :- edge(?x, ?z), t(?z, ?z)',
  ];
  expect(refused.filter((rule) => factored([exit, rule], [0]) !== null)).toEqual([]);
});

test('a recursive call whose bound argument nothing binds is not factored', () => {
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), t(?y, ?z)'], [0])).toBeNull();
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), t(?_, ?z)'], [0])).toBeNull();
  // The recursive atom itself binds ?y, so this = compares and binds nothing.
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), ?y = ?w, t(?y, ?z)'], [0])).toBeNull();
});

test('a constant and comparisons do not stand in the way', () => {
  const taken = [
    't(?x, ?z) :- edge(?x, ?w), t(hub, ?z)',
    't(?x, ?z) :- edge(?x, ?y), ?y != hub, t(?y, ?z)',
    't(?x, ?z) :- edge(?x, ?y), ?w = ?y, ?w != hub, t(?y, ?z)',
  ];
  expect(taken.filter((rule) => factored([exit, rule], [0]) === null)).toEqual([]);
});

test('several bound and several free arguments are factored as one', () => {
  const rule = 't(?a, ?b, ?c, ?d) :- step(?a, ?b, ?e, ?f), t(?e, ?f, ?c, ?d)';
  expect(parts(factored([rule], [0, 1], { arity: 4 }))).toEqual([
    'reach(?seed 0 ?seed 1 ?seed 0 ?seed 1) :- demand(?seed 0 ?seed 1)',
    'rows(?seed 0 ?seed 1 ?2 ?3) :- reach(?seed 0 ?seed 1 ?0 ?1), stored',
    'reach(?seed 0 ?seed 1 ?e ?f) :- reach(?seed 0 ?seed 1 ?a ?b), step(?a, ?b, ?e, ?f)',
  ]);
  const swapped = 't(?a, ?b, ?c, ?d) :- step(?a, ?b, ?e, ?f), t(?e, ?f, ?d, ?c)';
  expect(factored([swapped], [0, 1], { arity: 4 })).toBeNull();
});

test('in the view of everything a scoped rule comes in from its own scope, and does not recur', () => {
  const scopes = [null, 's'];
  expect(factored([exit, right], [0], { scopes })).toBeNull();
  const inScope = factored([exit, right], [0], { scopes, view: { kind: 'scope', scope: 's' } });
  expect(inScope).toHaveLength(4);
});
