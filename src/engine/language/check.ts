/**
 * Whether a rule or a question can be evaluated: built-ins are well formed, and every variable that needs a
 * value gets one (safety).
 *
 * A rule that passes has a finite answer for every finite set of facts, unless arithmetic recurses, and an
 * evaluator never meets an unbound variable. `stratify.ts` checks whether rules fit together.
 */
import { EngineError } from '../base/errors.ts';
import {
  type AggregateLiteral,
  type AtomLiteral,
  isBuiltinName,
  isVariable,
  type Literal,
  maxBodyLiterals,
  type Rule,
} from '../contract/language.ts';
import { type BodyPlan, inputsOf, planBody, planRule } from './order.ts';
import { renderLiteral } from './print.ts';
import {
  isAggregate,
  isArithmetic,
  isBuiltin,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  maxAggregateDepth,
  wildcard,
} from './terms.ts';

/** A problem of a rule. `malformed` is a 400, `unsafe` a 422 that names `variable`. */
export interface RuleProblem {
  readonly kind: 'malformed' | 'unsafe';
  readonly message: string;
  /** The variable, if the problem is about one. */
  readonly variable: string | null;
  /**
   * Index of the literal in the body, then in the aggregate's braces; empty for the head or the whole rule.
   */
  readonly path: readonly number[];
}

/** Every problem of a rule; if literals are malformed, safety is not checked. */
export function ruleProblems(rule: Rule): RuleProblem[] {
  const problems = bodyShape(rule.body, []);
  const { predicate } = rule.head;
  if (isBuiltinName(predicate))
    problems.unshift(malformed(`${predicate} is the name of a built-in and cannot be concluded`, []));
  if (problems.length > 0) return problems;
  const head = rule.head.args.includes(wildcard)
    ? [
        unsafe(
          wildcard,
          [],
          '?_ binds nothing and cannot stand in a head: name the variable and bind it in the body',
        ),
      ]
    : [];
  const plan = planRule(rule);
  const unbound = unboundProblems(rule.body, plan, []);
  const blamed = new Set([...resultsOfStuck(rule.body, plan), ...unbound.map((problem) => problem.variable)]);
  for (const variable of new Set(rule.head.args.filter(isNamedVariable)))
    if (!plan.bound.has(variable) && !blamed.has(variable))
      head.push(unsafe(variable, [], `nothing binds ${variable} of the head: ${howToBind}`));
  return [...head, ...wildcardProblems(rule.body, []), ...unbound];
}

/** Every problem of a question that is a body. */
export function bodyProblems(body: readonly Literal[]): RuleProblem[] {
  const [first] = body;
  // An atom binds all its variables, and most questions are one atom.
  if (body.length === 1 && first !== undefined && isPositiveAtom(first)) return [];
  const problems = bodyShape(body, []);
  if (problems.length > 0) return problems;
  return [...wildcardProblems(body, []), ...unboundProblems(body, planBody(body, new Set(), new Set()), [])];
}

/**
 * Refuses a rule: 400 for a malformed built-in, 422 with the variable if it is unsafe. `place` says where the
 * rule is in the request, and ends with a full stop.
 */
export function checkRule(rule: Rule, place = ''): void {
  refuse(ruleProblems(rule), place, 'the rule is unsafe');
}

/** Refuses a question that is a body, like `checkRule`. */
export function checkBody(body: readonly Literal[]): void {
  refuse(bodyProblems(body), '', 'the question is unsafe');
}

/** Refuses the body of a constraint, like `checkRule`. A constraint concludes nothing, so it fits all rules. */
export function checkConstraint(body: readonly Literal[], place = ''): void {
  refuse(bodyProblems(body), place, 'the constraint is unsafe');
}

/** At most this many problems are reported. */
const maxProblemsShown = 20;

function refuse(all: readonly RuleProblem[], place: string, title: string): void {
  const problems = all.slice(0, maxProblemsShown);
  const [first] = problems;
  if (first === undefined) return;
  const errors = problems.map(({ path, message, kind }) => ({
    path:
      path.length === 0 && kind === 'unsafe'
        ? `${place}head`
        : place +
          ['body', ...path.flatMap((index, depth) => (depth === 0 ? [index] : ['body', index]))].join('.'),
    message,
  }));
  if (first.kind === 'malformed')
    throw new EngineError('ValidationException', `${errors[0]?.path}: ${first.message}`, { errors });
  const variables = [...new Set(problems.map((problem) => problem.variable))];
  const detail = problems.map((problem) => problem.message).join('; ');
  throw new EngineError('RuleException', `${title}: ${detail}`, { errors, variables });
}

const howToBind = 'mention it in an atom of the body that is not under not';

