import type { ScopeChoice } from '../../store/fact-store.ts';
import type { RuleRecord } from '../../store/rule-store.ts';
import { traitsOf } from '../../language/rule-traits.ts';
import { isAggregate, relationOf } from '../../language/terms.ts';
import { isBuiltinName, type Literal } from '../../contract/language.ts';
import { viewKey } from './reader.ts';

/** A rule as one view uses it. */
export interface ViewRule {
  readonly record: RuleRecord;
  /** Position in the order of creation. */
  readonly order: number;
  /** The view in which the body is read. */
  readonly bodyView: ScopeChoice;
}

/** A relation without a view. */
export interface RelationShape {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

/** How often a rule derived a new conclusion. */
export interface Tally {
  fired: number;
}

/** The tallies of the rules of a database, by rule id. */
export type Tallies = Map<string, Tally>;

/** More levels than the rules can take in the view of one scope. */
const viewsOfScopes = 2 ** 24;
/** The level of a question, above every relation. */
export const questionLevel = 2 ** 30;

const noRules: readonly ViewRule[] = [];
const everything: ScopeChoice = { kind: 'all' };

/** By relation: the heads of rules that read it, and the relations that its rules read. */
interface RuleGraph {
  readonly readers: Map<string, Set<string>>;
  readonly reads: Map<string, Set<string>>;
}

/**
 * The enabled rules of a database at one version, indexed for evaluation: by the relation that they conclude,
 * by view, and by dependency. Independent of any tenant's data.
 *
 * The view of scope `s` has the rules without scope and those of `s`. The view of everything has the rules
 * without scope, and includes the conclusions of each scoped rule in the view of its scope: the bodies of
 * scoped rules are read there (`bodyView`).
 */
export class Program {
  readonly #unscoped = new Map<string, ViewRule[]>();
  readonly #scoped = new Map<string, { record: RuleRecord; order: number }[]>();
  #graph: RuleGraph | null = null;
  readonly #reached = new Map<string, ReadonlySet<string>>();
  readonly #components = new Map<string, Components>();
  readonly #rules = new Map<string, readonly ViewRule[]>();
  readonly #recursive = new Map<string, boolean>();
  #byId: ReadonlyMap<string, RuleRecord> | null = null;
  /** The relations that a rule with negation or an aggregate concludes. */
  #fromAbsence: ReadonlySet<string> | null = null;

  /** The enabled rules in order of creation. */
  readonly rules: readonly RuleRecord[];
  /** Every constant that an enabled rule names. */
  readonly constants: ReadonlySet<string>;
  /** True if a rule can make new constants, by arithmetic or an aggregate. */
  readonly makesConstants: boolean;

