/**
 * Stratification: in which order relations can be completed, and whether there is such an order.
 *
 * A relation that a rule's body reads under `not` or inside an aggregate must be complete before the rule
 * runs, so no cycle may go through such a dependency. Rules without scope are combined with those of any one
 * scope, never with those of two. Disabled rules count, so that enabling one never fails.
 */
import { EngineError } from '../base/errors.ts';
import type { AtomLiteral, Literal, Rule } from '../contract/language.ts';
import { isAggregate, isBuiltin, relationOf } from './terms.ts';

/** A rule with its scope; `id` names it in errors. */
export interface ScopedRule {
  readonly rule: Rule;
  readonly scope: string | null;
  readonly id: string;
}

/** A relation that a rule reads; `completes`: it must be complete before (default negation, aggregates). */
export interface Dependency {
  readonly relation: string;
  readonly atom: AtomLiteral;
  readonly completes: boolean;
  /** Index of the literal in the body, then in the aggregate's braces. */
  readonly path: readonly number[];
}

/** The relations that a body reads, in order, with repetitions. */
export function dependenciesOf(body: readonly Literal[]): Dependency[] {
  const found: Dependency[] = [];
  function visit(literals: readonly Literal[], inAggregate: boolean, path: readonly number[]): void {
    for (const [index, literal] of literals.entries()) {
      const place = [...path, index];
      if (isAggregate(literal)) visit(literal.body, true, place);
      else if (!isBuiltin(literal))
        found.push({
          relation: relationOf(literal),
          atom: literal,
          completes: inAggregate || literal.naf,
          path: place,
        });
    }
  }
  visit(body, false, []);
  return found;
}

interface Edge {
  readonly to: string;
  readonly completes: boolean;
}

type Graph = Map<string, Edge[]>;

function addRule(graph: Graph, rule: Rule): void {
  const from = relationOf(rule.head);
  const edges = graph.get(from) ?? [];
  graph.set(from, edges);
  for (const { relation, completes } of dependenciesOf(rule.body)) edges.push({ to: relation, completes });
}

function graphOf(rules: Iterable<Rule>): Graph {
  const graph: Graph = new Map();
  for (const rule of rules) addRule(graph, rule);
  return graph;
}

interface Frame {
  readonly relation: string;
  readonly edges: readonly Edge[];
  next: number;
}

/**
 * The SCCs reachable from the roots, each after those it depends on (Tarjan's algorithm, iterative, so that
 * chains of any length are safe for the stack).
 */
function components(roots: Iterable<string>, edgesOf: (relation: string) => readonly Edge[]): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const found: string[][] = [];
  const frames: Frame[] = [];
  function enter(relation: string): void {
    order.set(relation, order.size);
    low.set(relation, order.size - 1);
    open.push(relation);
    isOpen.add(relation);
    frames.push({ relation, edges: edgesOf(relation), next: 0 });
  }
  function lower(relation: string, bound: number): void {
    if (bound < (low.get(relation) as number)) low.set(relation, bound);
  }
  function leave(relation: string): void {
    frames.pop();
    const reached = low.get(relation) as number;
    const parent = frames.at(-1);
    if (parent !== undefined) lower(parent.relation, reached);
    if (reached !== order.get(relation)) return;
    const component = open.splice(open.lastIndexOf(relation));
    for (const member of component) isOpen.delete(member);
    found.push(component);
  }
  for (const root of roots) {
    if (order.has(root)) continue;
    enter(root);
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const edge = frame.edges[frame.next++];
      if (edge === undefined) leave(frame.relation);
      else if (!order.has(edge.to)) enter(edge.to);
      else if (isOpen.has(edge.to)) lower(frame.relation, order.get(edge.to) as number);
    }
  }
  return found;
}

/**
 * A cycle through default negation or an aggregate: its relations in order, the first repeated at the end.
 */
export interface NegativeCycle {
  readonly relations: readonly string[];
  /** Whether the step from `relations[i]` to the next one is through `not` or an aggregate. */
  readonly completes: readonly boolean[];
}

/** The shortest path from `from` to `to` inside a component, as edges in order. */
function shortestWay(
  from: string,
  to: string,
  inside: ReadonlySet<string>,
  graph: (relation: string) => readonly Edge[],
): { from: string; edge: Edge }[] {
  const cameBy = new Map<string, { from: string; edge: Edge } | null>([[from, null]]);
  const queue = [from];
  for (let index = 0; index < queue.length && !cameBy.has(to); index++) {
    const relation = queue[index] as string;
    for (const edge of graph(relation))
      if (inside.has(edge.to) && !cameBy.has(edge.to)) {
        cameBy.set(edge.to, { from: relation, edge });
        queue.push(edge.to);
      }
  }
  const way: { from: string; edge: Edge }[] = [];
  for (let step = cameBy.get(to) ?? null; step !== null; step = cameBy.get(step.from) ?? null) way.push(step);
  return way.reverse();
}

