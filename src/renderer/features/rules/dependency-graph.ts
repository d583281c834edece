/**
 * Which relation is concluded from which, by strata: what the graph draws and its list says.
 *
 * A relation is name, arity and sign. An edge leads from a premise to what is concluded with it; one that `completes`
 * goes through `not` or an aggregate, so its premise lies in a lower stratum. Rules that are off count, as they do when
 * strata are worked out.
 */
import type { PredicateList } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { dependenciesOf, negativeCycles, strataOf } from '../../../engine/language/stratify.ts';
import { relationOf } from '../../../engine/language/terms.ts';

export interface RelationNode {
  /** `parent/2`, `-parent/2`. */
  readonly id: string;
  readonly name: string;
  readonly arity: number;
  readonly stratum: number;
  /** Stored facts of the name and arity, of both signs. */
  readonly facts: number;
  /** Rules that conclude it. */
  readonly rules: readonly StoredRule[];
  /** True where it depends on itself, through others or at once. */
  readonly isRecursive: boolean;
}

export interface RelationEdge {
  readonly from: string;
  readonly to: string;
  readonly completes: boolean;
}

export interface RelationGraph {
  /** By stratum, then by id. */
  readonly nodes: readonly RelationNode[];
  readonly edges: readonly RelationEdge[];
  /** True where scoped rules are left out, since with those of all scopes together there are no strata. */
  readonly isUnscopedOnly: boolean;
}

function edgesOf(rules: readonly StoredRule[]): RelationEdge[] {
  const edges = new Map<string, RelationEdge>();
  for (const rule of rules) {
    const to = relationOf(rule.head);
    for (const { relation: from, completes } of dependenciesOf(rule.body)) {
      const key = `${from}\n${to}`;
      if (completes || !edges.has(key)) edges.set(key, { from, to, completes });
    }
  }
  return [...edges.values()];
}

function partsOf(id: string): { name: string; arity: number } {
  const slash = id.lastIndexOf('/');
  const from = id.startsWith('-') ? 1 : 0;
  return { name: id.slice(from, slash), arity: Number(id.slice(slash + 1)) };
}

function canBeStratified(rules: readonly StoredRule[]): boolean {
  return negativeCycles(rules.map((rule) => ({ rule, scope: null, id: rule.id }))).length === 0;
}

/** The graph of rules that are seen together: those of one scope with those of none, or all that there are. */
export function graphOf(all: readonly StoredRule[], predicates: PredicateList['predicates']): RelationGraph {
  const isWhole = canBeStratified(all);
  const rules = isWhole ? all : all.filter(({ scope }) => scope === null);
  const { components, stratumOf } = strataOf(rules);
  const edges = edgesOf(rules);
  const looped = new Set(edges.filter(({ from, to }) => from === to).map(({ from }) => from));
  for (const component of components)
    if (component.length > 1) for (const relation of component) looped.add(relation);
  const concluding = new Map<string, StoredRule[]>();
  for (const rule of rules) {
    const relation = relationOf(rule.head);
    concluding.set(relation, [...(concluding.get(relation) ?? []), rule]);
  }
  const facts = new Map(predicates.map((each) => [`${each.name}/${each.arity}`, each.facts]));
  const nodes = [...stratumOf].map(([id, stratum]): RelationNode => {
    const { name, arity } = partsOf(id);
    return {
      id,
      name,
      arity,
      stratum,
      facts: facts.get(`${name}/${arity}`) ?? 0,
      rules: concluding.get(id) ?? [],
      isRecursive: looped.has(id),
    };
  });
  nodes.sort((left, right) => left.stratum - right.stratum || (left.id < right.id ? -1 : 1));
  return { nodes, edges, isUnscopedOnly: !isWhole };
}

function reached(from: string, step: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set([from]);
  for (const id of found) for (const next of step.get(id) ?? []) found.add(next);
  return found;
}

/** The part of the graph that a relation rests on or that rests on it. */
export function aroundOf(graph: RelationGraph, id: string): RelationGraph {
  const above = new Map<string, string[]>();
  const below = new Map<string, string[]>();
  for (const { from, to } of graph.edges) {
    above.set(from, [...(above.get(from) ?? []), to]);
    below.set(to, [...(below.get(to) ?? []), from]);
  }
  const kept = new Set([...reached(id, above), ...reached(id, below)]);
  return {
    ...graph,
    nodes: graph.nodes.filter((node) => kept.has(node.id)),
    edges: graph.edges.filter(({ from, to }) => kept.has(from) && kept.has(to)),
  };
}

/** What a relation is concluded from and used for, each in the order of the graph. */
export function neighboursOf(graph: RelationGraph, id: string) {
  return {
    premises: graph.edges.filter(({ to }) => to === id),
    conclusions: graph.edges.filter(({ from }) => from === id),
  };
}

/** A node in words, for who does not see the drawing. */
export function nodeInWords(graph: RelationGraph, node: RelationNode): string {
  const { premises } = neighboursOf(graph, node.id);
  const on = premises.map(({ from, completes }) => (completes ? `absence or aggregate of ${from}` : from));
  return [
    `${node.id}, stratum ${node.stratum}`,
    `${node.facts} facts, ${node.rules.length} rules`,
    ...(node.isRecursive ? ['recursive'] : []),
    ...(on.length === 0 ? [] : [`depends on ${on.join(', ')}`]),
  ].join('; ');
}
