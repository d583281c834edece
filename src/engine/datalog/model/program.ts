import type { ScopeChoice } from '../../store/fact-store.ts';
import type { RuleRecord } from '../../store/rule-store.ts';
import { traitsOf } from '../../language/rule-traits.ts';
import { isAggregate, relationOf } from '../../language/terms.ts';
import { isBuiltinName, type Literal } from '../../contract/language.ts';
import { PersistentMap } from './persistent-map.ts';
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
/** A rule with its position in the order of creation. */
type OrderedRule = Pick<ViewRule, 'record' | 'order'>;
const noOrderedRules: readonly OrderedRule[] = [];

/**
 * The enabled rules of a database at one version, indexed for evaluation: by the relation that they conclude, by those
 * that they read, by view, and by dependency. Independent of any tenant's data.
 *
 * The view of scope `s` has the rules without scope and those of `s`. The view of everything has the rules
 * without scope, and includes the conclusions of each scoped rule in the view of its scope: the bodies of
 * scoped rules are read there (`bodyView`).
 *
 * A program made after another one shares its indexes but for the rules that differ, so that one more rule among many
 * thousands costs little.
 */
export class Program {
  /** All rules, including disabled ones, and by position their order. */
  readonly #all: readonly RuleRecord[];
  readonly #orders: readonly number[];
  /** The enabled rules by the relation that they conclude, in order of creation. */
  readonly #concluding: PersistentMap<readonly OrderedRule[]>;
  /** Enabled rules by each relation that they read; null: made on first use. */
  #reading: PersistentMap<readonly OrderedRule[]> | null = null;
  /** Number of rules, including disabled ones, that can make new constants. */
  readonly #makers: number;
  #rulesInOrder: readonly RuleRecord[] | null = null;
  #constants: ReadonlySet<string> | null = null;
  readonly #reached = new Map<string, ReadonlySet<string>>();
  /** What `below` answered last: a question that moves asks for the same several times in one turn. */
  #lastBelow: { readonly key: string; readonly below: ReadonlySet<string> } | null = null;
  readonly #components = new Map<string, Components>();
  readonly #rules = new Map<string, readonly ViewRule[]>();
  readonly #recursive = new Map<string, boolean>();

