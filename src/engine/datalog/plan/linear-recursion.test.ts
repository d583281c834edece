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
  return set.planner.factored(set.table({ view, predicate: 't', arity, negated: false }, boundPositions));
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

test('turns right recursion with the first argument bound into reachability', () => {
  expect(parts(factored([exit, right], [0]))).toEqual([
    'reach(?seed 0 ?seed 0) :- demand(?seed 0)',
    'rows(?seed 0 ?1) :- reach(?seed 0 ?0), stored',
    'rows(?seed 0 ?z) :- reach(?seed 0 ?x), edge(?x, ?z)',
    'reach(?seed 0 ?y) :- reach(?seed 0 ?x), edge(?x, ?y)',
  ]);
});

test('factors left recursion from its other end', () => {
  expect(factored([exit, left], [0])).toBeNull();
  expect(parts(factored([exit, left], [1]))).toEqual([
    'reach(?seed 0 ?seed 0) :- demand(?seed 0)',
    'rows(?0 ?seed 0) :- reach(?seed 0 ?1), stored',
    'rows(?x ?seed 0) :- reach(?seed 0 ?z), edge(?x, ?z)',
    'reach(?seed 0 ?y) :- reach(?seed 0 ?z), edge(?y, ?z)',
  ]);
});

test('factors rules that recur at either end together', () => {
  const found = parts(factored([exit, right, left], [0]));
  expect(found).toHaveLength(5);
  expect(found?.[4]).toBe('rows(?x ?z) :- rows(?x ?y), edge(?y, ?z)');
});

test('factors nothing without a right-recursive rule', () => {
  expect(factored([exit], [0])).toBeNull();
  expect(factored([left], [0])).toBeNull();
});

test('factors nothing if all arguments are bound or all are free', () => {
  expect(factored([exit, right], [])).toBeNull();
  expect(factored([exit, right], [0, 1])).toBeNull();
});

test('leaves nonlinear recursion unchanged', () => {
  expect(factored([exit, double], [0])).toBeNull();
  expect(factored([exit, right, double], [0])).toBeNull();
});

test('leaves recursion through another relation unchanged', () => {
  expect(factored(['t(?x, ?z) :- edge(?x, ?y), u(?y, ?z)', 'u(?x, ?z) :- t(?x, ?z)', exit], [0])).toBeNull();
});

test('does not factor a free argument that is not passed through unchanged', () => {
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

test('does not factor a recursive call whose bound argument nothing binds', () => {
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), t(?y, ?z)'], [0])).toBeNull();
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), t(?_, ?z)'], [0])).toBeNull();
  // The recursive atom itself binds ?y, so this = compares and binds nothing.
  expect(factored([exit, 't(?x, ?z) :- edge(?x, ?w), ?y = ?w, t(?y, ?z)'], [0])).toBeNull();
});

test('factors despite a constant and comparisons', () => {
  const taken = [
    't(?x, ?z) :- edge(?x, ?w), t(hub, ?z)',
    't(?x, ?z) :- edge(?x, ?y), ?y != hub, t(?y, ?z)',
    't(?x, ?z) :- edge(?x, ?y), ?w = ?y, ?w != hub, t(?y, ?z)',
  ];
  expect(taken.filter((rule) => factored([exit, rule], [0]) === null)).toEqual([]);
});

test('factors several bound and several free arguments as one', () => {
  const rule = 't(?a, ?b, ?c, ?d) :- step(?a, ?b, ?e, ?f), t(?e, ?f, ?c, ?d)';
  expect(parts(factored([rule], [0, 1], { arity: 4 }))).toEqual([
    'reach(?seed 0 ?seed 1 ?seed 0 ?seed 1) :- demand(?seed 0 ?seed 1)',
    'rows(?seed 0 ?seed 1 ?2 ?3) :- reach(?seed 0 ?seed 1 ?0 ?1), stored',
    'reach(?seed 0 ?seed 1 ?e ?f) :- reach(?seed 0 ?seed 1 ?a ?b), step(?a, ?b, ?e, ?f)',
  ]);
  const swapped = 't(?a, ?b, ?c, ?d) :- step(?a, ?b, ?e, ?f), t(?e, ?f, ?d, ?c)';
  expect(factored([swapped], [0, 1], { arity: 4 })).toBeNull();
});

test('treats a scoped rule in the view of everything as a base case, not as recursion', () => {
  const scopes = [null, 's'];
  expect(factored([exit, right], [0], { scopes })).toBeNull();
  const inScope = factored([exit, right], [0], { scopes, view: { kind: 'scope', scope: 's' } });
  expect(inScope).toHaveLength(4);
});
