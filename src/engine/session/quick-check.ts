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
import type { FactStore, FactToStore } from '../store/fact-store.ts';
import type { ReadMoment } from '../state/scope-join.ts';
import { viewOfScope } from './constraint-states.ts';

/**
 * How the rest of a body is matched once one of its atoms is the new fact. Which variables have a value at which atom is known
 * beforehand, so a search moves texts between registers and allocates next to nothing.
 */
interface QuickPlan {
  readonly scope: string | null;
  readonly atom: QuickAtom;
  /** The other positive atoms, each with as many values known as possible. */
  readonly joined: readonly QuickAtom[];
  /** What is tested then, in order. */
  readonly tested: readonly QuickTest[];
  /** The constants of the body, and the values of its variables in the one search that is under way. */
  readonly registers: string[];
}

/** An atom of a body. */
interface QuickAtom {
  readonly literal: AtomLiteral;
  readonly relation: string;
  /** The register of each term; -1: it may be anything. */
  readonly terms: readonly number[];
  /** True for each term that has a value before the atom is matched. */
  readonly isKnown: readonly boolean[];
  /** True for each term that must equal the value of its register: it is known, or occurred to the left. */
  readonly isEqual: readonly boolean[];
  readonly isGround: boolean;
}

/** An atom under `not`, a comparison or arithmetic. */
interface QuickTest extends QuickAtom {
  readonly kind: 'absence' | 'comparison' | 'arithmetic';
  /** The register that it gives a value; -1: it only tests. */
  readonly binds: number;
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

/** The relation of a fact to be stored. */
export function relationOfFact({ predicate, args, truthVal }: FactToStore): string {
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
  const registers = new Registers();
  const atom = registers.atom(body[index] as AtomLiteral);
  registers.bind(atom.literal.args);
  const known = ({ args }: AtomLiteral): number => args.filter((term) => registers.isKnown(term)).length;
  const left = body.filter((literal, at): literal is AtomLiteral => at !== index && isPositiveAtom(literal));
  const joined: QuickAtom[] = [];
  while (left.length > 0) {
    const best = left.reduce((one, other) => (known(other) > known(one) ? other : one));
    left.splice(left.indexOf(best), 1);
    joined.push(registers.atom(best));
    registers.bind(best.args);
  }
  const tested = steps.flatMap(({ index: at, binds }): QuickTest[] => {
    const literal = body[at] as AtomLiteral;
    if (isPositiveAtom(literal)) return [];
    const kind = isComparison(literal) ? 'comparison' : isArithmetic(literal) ? 'arithmetic' : 'absence';
    const test = {
      ...registers.atom(literal),
      kind,
      binds: binds === null ? -1 : registers.of(binds),
    } as const;
    if (binds !== null) registers.bind([binds]);
    return [test];
  });
  return { scope, atom, joined, tested, registers: registers.texts };
}

/** Gives each constant and variable of a body a register, and notes which have a value so far. */
class Registers {
  /** The constants; '' for variables. */
  readonly texts: string[] = [];
  readonly #ofTerms = new Map<string, number>();
  readonly #bound = new Set<string>();

  of(term: string): number {
    let register = this.#ofTerms.get(term);
    if (register === undefined) {
      register = this.texts.push(isNamedVariable(term) ? '' : term) - 1;
      this.#ofTerms.set(term, register);
    }
    return register;
  }

  isKnown(term: string): boolean {
    return isNamedVariable(term) ? this.#bound.has(term) : term !== wildcard;
  }

  bind(terms: readonly string[]): void {
    for (const term of terms) if (isNamedVariable(term)) this.#bound.add(term);
  }

  atom(literal: AtomLiteral): QuickAtom {
    const { args } = literal;
    const isKnown = args.map((term) => this.isKnown(term));
    return {
      literal,
      relation: relationOf(literal),
      terms: args.map((term) => (term === wildcard ? -1 : this.of(term))),
      isKnown,
      isEqual: args.map((term, at) => isKnown[at] === true || args.indexOf(term) < at),
      isGround: isKnown.every(Boolean),
    };
  }
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
  const relation = relationOfFact(fact);
  const found = plans.get(relation);
  if (found === undefined) return true;
  if (found === null) return false;
  const search = new QuickSearch(fact, relation, before, facts, moment);
  try {
    return found.every((plan) => (plan.scope !== null && plan.scope !== scope) || !search.finds(plan));
  } catch (error) {
    if (error instanceof TooMany) return false;
    throw error;
  }
}

/** Looks for an instance of a body in which one atom is the new fact, by nested loops. */
class QuickSearch {
  readonly #fact: FactToStore;
  readonly #relation: string;
  readonly #before: FactsBefore;
  readonly #facts: FactStore;
  readonly #moment: ReadMoment;
  #looked = 0;