  /** `rules`: all, in order of creation. `before`: an earlier program of the same database. */
  constructor(rules: readonly RuleRecord[], before: Program | null = null) {
    this.#all = rules;
    const change = before === null ? null : changeBetween(before.#all, rules);
    const orders = before === null || change === null ? null : ordersAfter(before.#orders, change);
    if (before === null || change === null || orders === null) {
      this.#orders = Array.from(rules.keys());
      const concluding = new Map<string, OrderedRule[]>();
      let makers = 0;
      for (let order = 0; order < rules.length; order++) {
        const record = rules[order] as RuleRecord;
        const traits = traitsOf(record.rule);
        if (traits.makesConstants) makers++;
        if (record.enabled) listOf(concluding, traits.head).push({ record, order });
      }
      this.#concluding = new PersistentMap(concluding);
      this.#makers = makers;
      return;
    }
    this.#orders = orders;
    this.#concluding = before.#concluding.fork();
    this.#reading = before.#reading?.fork() ?? null;
    const { gone, come, from } = change;
    for (const record of gone) this.#leaveOut(record);
    for (const [at, record] of come.entries()) this.#addRule({ record, order: orders[from + at] as number });
    const makersAmong = (records: readonly RuleRecord[]): number =>
      records.filter(({ rule }) => traitsOf(rule).makesConstants).length;
    this.#makers = before.#makers - makersAmong(gone) + makersAmong(come);
  }

  #leaveOut(record: RuleRecord): void {
    if (!record.enabled) return;
    const { head } = traitsOf(record.rule);
    const others = without(this.#concluding.get(head), record);
    if (others.length === 0) this.#concluding.delete(head);
    else this.#concluding.set(head, others);
    if (this.#reading === null) return;
    for (const relation of new Set(relationsRead(record.rule.body)))
      this.#reading.set(relation, without(this.#reading.get(relation), record));
  }

  #addRule(rule: OrderedRule): void {
    const { record } = rule;
    if (!record.enabled) return;
    const { head } = traitsOf(record.rule);
    this.#concluding.set(head, withRule(this.#concluding.get(head), rule));
    if (this.#reading === null) return;
    for (const relation of new Set(relationsRead(record.rule.body)))
      this.#reading.set(relation, withRule(this.#reading.get(relation), rule));
  }

  /** The enabled rules in order of creation. */
  get rules(): readonly RuleRecord[] {
    return (this.#rulesInOrder ??= this.#all.filter(({ enabled }) => enabled));
  }

  /** Every constant that an enabled rule names. */
  get constants(): ReadonlySet<string> {
    return (this.#constants ??= constantsOf(this.#all));
  }

  /** True if a rule can make new constants, by arithmetic or an aggregate. */
  get makesConstants(): boolean {
    return this.#makers > 0;
  }

  /** The constants of enabled rules that the earlier program lacks or has otherwise. */
  newConstants(before: Program): ReadonlySet<string> {
    return constantsOf(changeBetween(before.#all, this.#all).come);
  }

  /** The relations whose rules differ from those of the earlier program. */
  changedFrom(before: Program): Set<string> {
    const changed = new Set<string>();
    const { gone, come } = changeBetween(before.#all, this.#all);
    const [then, now] = [gone, come].map(
      (records) => new Map(records.filter(({ enabled }) => enabled).map((record) => [record.id, record])),
    ) as [Map<string, RuleRecord>, Map<string, RuleRecord>];
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

  /** Those of these relations that some rule concludes. */
  conclusionsAmong(relations: Iterable<string>): RelationShape[] {
    const found: RelationShape[] = [];
    for (const relation of relations) {
      const head = this.#concluding.get(relation)?.[0]?.record.rule.head;
      if (head !== undefined)
        found.push({ predicate: head.predicate, arity: head.args.length, negated: head.negated });
    }
    return found;
  }

  /** All relations that some rule concludes, in the order of their first rules. */
  conclusions(): RelationShape[] {
    const orderOf = (relation: string): number => this.#concludingRules(relation)[0]?.order ?? 0;
    const relations = this.#concluding.keys();
    return this.conclusionsAmong(relations.sort((left, right) => orderOf(left) - orderOf(right)));
  }

  /** The relations of this predicate that some rule concludes. */
  conclusionsOf(predicate: string): RelationShape[] {
    return this.conclusions().filter((relation) => relation.predicate === predicate);
  }

  #concludingRules(relation: string): readonly OrderedRule[] {
    return this.#concluding.get(relation) ?? noOrderedRules;
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
    const found: ViewRule[] = [];
    for (const { record, order } of this.#concludingRules(relation)) {
      const { scope } = record;
      if (scope === null) found.push({ record, order, bodyView: view });
      else if (view.kind === 'all') found.push({ record, order, bodyView: { kind: 'scope', scope } });
      else if (view.kind === 'scope' && view.scope === scope) found.push({ record, order, bodyView: view });
    }
    return found.length === 0 ? noRules : found;
  }

  /** The relation and all relations that depend on it, transitively. */
  reached(relation: string): ReadonlySet<string> {
    let reached = this.#reached.get(relation);
    if (reached === undefined) {
      reached = this.#withReaders([relation]);
      this.#reached.set(relation, reached);
    }
    return reached;
  }

  /** The relations and all that depend on any of them, transitively. */
  reachedFrom(relations: Iterable<string>): Set<string> {
    const from = new Set(relations);
    const [only] = from;
    return from.size === 1 && only !== undefined ? new Set(this.reached(only)) : this.#withReaders(from);
  }

  #withReaders(relations: Iterable<string>): Set<string> {
    const found = new Set(relations);
    const reading = (this.#reading ??= this.#readersByRelation());
    for (const each of found)
      for (const { record } of reading.get(each) ?? noOrderedRules) found.add(traitsOf(record.rule).head);
    return found;
  }

  #readersByRelation(): PersistentMap<readonly OrderedRule[]> {
    const reading = new Map<string, OrderedRule[]>();
    for (const [at, record] of this.#all.entries()) {
      if (!record.enabled) continue;
      const rule = { record, order: this.#orders[at] as number };
      for (const relation of new Set(relationsRead(record.rule.body))) listOf(reading, relation).push(rule);
    }
    return new PersistentMap(reading);
  }

  /** The relations and all that they depend on, transitively. */
  below(relations: Iterable<string>): ReadonlySet<string> {
    const below = new Set(relations);
    const key = [...below].join('\n');
    if (this.#lastBelow?.key === key) return this.#lastBelow.below;
    for (const each of below)
      for (const { record } of this.#concludingRules(each))
        for (const read of relationsRead(record.rule.body)) below.add(read);
    this.#lastBelow = { key, below };
    return below;
  }

  /**
   * True if the relation is monotone in the facts: neither it nor anything it depends on uses negation or
   * aggregates.
   */
  isMonotone(relation: string): boolean {
    for (const each of this.below([relation]))
      for (const { record } of this.#concludingRules(each))
        if (record.rule.body.some((literal) => isAggregate(literal) || literal.naf)) return false;
    return true;
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
    const isHead = this.#concludingRules(relation).some(
      ({ record }) => record.scope === null || view.kind === 'scope',
    );
    if (!isHead) return null;
    const read: string[] = [];
    for (const { record, bodyView } of this.rulesFor(view, relation))
      if (viewKey(bodyView) === key) read.push(...relationsRead(record.rule.body));
    return read;
  }
}

/** What differs between two lists of rules: those between a common beginning and a common end. */
interface RulesChange {
  readonly gone: readonly RuleRecord[];
  readonly come: readonly RuleRecord[];
  /** The length of the common beginning, and that of the common end. */
  readonly from: number;
  readonly behind: number;
}

/** A record is replaced when it changes, so the same one is the same rule. */
function changeBetween(before: readonly RuleRecord[], now: readonly RuleRecord[]): RulesChange {
  const shorter = Math.min(before.length, now.length);
  let from = 0;
  while (from < shorter && before[from] === now[from]) from++;
  let behind = 0;
  while (behind < shorter - from && before.at(-1 - behind) === now.at(-1 - behind)) behind++;
  const gone = before.slice(from, before.length - behind);
  return { gone, come: now.slice(from, now.length - behind), from, behind };
}

/**
 * The orders by position after the change: if rules were appended, removed next to each other, or replaced; else null.
 */
function ordersAfter(before: readonly number[], change: RulesChange): readonly number[] | null {
  const { gone, come, from, behind } = change;
  if (come.length === 0) return before.toSpliced(from, gone.length);
  const isReplaced = gone.length === come.length && gone.every(({ id }, at) => id === come[at]?.id);
  if (isReplaced) return before;
  if (gone.length > 0 || behind > 0) return null;
  const next = (before.at(-1) ?? -1) + 1;
  return [...before, ...come.map((_, at) => next + at)];
}

function constantsOf(rules: readonly RuleRecord[]): ReadonlySet<string> {
  const constants = new Set<string>();
  for (const { enabled, rule } of rules)
    if (enabled) for (const constant of traitsOf(rule).constants) constants.add(constant);
  return constants;
}

function without(rules: readonly OrderedRule[] = noOrderedRules, record: RuleRecord): readonly OrderedRule[] {
  return rules.filter((each) => each.record !== record);
}

function withRule(rules: readonly OrderedRule[] = noOrderedRules, rule: OrderedRule): readonly OrderedRule[] {
  return [...rules, rule].sort((left, right) => left.order - right.order);
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
