/**
 * The dependency graph of relations by stratum, for drawing and list.
 *
 * A relation is name, arity and sign. An edge leads from a premise to its conclusion; if it `completes`, it passes
 * through `not` or an aggregate, and its premise is in a lower stratum. Disabled rules count, as in stratification.
 */
import type { PredicateList } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { dependenciesOf, negativeCycles, strataOf } from '../../../engine/language/stratify.ts';
import { relationOf } from '../../../engine/language/terms.ts';
import { type BandGraph, neighboursOf } from '../../ui/band-graph.ts';
import { formatAmount } from '../../ui/format.ts';

/** A relation. */
export interface RelationNode {
  /** `parent/2`, `-parent/2`. */
  readonly id: string;
  readonly name: string;
  readonly arity: number;
  readonly stratum: number;
  /** Stored facts of the name and arity, both signs. */
  readonly facts: number;
  /** Rules with this head. */
  readonly rules: readonly StoredRule[];
  /** True if it depends on itself, directly or indirectly. */
  readonly isRecursive: boolean;
}

/** A dependency. */
interface RelationEdge {
  readonly from: string;
  readonly to: string;
  readonly completes: boolean;
}

/** The graph. */
export interface RelationGraph {
  /** By stratum, then by id. */
  readonly nodes: readonly RelationNode[];
  readonly edges: readonly RelationEdge[];
  /** True if scoped rules are omitted, since all scopes together have no strata. */
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

/** Returns the graph of the rules that are evaluated together: those of one scope and the unscoped ones, or all. */
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

/** Returns a node as text for screen readers. */
function nodeInWords(graph: RelationGraph, node: RelationNode): string {
  const { premises } = neighboursOf(graph, node.id);
  const on = premises.map(({ from, completes }) => (completes ? `absence or aggregate of ${from}` : from));
  return [
    `${node.id}, stratum ${node.stratum}`,
    `${formatAmount(node.facts, 'fact')}, ${formatAmount(node.rules.length, 'rule')}`,
    ...(node.isRecursive ? ['recursive'] : []),
    ...(on.length === 0 ? [] : [`depends on ${on.join(', ')}`]),
  ].join('; ');
}

function countsOf({ facts, rules, isRecursive }: RelationNode): string {
  const isOff = rules.length > 0 && rules.every(({ enabled }) => !enabled);
  return [
    ...(facts > 0 || rules.length === 0 ? [formatAmount(facts, 'fact')] : []),
    ...(rules.length > 0 ? [formatAmount(rules.length, 'rule')] : []),
    ...(isRecursive ? ['recursive'] : []),
    ...(isOff ? ['off'] : []),
  ].join(' · ');
}

/** Returns the graph as it is drawn: a band for each stratum. */
export function inBands(graph: RelationGraph): BandGraph {
  return {
    nodes: graph.nodes.map((node) => ({
      id: node.id,
      label: node.id,
      note: countsOf(node),
      words: nodeInWords(graph, node),
      band: node.stratum,
      look: node.rules.length > 0 ? 'concluded' : 'stored',
    })),
    edges: graph.edges.map(({ from, to, completes }) => ({
      from,
      to,
      kind: completes ? 'completes' : 'reads',
    })),
    titles: new Map(graph.nodes.map(({ stratum }) => [stratum, `Stratum ${stratum}`])),
  };
}