  /** Scans every rule once; everything else is computed on demand, for the relations asked for. */
  constructor(rules: readonly RuleRecord[]) {
    const constants = new Set<string>();
    this.rules = rules.filter(({ enabled }) => enabled);
    this.constants = constants;
    let makesConstants = false;
    for (let order = 0; order < rules.length; order++) {
      const record = rules[order] as RuleRecord;
      const traits = traitsOf(record.rule);
      makesConstants ||= traits.makesConstants;
      if (!record.enabled) continue;
      for (const constant of traits.constants) constants.add(constant);
      const { head } = traits;
      if (record.scope === null) listOf(this.#unscoped, head).push({ record, order, bodyView: everything });
      else listOf(this.#scoped, head).push({ record, order });
    }
    this.makesConstants = makesConstants;
  }

  /** The relations whose rules differ from those of the earlier program. */
  changedFrom(before: Program): Set<string> {
    const changed = new Set<string>();
    const [now, then] = [this.#recordsById, before.#recordsById];
    for (const [one, other] of [
      [now, then],
      [then, now],
    ] as const)
      for (const [id, { rule, scope, text }] of one) {
        const twin = other.get(id);
        if (twin?.text !== text || twin.scope !== scope) changed.add(relationOf(rule.head));
      }
    return changed;
  }

  get #recordsById(): ReadonlyMap<string, RuleRecord> {
    return (this.#byId ??= new Map(this.rules.map((record) => [record.id, record])));
  }

  /** Those of these relations that some rule concludes. */
  conclusionsAmong(relations: ReadonlySet<string>): RelationShape[] {
    const found: RelationShape[] = [];
    for (const relation of relations) {
      const head = (this.#unscoped.get(relation)?.[0] ?? this.#scoped.get(relation)?.[0])?.record.rule.head;
      if (head !== undefined)
        found.push({ predicate: head.predicate, arity: head.args.length, negated: head.negated });
    }
    return found;
  }

  /** All relations that some rule concludes. */
  conclusions(): RelationShape[] {
    return this.conclusionsAmong(new Set([...this.#unscoped.keys(), ...this.#scoped.keys()]));
  }

  /** The relations of this predicate that some rule concludes. */
  conclusionsOf(predicate: string): RelationShape[] {
    return this.conclusions().filter((relation) => relation.predicate === predicate);
  }

  /** The rules that conclude the relation in the view, in order of creation. */
  rulesFor(view: ScopeChoice, relation: string): readonly ViewRule[] {
    const key = `${viewKey(view)}\n${relation}`;
    let rules = this.#rules.get(key);
    if (rules === undefined) {
      rules = this.#collect(view, relation);
      this.#rules.set(key, rules);
    }
    return rules;
  }

  #collect(view: ScopeChoice, relation: string): readonly ViewRule[] {
    const unscoped = this.#unscoped.get(relation) ?? noRules;
    const found: ViewRule[] = unscoped.map((rule) => ({ ...rule, bodyView: view }));
    for (const { record, order } of this.#scoped.get(relation) ?? []) {
      if (view.kind === 'all')
        found.push({ record, order, bodyView: { kind: 'scope', scope: record.scope as string } });
      else if (view.kind === 'scope' && view.scope === record.scope)
        found.push({ record, order, bodyView: view });
    }
    return found.length === 0 ? noRules : found.sort((left, right) => left.order - right.order);
  }

  /** The relation and all relations that depend on it, transitively. */
  reached(relation: string): ReadonlySet<string> {
    let reached = this.#reached.get(relation);
    if (reached === undefined) {
      const found = new Set([relation]);
      const { readers } = this.#edges;
      for (const each of found) for (const reader of readers.get(each) ?? []) found.add(reader);
      reached = found;
      this.#reached.set(relation, reached);
    }
    return reached;
  }

  /** The relations and all that depend on any of them, transitively. */
  reachedFrom(relations: Iterable<string>): Set<string> {
    const from = new Set(relations);
    const [only] = from;
    if (from.size === 1 && only !== undefined) return new Set(this.reached(only));
    const { readers } = this.#edges;
    for (const each of from) for (const reader of readers.get(each) ?? []) from.add(reader);
    return from;
  }

  /** The relations and all that they depend on, transitively. */
  below(relations: Iterable<string>): Set<string> {
    const below = new Set(relations);
    const { reads } = this.#edges;
    for (const each of below) for (const read of reads.get(each) ?? []) below.add(read);
    return below;
  }

  /**
   * True if the relation is monotone in the facts: neither it nor anything it depends on uses negation or
   * aggregates.
   */
  isMonotone(relation: string): boolean {
    this.#fromAbsence ??= new Set(
      this.rules
        .filter(({ rule }) => rule.body.some((each) => isAggregate(each) || each.naf))
        .map(({ rule }) => relationOf(rule.head)),
    );
    for (const each of this.below([relation])) if (this.#fromAbsence.has(each)) return false;
    return true;
  }

  /** The dependency graph over all relations, whatever the view; built on first use. */
  get #edges(): RuleGraph {
    if (this.#graph !== null) return this.#graph;
    const graph: RuleGraph = { readers: new Map(), reads: new Map() };
    for (const { rule } of this.rules) {
      const head = relationOf(rule.head);
      for (const relation of relationsRead(rule.body)) {
        linked(graph.readers, relation).add(head);
        linked(graph.reads, head).add(relation);
      }
    }
    this.#graph = graph;
    return graph;
  }

  /**
   * The SCC of a relation in a view: two relations are mutually recursive exactly if the numbers are equal.
   */
  component(view: ScopeChoice, relation: string): number {
    const key = viewKey(view);
    let components = this.#components.get(key);
    if (components === undefined) {
      components = new Components((each) => this.#readIn(view, key, each));
      this.#components.set(key, components);
    }
    return components.of(relation);
  }

  /** True if a rule of the relation reads it, or a mutually recursive relation, in the same view. */
  isRecursive(view: ScopeChoice, relation: string): boolean {
    const key = `${viewKey(view)}\n${relation}`;
    let isRecursive = this.#recursive.get(key);
    if (isRecursive === undefined) {
      isRecursive = this.#recurs(view, relation);
      this.#recursive.set(key, isRecursive);
    }
    return isRecursive;
  }

  #recurs(view: ScopeChoice, relation: string): boolean {
    const component = this.component(view, relation);
    return this.rulesFor(view, relation).some(
      ({ record, bodyView }) =>
        viewKey(bodyView) === viewKey(view) &&
        relationsRead(record.rule.body).some((read) => this.component(view, read) === component),
    );
  }

  /**
   * The level (stratum) of a relation in a view: above everything that its rules read, except its own SCC.
   * Views of scopes are below the view of everything, which includes their conclusions.
   */
  level(view: ScopeChoice, relation: string): number {
    return (view.kind === 'all' ? viewsOfScopes : 0) + this.component(view, relation);
  }

  /**
   * The relations that the relation's rules read in the same view; null if no rule without scope, or of this
   * scope, concludes it.
   */
  #readIn(view: ScopeChoice, key: string, relation: string): string[] | null {
    const isHead = this.#unscoped.has(relation) || (view.kind === 'scope' && this.#scoped.has(relation));
    if (!isHead) return null;
    const read: string[] = [];
    for (const { record, bodyView } of this.rulesFor(view, relation))
      if (viewKey(bodyView) === key) read.push(...relationsRead(record.rule.body));
    return read;
  }
}

function linked(edges: Map<string, Set<string>>, from: string): Set<string> {
  let to = edges.get(from);
  if (to === undefined) edges.set(from, (to = new Set()));
  return to;
}

/** The list of the key; adds an empty one if there is none. */
export function listOf<Item>(map: Map<string, Item[]>, key: string): Item[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}

/** The relations that the atoms of a body name, including those inside aggregates and under `not`. */
export function relationsRead(body: readonly Literal[]): string[] {
  const found: string[] = [];
  for (const literal of body) {
    if (isAggregate(literal)) found.push(...relationsRead(literal.body));
    else if (!isBuiltinName(literal.predicate)) found.push(relationOf(literal));
  }
  return found;
}

/** A relation on the current depth-first path. */
interface Visit {
  readonly relation: string;
  readonly reads: readonly string[];
  next: number;
}

/**
 * SCCs by Tarjan's algorithm, computed on demand from each relation asked for, and iterative, since chains of
 * rules can be long. A component's number is greater than those of all components that it reads, whatever the
 * order of the calls. A relation in no cycle is a component of its own.
 */
class Components {
  readonly #readBy: (relation: string) => readonly string[] | null;
  readonly #order = new Map<string, number>();
  readonly #low = new Map<string, number>();
  readonly #component = new Map<string, number>();
  readonly #open: string[] = [];
  #count = 0;

  /** `readBy`: the relations that a relation's rules read; null if it is not in the graph. */
  constructor(readBy: (relation: string) => readonly string[] | null) {
    this.#readBy = readBy;
  }

  /** The number of the relation's component, -1 if it is not in the graph. */
  of(relation: string): number {
    const known = this.#component.get(relation);
    if (known !== undefined) return known;
    const first = this.#visit(relation);
    if (first === null) return -1;
    const path = [first];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const read = top.reads[top.next++];
      if (read === undefined) {
        path.pop();
        this.#leave(top.relation, path.at(-1)?.relation ?? null);
      } else if (!this.#order.has(read)) {
        const visit = this.#visit(read);
        if (visit !== null) path.push(visit);
      } else if (!this.#component.has(read)) this.#lower(top.relation, this.#order.get(read) as number);
    }
    return this.#component.get(relation) as number;
  }

  #visit(relation: string): Visit | null {
    const reads = this.#readBy(relation);
    if (reads === null) return null;
    this.#low.set(relation, this.#order.size);
    this.#order.set(relation, this.#order.size);
    this.#open.push(relation);
    return { relation, reads, next: 0 };
  }

  #lower(relation: string, order: number): void {
    if (order < (this.#low.get(relation) as number)) this.#low.set(relation, order);
  }

  /** Closes a relation after everything it reads was visited. */
  #leave(relation: string, reader: string | null): void {
    const lowest = this.#low.get(relation) as number;
    if (reader !== null) this.#lower(reader, lowest);
    if (lowest !== this.#order.get(relation)) return;
    for (let member = this.#open.pop(); member !== undefined; member = this.#open.pop()) {
      this.#component.set(member, this.#count);
      if (member === relation) break;
    }
    this.#count++;
  }
}
