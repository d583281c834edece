/**
 * The proof diagram as a graph: the outline's lines, with each step once.
 *
 * Both views use the same lines and so show the same steps. A reference of the outline becomes an edge to the step, or
 * to a box that marks it as folded elsewhere.
 */
import type { OutlineRow } from './proof-tree.ts';

/** Size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A node of the graph. */
export interface DiagramNode extends Size {
  /** The line that shows the step in full, else the first reference to it. */
  readonly row: OutlineRow;
  /** Number of steps of the diagram that use it as a premise. */
  readonly uses: number;
}

/** An edge from a step to a premise. */
export interface DiagramEdge {
  /** Indexes of the nodes: the step, and its premise. */
  readonly from: number;
  readonly to: number;
  /** True if the outline shows the premise under this step. */
  readonly isOwn: boolean;
  /** True if the chosen alternative leads back to an ancestor. */
  readonly isCircle: boolean;
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
  const uses = new Map<number, number>();
  for (const row of rows) {
    // Only a step shown in full has children, and its key is its id.
    const from = row.parent === null ? undefined : nodeOf.get(Number(row.parent));
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
