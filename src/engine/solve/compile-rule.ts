import type { AtomLiteral, Literal } from '../contract/language.ts';
import { isVariable } from '../contract/language.ts';
import type { ScopeChoice } from '../facts/fact-store.ts';
import type { StoredRelation } from '../facts/stored-relation.ts';
import { wildcard } from '../logic/terms.ts';
import type { Derived, WorkList } from './derived.ts';
import { type Assignment, cheapest, type Estimate } from './join-order.ts';
import {
  deltaStep,
  derivedStep,
  type Guard,
  Machine,
  put,
  type Shape,
  type Step,
  storedStep,
  type Tally,
  type Window,
} from './machine.ts';
import type { Reader } from './reader.ts';

/**
 * One rule of an adorned program to join machines.
 *
 * The rule is `head :- demand, atoms, filters`: the demand says for which bound arguments the head is wanted, and
 * the atoms come in the order in which bindings are passed on. There is one machine that starts at the demand, and
 * one for each atom over a derived relation; together they meet every combination of rows exactly once. Whatever
 * order a machine joins in, an atom is demanded only after all that stands before it in the passing order was joined.
 */
export interface StoredSource {
  readonly kind: 'stored';
  readonly find: (reader: Reader) => StoredRelation | null;
  readonly view: ScopeChoice;
}

export interface DerivedSource {
  readonly kind: 'derived';
  readonly rows: Derived;
  /** Where the atom is demanded, with the positions of its arguments that are bound by then. */
  readonly demand: Derived;
  readonly boundPositions: readonly number[];
}

export interface BodyAtom {
  readonly literal: AtomLiteral;
  readonly source: StoredSource | DerivedSource;
}

export interface AdornedRule {
  readonly target: Derived;
  readonly headTerms: readonly string[];
  readonly rise: number;
  readonly tally: Tally | null;
  readonly demand: Derived;
  readonly demandTerms: readonly string[];
  /** In the order in which bindings are passed on. */
  readonly atoms: readonly BodyAtom[];
  /** Comparisons, in the order of the body. */
  readonly filters: readonly AtomLiteral[];
  readonly assignments: ReadonlyMap<Literal, Assignment>;
}

export interface CompilerContext {
  readonly work: WorkList;
  readonly estimate: Estimate;
  /** Id of a constant of the rule. */
  readonly constant: (text: string) => number;
  readonly compare: (operator: string, left: number, right: number) => boolean;
}

/** Makes the machines of the rule and lets the relations that start them know. Returns how to take them away. */
export function compileRule(rule: AdornedRule, context: CompilerContext): () => void {
  const registers = new Registers(rule, context.constant);
  const made: { derived: Derived; machine: Machine }[] = [
    { derived: rule.demand, machine: new MachineBuilder(rule, context, registers).startingAtDemand() },
  ];
  for (const [at, atom] of rule.atoms.entries()) {
    if (atom.source.kind !== 'derived') continue;
    const derived = atom.source.rows;
    made.push({ derived, machine: new MachineBuilder(rule, context, registers).startingAt(at, derived) });
  }
  for (const { derived, machine } of made) derived.consumers.push(machine);
  return () => {
    for (const { derived, machine } of made) derived.consumers.splice(derived.consumers.indexOf(machine), 1);
  };
}

/**
 * A machine that finds every instance of the rule for the heads in its demand, among what is derived already: it
 * demands nothing, and joins in whatever order is cheapest with the whole head bound.
 */
export function compileExplainer(rule: AdornedRule, context: CompilerContext): Machine {
  return new MachineBuilder(rule, context, new Registers(rule, context.constant)).explaining();
}

/** A register for every variable and constant of a rule. */
class Registers {
  readonly #of = new Map<string, number>();
  readonly initial: Int32Array;

