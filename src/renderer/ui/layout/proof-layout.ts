/**
 * Layout of a proof: the conclusion at the left, premises to the right, or from the top down.
 *
 * A tree gets a tidy tree layout in linear time (d3-hierarchy). With shared steps, a layered layout (dagre) shows
 * dependencies better, but its time grows faster than the graph; larger graphs are laid out along the outline's tree,
 * with the other edges drawn over it. Nothing recurses over large input.
 */
import { Graph, layout as layoutInLayers } from '@dagrejs/dagre';
import { hierarchy, tree } from 'd3-hierarchy';

/** Size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** An edge from a step to a premise. */
export interface DiagramEdge {
  /** Indexes of the nodes: the step, and its premise. */
  readonly from: number;
  readonly to: number;
  /** True if the outline shows the premise under this step; these edges form a tree. */
  readonly isOwn: boolean;
  /** True if the chosen alternative leads back to an ancestor. */
  readonly isCircle: boolean;
}

/** Input of the layout. */
export interface LayoutInput {
  /** The first is the root. */
  readonly nodes: readonly Size[];
  readonly edges: readonly DiagramEdge[];
  /** True: premises below their conclusion, not to the right. */
  readonly isDown?: boolean;
}

/** Result of the layout. */
export interface Layout {
  /** Upper left corners of the nodes, x and y alternating; none is negative. */
  readonly corners: Float64Array;
  /** Bend points of each edge, x and y alternating; mostly none. */
  readonly bends: readonly (readonly number[])[];
  readonly width: number;
  readonly height: number;
}

/** Gaps between layers, and between boxes of a layer, in pixels. */
const layerGap = 56;
const boxGap = 14;
/** Margin around the diagram. */
export const margin = 24;

/** Larger graphs are not layered. */
const maxLayered = 240;

/** Swaps x and y of points that alternate. */
function swapped(points: readonly number[]): number[] {
  return points.map((_, index) => points[index % 2 === 0 ? index + 1 : index - 1] ?? 0);
}

/** Returns the layout of a diagram. */
export function layOutProof(input: LayoutInput): Layout {
  if (input.isDown !== true) return layOutToRight(input);
  // From the top down is to the right with the axes swapped.
  const { nodes, edges } = input;
  const turned = layOutToRight({
    nodes: nodes.map(({ width, height }) => ({ width: height, height: width })),
    edges,
  });
  return {
    corners: Float64Array.from(swapped([...turned.corners])),
    bends: turned.bends.map(swapped),
    width: turned.height,
    height: turned.width,
  };
}

function layOutToRight(input: LayoutInput): Layout {
  const isShared = input.edges.some((edge) => !edge.isOwn && !edge.isCircle);
  return isShared && input.nodes.length <= maxLayered ? inLayers(input) : asTree(input);
}

interface Center {
  readonly x: number;
  readonly y: number;
}

function framed(input: LayoutInput, centers: readonly Center[], bends: readonly number[][]): Layout {
  let left = 0;
  let top = 0;
  let right = 0;
  let bottom = 0;
  for (const [index, { width, height }] of input.nodes.entries()) {
    const { x, y } = centers[index] ?? { x: 0, y: 0 };
    left = index === 0 ? x - width / 2 : Math.min(left, x - width / 2);
    top = index === 0 ? y - height / 2 : Math.min(top, y - height / 2);
    right = Math.max(right, x + width / 2);
    bottom = Math.max(bottom, y + height / 2);
  }
  const shiftX = margin - left;
  const shiftY = margin - top;
  const corners = new Float64Array(input.nodes.length * 2);
  for (const [index, { width, height }] of input.nodes.entries()) {
    const { x, y } = centers[index] ?? { x: 0, y: 0 };
    corners[index * 2] = x - width / 2 + shiftX;
    corners[index * 2 + 1] = y - height / 2 + shiftY;
  }
  return {
    corners,
    bends: bends.map((points) => points.map((at, index) => at + (index % 2 === 0 ? shiftX : shiftY))),
    width: right + shiftX + margin,
    height: bottom + shiftY + margin,
  };
}

/** Lays out along the outline's edges; boxes of one level are aligned. */
function asTree(input: LayoutInput): Layout {
  const { nodes, edges } = input;
  const children = nodes.map((): number[] => []);
  for (const edge of edges) if (edge.isOwn) children[edge.from]?.push(edge.to);
  const sizeOf = (place: number): Size => nodes[place] ?? { width: 0, height: 0 };
  const root = hierarchy(0, (place) => children[place]);
  const placed = tree<number>()
    .nodeSize([1, 1])
    .separation((a, b) => (sizeOf(a.data).height + sizeOf(b.data).height) / 2 + boxGap)(root);
  const widest: number[] = [];
  placed.each(({ data, depth }) => {
    widest[depth] = Math.max(widest[depth] ?? 0, sizeOf(data).width);
  });
  const lefts: number[] = [];
  let left = 0;
  for (const width of widest) {
    lefts.push(left);
    left += width + layerGap;
  }
  const centers = nodes.map((): Center => ({ x: 0, y: 0 }));
  placed.each(({ data, depth, x }) => {
    centers[data] = { x: (lefts[depth] ?? 0) + sizeOf(data).width / 2, y: x };
  });
  return framed(
    input,
    centers,
    edges.map(() => []),
  );
}

/** Lays out in layers: every step is left of its premises. */
function inLayers(input: LayoutInput): Layout {
  const { nodes, edges } = input;
  const graph = new Graph();
  graph.setGraph({
    rankdir: 'LR',
    ranker: 'tight-tree',
    nodesep: boxGap,
    edgesep: boxGap / 2,
    ranksep: layerGap,
  });
  for (const [place, { width, height }] of nodes.entries()) graph.setNode(String(place), { width, height });
  for (const { from, to, isCircle } of edges)
    if (!isCircle) graph.setEdge(String(from), String(to), { width: 0, height: 0 });
  layoutInLayers(graph);
  const centers = nodes.map((_, place): Center => {
    const { x, y } = graph.node(String(place)) as { x?: number; y?: number };
    return { x: x ?? 0, y: y ?? 0 };
  });
  const bends = edges.map(({ from, to, isCircle }): number[] => {
    if (isCircle) return [];
    const { points } = graph.edge(String(from), String(to)) as { points?: readonly Center[] };
    // The first and last points are on the boxes, where our edges have their own end points.
    return (points ?? []).slice(1, -1).flatMap(({ x, y }) => [x, y]);
  });
  return framed(input, centers, bends);
}
