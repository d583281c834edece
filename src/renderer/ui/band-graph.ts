/** A graph that is drawn in bands, and its parts. Pure. */

/** A node. */
export interface BandNode {
  readonly id: string;
  /** What its box says, shortened there. */
  readonly label: string;
  /** The small line below. */
  readonly note: string;
  /** The node in words, for screen readers. */
  readonly words: string;
  /** Bands are side by side, in the order of their numbers. */
  readonly band: number;
  readonly look: 'stored' | 'concluded' | 'constraint' | 'argument';
}

/** An edge. */
export interface BandEdge {
  readonly from: string;
  readonly to: string;
  /** `completes`: through `not` or an aggregate; `shares`: it has no direction. */
  readonly kind: 'reads' | 'completes' | 'shares';
}

/** The graph. */
export interface BandGraph {
  readonly nodes: readonly BandNode[];
  readonly edges: readonly BandEdge[];
  /** Titles by number of the band. */
  readonly titles: ReadonlyMap<number, string>;
}

interface Parts {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

function reached(from: string, step: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set([from]);
  for (const id of found) for (const next of step.get(id) ?? []) found.add(next);
  return found;
}

/** Returns the part of a graph from which a node is reached, or that it reaches. */
export function aroundOf<Graph extends Parts>(graph: Graph, id: string): Graph {
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

/** Returns the edges to and from a node, in graph order. */
export function neighboursOf<Edge extends Parts['edges'][number]>(
  { edges }: { readonly edges: readonly Edge[] },
  id: string,
): { premises: Edge[]; conclusions: Edge[] } {
  return {
    premises: edges.filter(({ to }) => to === id),
    conclusions: edges.filter(({ from }) => from === id),
  };
}
