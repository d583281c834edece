import { present } from '../base/assert.ts';
import { type AtomLiteral, isVariable, type Literal } from '../contract/language.ts';
import type { FactStore, ScopeChoice } from '../facts/fact-store.ts';
import { isComparison, isNamedVariable, isPositiveAtom, relationKey, relationOf } from '../logic/terms.ts';
import { type AdornedRule, type BodyAtom, compileRule, type CompilerContext } from './compile-rule.ts';
import { Constants } from './constants.ts';
import { clear, type Derived, newDerived, WorkList } from './derived.ts';
import { type Assignment, assignments, boundArguments, cheapest } from './join-order.ts';
import { type FactoredPart, factorLinearRecursion } from './linear-recursion.ts';
import type { Tally } from './machine.ts';
import type { Program } from './program.ts';
import { type Reader, viewKey } from './reader.ts';
import type { Relation, Table } from './table.ts';

/**
 * Tables: what is derived of one relation in one view, for the bound arguments that were demanded.
 *
 * The adorned program of magic sets, made as it is demanded: a table compiles the rules of its relation the first
 * time that something asks for it. A table holds, for every tuple of its demand, all answers, once the work list
 * is empty; demand only grows. A set belongs to one tenant and one version of the rules. With heights no recursion
 * is rewritten, so that heights are those of the rules as they were taught.
 */
/** Counts of what each rule concluded, by its id. */
export type Tallies = Map<string, Tally>;

/** A rule while the order of its atoms is chosen. */
interface RuleInHand {
  readonly table: Table;
  readonly demandTerms: readonly string[];
  readonly body: readonly Literal[];
}

const likelyRowsOfBoundAtom = 100;
const likelyRowsOfOwnComponent = 1000;
const likelyRowsOfFreeAtom = 1_000_000;
/** From so many expected bindings on, a free question derives the whole relation instead of passing them on. */
const manyBindings = 1000;

export class TableSet {
  readonly facts: FactStore;
  readonly program: Program;
  readonly withHeights: boolean;
  readonly constants: Constants;
  readonly work = new WorkList();
  readonly tables = new Map<string, Table>();
  readonly #byRelation = new Map<string, Table[]>();
  /** The evaluation that is filling the set now, if any. */
  owner: object | null = null;

  readonly #tallies: Tallies;

  constructor(facts: FactStore, program: Program, withHeights: boolean, tallies: Tallies) {
    this.#tallies = tallies;
    this.facts = facts;
    this.program = program;
    this.withHeights = withHeights;
    this.constants = new Constants(facts.dictionary);
  }

  get bytes(): number {
    let bytes = 0;
    for (const table of this.tables.values()) bytes += bytesOf(table);
    return bytes;
  }

  /** Tables of a relation, in every view and adornment. */
  tablesOf(relation: string): readonly Table[] {
    return this.#byRelation.get(relation) ?? [];
  }

  isDerived(view: ScopeChoice, relation: string): boolean {
    return this.program.rulesFor(view, relation).length > 0;
  }

  /** The table of the relation for these bound positions (ascending), made where it is new. */
  table(relation: Relation, boundPositions: readonly number[]): Table {
    const name = relationKey(relation.predicate, relation.arity, relation.negated);
    const key = `${viewKey(relation.view)}\n${name}\n${boundPositions.join(',')}`;
    const known = this.tables.get(key);
    if (known !== undefined) return known;
    const bound = new Set(boundPositions);
    let isBuilt = false;
    const table: Table = {
      ...relation,
      key,
      relation: name,
      boundPositions,
      freePositions: Array.from({ length: relation.arity }, (_, position) => position).filter(
        (p) => !bound.has(p),
      ),
      demand: newDerived(`demand of ${name}`, boundPositions.length, false, () => {
        if (isBuilt) return;
        isBuilt = true;
        this.#build(table);
      }),
      rows: newDerived(name, relation.arity, this.withHeights, null),
      rules: [],
      extra: [],
      settled: 0,
    };
    this.tables.set(key, table);
    const siblings = this.#byRelation.get(name);
    if (siblings === undefined) this.#byRelation.set(name, [table]);
    else siblings.push(table);
    return table;
  }

  /** Forgets what the table holds. Every table that reads it must be reset in the same turn. */
  reset(table: Table): void {
    clear(table.demand);
    clear(table.rows);
    for (const extra of table.extra) clear(extra);
    table.settled = 0;
  }

