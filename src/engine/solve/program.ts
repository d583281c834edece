import type { ScopeChoice } from '../facts/fact-store.ts';
import type { KeptRule } from '../facts/rule-store.ts';
import { isAggregate, isArithmetic, relationOf } from '../logic/terms.ts';
import { isBuiltinName, isVariable, type Literal } from '../contract/language.ts';
import { viewKey } from './reader.ts';

/**
 * The enabled rules of a database at one version, as evaluation looks at them: by the relation they conclude, by
 * view, and by what depends on what. Free of any tenant's data.
 *
 * A view of scope `s` has the rules without scope and those of `s`. The view of everything has the rules without
 * scope, and takes in what a scoped rule concludes in the view of its own scope; so bodies of scoped rules are
 * read there, which `bodyView` says.
 */
export interface ViewRule {
  readonly kept: KeptRule;
  /** Place in the order of creation. */
  readonly order: number;
  readonly bodyView: ScopeChoice;
}

/** A relation apart from any view. */
export interface RelationShape {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

/** More levels than rules can make in the view of a scope. */
const viewsOfScopes = 2 ** 24;
/** Above every relation: what a question is worked out at. */
export const questionLevel = 2 ** 30;

const noRules: readonly ViewRule[] = [];

export class Program {
  readonly #unscoped = new Map<string, ViewRule[]>();
  readonly #scoped = new Map<string, { kept: KeptRule; order: number }[]>();
  readonly #readers = new Map<string, Set<string>>();
  /** By the relation that rules conclude, those that they read. */
  readonly #reads = new Map<string, Set<string>>();
  readonly #reached = new Map<string, ReadonlySet<string>>();
  readonly #components = new Map<string, Map<string, number>>();
  readonly #rules = new Map<string, readonly ViewRule[]>();
  /** What is said by the enabled rules, by their ids. */
  readonly #said = new Map<string, { readonly head: string; readonly text: string }>();

  /** The enabled rules, the first created first. */
  readonly rules: readonly KeptRule[];
  /** Every constant that a rule names. */
  readonly constants: ReadonlySet<string>;
  /** True where some rule can conclude constants that nobody wrote: by arithmetic or an aggregate. */
  readonly makesConstants: boolean;