function cycleWithin(
  component: readonly string[],
  edgesOf: (relation: string) => readonly Edge[],
): NegativeCycle | null {
  const inside = new Set(component);
  for (const relation of component)
    for (const edge of edgesOf(relation)) {
      if (!edge.completes || !inside.has(edge.to)) continue;
      const way = [{ from: relation, edge }, ...shortestWay(edge.to, relation, inside, edgesOf)];
      return {
        relations: [...way.map((step) => step.from), relation],
        completes: way.map((step) => step.edge.completes),
      };
    }
  return null;
}

function lookUp(graphs: readonly Graph[]): (relation: string) => readonly Edge[] {
  const [first, second] = graphs;
  if (first !== undefined && second === undefined) return (relation) => first.get(relation) ?? [];
  return (relation) => graphs.flatMap((graph) => graph.get(relation) ?? []);
}

/**
 * One cycle for every SCC that has one, among the rules without scope and, scope by scope, among those
 * reachable from the scope's rules. `onlyScope`: check only the views that the rules of that scope can
 * change.
 */
export function negativeCycles(
  rules: Iterable<ScopedRule>,
  onlyScope: string | null = null,
): NegativeCycle[] {
  const unscoped: Graph = new Map();
  const scoped = new Map<string, Graph>();
  for (const { rule, scope } of rules) {
    let graph = unscoped;
    if (scope !== null) {
      graph = scoped.get(scope) ?? new Map<string, Edge[]>();
      scoped.set(scope, graph);
    }
    addRule(graph, rule);
  }
  const cycles: NegativeCycle[] = [];
  function search(roots: Iterable<string>, edgesOf: (relation: string) => readonly Edge[]): void {
    for (const component of components(roots, edgesOf)) {
      const cycle = cycleWithin(component, edgesOf);
      if (cycle !== null) cycles.push(cycle);
    }
  }
  if (onlyScope === null) search(unscoped.keys(), lookUp([unscoped]));
  for (const [scope, graph] of scoped)
    if (onlyScope === null || scope === onlyScope) search(graph.keys(), lookUp([unscoped, graph]));
  return cycles;
}

/** Of a longer cycle only this many steps are named, at its beginning and at its end. */
const maxStepsTold = 20;

/** The cycle in words: `p/1 depends on not (or an aggregate of) q/1, q/1 depends on p/1`. */
export function renderCycle({ relations, completes }: NegativeCycle): string {
  const steps = completes.map((each, index) => {
    const how = each ? 'depends on not (or an aggregate of)' : 'depends on';
    return `${relations[index]} ${how} ${relations[index + 1]}`;
  });
  const left = steps.length - maxStepsTold;
  if (left > 0) steps.splice(maxStepsTold / 2, left, `(${left} more)`);
  return steps.join(', ');
}

function refusal(cycle: NegativeCycle): EngineError {
  return new EngineError(
    'RuleException',
    `the rules cannot be stratified, since a cycle goes through default negation or an aggregate: ${renderCycle(cycle)}`,
    { cycle: cycle.relations.slice(0, maxStepsTold) },
  );
}

/**
 * Refuses rules that cannot be stratified: throws 422 RuleException, which names the cycle. For `onlyScope`
 * see `negativeCycles`.
 */
export function checkStratified(rules: Iterable<ScopedRule>, onlyScope: string | null = null): void {
  const [cycle] = negativeCycles(rules, onlyScope);
  if (cycle !== undefined) throw refusal(cycle);
}

/** The relations of one view in evaluation order. */
interface Strata {
  /** SCCs of relations, each after all that it depends on. */
  readonly components: readonly (readonly string[])[];
  /**
   * Stratum of each relation that a rule concludes or reads, from 0; through `not` and aggregates it reads
   * only lower strata.
   */
  readonly stratumOf: ReadonlyMap<string, number>;
}

/**
 * Stratifies the rules of one view. Throws 422 RuleException, which names the cycle, if that is impossible.
 */
export function strataOf(rules: Iterable<Rule>): Strata {
  const graph = graphOf(rules);
  const edgesOf = lookUp([graph]);
  const found = components(graph.keys(), edgesOf);
  const stratumOf = new Map<string, number>();
  for (const component of found) {
    const inside = new Set(component);
    const cycle = cycleWithin(component, edgesOf);
    if (cycle !== null) throw refusal(cycle);
    let stratum = 0;
    for (const relation of component)
      for (const edge of edgesOf(relation))
        if (!inside.has(edge.to))
          stratum = Math.max(stratum, (stratumOf.get(edge.to) as number) + (edge.completes ? 1 : 0));
    for (const relation of component) stratumOf.set(relation, stratum);
  }
  return { components: found, stratumOf };
}

/**
 * Refuses rules that cannot be stratified, and gives the strata of views on demand: of a scope, or (null) of
 * the rules without scope.
 */
export function stratify(rules: readonly ScopedRule[]): { view(scope: string | null): Strata } {
  checkStratified(rules);
  return {
    view: (scope) =>
      strataOf(rules.filter((each) => each.scope === null || each.scope === scope).map((each) => each.rule)),
  };
}
