import { type AtomLiteral, isVariable, type Literal } from '../../contract/language.ts';
import { planBody, planRule } from '../../language/order.ts';
import { isPositiveAtom, relationOf } from '../../language/terms.ts';
import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { Program, ViewRule } from '../model/program.ts';
import { type Overlay, viewKey } from '../model/reader.ts';
import type { Argument, Table } from '../model/table.ts';
import { type BodySpace, type PlannedBody, planStages } from './body-plan.ts';
import { cheaperOrder } from './body-cost.ts';
import { closureShape, type ClosureShape, type StepShape } from './closure-shape.ts';
import { ColumnValues, coversMost, minKeys, positionsToBind } from './generalized-demand.ts';
import { derivedRows, derivedValues } from './derived-rows.ts';
import { boundArguments, filtersOf, Selectivity } from './join-order.ts';
import type { JoinSpace } from './join-plan.ts';
import { type Asked, type FactoredPart, factorLinearRecursion, variablesFor } from './linear-recursion.ts';

/**
 * How a table is derived: by its rules; by its rules semi-naively, if they are recursive; by factored linear
 * recursion; as a bitset closure; from a table that binds fewer arguments.
 */
export type Strategy = 'rules' | 'semi-naive' | 'factored' | 'bitset' | 'generalized';

/** One rule of a table's program, or the stored facts of its relation. */
export interface TablePart {
  /** null for what comes from no rule. */
  readonly rule: ViewRule | null;
  /** The relation to which it adds, and the one whose rows demand it: of the table, or beside it by that name. */
  readonly target: string;
  readonly demand: string;
  readonly headTerms: readonly string[];
  readonly demandTerms: readonly string[];
  /** null: the stored facts of the relation itself, with the variables of `variablesFor`. */
  readonly body: readonly Literal[] | null;
  /** True if its conclusions are those of the rule, rather than of a step of it. */
  readonly concludes: boolean;
}

/** How a table is derived, and the rules of which that consists; `planPart` plans their bodies one by one. */
export interface TablePlan {
  readonly strategy: Strategy;
  /** Why, if there was a choice. */
  readonly reason: string | null;
  readonly parts: readonly TablePart[];
  /** For the strategy `bitset`. */
  readonly shape: ClosureShape | null;
}

/** What identifies a table in its set: the relation in a view, and the bound arguments. */
export function tableKey({
  view,
  relation,
  boundPositions,
}: Pick<Asked, 'view' | 'relation' | 'boundPositions'>): string {
  return `${viewKey(view)}\n${relation}\n${boundPositions.join(',')}`;
}

/** What plans are made from. */
export interface PlannerParts {
  readonly facts: FactStore;
  readonly program: Program;
  readonly overlay: Overlay | null;
  /** True if plans serve proofs by height: every derivation counts, and no recursion is rewritten. */
  readonly withHeights: boolean;
  /** True if an observer sees the rules as written. */
  readonly isObserved: boolean;
  /** True if derived rows are maintained when facts change. */
  readonly isMaintained: boolean;
}

const nothingBound: ReadonlySet<string> = new Set();
// Estimates for derived atoms.
const likelyRowsOfBoundAtom = 100;
const likelyRowsOfFreeAtom = 1_000_000;
/** How many relations the size of a derived atom is followed through, and how many rules of each. */
const maxCopies = 2;
const maxCopyingRules = 8;
/**
 * Asking a derived relation for one key costs about as much as matching this many stored facts, and more if
 * it is recursive.
 */
const costOfKey = 2;
const costOfFixpoint = 4;

/**
 * Decides how tables, bodies and joins are evaluated. Everything that evaluation can do in more than one way
 * is decided here or in the modules beside: `TableSet`, `BodyCompiler` and `MachineBuilder` carry it out, and
 * `plan-tree.ts` prints it. Nothing is derived, and a plan is made only for what is asked for.
 */
export class Planner implements BodySpace, JoinSpace {
  program: Program;
  readonly mayRewrite: boolean;
  readonly isExhaustive: boolean;
  readonly isObserved: boolean;
  readonly isMaintained: boolean;
  readonly #facts: FactStore;
  readonly #overlay: Overlay | null;
  readonly #values = new ColumnValues();
  readonly #selectivity = new Selectivity();
  #keyCosts = new WeakMap<AtomLiteral, { readonly view: ScopeChoice; readonly cost: number }>();

