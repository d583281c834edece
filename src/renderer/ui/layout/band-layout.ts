/**
 * Layout of a graph in bands: side by side in the order of their numbers, each in its own layers.
 *
 * Pure; runs in a worker. Edges within a band follow the computed layout; between bands they are curves from a node's
 * right side to another's left side.
 */
import { Graph, layout } from '@dagrejs/dagre';
import type { BandEdge } from '../band-graph.ts';

/** Width of a node in pixels. */
export const nodeWidth = 168;
/** Height of a node in pixels. */
export const nodeHeight = 34;
const bandGap = 56;
const bandPadding = 18;
const headHeight = 30;

/** A placed node. */
export interface LaidNode {
  readonly id: string;
  /** Of its upper left corner. */
  readonly x: number;
  readonly y: number;
}

/** A placed edge. */
export interface LaidEdge extends BandEdge {
  /** As an SVG path. */
  readonly path: string;
  /** Anchor of its label. */
  readonly middle: Point;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A placed band. */
interface Band {
  readonly band: number;
  readonly x: number;
  readonly width: number;
}

/** A placed graph. */
export interface BandLayout {
  readonly nodes: readonly LaidNode[];
  readonly edges: readonly LaidEdge[];
  readonly bands: readonly Band[];
  readonly width: number;
  readonly height: number;
}

/** What is laid out. */
export interface BandInput {
  readonly nodes: readonly NodeIn[];
  readonly edges: readonly BandEdge[];
}

interface NodeIn {
  readonly id: string;
  readonly band: number;
}

interface LaidBand {
  readonly nodes: ReadonlyMap<string, Point>;
  readonly ways: ReadonlyMap<string, readonly Point[]>;
  readonly width: number;
  readonly height: number;
}

function wayKey({ from, to }: BandEdge): string {
  return `${from}\n${to}`;
}

function layOutBand(nodes: readonly NodeIn[], edges: readonly BandEdge[]): LaidBand {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', ranker: 'tight-tree', nodesep: 14, ranksep: 56, edgesep: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: nodeWidth, height: nodeHeight });
  for (const { from, to } of edges) if (from !== to) graph.setEdge(from, to);
  layout(graph);
  const corners = new Map<string, Point>();
  let width = 0;
  let height = 0;
  for (const { id } of nodes) {
    const { x, y } = graph.node(id) as Point;
    corners.set(id, { x: x - nodeWidth / 2, y: y - nodeHeight / 2 });
    width = Math.max(width, x + nodeWidth / 2);
    height = Math.max(height, y + nodeHeight / 2);
  }
  const ways = new Map<string, readonly Point[]>();
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    const { points } = graph.edge(edge.from, edge.to) as { points: Point[] };
    ways.set(wayKey(edge), points);
    for (const { x, y } of points) {
      width = Math.max(width, x);
      height = Math.max(height, y);
    }
  }
  return { nodes: corners, ways, width, height };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A smooth curve: straight to each segment's middle, rounded at its corners. */
function throughPoints(points: readonly Point[]): string {
  const at = (point: Point) => `${rounded(point.x)} ${rounded(point.y)}`;
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M ${at(first)}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) path += ` L ${at(point)}`;
    else path += ` Q ${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  }
  return path;
}

function curve(from: Point, to: Point): { path: string; middle: Point } {
  const start = { x: from.x + nodeWidth, y: from.y + nodeHeight / 2 };
  const end = { x: to.x, y: to.y + nodeHeight / 2 };
  const bend = Math.max(30, Math.min(120, Math.abs(end.x - start.x) / 2));
  const path = `M ${rounded(start.x)} ${rounded(start.y)} C ${rounded(start.x + bend)} ${rounded(start.y)} ${rounded(end.x - bend)} ${rounded(end.y)} ${rounded(end.x)} ${rounded(end.y)}`;
  return { path, middle: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 } };
}

/** The edge of a node to itself: a loop over its upper right corner. */
function loop({ x, y }: Point): { path: string; middle: Point } {
  const right = x + nodeWidth;
  const path = `M ${right - 30} ${y} C ${right - 30} ${y - 20} ${right + 24} ${y - 16} ${right} ${y + 10}`;
  return { path, middle: { x: right, y: y - 12 } };
}

/** A forward edge leaves its node at the right and enters at the left, whatever corner the layout cut. */
function besides(way: readonly Point[], from: Point, to: Point): readonly Point[] {
  if (to.x < from.x + nodeWidth) return way;
  const start = { x: from.x + nodeWidth, y: from.y + nodeHeight / 2 };
  const end = { x: to.x, y: to.y + nodeHeight / 2 };
  return [start, ...way.slice(1, -1), end];
}

function middleOf(way: readonly Point[]): Point {
  return way[Math.floor(way.length / 2)] ?? { x: 0, y: 0 };
}

/** Returns the layout of a graph. */
export function layOutBands({ nodes, edges }: BandInput): BandLayout {
  const bandOf = new Map(nodes.map(({ id, band }) => [id, band]));
  const numbers = [...new Set(bandOf.values())].sort((left, right) => left - right);
  const laid = numbers.map((band) =>
    layOutBand(
      nodes.filter((node) => node.band === band),
      edges.filter(({ from, to }) => bandOf.get(from) === band && bandOf.get(to) === band),
    ),
  );
  const inner = Math.max(0, ...laid.map(({ height }) => height));
  const bands: Band[] = [];
  const shifts: Point[] = [];
  const places = new Map<string, Point>();
  let x = 0;
  for (const [index, { nodes: corners, width, height }] of laid.entries()) {
    const shift = { x: x + bandPadding, y: headHeight + bandPadding + (inner - height) / 2 };
    shifts.push(shift);
    bands.push({ band: numbers[index] ?? 0, x, width: width + 2 * bandPadding });
    for (const [id, corner] of corners) places.set(id, { x: corner.x + shift.x, y: corner.y + shift.y });
    x += width + 2 * bandPadding + bandGap;
  }
  const laidEdges = edges.flatMap((edge): LaidEdge[] => {
    const from = places.get(edge.from);
    const to = places.get(edge.to);
    if (from === undefined || to === undefined) return [];
    const index = numbers.indexOf(bandOf.get(edge.from) ?? 0);
    const points = laid[index]?.ways.get(wayKey(edge));
    const shift = shifts[index] ?? { x: 0, y: 0 };
    if (edge.from === edge.to) return [{ ...edge, ...loop(from) }];
    if (points === undefined) return [{ ...edge, ...curve(from, to) }];
    const way = points.map((point) => ({ x: point.x + shift.x, y: point.y + shift.y }));
    return [{ ...edge, path: throughPoints(besides(way, from, to)), middle: middleOf(way) }];
  });
  return {
    nodes: [...places].map(([id, place]) => ({ id, ...place })),
    edges: laidEdges,
    bands,
    width: Math.max(0, x - bandGap),
    height: headHeight + inner + 2 * bandPadding,
  };
}

type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

/** Returns true for an arrow key. */
export function isDirection(key: string): key is Direction {
  return /^Arrow(?:Left|Right|Up|Down)$/.test(key);
}

/** Returns the nearest node in a direction, weighting sideways distance more; null if there is none. */
export function nextNode(nodes: readonly LaidNode[], from: LaidNode, key: Direction): LaidNode | null {
  const isAcross = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
  let best: LaidNode | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const ahead = sign * (isAcross ? node.x - from.x : node.y - from.y);
    const aside = Math.abs(isAcross ? node.y - from.y : node.x - from.x);
    if (ahead <= 1) continue;
    const far = ahead + 3 * aside;
    if (far < least) {
      least = far;
      best = node;
    }
  }
  return best;
}