  constructor(rules: readonly KeptRule[]) {
    const constants = new Set<string>();
    this.rules = rules.filter(({ enabled }) => enabled);
    this.constants = constants;
    this.makesConstants = rules.some(({ rule }) =>
      rule.body.some((each) => isAggregate(each) || isArithmetic(each)),
    );
    for (const [order, kept] of rules.entries()) {
      if (!kept.enabled) continue;
      for (const term of kept.rule.head.args) if (!isVariable(term)) constants.add(term);
      for (const term of termsOf(kept.rule.body)) if (!isVariable(term)) constants.add(term);
      const head = relationOf(kept.rule.head);
      this.#said.set(kept.id, { head, text: `${kept.scope ?? ''}\n${kept.text}` });
      if (kept.scope === null) listed(this.#unscoped, head).push({ kept, order, bodyView: { kind: 'all' } });
      else listed(this.#scoped, head).push({ kept, order });
      for (const relation of relationsRead(kept.rule.body)) {
        let readers = this.#readers.get(relation);
        if (readers === undefined) this.#readers.set(relation, (readers = new Set()));
        readers.add(head);
        let reads = this.#reads.get(head);
        if (reads === undefined) this.#reads.set(head, (reads = new Set()));
        reads.add(relation);
      }
    }
  }

  /** The relations that other rules conclude here than in the program before. */
  changedFrom(before: Program): Set<string> {
    const changed = new Set<string>();
    for (const [one, other] of [
      [this.#said, before.#said],
      [before.#said, this.#said],
    ] as const)
      for (const [id, { head, text }] of one) if (other.get(id)?.text !== text) changed.add(head);
    return changed;
  }

  /** Of these relations, those that some rule concludes. */
  conclusionsAmong(relations: ReadonlySet<string>): RelationShape[] {
    const found: RelationShape[] = [];
    for (const relation of relations) {
      const head = (this.#unscoped.get(relation)?.[0] ?? this.#scoped.get(relation)?.[0])?.kept.rule.head;
      if (head !== undefined)
        found.push({ predicate: head.predicate, arity: head.args.length, negated: head.negated });
    }
    return found;
  }

  /** The relations that some rule concludes. */
  conclusions(): RelationShape[] {
    return this.conclusionsAmong(new Set([...this.#unscoped.keys(), ...this.#scoped.keys()]));
  }

  /** The relations with this predicate that some rule concludes. */
  conclusionsOf(predicate: string): RelationShape[] {
    return this.conclusions().filter((relation) => relation.predicate === predicate);
  }

  /** The rules that conclude the relation in the view, the first created first. */
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
    for (const { kept, order } of this.#scoped.get(relation) ?? []) {
      if (view.kind === 'all')
        found.push({ kept, order, bodyView: { kind: 'scope', scope: kept.scope as string } });
      else if (view.kind === 'scope' && view.scope === kept.scope)
        found.push({ kept, order, bodyView: view });
    }
    return found.length === 0 ? noRules : found.sort((left, right) => left.order - right.order);
  }

  /** The relation and every one that rules conclude from it, however far. */
  reached(relation: string): ReadonlySet<string> {
    let reached = this.#reached.get(relation);
    if (reached === undefined) {
      const found = new Set([relation]);
      for (const each of found) for (const reader of this.#readers.get(each) ?? []) found.add(reader);
      reached = found;
      this.#reached.set(relation, reached);
    }
    return reached;
  }

  /** The relations themselves and all that is concluded from any of them. */
  reachedFrom(relations: Iterable<string>): Set<string> {
    const from = new Set(relations);
    const [only] = from;
    if (from.size === 1 && only !== undefined) return new Set(this.reached(only));
    for (const each of from) for (const reader of this.#readers.get(each) ?? []) from.add(reader);
    return from;
  }

  /** The relations themselves and all that rules conclude them from, however far. */
  below(relations: Iterable<string>): Set<string> {
    const below = new Set(relations);
    for (const each of below) for (const read of this.#reads.get(each) ?? []) below.add(read);
    return below;
  }

  /** Two relations are mutually recursive in a view exactly when their components are equal. */
  component(view: ScopeChoice, relation: string): number {
    const key = viewKey(view);
    let components = this.#components.get(key);
    if (components === undefined) {
      components = stronglyConnected(this.#graph(view));
      this.#components.set(key, components);
    }
    return components.get(relation) ?? -1;
  }

  /** True where a rule of the relation reads it, or one that is mutually recursive with it, in the same view. */
  isRecursive(view: ScopeChoice, relation: string): boolean {
    const component = this.component(view, relation);
    return this.rulesFor(view, relation).some(
      ({ kept, bodyView }) =>
        viewKey(bodyView) === viewKey(view) &&
        relationsRead(kept.rule.body).some((read) => this.component(view, read) === component),
    );
  }

  /**
   * The level of a relation in a view: above all that its rules read, but for what recurs with it. Views of scopes
   * lie below the view of everything, which takes in what they conclude.
   */
  level(view: ScopeChoice, relation: string): number {
    return (view.kind === 'all' ? viewsOfScopes : 0) + this.component(view, relation);
  }

  #graph(view: ScopeChoice): Map<string, string[]> {
    const graph = new Map<string, string[]>();
    const heads = new Set(this.#unscoped.keys());
    if (view.kind === 'scope') for (const head of this.#scoped.keys()) heads.add(head);
    for (const head of heads) {
      const targets: string[] = [];
      for (const rule of this.rulesFor(view, head))
        if (viewKey(rule.bodyView) === viewKey(view)) targets.push(...relationsRead(rule.kept.rule.body));
      graph.set(head, targets);
    }
    return graph;
  }
}

/** The arguments of all literals, those inside aggregates too, and what aggregates come to. */
function termsOf(body: readonly Literal[]): string[] {
  return body.flatMap((literal) =>
    isAggregate(literal) ? [literal.result, ...termsOf(literal.body)] : literal.args,
  );
}

/** The list of the key, made where there is none. */
export function listed<Item>(map: Map<string, Item[]>, key: string): Item[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}

/** Relations that the atoms of a body name, inside aggregates and under `not` too. */
export function relationsRead(body: readonly Literal[]): string[] {
  const found: string[] = [];
  for (const literal of body) {
    if (isAggregate(literal)) found.push(...relationsRead(literal.body));
    else if (!isBuiltinName(literal.predicate)) found.push(relationOf(literal));
  }
  return found;
}

/** Tarjan's algorithm without recursion, since chains of rules can be long. Nodes in no cycle get one of their own. */
function stronglyConnected(graph: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const component = new Map<string, number>();
  const open: string[] = [];
  let components = 0;
  for (const root of graph.keys()) {
    if (order.has(root)) continue;
    const path: { node: string; next: number }[] = [{ node: root, next: 0 }];
    while (path.length > 0) {
      const top = path[path.length - 1] as { node: string; next: number };
      if (top.next === 0) {
        order.set(top.node, order.size);
        low.set(top.node, order.get(top.node) as number);
        open.push(top.node);
      }
      const target = graph.get(top.node)?.[top.next++];
      if (target !== undefined) {
        if (!graph.has(target)) continue;
        if (!order.has(target)) path.push({ node: target, next: 0 });
        else if (!component.has(target))
          low.set(top.node, Math.min(low.get(top.node) as number, order.get(target) as number));
        continue;
      }
      path.pop();
      const parent = path[path.length - 1];
      const lowest = low.get(top.node) as number;
      if (parent !== undefined) low.set(parent.node, Math.min(low.get(parent.node) as number, lowest));
      if (lowest !== order.get(top.node)) continue;
      for (;;) {
        const node = open.pop() as string;
        component.set(node, components);
        if (node === top.node) break;
      }
      components++;
    }
  }
  return component;
}