  constructor({ facts, program, overlay, withHeights, isObserved, isMaintained }: PlannerParts) {
    this.isMaintained = isMaintained;
    this.program = program;
    this.mayRewrite = !withHeights && !isObserved;
    this.isExhaustive = withHeights || isObserved;
    this.isObserved = isObserved;
    this.#facts = facts;
    this.#overlay = overlay;
  }

  /** From now on plans for these rules. */
  use(program: Program): void {
    this.program = program;
    this.#keyCosts = new WeakMap();
  }

  /** True if readers see facts that are not stored. */
  get isOverlaid(): boolean {
    return this.#overlay !== null;
  }

  isDerived(view: ScopeChoice, relation: string): boolean {
    return this.program.rulesFor(view, relation).length > 0;
  }

  /** The approximate number of stored facts of the table's relation, in all views. */
  storedFacts({ predicate, negated, boundPositions, freePositions }: Asked): number {
    return this.#sizeOf(predicate, boundPositions.length + freePositions.length, negated);
  }

  /** How the table is derived for the keys in its demand. */
  planTable(table: Asked): TablePlan {
    const rules = this.program.rulesFor(table.view, table.relation);
    const isRecursive = this.program.isRecursive(table.view, table.relation);
    const factored = this.factored(table);
    if (factored !== null)
      return {
        strategy: 'factored',
        reason: 'a linear recursion asked for a key',
        parts: factored.map((part) => ({ ...part, concludes: true })),
        shape: null,
      };
    const shape =
      this.mayRewrite && table.boundPositions.length === 0
        ? closureShape(table, this.program, this.#facts)
        : null;
    if (shape !== null)
      return {
        strategy: 'bitset',
        reason: 'a closure asked for as a whole, unless it proves sparse',
        parts: closureParts(table, shape),
        shape,
      };
    return {
      strategy: isRecursive ? 'semi-naive' : 'rules',
      reason: null,
      parts: ruleParts(table, rules),
      shape: null,
    };
  }

  /** The part that adds the stored facts of the table's relation, if it is derived by its rules. */
  planStored(table: Asked): TablePart {
    return storedPart(table, 'rows');
  }

  /** The body of one part of the table's program. */
  planPart(table: Asked, { rule, body, demandTerms }: TablePart): PlannedBody {
    if (body === null) return storedBody(table);
    const filters = rule === null ? [] : filtersOf(rule.record.rule.body, planRule(rule.record.rule));
    const view = rule?.bodyView ?? table.view;
    const own =
      body === rule?.record.rule.body ? filters : filters.filter((each) => body.includes(each.literal));
    const { isMaintained } = this;
    const asked = { view, literals: body, filters: own, demandTerms, table, isMaintained };
    return { view, literals: body, filters: own, stages: planStages(asked, this) };
  }

  /** The body of a question, which is evaluated once and not maintained. */
  planQuestion(view: ScopeChoice, literals: readonly Literal[]): PlannedBody {
    const filters = filtersOf(literals, planBody(literals, new Set(), new Set()));
    const body = { view, literals, filters, demandTerms: [], table: null, isMaintained: false };
    return { view, literals, filters, stages: planStages(body, this) };
  }

  /** The plan of a table whose closure proved too sparse for rows of bits. */
  planSparse(table: Asked): TablePlan {
    const rules = this.program.rulesFor(table.view, table.relation);
    const reason = 'the closure proved too sparse for rows of bits';
    return { strategy: 'semi-naive', reason, parts: ruleParts(table, rules), shape: null };
  }

  /** The factored program of a table with linear recursion; null if factoring does not apply. */
  factored(table: Asked): FactoredPart[] | null {
    if (!this.mayRewrite) return null;
    return factorLinearRecursion(table, this.program.rulesFor(table.view, table.relation), this.program);
  }

  /**
   * The positions to bind of a recursive relation, whose keys cost a fixpoint each; reconsidered whenever the
   * number of keys has doubled.
   */
  positionsToBind(table: Table): readonly number[] {
    const { boundPositions, view, relation, demand } = table;
    const { count } = demand.rows;
    const isToLook = this.mayRewrite && boundPositions.length > 0 && count >= table.nextLook;
    if (!isToLook || !this.program.isRecursive(view, relation)) return boundPositions;
    table.nextLook = 2 * count;
    return positionsToBind(table, this.#known);
  }

  /** True if the values of `from` certainly cover most values that `asked` can have. */
  coversMost(from: Argument, asked: Argument): boolean {
    return this.mayRewrite && coversMost(from, asked, this.#known);
  }

  get #known(): Parameters<typeof coversMost>[2] {
    return { facts: this.#facts, program: this.program, overlay: this.#overlay, values: this.#values };
  }

  /**
   * The number of rows that an atom is expected to match for one binding of the bound variables, plus the
   * cost of asking for a key of a derived relation. If variables are bound but the atom contains none of
   * them, it is a cross product: all its rows match for every binding.
   */
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number {
    const arity = literal.args.length;
    const count = boundArguments(literal, bound);
    const keyCost = this.#costOfKey(view, literal);
    if (count === arity) return keyCost;
    const isJoined = literal.args.some((term) => bound.has(term));
    if (keyCost > 0) {
      if (isJoined) return likelyRowsOfBoundAtom;
      if (count > 0 && bound.size === 0) return this.#firstRowsOf(view, literal);
      return likelyRowsOfFreeAtom ** (1 - count / arity);
    }
    const rows = this.#rowsOf(literal, bound);
    return isJoined ? Math.min(rows, likelyRowsOfBoundAtom / 2) : rows;
  }

  /** The rows that a relation, as it is, is expected to have for each value of these columns; the most selective one counts. */
  expectedRows(rows: Tuples, positions: readonly number[]): number {
    return positions.reduce(
      (least, position) => Math.min(least, this.#selectivity.of(rows, position)),
      rows.live,
    );
  }

  cheaperOrder(view: ScopeChoice, order: readonly AtomLiteral[]): readonly AtomLiteral[] {
    const known = { program: this.program, facts: this.#facts, selectivity: this.#selectivity };
    return cheaperOrder(order, {
      derivation: (literal) => {
        const cost = this.#costOfKey(view, literal);
        return cost === 0 ? null : cost === costOfFixpoint ? 'recursion' : 'rules';
      },
      derivedRows: (literal) => Math.min(likelyRowsOfFreeAtom, derivedRows({ view, literal }, known)),
      storedRows: (literal, bound) => this.#rowsOf(literal, bound),
      valuesAt: (literal, position) => derivedValues({ view, literal }, position, known),
    });
  }

  /** The rows of a derived atom with its constants, with which a body may begin: fewer than likely if only rules of one atom conclude them. */
  #firstRowsOf(view: ScopeChoice, literal: AtomLiteral): number {
    return Math.min(likelyRowsOfBoundAtom, this.#copiedRows(view, literal, maxCopies));
  }

  /**
   * The rows that stored facts and rules of one atom, through at most so many relations, give a derived atom. Infinite if there are
   * other rules.
   */
  #copiedRows(view: ScopeChoice, literal: AtomLiteral, depth: number): number {
    const rules = this.program.rulesFor(view, relationOf(literal));
    if (rules.length > maxCopyingRules) return Infinity;
    let rows = this.#rowsOf(literal, nothingBound);
    for (const { record, bodyView } of rules) {
      const { head, body } = record.rule;
      const [atom] = body;
      if (body.length > 1 || atom === undefined || !isPositiveAtom(atom) || depth === 0) return Infinity;
      const known = valuesOf(head, literal);
      if (known === null) continue;
      const args = atom.args.map((term) => known.get(term) ?? term);
      rows += this.#copiedRows(bodyView, { ...atom, args, naf: false }, depth - 1);
    }
    return rows;
  }

  matching(literal: AtomLiteral): number {
    return this.#rowsOf(literal, nothingBound);
  }

  valuesAt({ predicate, args, negated }: AtomLiteral, position: number): number {
    const stored = this.#facts.relation(predicate, args.length, negated);
    if (stored === null || stored.live === 0) return 0;
    return stored.live / this.#selectivity.of(stored, position);
  }

  /**
   * The cost of asking for one key of the atom: 0 if it is stored. A long body asks for it many times over.
   */
  #costOfKey(view: ScopeChoice, literal: AtomLiteral): number {
    let known = this.#keyCosts.get(literal);
    if (known?.view !== view) {
      const relation = relationOf(literal);
      const ofDerived = (): number => (this.program.isRecursive(view, relation) ? costOfFixpoint : costOfKey);
      known = { view, cost: this.isDerived(view, relation) ? ofDerived() : 0 };
      this.#keyCosts.set(literal, known);
    }
    return known.cost;
  }

  /**
   * Stored facts with the bound values: the most selective argument counts in full, each further one for
   * less.
   */
  #rowsOf({ predicate, args, negated }: AtomLiteral, bound: ReadonlySet<string>): number {
    const size = this.#sizeOf(predicate, args.length, negated);
    const stored = this.#facts.relation(predicate, args.length, negated);
    if (stored === null || stored.live === 0) return size;
    const shares: number[] = [];
    for (const [position, term] of args.entries())
      if (!isVariable(term) || bound.has(term))
        shares.push(this.#selectivity.of(stored, position) / stored.live);
    shares.sort((left, right) => left - right);
    return shares.reduce((rows, share, at) => rows * Math.min(1, share) ** (1 / 2 ** at), size);
  }

  /** The approximate number of stored facts, including those of the overlay. */
  #sizeOf(predicate: string, arity: number, negated: boolean): number {
    const stored = this.#facts.relation(predicate, arity, negated)?.live ?? 0;
    return stored + (this.#overlay?.added.facts.relation(predicate, arity, negated)?.live ?? 0);
  }
}

/** The constants of the literal by variable of the head that it unifies with; null: it does not. */
function valuesOf(head: Pick<AtomLiteral, 'args'>, literal: AtomLiteral): Map<string, string> | null {
  const known = new Map<string, string>();
  for (const [position, term] of literal.args.entries()) {
    const own = head.args[position] as string;
    if (isVariable(term) || own === term) continue;
    if (!isVariable(own)) return null;
    known.set(own, term);
  }
  return known;
}

/** Demanded keys at which it is first considered whether they are too many to derive one by one. */
export const firstLook = minKeys;

/** The stored facts of the relation as a part that adds to the target. */
function storedPart(table: Asked, target: string): TablePart {
  const headTerms = variablesFor(table);
  const demandTerms = table.boundPositions.map((position) => headTerms[position] as string);
  return { rule: null, target, demand: 'demand', headTerms, demandTerms, body: null, concludes: false };
}

function rulePart(table: Asked, rule: ViewRule, target: string): TablePart {
  const { head, body } = rule.record.rule;
  return {
    rule,
    target,
    demand: 'demand',
    headTerms: head.args,
    demandTerms: table.boundPositions.map((position) => head.args[position] as string),
    body,
    concludes: true,
  };
}

function ruleParts(table: Asked, rules: readonly ViewRule[]): TablePart[] {
  return [storedPart(table, 'rows'), ...rules.map((rule) => rulePart(table, rule, 'rows'))];
}

function closureParts(table: Asked, { base, before, behind, recursive }: ClosureShape): TablePart[] {
  const demanded = { demand: 'demand', demandTerms: [], concludes: false };
  const steps = [before, behind].filter((of): of is StepShape => of !== null);
  return [
    storedPart(table, 'base'),
    ...base.map((rule) => rulePart(table, rule, 'base')),
    ...steps.map(({ terms, literals }, at) => ({
      ...demanded,
      rule: recursive,
      target: at === 0 && before !== null ? 'before' : 'behind',
      headTerms: terms,
      body: literals,
    })),
    { ...demanded, rule: null, target: 'turn', headTerms: [], body: [] },
  ];
}

/** The stored facts of the table's relation as a body. */
function storedBody(table: Asked): PlannedBody {
  const { view, predicate, negated } = table;
  const literal = { predicate, args: variablesFor(table), negated, naf: false };
  const atoms = [{ literal, boundPositions: null, isWhole: false, isComplete: false }];
  const stages = [{ atoms, filters: [], waits: [], variables: [] }];
  return { view, literals: [literal], filters: [], stages };
}
