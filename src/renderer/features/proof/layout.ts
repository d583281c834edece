/**
 * Places for the boxes of a proof: the conclusion at the left, what it stands on to the right.
 *
 * A tree is laid out as one (d3-hierarchy), tidily and in linear time. Where steps are shared, layers show better what
 * stands on what (dagre); that takes time which grows faster than the graph, so larger graphs are laid out along the
 * tree of the outline, with the other edges drawn over it. No function here recurses over large input.
 */
import { Graph, layout as layoutInLayers } from '@dagrejs/dagre';
import { hierarchy, tree } from 'd3-hierarchy';

export interface LayoutNode {
  readonly width: number;
  readonly height: number;
}

export interface LayoutEdge {
  readonly from: number;
  readonly to: number;
  /** True for one edge into each node but the root; these make a tree. */
  readonly isOwn: boolean;
  /** True where it leads back to a node above. */
  readonly isCircle: boolean;
}

export interface LayoutInput {
  /** The first is the root. */
  readonly nodes: readonly LayoutNode[];
  readonly edges: readonly LayoutEdge[];
}

export interface Layout {
  /** Left upper corners of the nodes: x, then y, for one after the other; none is negative. */
  readonly corners: Float64Array;
  /** For each edge the points on its way between the nodes, x and y by turns; mostly none. */
  readonly bends: readonly (readonly number[])[];
  readonly width: number;
  readonly height: number;
}

/** Between layers, and between boxes of one layer, in pixels. */
const layerGap = 56;
const boxGap = 14;
/** Free space around everything. */
export const margin = 24;

/** More nodes than these are not put into layers. */
const greatestLayered = 240;

export function layOutProof(input: LayoutInput): Layout {
  const isShared = input.edges.some((edge) => !edge.isOwn && !edge.isCircle);
  return isShared && input.nodes.length <= greatestLayered ? inLayers(input) : asTree(input);
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

/** Along the edges of the outline. Boxes of one level begin at one line. */
function asTree(input: LayoutInput): Layout {
  const { nodes, edges } = input;
  const children = nodes.map((): number[] => []);
  for (const edge of edges) if (edge.isOwn) children[edge.from]?.push(edge.to);
  const sizeOf = (place: number): LayoutNode => nodes[place] ?? { width: 0, height: 0 };
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

/** In layers, so that every step stands left of all that it stands on. */
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
    // The first and the last lie on the boxes, where our edges have places of their own.
    return (points ?? []).slice(1, -1).flatMap(({ x, y }) => [x, y]);
  });
  return framed(input, centers, bends);
}
