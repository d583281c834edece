import type { AtomLiteral, Literal } from '../contract/language.ts';
import { calculate } from '../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../language/numbers.ts';
import { type BodyStep, planBody } from '../language/order.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  relationKey,
  relationOf,
  wildcard,
} from '../language/terms.ts';
import { type Program, relationsRead } from '../datalog/model/program.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { FactStore, FactToStore, ScopeChoice } from '../store/fact-store.ts';
import type { ReadMoment } from '../state/scope-join.ts';
import { viewOfScope } from './constraint-states.ts';

/** How the rest of a body is matched once one of its atoms is the new fact. */
interface QuickPlan {
  readonly scope: string | null;
  readonly atom: AtomLiteral;
  /** The other positive atoms, each with as many values known as possible. */
  readonly joined: readonly QuickAtom[];
  /** What is tested then, in order. */
  readonly tested: readonly (QuickAtom & { readonly step: BodyStep })[];
}

/** An atom, comparison or arithmetic of a body, and the relation of an atom. */
interface QuickAtom {
  readonly literal: AtomLiteral;
  readonly relation: string;
}

/** Facts that are to be stored before one that is judged, by relation. */
export class FactsBefore {
  readonly #ofRelations = new Map<string, Set<FactToStore>>();

  /** Call the result once the fact is stored, or will not be. */
  add(fact: FactToStore): () => void {
    const relation = relationOfFact(fact);
    const facts = this.#ofRelations.get(relation) ?? new Set();
    this.#ofRelations.set(relation, facts.add(fact));
    return () => {
      facts.delete(fact);
      if (facts.size === 0 && this.#ofRelations.get(relation) === facts) this.#ofRelations.delete(relation);
    };
  }

  of(relation: string): Iterable<FactToStore> {
    return this.#ofRelations.get(relation) ?? none;
  }
}

const none: readonly FactToStore[] = [];

function relationOfFact({ predicate, args, truthVal }: FactToStore): string {
  return relationKey(predicate, args.length, !truthVal);
}

/** Stored facts that are looked at before the full check is made instead. */
const maxLooked = 256;
/** Thrown when that many were looked at. */
class TooMany extends Error {}

/** Plans by the relation of the new fact; null for a relation whose facts need the full check. */
export type QuickPlans = ReadonlyMap<string, readonly QuickPlan[] | null>;

/**
 * How to see quickly that one new fact violates nothing: by look-ups in stored facts, without tables. For constraints over
 * stored relations alone, without aggregates.
 */
export function quickPlans(constraints: readonly ConstraintRecord[], program: Program): QuickPlans {
  const plans = new Map<string, QuickPlan[] | null>();
  for (const { body, scope } of constraints) {
    const read = new Set(relationsRead(body));
    const isQuick = !body.some(isAggregate) && program.conclusionsAmong(read).length === 0;
    if (!isQuick) {
      for (const relation of program.below(read)) plans.set(relation, null);
      continue;
    }
    const steps = planBody(body, new Set(), new Set()).steps;
    for (const relation of read) if (!plans.has(relation)) plans.set(relation, []);
    for (const [index, literal] of body.entries())
      if (isPositiveAtom(literal)) plans.get(relationOf(literal))?.push(planOf(body, index, scope, steps));
  }
  return plans;
}

function planOf(
  body: readonly Literal[],
  index: number,
  scope: string | null,
  steps: readonly BodyStep[],
): QuickPlan {
  const atom = body[index] as AtomLiteral;
  const bound = new Set(atom.args.filter(isNamedVariable));
  const known = ({ args }: AtomLiteral): number =>
    args.filter((term) => (isNamedVariable(term) ? bound.has(term) : term !== wildcard)).length;
  const left = body.filter((literal, at): literal is AtomLiteral => at !== index && isPositiveAtom(literal));
  const joined: QuickAtom[] = [];
  while (left.length > 0) {
    const best = left.reduce((one, other) => (known(other) > known(one) ? other : one));
    left.splice(left.indexOf(best), 1);
    joined.push({ literal: best, relation: relationOf(best) });
    for (const term of best.args) if (isNamedVariable(term)) bound.add(term);
  }
  const tested = steps.flatMap((step) => {
    const literal = body[step.index] as AtomLiteral;
    return isPositiveAtom(literal) ? [] : [{ literal, relation: relationOf(literal), step }];
  });
  return { scope, atom, joined, tested };
}

/**
 * True if it is certain that no constraint of the plans has a new violation once the fact is stored after those `before`,
 * which are new, too.
 */
export function isSurelyHarmless(
  plans: QuickPlans,
  fact: FactToStore,
  before: FactsBefore,
  facts: FactStore,
  moment: ReadMoment,
): boolean {
  const { scope } = fact;
  const found = plans.get(relationOfFact(fact));
  if (found === undefined) return true;
  if (found === null) return false;
  const search = new QuickSearch(fact, before, facts, moment);
  try {
    return found.every((plan) => (plan.scope !== null && plan.scope !== scope) || !search.finds(plan));
  } catch (error) {
    if (error instanceof TooMany) return false;
    throw error;
  }
}

type Bindings = ReadonlyMap<string, string>;
const noBindings: Bindings = new Map();

/** Looks for an instance of a body in which one atom is the new fact, by nested loops. */
class QuickSearch {
  readonly #fact: FactToStore;
  readonly #relation: string;
  readonly #before: FactsBefore;
  readonly #facts: FactStore;
  readonly #view: ScopeChoice;
  readonly #moment: ReadMoment;
  #looked = 0;

