/**
 * The proof diagram: the outline's lines as a graph with each step once, and the graph laid out.
 *
 * Both views use the same lines and so show the same steps. A reference of the outline becomes an edge to the step, or
 * to a box that marks it as folded elsewhere.
 */
import type { OutlineRow } from '../../../proof/proof-tree.ts';
import type { DiagramEdge, Layout, Size } from '../../ui/layout/proof-layout.ts';

/** A rectangle. */
export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** Returns true if two boxes intersect. */
export function meets(a: Box, b: Box): boolean {
  return (
    a.left <= b.left + b.width &&
    b.left <= a.left + a.width &&
    a.top <= b.top + b.height &&
    b.top <= a.top + a.height
  );
}

/** A node of the graph. */
export interface DiagramNode extends Size {
  /** The line that shows the step in full, else the first reference to it. */
  readonly row: OutlineRow;
  /** Number of steps of the diagram that use it as a premise. */
  readonly uses: number;
}

/** The graph. */
export interface DiagramGraph {
  /** In outline order; the root first. */
  readonly nodes: readonly DiagramNode[];
  readonly edges: readonly DiagramEdge[];
  /** Index of each step's node. */
  readonly nodeOf: ReadonlyMap<number, number>;
}

/** Returns the graph of the outline's lines. */
export function diagramOf(rows: readonly OutlineRow[], sizeOf: (row: OutlineRow) => Size): DiagramGraph {
  const shown = new Map<number, OutlineRow>();
  for (const row of rows) {
    const before = shown.get(row.step.id);
    if (before === undefined || (before.isReference && !row.isReference)) shown.set(row.step.id, row);
  }
  const placed = [...shown.values()];
  const nodeOf = new Map(placed.map((row, place) => [row.step.id, place]));
  const edges: DiagramEdge[] = [];
  const met = new Set<string>();
  const stepOf = new Map(rows.map((row) => [row.key, row.step.id]));
  const uses = new Map<number, number>();
  for (const row of rows) {
    const from = row.parent === null ? undefined : nodeOf.get(stepOf.get(row.parent) ?? -1);
    const to = nodeOf.get(row.step.id);
    // A body may contain a premise twice.
    if (from === undefined || to === undefined || met.has(`${from} ${to}`)) continue;
    met.add(`${from} ${to}`);
    uses.set(to, (uses.get(to) ?? 0) + 1);
    edges.push({ from, to, isOwn: row === shown.get(row.step.id), isCircle: row.isCircle });
  }
  const nodes = placed.map((row, place) => ({ ...sizeOf(row), row, uses: uses.get(place) ?? 0 }));
  return { nodes, edges, nodeOf };
}

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
  /** True if premises are below their conclusion. */
  readonly isDown: boolean;
}

/** Combines a graph with its layout; `isDown` as it was laid out. */
export function placedDiagram(graph: DiagramGraph, layout: Layout, isDown = false): PlacedDiagram {
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
      : [placedEdge(edge, from, to, layout.bends[index] ?? [], isDown)];
  });
  return { nodes, edges, nodeOf: graph.nodeOf, width: layout.width, height: layout.height, isDown };
}

function placedEdge(
  edge: DiagramEdge,
  from: Box,
  to: Box,
  bends: readonly number[],
  isDown: boolean,
): PlacedEdge {
  const [start, end] = isDown
    ? [
        [from.left + from.width / 2, from.top + from.height],
        [to.left + to.width / 2, to.top],
      ]
    : [
        [from.left + from.width, from.top + from.height / 2],
        [to.left, to.top + to.height / 2],
      ];
  const points = [...(start ?? []), ...bends, ...(end ?? [])];
  const across = points.filter((_, index) => index % 2 === 0);
  const down = points.filter((_, index) => index % 2 === 1);
  const left = Math.min(...across);
  const top = Math.min(...down);
  return {
    edge,
    path: edgePath(points, isDown),
    left,
    top,
    width: Math.max(...across) - left,
    height: Math.max(...down) - top,
  };
}

/** Returns the path of an edge: from a box's right (bottom) edge through its bends to another's left (top) edge. */
export function edgePath(points: readonly number[], isDown = false): string {
  const at = (index: number) => Math.round((points[index] ?? 0) * 10) / 10;
  let path = `M${at(0)} ${at(1)}`;
  for (let index = 2; index < points.length; index += 2) {
    const along = isDown ? 1 : 0;
    const middle = Math.round(((at(index - 2 + along) + at(index + along)) / 2) * 10) / 10;
    if (isDown) {
      path += `C${at(index - 2)} ${middle} ${at(index)} ${middle} ${at(index)} ${at(index + 1)}`;
      continue;
    }
    path += `C${middle} ${at(index - 1)} ${middle} ${at(index + 1)} ${at(index)} ${at(index + 1)}`;
  }
  return path;
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
