/** A laid-out diagram, for drawing, spatial search and export. */
import type { DiagramEdge, DiagramGraph, DiagramNode } from './diagram-graph.ts';
import type { Layout } from './layout.ts';
import { edgePath } from './node-drawing.ts';
import { type Box, meets } from './viewport.ts';

/** A node with its box. */
export interface PlacedNode extends Box {
  readonly node: DiagramNode;
}

/** An edge with its bounding box. */
export interface PlacedEdge extends Box {
  readonly edge: DiagramEdge;
  readonly path: string;
}

/** A laid-out diagram. */
export interface PlacedDiagram {
  /** In the order of the graph. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly nodeOf: ReadonlyMap<number, number>;
  readonly width: number;
  readonly height: number;
}

/** Combines a graph with its layout. */
export function placedDiagram(graph: DiagramGraph, layout: Layout): PlacedDiagram {
  const nodes = graph.nodes.map((node, index): PlacedNode => {
    const { width, height } = node;
    return {
      node,
      left: layout.corners[index * 2] ?? 0,
      top: layout.corners[index * 2 + 1] ?? 0,
      width,
      height,
    };
  });
  const edges = graph.edges.flatMap((edge, index): PlacedEdge[] => {
    const from = nodes[edge.from];
    const to = nodes[edge.to];
    return from === undefined || to === undefined
      ? []
      : [placedEdge(edge, from, to, layout.bends[index] ?? [])];
  });
  return { nodes, edges, nodeOf: graph.nodeOf, width: layout.width, height: layout.height };
}

function placedEdge(edge: DiagramEdge, from: Box, to: Box, bends: readonly number[]): PlacedEdge {
  const points = [
    from.left + from.width,
    from.top + from.height / 2,
    ...bends,
    to.left,
    to.top + to.height / 2,
  ];
  const across = points.filter((_, index) => index % 2 === 0);
  const down = points.filter((_, index) => index % 2 === 1);
  const left = Math.min(...across);
  const top = Math.min(...down);
  return {
    edge,
    path: edgePath(points),
    left,
    top,
    width: Math.max(...across) - left,
    height: Math.max(...down) - top,
  };
}

/** Returns the node of a step; undefined if it is not in the diagram. */
export function nodeOfStep(diagram: PlacedDiagram, step: number): PlacedNode | undefined {
  const place = diagram.nodeOf.get(step);
  return place === undefined ? undefined : diagram.nodes[place];
}

/** Maximum number of edges drawn between boxes outside the view; more would be slow and merge into grey. */
const maxPassing = 150;

/** Returns what lies in a part of the diagram; of very many edges that merely cross it, only some. */
export function within(
  diagram: PlacedDiagram,
  part: Box,
): { readonly nodes: readonly PlacedNode[]; readonly edges: readonly PlacedEdge[] } {
  const edges: PlacedEdge[] = [];
  const passing: PlacedEdge[] = [];
  for (const placed of diagram.edges) {
    if (!meets(placed, part)) continue;
    const end = diagram.nodes[placed.edge.to];
    if (end !== undefined && meets(end, part)) edges.push(placed);
    else passing.push(placed);
  }
  const every = Math.ceil(passing.length / maxPassing);
  edges.push(...passing.filter((_, index) => index % every === 0));
  return { nodes: diagram.nodes.filter((node) => meets(node, part)), edges };
}