  constructor(
    fact: FactToStore,
    relation: string,
    before: FactsBefore,
    facts: FactStore,
    moment: ReadMoment,
  ) {
    this.#fact = fact;
    this.#relation = relation;
    this.#before = before;
    this.#facts = facts;
    this.#moment = moment;
  }

  finds(plan: QuickPlan): boolean {
    return unifies(plan.atom, plan.registers, this.#fact.args) && this.#join(plan, 0);
  }

  #join(plan: QuickPlan, at: number): boolean {
    const atom = plan.joined[at];
    if (atom === undefined) return this.#passes(plan, 0);
    const { registers } = plan;
    if (atom.isGround) return this.#contains(atom, registers) && this.#join(plan, at + 1);
    for (const args of this.#matching(atom, registers))
      if (unifies(atom, registers, args) && this.#join(plan, at + 1)) return true;
    return false;
  }

  #passes({ tested, registers }: QuickPlan, from: number): boolean {
    for (let at = from; at < tested.length; at++) {
      const test = tested[at] as QuickTest;
      const { kind, literal, terms, binds } = test;
      if (kind === 'absence') {
        if (this.#contains(test, registers)) return false;
        continue;
      }
      const [left = -1, right = -1, result = -1] = terms;
      const [one, other] = [registers[left] as string, registers[right] as string];
      if (kind === 'comparison') {
        if (binds >= 0) registers[binds] = binds === left ? other : one;
        else if (!holdsComparison(literal.predicate, one, other)) return false;
      } else {
        const value = calculate(literal.predicate, one, other);
        if (value === null) return false;
        if (binds >= 0) registers[binds] = value;
        else if (!equalConstants(registers[result] as string, value)) return false;
      }
    }
    return true;
  }

  /** True if some fact matches the atom, stored or new. */
  #contains(atom: QuickAtom, registers: string[]): boolean {
    if (!atom.isGround) {
      for (const args of this.#matching(atom, registers)) if (unifies(atom, registers, args)) return true;
      return false;
    }
    const { relation } = atom;
    if (relation === this.#relation && unifies(atom, registers, this.#fact.args)) return true;
    for (const fact of this.#before.of(relation)) {
      this.#look();
      if (fact.scope === this.#fact.scope && unifies(atom, registers, fact.args)) return true;
    }
    return this.#isStored(atom, registers);
  }

  #isStored({ literal, terms }: QuickAtom, registers: readonly string[]): boolean {
    const facts = this.#facts;
    const relation = facts.relation(literal.predicate, terms.length, literal.negated);
    const scope = facts.scopeNumber(this.#fact.scope);
    if (relation === null || scope < 0) return false;
    const identity = new Int32Array(terms.length + 1);
    for (let position = 0; position < terms.length; position++) {
      const id = facts.dictionary.find(registers[terms[position] as number] as string);
      if (id < 0) return false;
      identity[position] = id;
    }
    identity[terms.length] = scope;
    const { generation, time } = this.#moment;
    for (let row = relation.find(identity); row >= 0; row = relation.olderThan(row)) {
      // A write that is being applied has another version of the fact.
      if (relation.bornIn(row) > generation) throw new TooMany();
      if (relation.isVisible(row, generation, time)) return true;
      this.#look();
    }
    return false;
  }

  /** The arguments of the stored facts that can match, and of the new ones. */
  *#matching(atom: QuickAtom, registers: readonly string[]): Generator<readonly string[]> {
    const { literal, relation, terms, isKnown } = atom;
    const { predicate, negated } = literal;
    // Registers of what is not known are overwritten between two facts.
    const args = literal.args.map((term, at) =>
      isKnown[at] === true ? (registers[terms[at] as number] as string) : term,
    );
    const { generation, time } = this.#moment;
    const wanted = { predicate, args, truthVal: !negated, scope: viewOfScope(this.#fact.scope) };
    for (const found of this.#facts.match(wanted, generation, time)) {
      this.#look();
      if (found.relation.isVisible(found.row, generation, time)) yield this.#facts.argsOf(found);
    }
    if (relation === this.#relation) yield this.#fact.args;
    for (const fact of this.#before.of(relation)) {
      this.#look();
      if (fact.scope === this.#fact.scope) yield fact.args;
    }
  }

  #look(): void {
    if (++this.#looked > maxLooked) throw new TooMany();
  }
}

/** Whether the arguments match the atom; gives its variables their values. */
function unifies({ terms, isEqual }: QuickAtom, registers: string[], args: readonly string[]): boolean {
  for (let at = 0; at < terms.length; at++) {
    const register = terms[at] as number;
    if (register < 0) continue;
    if (isEqual[at] !== true) registers[register] = args[at] as string;
    else if (registers[register] !== args[at]) return false;
  }
  return true;
}
