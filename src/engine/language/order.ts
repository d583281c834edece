/**
 * The order in which the literals of a body can be evaluated, and which literal binds which variable.
 *
 * The meaning of a body does not depend on the order in which it is written: the positive atoms bind first;
 * then, round by round, every literal whose inputs are bound. A variable that only built-ins or aggregates
 * can bind is bound by the first of them, in body order, in the earliest round; all others compare with it.
 * So `?x = 1` compares (numerically) if an atom binds `?x`, and `=` copies text only if nothing else binds
 * that side. An evaluator may run a step earlier, once its inputs are bound, but never with another `binds`.
 */
import { type AtomLiteral, isVariable, type Literal, type Rule } from '../contract/language.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  variablesAtLevel,
  variablesOf,
  variablesOfBraces,
} from './terms.ts';

/** One literal in evaluation order. */
export interface BodyStep {
  /** Index in the body. */
  readonly index: number;
  /**
   * For `=`, arithmetic and aggregates: the variable that this literal binds, or null if it only compares.
   * null for atoms (a positive one binds all its variables) and other comparisons.
   */
  readonly binds: string | null;
  /** For an aggregate: the variables of its braces that are bound outside them. */
  readonly shared: readonly string[];
  /** For an aggregate: the plan of its body, given the shared variables. */
  readonly inner: BodyPlan | null;
}

/**
 * A body in evaluation order. `stuck`: the literals that can never be evaluated, because a variable stays
 * unbound.
 */
export interface BodyPlan {
  readonly steps: readonly BodyStep[];
  readonly bound: ReadonlySet<string>;
  readonly stuck: readonly BodyStep[];
}

function isBound(term: string, bound: ReadonlySet<string>): boolean {
  return !isVariable(term) || bound.has(term);
}

/**
 * The variables that must be bound before a negated atom, a comparison other than `=`, arithmetic or an
 * aggregate.
 */
export function inputsOf(literal: Literal, shared: readonly string[]): string[] {
  if (isAggregate(literal)) return [...shared];
  if (isArithmetic(literal)) return literal.args.slice(0, 2).filter(isVariable);
  if (isComparison(literal)) return literal.args.filter(isVariable);
  return literal.args.filter(isNamedVariable);
}

/**
 * The variable that a literal with bound inputs would bind, null if it would compare, undefined if it cannot
 * run yet.
 */
function bindsNow(
  literal: Literal,
  shared: readonly string[],
  bound: ReadonlySet<string>,
): string | null | undefined {
  if (isComparison(literal) && literal.predicate === '=') return equalityBinds(literal, bound);
  if (!inputsOf(literal, shared).every((variable) => bound.has(variable))) return undefined;
  const result = isAggregate(literal) ? literal.result : isArithmetic(literal) ? literal.args[2] : undefined;
  return result === undefined || isBound(result, bound) ? null : result;
}

function equalityBinds(literal: AtomLiteral, bound: ReadonlySet<string>): string | null | undefined {
  const [left = '', right = ''] = literal.args;
  if (isBound(left, bound)) return isBound(right, bound) ? null : right;
  return isBound(right, bound) ? left : undefined;
}

/**
 * Whether a variable occurs at some level; a function instead of a copied set, since bodies can be large and
 * nested.
 */
type Visible = (variable: string) => boolean;

function pendingStep(literal: Literal, index: number, visible: Visible): BodyStep {
  if (!isAggregate(literal)) return { index, binds: null, shared: [], inner: null };
  const shared = variablesOfBraces(literal).filter(visible);
  const within: Visible = (variable) => literal.over.includes(variable) || visible(variable);
  return { index, binds: null, shared, inner: plan(literal.body, within, shared) };
}

/**
 * Plans a body. `outside`: the variables that occur outside the body (head, enclosing bodies); of those,
 * `bound` have a value when evaluation of the body begins.
 */
export function planBody(
  body: readonly Literal[],
  outside: ReadonlySet<string>,
  boundOutside: ReadonlySet<string>,
): BodyPlan {
  return plan(body, (variable) => outside.has(variable), boundOutside);
}

function plan(body: readonly Literal[], outside: Visible, boundOutside: Iterable<string>): BodyPlan {
  const level = variablesAtLevel(body);
  const visible: Visible = (variable) => level.has(variable) || outside(variable);
  const bound = new Set(boundOutside);
  const steps: BodyStep[] = [];
  let pending: BodyStep[] = [];
  for (const [index, literal] of body.entries()) {
    const step = pendingStep(literal, index, visible);
    if (!isPositiveAtom(literal)) pending.push(step);
    else {
      steps.push(step);
      for (const variable of variablesOf(literal)) bound.add(variable);
    }
  }
  for (;;) {
    const before = new Set(bound);
    const waiting: BodyStep[] = [];
    for (const step of pending) {
      const binds = bindsNow(body[step.index] as Literal, step.shared, before);
      if (binds === undefined) waiting.push(step);
      else if (binds === null || bound.has(binds)) steps.push(step);
      else {
        bound.add(binds);
        steps.push({ ...step, binds });
      }
    }
    if (waiting.length === pending.length) return { steps, bound, stuck: waiting };
    pending = waiting;
  }
}

const plans = new WeakMap<Rule, BodyPlan>();

/**
 * Plans a rule's body: no variable is bound when its evaluation begins, whatever the question. Planned once: a rule
 * never changes.
 */
export function planRule(rule: Rule): BodyPlan {
  let known = plans.get(rule);
  if (known === undefined) {
    known = planBody(rule.body, new Set(rule.head.args.filter(isNamedVariable)), new Set());
    plans.set(rule, known);
  }
  return known;
}

/**
 * A literal of a body that is not joined: it is evaluated as soon as the variables it needs are bound, and
 * may bind one.
 *
 * The atoms of a body are joined in greedy order, by what is bound and how much is expected to match. Which
 * filter binds which variable depends on the whole rule alone (see the top of this file), never on the join
 * order or the question.
 */
export interface Filter {
  readonly literal: Literal;
  /** Variables that must be bound before. */
  readonly needs: readonly string[];
  /** The variable to which the filter gives its value, null if it only tests. */
  readonly binds: string | null;
  /** For an aggregate: the variables of its braces that are bound outside them, and the plan of its body. */
  readonly shared: readonly string[];
  readonly inner: BodyPlan | null;
}