/** The beginning of a text that is too long for a message. */
function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 120).replace(/[\ud800-\udbff]$/, '')}…`;
}

function malformed(message: string, path: readonly number[]): RuleProblem {
  return { kind: 'malformed', message, variable: null, path };
}

function unsafe(variable: string, path: readonly number[], message: string): RuleProblem {
  return { kind: 'unsafe', message, variable, path };
}

function bodyShape(body: readonly Literal[], path: readonly number[]): RuleProblem[] {
  if (body.length === 0) return [malformed('a body has at least one literal', path)];
  if (body.length > maxBodyLiterals)
    return [malformed(`a body has at most ${maxBodyLiterals} literals`, path)];
  return body.flatMap((literal, index) => {
    const place = [...path, index];
    if (isAggregate(literal)) return aggregateShape(literal, place);
    return isBuiltin(literal) ? builtinShape(literal, place) : [];
  });
}

function builtinShape(literal: AtomLiteral, path: readonly number[]): RuleProblem[] {
  const { predicate, args } = literal;
  const arity = isComparison(literal) ? 2 : 3;
  if (args.length !== arity) {
    const meaning = arity === 2 ? 'left and right' : 'left, right and result';
    return [malformed(`${predicate} takes ${arity} arguments (${meaning}), not ${args.length}`, path)];
  }
  if (literal.naf || literal.negated)
    return [malformed(`${predicate} cannot be negated: write the opposite comparison`, path)];
  return [];
}

function aggregateShape(literal: AggregateLiteral, path: readonly number[]): RuleProblem[] {
  if (path.length > maxAggregateDepth)
    return [malformed(`aggregates stand at most ${maxAggregateDepth} deep in one another`, path)];
  if (literal.over.length === 0 || !literal.over.every(isVariable))
    return [
      malformed('one or more variables, and nothing else, stand before the colon of an aggregate', path),
    ];
  return bodyShape(literal.body, path);
}

/**
 * Every `?_` where it is not allowed: in built-ins, and as the result or before the colon of an aggregate.
 */
function wildcardProblems(body: readonly Literal[], path: readonly number[]): RuleProblem[] {
  return body.flatMap((literal, index) => {
    const place = [...path, index];
    const inner = isAggregate(literal) ? wildcardProblems(literal.body, place) : [];
    const terms = isAggregate(literal)
      ? [literal.result, ...literal.over]
      : isBuiltin(literal)
        ? literal.args
        : [];
    if (!terms.includes(wildcard)) return inner;
    const message = `?_ binds nothing and stands in atoms only, not in ${shorten(renderLiteral(literal))}`;
    return [unsafe(wildcard, place, message), ...inner];
  });
}

/** The variables that stuck literals would bind: those literals are to blame. */
function resultsOfStuck(body: readonly Literal[], plan: BodyPlan): Set<string> {
  return new Set(plan.stuck.flatMap(({ index, shared }) => resultsOf(body[index] as Literal, shared)));
}

/** The variables that a literal can bind beside its inputs. */
function resultsOf(literal: Literal, shared: readonly string[]): string[] {
  if (isAggregate(literal)) return shared.includes(literal.result) ? [] : [literal.result];
  if (isArithmetic(literal))
    return literal.args.slice(2).filter((term) => !literal.args.slice(0, 2).includes(term));
  if (isComparison(literal) && literal.predicate === '=') return literal.args;
  return [];
}

/** The variables that keep literals of a body, including those in braces, from being evaluated. */
function unboundProblems(body: readonly Literal[], plan: BodyPlan, path: readonly number[]): RuleProblem[] {
  const problems = unboundAtLevel(body, plan, path);
  for (const { index, inner } of [...plan.steps, ...plan.stuck]) {
    const literal = body[index] as Literal;
    if (isAggregate(literal) && inner !== null)
      problems.push(...unboundInBraces(literal, inner, [...path, index]));
  }
  return problems;
}

/** In a chain (`?y = ?x + 1, ?z = ?y + 1`) only the first variable is blamed, in a cycle all of them. */
function unboundAtLevel(body: readonly Literal[], plan: BodyPlan, path: readonly number[]): RuleProblem[] {
  const problems: RuleProblem[] = [];
  const named = new Set<string>();
  const results = resultsOfStuck(body, plan);
  function blame(onlyRoots: boolean): void {
    for (const { index, shared } of plan.stuck) {
      const literal = body[index] as Literal;
      const text = shorten(renderLiteral(literal));
      for (const variable of inputsOf(literal, shared)) {
        if (plan.bound.has(variable) || named.has(variable) || variable === wildcard) continue;
        if (onlyRoots && results.has(variable)) continue;
        named.add(variable);
        const message = `nothing binds ${variable} of ${text}: ${howToBind}`;
        problems.push(unsafe(variable, [...path, index], message));
      }
    }
  }
  blame(true);
  if (named.size === 0) blame(false);
  return problems;
}

function unboundInBraces(literal: AggregateLiteral, plan: BodyPlan, path: readonly number[]): RuleProblem[] {
  const problems = unboundProblems(literal.body, plan, path);
  const blamed = new Set([
    ...resultsOfStuck(literal.body, plan),
    ...problems.map((problem) => problem.variable),
  ]);
  for (const variable of new Set(literal.over.filter(isNamedVariable))) {
    if (plan.bound.has(variable) || blamed.has(variable)) continue;
    const text = shorten(renderLiteral(literal));
    const message = `nothing binds ${variable} in the braces of ${text}: mention it in an atom there`;
    problems.push(unsafe(variable, path, message));
  }
  return problems;
}

/** The variables that occur only once in a rule, except `?_`: often a typo. */
export function singletonVariables(rule: Rule): string[] {
  const counts = new Map<string, number>();
  function count(term: string): void {
    if (isNamedVariable(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  function countLiteral(literal: Literal): void {
    if (isAggregate(literal)) {
      count(literal.result);
      literal.over.forEach(count);
      literal.body.forEach(countLiteral);
    } else literal.args.forEach(count);
  }
  rule.head.args.forEach(count);
  rule.body.forEach(countLiteral);
  return [...counts].filter(([, occurrences]) => occurrences === 1).map(([variable]) => variable);
}
