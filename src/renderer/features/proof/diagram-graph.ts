/**
 * The diagram of a proof as a graph: the lines of the outline, with each step once.
 *
 * Both views are made of the same lines, so they always show the same steps. A reference of the outline is an edge
 * here, to the step itself; where that is folded away elsewhere, to a box that says so.
 */
import type { OutlineRow } from './proof-tree.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface DiagramNode extends Size {
  /** The line that shows the step whole, else the first that refers to it. */
  readonly row: OutlineRow;
  /** How many steps of the diagram stand on it. */
  readonly uses: number;
}

export interface DiagramEdge {
  /** Places of the nodes in the graph: the step, and what it stands on. */
  readonly from: number;
  readonly to: number;
  /** True where the outline shows the lower step under the upper one. */
  readonly isOwn: boolean;
  /** True where the way that was chosen leads back to a step above. */
  readonly isCircle: boolean;
}

export interface DiagramGraph {
  /** In the order of the outline; the root is the first. */
  readonly nodes: readonly DiagramNode[];
  readonly edges: readonly DiagramEdge[];
  /** The place of a step among the nodes. */
  readonly nodeOf: ReadonlyMap<number, number>;
}

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
    // Only a step that is shown whole has others under it, and its key is its id.
    const from = row.parent === null ? undefined : nodeOf.get(Number(row.parent));
    const to = nodeOf.get(row.step.id);
    // A premise may stand twice in one body.
    if (from === undefined || to === undefined || met.has(`${from} ${to}`)) continue;
    met.add(`${from} ${to}`);
    uses.set(to, (uses.get(to) ?? 0) + 1);
    edges.push({ from, to, isOwn: row === shown.get(row.step.id), isCircle: row.isCircle });
  }
  const nodes = placed.map((row, place) => ({ ...sizeOf(row), row, uses: uses.get(place) ?? 0 }));
  return { nodes, edges, nodeOf };
}
