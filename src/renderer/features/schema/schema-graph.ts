/** The graph of predicates as it is drawn: declared arguments at the left, predicates by stratum, constraints at the right. */
import type { PredicateGraph } from '../../../engine/contract/predicate-graph.ts';
import type { BandEdge, BandGraph, BandNode } from '../../ui/band-graph.ts';
import { formatAmount } from '../../ui/format.ts';

/** A node of the graph. */
export type SchemaNode = PredicateGraph['nodes'][number];
type Edge = PredicateGraph['edges'][number];

/** Predicates without a stratum and constraints are right of any stratum. */
const apart = 1_000_000;

function lookOf(node: SchemaNode): BandNode['look'] {
  if (node.kind !== 'predicate') return node.kind;
  return node.rules > 0 ? 'concluded' : 'stored';
}

function bandOf(node: SchemaNode): number {
  if (node.kind === 'argument') return -1;
  return node.kind === 'constraint' ? apart + 1 : (node.stratum ?? apart);
}

function titleOf(node: SchemaNode): string {
  if (node.kind === 'argument') return 'Arguments';
  if (node.kind === 'constraint') return 'Constraints';
  return node.stratum === null ? 'No stratum' : `Stratum ${node.stratum}`;
}

/** What a node is called: a constraint by its name. */
export function labelOf(node: SchemaNode): string {
  return node.kind === 'constraint' ? node.name : node.id;
}

/** The small line of a node. */
export function noteOf(node: SchemaNode): string {
  switch (node.kind) {
    case 'argument':
      return 'argument';
    case 'constraint':
      return node.mode === 'reject' ? 'refuses' : 'warns';
    case 'predicate':
      return [
        ...(node.facts > 0 || node.rules === 0 ? [formatAmount(node.facts, 'fact')] : []),
        ...(node.rules > 0 ? [formatAmount(node.rules, 'rule')] : []),
        ...(node.recursive ? ['recursive'] : []),
        ...(node.key.length > 0 ? ['key'] : []),
      ].join(' · ');
  }
}

/** A node that another is connected to, and how. */
interface Connection {
  readonly id: string;
  readonly label: string;
  readonly note: string | null;
}

/** What a node is connected to. */
export interface Connections {
  readonly reads: Connection[];
  readonly readBy: Connection[];
  readonly checkedBy: Connection[];
  readonly arguments: Connection[];
  readonly argumentOf: Connection[];
  /** Ids of the rules that conclude it from what it reads. */
  readonly rules: Set<string>;
}

function throughNot({ completes }: { readonly completes: boolean }): string | null {
  return completes ? 'through not or an aggregate' : null;
}

/** What the nodes are connected to, by id. */
export function connectionsOf({ nodes, edges }: PredicateGraph): ReadonlyMap<string, Connections> {
  const labels = new Map(nodes.map((node) => [node.id, labelOf(node)]));
  const found = new Map(
    nodes.map(({ id }): [string, Connections] => [
      id,
      { reads: [], readBy: [], checkedBy: [], arguments: [], argumentOf: [], rules: new Set() },
    ]),
  );
  const add = (list: 'reads' | 'readBy' | 'checkedBy' | 'arguments' | 'argumentOf') => {
    return (at: string, id: string, note: string | null): void => {
      found.get(at)?.[list].push({ id, label: labels.get(id) ?? id, note });
    };
  };
  for (const edge of edges) {
    const { from, to } = edge;
    if (edge.kind === 'argument') {
      const note = `argument ${edge.position + 1}${edge.inKey ? ', in the key' : ''}`;
      add('arguments')(from, to, note);
      add('argumentOf')(to, from, note);
      continue;
    }
    add(edge.kind === 'rule' ? 'readBy' : 'checkedBy')(from, to, throughNot(edge));
    add('reads')(to, from, throughNot(edge));
    if (edge.kind === 'rule') for (const rule of edge.rules) found.get(to)?.rules.add(rule);
  }
  return found;
}

function listed(title: string, connections: readonly Connection[]): string[] {
  if (connections.length === 0) return [];
  const said = connections.map(({ label, note }) => (note === null ? label : `${label} (${note})`));
  return [`${title} ${said.join(', ')}`];
}

function inWords(node: SchemaNode, connections: Connections | undefined): string {
  return [
    `${labelOf(node)}, ${titleOf(node).toLowerCase()}`,
    noteOf(node),
    ...listed('reads', connections?.reads ?? []),
    ...listed('checked by', connections?.checkedBy ?? []),
    ...listed('has', connections?.arguments ?? []),
    ...listed('argument of', connections?.argumentOf ?? []),
  ].join('; ');
}

function drawnEdge(edge: Edge): BandEdge {
  const { from, to } = edge;
  // From the left: arguments are beside what has them.
  if (edge.kind === 'argument') return { from: to, to: from, kind: 'shares' };
  return { from, to, kind: edge.completes ? 'completes' : 'reads' };
}

/** Returns the graph as it is drawn. */
export function schemaInBands(graph: PredicateGraph): BandGraph {
  const connections = connectionsOf(graph);
  const nodes = graph.nodes.map(
    (node): BandNode => ({
      id: node.id,
      label: labelOf(node),
      note: noteOf(node),
      words: inWords(node, connections.get(node.id)),
      band: bandOf(node),
      look: lookOf(node),
    }),
  );
  // A predicate that has an argument twice is connected to it once.
  const edges = new Map(graph.edges.map((edge) => [`${edge.from}\n${edge.to}`, drawnEdge(edge)]));
  return {
    nodes,
    edges: [...edges.values()],
    titles: new Map(graph.nodes.map((node) => [bandOf(node), titleOf(node)])),
  };
}