  constructor(rule: AdornedRule, constant: (text: string) => number) {
    const values: number[] = [];
    const note = (term: string): void => {
      if (term === wildcard || this.#of.has(term)) return;
      this.#of.set(term, values.length);
      values.push(isVariable(term) ? 0 : constant(term));
    };
    for (const term of rule.demandTerms) note(term);
    for (const atom of rule.atoms) for (const term of atom.literal.args) note(term);
    for (const filter of rule.filters) for (const term of filter.args) note(term);
    for (const term of rule.headTerms) note(term);
    this.initial = Int32Array.from(values);
  }

  of(term: string): number {
    return this.#of.get(term) as number;
  }
}

class MachineBuilder {
  readonly #rule: AdornedRule;
  readonly #context: CompilerContext;
  readonly #registers: Registers;
  readonly #values: Int32Array;
  readonly #bound = new Set<string>();
  readonly #steps: Step[] = [];
  #filters: AtomLiteral[];

  constructor(rule: AdornedRule, context: CompilerContext, registers: Registers) {
    this.#rule = rule;
    this.#context = context;
    this.#registers = registers;
    this.#values = registers.initial.slice();
    this.#filters = [...rule.filters];
  }

  startingAtDemand(): Machine {
    const { demand, demandTerms, atoms } = this.#rule;
    this.#push(demandTerms, (shape) => deltaStep(demand, shape));
    for (const atom of atoms) this.#join(atom, 'done');
    return this.#machine();
  }

  startingAt(start: number, delta: Derived): Machine {
    const { atoms, demandTerms } = this.#rule;
    this.#push((atoms[start] as BodyAtom).literal.args, (shape) => deltaStep(delta, shape));
    this.#joinCheapestFirst(atoms.slice(0, start), demandTerms.length > 0, delta);
    for (const atom of atoms.slice(start + 1)) this.#join(atom, windowOf(atom, delta, 'before'));
    return this.#machine(demandTerms.length === 0 ? this.#rule.demand : null);
  }

  explaining(): Machine {
    const { demand, demandTerms, atoms } = this.#rule;
    this.#push(demandTerms, (shape) => deltaStep(demand, shape));
    this.#joinCheapestFirst(atoms, false, demand);
    return this.#machine();
  }

  /** Joins the atoms, and the demand where asked, cheapest first. */
  #joinCheapestFirst(atoms: readonly BodyAtom[], withDemand: boolean, delta: Derived): void {
    const { demand, demandTerms } = this.#rule;
    const wanted: AtomLiteral = { predicate: '', args: [...demandTerms], negated: false, naf: false };
    const bySource = new Map<AtomLiteral, BodyAtom>(atoms.map((atom) => [atom.literal, atom]));
    const open: AtomLiteral[] = atoms.map((atom) => atom.literal);
    if (withDemand) open.push(wanted);
    while (open.length > 0) {
      const next = cheapest(open, this.#bound, (literal, bound) =>
        literal === wanted ? demandCost(demandTerms, bound) : this.#context.estimate(literal, bound),
      ) as AtomLiteral;
      open.splice(open.indexOf(next), 1);
      const atom = bySource.get(next);
      if (atom === undefined) this.#push(demandTerms, (shape) => derivedStep(demand, shape, 'done'));
      else this.#lookUp(atom, windowOf(atom, delta, 'through'));
    }
  }

