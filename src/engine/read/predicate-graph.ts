/**
 * The graph of predicates: rules lead from what they read to what they conclude, constraints are below what they read,
 * and predicates meet at declared arguments of one name and type.
 *
 * Facts are those of the tenant; rules, constraints and declarations belong to the database.
 */
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import type { ArgumentType, DeclaredArgument } from '../contract/declarations.ts';
import { type Atom, isVariable } from '../contract/language.ts';
import type { PredicateGraph, PredicateGraphQuery } from '../contract/predicate-graph.ts';
import { dependenciesOf, strataOf } from '../language/stratify.ts';
import { relationKey, relationOf, wildcard } from '../language/terms.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { countsByRelation } from './describe.ts';

type GraphNode = PredicateGraph['nodes'][number];
type GraphEdge = PredicateGraph['edges'][number];
type PredicateNode = Extract<GraphNode, { kind: 'predicate' }>;
type ArgumentNode = Extract<GraphNode, { kind: 'argument' }>;
type RuleEdge = Extract<GraphEdge, { kind: 'rule' }>;

/** Rules, constraints and declarations between two breaths. */
const STEPS_BETWEEN_BREATHS = 256;

/** The graph of a view, or the part around one predicate, within the limit of nodes. */
export async function predicateGraph(
  context: ReadContext,
  query: PredicateGraphQuery,
): Promise<PredicateGraph> {
  const drawn = await wholeGraph(context, query);
  const kept = query.predicate === null ? drawn.nodes : nearest(drawn, query.predicate, query.arity);
  const given = new Set(kept.slice(0, query.limit).map(({ id }) => id));
  return {
    nodes: drawn.nodes.filter(({ id }) => given.has(id)),
    edges: drawn.edges.filter(({ from, to }) => given.has(from) && given.has(to)),
    total: kept.length,
    truncated: kept.length > given.size,
  };
}