  constructor(fact: FactToStore, before: FactsBefore, facts: FactStore, moment: ReadMoment) {
    this.#fact = fact;
    this.#relation = relationOfFact(fact);
    this.#before = before;
    this.#facts = facts;
    this.#view = viewOfScope(fact.scope);
    this.#moment = moment;
  }

  finds(plan: QuickPlan): boolean {
    const bindings = unified(plan.atom.args, this.#fact.args, noBindings);
    return bindings !== null && this.#join(plan, 0, bindings);
  }

  #join(plan: QuickPlan, at: number, bindings: Bindings): boolean {
    const atom = plan.joined[at];
    if (atom === undefined) return this.#passes(plan, bindings);
    for (const args of this.#matching(atom, bindings)) {
      const extended = unified(atom.literal.args, args, bindings);
      if (extended !== null && this.#join(plan, at + 1, extended)) return true;
    }
    return false;
  }

  #passes({ tested }: QuickPlan, given: Bindings): boolean {
    const bindings = new Map(given);
    const valueOf = (term: string): string => bindings.get(term) ?? term;
    for (const atom of tested) {
      const { literal, step } = atom;
      const [left = '', right = '', result = ''] = literal.args;
      if (isComparison(literal)) {
        if (step.binds !== null) bindings.set(step.binds, valueOf(step.binds === left ? right : left));
        else if (!holdsComparison(literal.predicate, valueOf(left), valueOf(right))) return false;
      } else if (isArithmetic(literal)) {
        const value = calculate(literal.predicate, valueOf(left), valueOf(right));
        if (value === null) return false;
        if (step.binds !== null) bindings.set(step.binds, value);
        else if (!equalConstants(valueOf(result), value)) return false;
      } else for (const _ of this.#matching(atom, bindings)) return false;
    }
    return true;
  }

  /** The arguments of the stored facts that can match, and of the new ones. */
  *#matching({ literal, relation }: QuickAtom, bindings: Bindings): Generator<readonly string[]> {
    const { predicate, args, negated } = literal;
    const pattern = args.map((term) => bindings.get(term) ?? term);
    const { generation, time } = this.#moment;
    const wanted = { predicate, args: pattern, truthVal: !negated, scope: this.#view };
    for (const found of this.#facts.match(wanted, generation, time)) {
      if (++this.#looked > maxLooked) throw new TooMany();
      if (found.relation.isVisible(found.row, generation, time)) yield this.#facts.argsOf(found);
    }
    if (relation === this.#relation && unified(pattern, this.#fact.args, noBindings) !== null)
      yield this.#fact.args;
    for (const fact of this.#before.of(relation)) {
      if (++this.#looked > maxLooked) throw new TooMany();
      if (fact.scope === this.#fact.scope && unified(pattern, fact.args, noBindings) !== null)
        yield fact.args;
    }
  }
}

/** The bindings after matching the terms with the constants; null: they do not match. */
function unified(terms: readonly string[], args: readonly string[], bindings: Bindings): Bindings | null {
  const extended = new Map(bindings);
  for (const [at, term] of terms.entries()) {
    if (term === wildcard) continue;
    const value = isNamedVariable(term) ? extended.get(term) : term;
    if (value === undefined) extended.set(term, args[at] as string);
    else if (value !== args[at]) return null;
  }
  return extended;
}