  /** Demands the atom where it is derived, then joins it. */
  #join(atom: BodyAtom, window: Window): void {
    if (atom.source.kind === 'derived') this.#demand(atom.literal, atom.source);
    this.#lookUp(atom, window);
  }

  #lookUp(atom: BodyAtom, window: Window): void {
    const source = atom.source;
    this.#push(atom.literal.args, (shape) =>
      source.kind === 'stored'
        ? storedStep(source.find, source.view, shape)
        : derivedStep(source.rows, shape, window),
    );
  }

  #demand(literal: AtomLiteral, source: DerivedSource): void {
    const { demand, demandTerms } = this.#rule;
    const terms = source.boundPositions.map((position) => literal.args[position] as string);
    // Demanding what is the rule's own demand is never news.
    if (source.demand === demand && terms.every((term, index) => term === demandTerms[index])) return;
    const registers = terms.map((term) => this.#registers.of(term));
    const values = this.#values;
    const tuple = new Int32Array(registers.length);
    const work = this.#context.work;
    this.#guard(() => {
      for (let index = 0; index < registers.length; index++) {
        const id = values[registers[index] as number] as number;
        if (id < 0) return true;
        tuple[index] = id;
      }
      put(source.demand, tuple, 0, work);
      return true;
    });
  }

  #push(terms: readonly string[], make: (shape: Shape) => Step): void {
    this.#steps.push(make(this.#shape(terms)));
    this.#settleFilters();
  }

  #shape(terms: readonly string[]): Shape {
    const shape = {
      keyPositions: [] as number[],
      keyRegisters: [] as number[],
      bindPositions: [] as number[],
      bindRegisters: [] as number[],
      samePositions: [] as number[],
      sameRegisters: [] as number[],
    };
    const here = new Set<string>();
    for (const [position, term] of terms.entries()) {
      if (term === wildcard) continue;
      const register = this.#registers.of(term);
      if (!isVariable(term) || this.#bound.has(term)) {
        shape.keyPositions.push(position);
        shape.keyRegisters.push(register);
      } else if (here.has(term)) {
        shape.samePositions.push(position);
        shape.sameRegisters.push(register);
      } else {
        here.add(term);
        shape.bindPositions.push(position);
        shape.bindRegisters.push(register);
      }
    }
    for (const term of here) this.#bound.add(term);
    return shape;
  }

  #guard(guard: Guard): void {
    const step = this.#steps[this.#steps.length - 1] as Step;
    step.guards = [...step.guards, guard];
  }

  #isBound(term: string): boolean {
    return !isVariable(term) || this.#bound.has(term);
  }

  /** Attaches every filter whose variables are bound by now. */
  #settleFilters(): void {
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      this.#filters = this.#filters.filter((filter) => {
        if (!this.#settle(filter)) return true;
        isMoving = true;
        return false;
      });
    }
  }

  #settle(filter: AtomLiteral): boolean {
    const values = this.#values;
    const assignment = this.#rule.assignments.get(filter);
    if (assignment !== undefined) {
      if (!this.#isBound(assignment.from)) return false;
      const from = this.#registers.of(assignment.from);
      const target = this.#registers.of(assignment.target);
      if (this.#bound.has(assignment.target)) this.#guard(() => values[from] === values[target]);
      else {
        this.#bound.add(assignment.target);
        this.#guard(() => {
          values[target] = values[from] as number;
          return true;
        });
      }
      return true;
    }
    const [leftTerm, rightTerm] = filter.args as [string, string];
    if (!this.#isBound(leftTerm) || !this.#isBound(rightTerm)) return false;
    const left = this.#registers.of(leftTerm);
    const right = this.#registers.of(rightTerm);
    const { compare } = this.#context;
    const operator = filter.predicate;
    this.#guard(() => compare(operator, values[left] as number, values[right] as number));
    return true;
  }

  #machine(gate: Derived | null = null): Machine {
    const { target, headTerms, rise, tally } = this.#rule;
    const registers = headTerms.map((term) => this.#registers.of(term));
    return new Machine(
      this.#steps,
      { target, registers, rise, tally },
      this.#values,
      this.#context.work,
      gate,
    );
  }
}

function windowOf(atom: BodyAtom, delta: Derived, own: Window): Window {
  return atom.source.kind === 'derived' && atom.source.rows === delta ? own : 'done';
}

function demandCost(terms: readonly string[], bound: ReadonlySet<string>): number {
  const open = terms.filter((term) => isVariable(term) && !bound.has(term)).length;
  return open === 0 ? 0 : open < terms.length ? 100 : 10_000;
}