interface WholeGraph {
  /** In the order of answers. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

async function wholeGraph(context: ReadContext, query: PredicateGraphQuery): Promise<WholeGraph> {
  const { database, pacer } = context;
  const view = scopeChoice(query);
  const isInView = ({ scope }: { readonly scope: string | null }): boolean =>
    scope === null || view.kind === 'all' || (view.kind === 'scope' && view.scope === scope);
  const rules = database.rules.all().filter(isInView);
  const building = new GraphBuilding(context);
  for (const [{ predicate, arity, negated }, facts] of await countsByRelation(context, view))
    building.predicate(predicate, arity, negated).facts += facts;
  let steps = 0;
  const step = async (): Promise<void> => {
    if (++steps % STEPS_BETWEEN_BREATHS === 0) await pacer.breathe();
  };
  for (const rule of rules) {
    building.addRule(rule);
    await step();
  }
  for (const constraint of database.constraints.all().filter(isInView)) {
    building.addConstraint(constraint);
    await step();
  }
  for (const { name, arity } of database.declarations.all()) {
    building.predicate(name, arity, false);
    await step();
  }
  await pacer.breathe();
  building.addStrata(rules);
  await pacer.breathe();
  return building.whole();
}

type StoredConstraint = ReturnType<ReadContext['database']['constraints']['all']>[number];

class GraphBuilding {
  readonly #context: ReadContext;
  readonly #predicates = new Map<string, PredicateNode>();
  readonly #constraints: GraphNode[] = [];
  readonly #arguments = new Map<string, GraphNode>();
  readonly #ruleEdges = new Map<string, RuleEdge>();
  readonly #edges: GraphEdge[] = [];

  constructor(context: ReadContext) {
    this.#context = context;
  }

  /** The node of a relation, with the edges to its declared arguments. */
  predicate(name: string, arity: number, negated: boolean): PredicateNode {
    const id = relationKey(name, arity, negated);
    const known = this.#predicates.get(id);
    if (known !== undefined) return known;
    const declaration = this.#context.database.declarations.get(name, arity);
    const key = declaration?.key ?? [];
    const node: PredicateNode = {
      kind: 'predicate',
      id,
      name,
      arity,
      negated,
      facts: 0,
      rules: 0,
      stratum: 0,
      recursive: false,
      declared: declaration !== null,
      key: [...key],
    };
    this.#predicates.set(id, node);
    for (const [position, argument] of (declaration?.arguments ?? []).entries())
      this.#edges.push({
        kind: 'argument',
        from: id,
        to: this.#argument(argument),
        position,
        inKey: key.includes(argument.name),
      });
    return node;
  }

  #argument({ name, type }: DeclaredArgument): string {
    const word = typeWord(type);
    const id = `${name}: ${word}`;
    if (!this.#arguments.has(id)) this.#arguments.set(id, { kind: 'argument', id, name, type: word });
    return id;
  }

  #nodeOf(atom: Atom): PredicateNode {
    return this.predicate(atom.predicate, atom.args.length, atom.negated);
  }

  addRule({ id, rule: { head, body } }: RuleRecord): void {
    const to = this.#nodeOf(head);
    to.rules++;
    for (const { atom, completes } of dependenciesOf(body)) {
      const from = this.#nodeOf(atom);
      const key = `${from.id}\n${to.id}`;
      const edge: RuleEdge = this.#ruleEdges.get(key) ?? {
        kind: 'rule',
        from: from.id,
        to: to.id,
        completes: false,
        rules: [],
        positions: [],
      };
      this.#ruleEdges.set(key, edge);
      edge.completes ||= completes;
      if (edge.rules.at(-1) !== id) edge.rules.push(id);
      for (const [at, term] of atom.args.entries())
        if (isVariable(term) && term !== wildcard)
          for (const [inHead, other] of head.args.entries())
            if (other === term && !edge.positions.some((pair) => pair.from === at && pair.to === inHead))
              edge.positions.push({ from: at, to: inHead });
    }
  }

  addConstraint({ id, name, text, mode, scope, body }: StoredConstraint): void {
    this.#constraints.push({ kind: 'constraint', id, name, text, mode, scope });
    const read = new Map<string, boolean>();
    for (const { atom, completes } of dependenciesOf(body)) {
      const from = this.#nodeOf(atom).id;
      read.set(from, completes || read.get(from) === true);
    }
    for (const [from, completes] of read) this.#edges.push({ kind: 'constraint', from, to: id, completes });
  }

  /** Sets strata and recursion. Where all rules together have no strata, only those without scope count. */
  addStrata(rules: readonly RuleRecord[]): void {
    const whole = strataOfAll(rules);
    const counted = whole === null ? rules.filter(({ scope }) => scope === null) : rules;
    const { components, stratumOf } = whole ?? strataOf(counted.map(({ rule }) => rule));
    if (whole === null)
      for (const { rule } of rules)
        for (const atom of [rule.head, ...dependenciesOf(rule.body).map((each) => each.atom)])
          this.#nodeOf(atom).stratum = null;
    for (const [id, stratum] of stratumOf) (this.#predicates.get(id) as PredicateNode).stratum = stratum;
    for (const component of components)
      if (component.length > 1)
        for (const id of component) (this.#predicates.get(id) as PredicateNode).recursive = true;
    for (const { rule } of counted) {
      const head = relationOf(rule.head);
      if (dependenciesOf(rule.body).some(({ relation }) => relation === head))
        (this.#predicates.get(head) as PredicateNode).recursive = true;
    }
  }

  whole(): WholeGraph {
    const predicates = [...this.#predicates.values()].sort(
      (a, b) => compareText(a.name, b.name) || a.arity - b.arity || Number(a.negated) - Number(b.negated),
    );
    const named = [...this.#arguments.values()].sort((a, b) => compareText(a.id, b.id));
    const nodes = [...predicates, ...this.#constraints, ...named];
    const place = new Map(nodes.map(({ id }, at) => [id, at]));
    const at = (id: string): number => place.get(id) as number;
    const edges = [...this.#ruleEdges.values(), ...this.#edges];
    for (const edge of this.#ruleEdges.values())
      edge.positions.sort((a, b) => a.from - b.from || a.to - b.to);
    edges.sort((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to) || positionOf(a) - positionOf(b));
    return { nodes, edges };
  }
}

/** The strata of all rules together; null: those of several scopes have none. */
function strataOfAll(rules: readonly RuleRecord[]): ReturnType<typeof strataOf> | null {
  try {
    return strataOf(rules.map(({ rule }) => rule));
  } catch (error) {
    // A stored program can be stratified scope by scope: only rules of two scopes can make a cycle.
    if (error instanceof EngineError && error.code === 'RuleException') return null;
    throw error;
  }
}

function positionOf(edge: GraphEdge): number {
  return edge.kind === 'argument' ? edge.position : 0;
}

function typeWord(type: ArgumentType): ArgumentNode['type'] {
  return typeof type === 'string' ? type : 'oneOf';
}

/**
 * What a predicate depends on, what depends on it, and what shares a declared argument with it, with the arguments of
 * all these: nearest first, then in the order of answers.
 */
function nearest({ nodes, edges }: WholeGraph, predicate: string, arity: number | null): GraphNode[] {
  const read = { up: new Map<string, string[]>(), down: new Map<string, string[]>() };
  const argumentsOf = new Map<string, string[]>();
  const usersOf = new Map<string, string[]>();
  for (const { kind, from, to } of edges) {
    add(kind === 'argument' ? argumentsOf : read.up, from, to);
    add(kind === 'argument' ? usersOf : read.down, to, from);
  }
  const centre = nodes
    .filter(
      (node) =>
        node.kind === 'predicate' && node.name === predicate && (arity === null || node.arity === arity),
    )
    .map(({ id }) => id);
  const distance = new Map(centre.map((id) => [id, 0]));
  const keep = (id: string, far: number): void => {
    distance.set(id, Math.min(far, distance.get(id) ?? far));
  };
  for (const steps of [read.up, read.down]) {
    const reached = new Map(centre.map((id) => [id, 0]));
    for (const [id, far] of reached)
      for (const next of steps.get(id) ?? []) if (!reached.has(next)) reached.set(next, far + 1);
    for (const [id, far] of reached) keep(id, far);
  }
  for (const id of centre)
    for (const argument of argumentsOf.get(id) ?? [])
      for (const user of usersOf.get(argument) ?? []) keep(user, 2);
  for (const [id, far] of distance) for (const argument of argumentsOf.get(id) ?? []) keep(argument, far + 1);
  return nodes
    .filter(({ id }) => distance.has(id))
    .sort((a, b) => (distance.get(a.id) as number) - (distance.get(b.id) as number));
}

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