  /** The compiler's view of rules, with constants of a question where `isQuestion`. */
  context(view: ScopeChoice, isQuestion: boolean): CompilerContext {
    return {
      work: this.work,
      estimate: (literal, bound) => this.#estimate(view, literal, bound),
      constant: (text) => (isQuestion ? this.constants.ofQuestion(text) : this.constants.ofRule(text)),
      compare: (operator, left, right) => this.constants.compare(operator, left, right),
    };
  }

  /**
   * The atoms of a body in the order in which bindings are passed on, each with what it reads. `rule` is null for
   * a question.
   */
  passBindings(
    view: ScopeChoice,
    body: readonly Literal[],
    bound: ReadonlySet<string>,
    rule: RuleInHand | null,
    whole: readonly Literal[] = body,
  ): { atoms: BodyAtom[]; assigned: Map<Literal, Assignment> } {
    const assigned = assignments(whole);
    const known = new Set(bound);
    const open: AtomLiteral[] = body.filter(isPositiveAtom);
    const atoms: BodyAtom[] = [];
    let expected = 1;
    const spread = (): void => {
      for (let size = -1; size !== known.size; ) {
        size = known.size;
        for (const { target, from } of assigned.values())
          if (!isVariable(from) || known.has(from)) known.add(target);
      }
    };
    spread();
    while (open.length > 0) {
      const estimate = (literal: AtomLiteral, names: ReadonlySet<string>): number =>
        this.#passingCost(view, literal, names, rule);
      const next = present(cheapest(open, known, estimate), 'an atom is left');
      open.splice(open.indexOf(next), 1);
      atoms.push({ literal: next, source: this.#source(view, next, known, rule, expected) });
      expected *= Math.max(1, this.#estimate(view, next, known));
      for (const term of next.args) if (isNamedVariable(term)) known.add(term);
      spread();
    }
    return { atoms, assigned };
  }

  #source(
    view: ScopeChoice,
    literal: AtomLiteral,
    bound: ReadonlySet<string>,
    rule: RuleInHand | null,
    expected: number,
  ): BodyAtom['source'] {
    const { predicate, negated } = literal;
    const arity = literal.args.length;
    if (!this.isDerived(view, relationOf(literal)))
      return {
        kind: 'stored',
        find: (reader: Reader) => reader.facts.relation(predicate, arity, negated),
        view,
      };
    const isFree =
      rule !== null &&
      rule.table.boundPositions.length === 0 &&
      (this.#isOwnComponent(view, literal, rule.table) || expected > manyBindings);
    const positions: number[] = [];
    if (!isFree)
      for (const [position, term] of literal.args.entries())
        if (!isVariable(term) || bound.has(term)) positions.push(position);
    const child = this.table({ view, predicate, arity, negated }, positions);
    return { kind: 'derived', rows: child.rows, demand: child.demand, boundPositions: positions };
  }

  #isOwnComponent(view: ScopeChoice, literal: AtomLiteral, table: Table): boolean {
    if (viewKey(view) !== viewKey(table.view)) return false;
    const own = this.program.component(view, table.relation);
    return own >= 0 && this.program.component(view, relationOf(literal)) === own;
  }

  /**
   * As `#estimate`, but recursion costs more than stored facts, unless it asks for the table's own demand again:
   * that is never news. Recursion that is written first and keeps a bound argument in its place goes first: all
   * that it asks for shares that argument.
   */
  #passingCost(
    view: ScopeChoice,
    literal: AtomLiteral,
    bound: ReadonlySet<string>,
    rule: RuleInHand | null,
  ): number {
    const cost = this.#estimate(view, literal, bound);
    if (rule === null || !this.#isOwnComponent(view, literal, rule.table)) return cost;
    const { table, demandTerms, body } = rule;
    if (table.boundPositions.length > 0 && relationOf(literal) === table.relation) {
      const kept = table.boundPositions.filter((position, at) => literal.args[position] === demandTerms[at]);
      if (kept.length === table.boundPositions.length) return 0;
      if (kept.length > 0 && body.find(isPositiveAtom) === literal) return 1;
    }
    return boundArguments(literal, bound) > 0 ? Math.max(cost, likelyRowsOfOwnComponent) : cost;
  }

  #estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number {
    const arity = literal.args.length;
    const count = boundArguments(literal, bound);
    if (count === arity) return 0;
    if (this.isDerived(view, relationOf(literal)))
      return count === 0 ? likelyRowsOfFreeAtom : likelyRowsOfBoundAtom;
    const size = this.facts.relation(literal.predicate, arity, literal.negated)?.live ?? 0;
    return count === 0 ? size : Math.min(size ** (1 - count / arity), likelyRowsOfBoundAtom / 2);
  }

  /** The factored program of a table whose recursion is linear; null where there is none. */
  factored(table: Table): FactoredPart[] | null {
    return factorLinearRecursion(table, this.program.rulesFor(table.view, table.relation), this.program);
  }

  #build(table: Table): void {
    const rules = this.program.rulesFor(table.view, table.relation);
    const factored = this.withHeights ? null : this.factored(table);
    if (factored !== null) {
      const reach = newDerived(`reach of ${table.relation}`, table.boundPositions.length * 2, false, null);
      table.extra.push(reach);
      for (const part of factored) this.#add(table, reach, part);
      return;
    }
    const demandTerms = table.boundPositions.map((position) => `?${position}`);
    this.#compile(table, {
      target: table.rows,
      headTerms: Array.from({ length: table.arity }, (_, position) => `?${position}`),
      rise: 0,
      tally: null,
      demand: table.demand,
      demandTerms,
      ...this.#storedPart(table),
    });
    for (const rule of rules) {
      const { head, body } = rule.kept.rule;
      const { atoms, assigned } = this.#addRule(table, rule.bodyView, body, {
        target: table.rows,
        headTerms: head.args,
        rise: 1,
        tally: this.#tally(rule.kept.id),
        demand: table.demand,
        demandTerms: table.boundPositions.map((position) => head.args[position] as string),
      });
      if (this.withHeights) table.rules.push({ ...rule, atoms, assigned });
    }
  }

  /** One part of a factored linear recursion; see `linear-recursion.ts` for what each is. */
  #add(table: Table, reach: Derived, part: FactoredPart): void {
    const relations = { demand: table.demand, reach, rows: table.rows };
    const rule = {
      target: relations[part.target],
      headTerms: part.headTerms,
      rise: 1,
      tally: part.ruleId === null ? null : this.#tally(part.ruleId),
      demand: relations[part.demand],
      demandTerms: part.demandTerms,
    };
    if (part.body !== null) this.#addRule(table, part.view, part.body, rule, part.whole);
    else this.#compile(table, { ...rule, ...this.#storedPart(table) });
  }

  #addRule(
    table: Table,
    view: ScopeChoice,
    body: readonly Literal[],
    rule: Omit<AdornedRule, 'atoms' | 'filters' | 'assignments'>,
    whole: readonly Literal[] = body,
  ): { atoms: BodyAtom[]; assigned: Map<Literal, Assignment> } {
    const bound = new Set(rule.demandTerms.filter(isNamedVariable));
    const passed = this.passBindings(
      view,
      body,
      bound,
      { table, demandTerms: rule.demandTerms, body },
      whole,
    );
    const filters = body.filter(isComparison);
    compileRule(
      { ...rule, atoms: passed.atoms, filters, assignments: passed.assigned },
      this.context(view, false),
    );
    return passed;
  }

  /** The stored facts of the table's own relation, as if they were a rule. */
  #storedPart(table: Table): Pick<AdornedRule, 'atoms' | 'filters' | 'assignments'> {
    const { predicate, arity, negated, view } = table;
    const args = Array.from({ length: arity }, (_, position) => `?${position}`);
    return {
      atoms: [
        {
          literal: { predicate, args, negated, naf: false },
          source: {
            kind: 'stored',
            find: (reader) => reader.facts.relation(predicate, arity, negated),
            view,
          },
        },
      ],
      filters: [],
      assignments: new Map(),
    };
  }

  /** Proofs derive again what answers derived already, so only the latter count. */
  #tally(ruleId: string): Tally | null {
    if (this.withHeights) return null;
    let tally = this.#tallies.get(ruleId);
    if (tally === undefined) this.#tallies.set(ruleId, (tally = { fired: 0 }));
    return tally;
  }

  #compile(table: Table, rule: AdornedRule): void {
    compileRule(rule, this.context(table.view, false));
  }
}

export function bytesOf(table: Table): number {
  let bytes = table.demand.rows.bytes + table.rows.rows.bytes;
  for (const extra of table.extra) bytes += extra.rows.bytes;
  return bytes;
}
