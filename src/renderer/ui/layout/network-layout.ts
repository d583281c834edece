/**
 * Layout of a network: linked nodes near each other, all others apart, no two boxes overlapping.
 *
 * Forces between all pairs (Fruchterman and Reingold), then overlapping boxes are pushed apart. Deterministic; quadratic in
 * the number of nodes, so callers bound it. Nodes with a position start there and hardly move: an unfolded node adds to a
 * picture that its reader knows.
 */
import { margin, type Size } from './proof-layout.ts';

/** A node; `at`: the centre where it was before. */
export interface NetworkNode extends Size {
  readonly at?: { readonly x: number; readonly y: number } | undefined;
}

/** Input of the layout; edges by index of their nodes. */
export interface NetworkInput {
  readonly nodes: readonly NetworkNode[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
}

/** Result of the layout. */
export interface NetworkLayout {
  /** Centres, x and y alternating. */
  readonly centres: Float64Array;
  readonly width: number;
  readonly height: number;
}

/** Wanted distance of linked nodes, in pixels. */
const LINK = 84;
/** Nodes farther from each other do not repel each other, so that long chains do not spread without end. */
const REACH = 4 * LINK;
const ROUNDS = 220;
/** Gap between boxes, in pixels. */
const GAP = 14;

/** The nodes from the most linked on, each after a neighbour of it, so that neighbours start near each other. */
function startOrder(count: number, neighbours: readonly (readonly number[])[]): number[] {
  const byDegree = Array.from({ length: count }, (_, index) => index).sort(
    (left, right) => (neighbours[right]?.length ?? 0) - (neighbours[left]?.length ?? 0) || left - right,
  );
  const order: number[] = [];
  const met = new Set<number>();
  for (const first of byDegree) {
    const waiting = [first];
    for (let at = 0; at < waiting.length; at++) {
      const node = waiting[at] as number;
      if (met.has(node)) continue;
      met.add(node);
      order.push(node);
      waiting.push(...(neighbours[node] ?? []));
    }
  }
  return order;
}

function startPositions({ nodes }: NetworkInput, neighbours: readonly (readonly number[])[]) {
  const x = new Float64Array(nodes.length);
  const y = new Float64Array(nodes.length);
  for (const [rank, node] of startOrder(nodes.length, neighbours).entries()) {
    const at = nodes[node]?.at;
    const known =
      at ?? neighbours[node]?.map((other) => nodes[other]?.at).find((place) => place !== undefined);
    // A spiral of even density; the golden angle keeps any two apart.
    const angle = rank * 2.399963;
    const radius = at !== undefined ? 0 : known !== undefined ? LINK * 0.8 : LINK * 0.6 * Math.sqrt(rank);
    x[node] = (known?.x ?? 0) + radius * Math.cos(angle);
    y[node] = (known?.y ?? 0) + radius * Math.sin(angle);
  }
  return { x, y };
}

/** Moves the nodes by the forces between them; those with a position move a tenth as far. */
function settle({ nodes, edges }: NetworkInput, x: Float64Array, y: Float64Array): void {
  const count = nodes.length;
  const moveX = new Float64Array(count);
  const moveY = new Float64Array(count);
  const at = (values: Float64Array, index: number) => values[index] as number;
  const push = (a: number, b: number, dx: number, dy: number) => {
    moveX[a] = at(moveX, a) + dx;
    moveY[a] = at(moveY, a) + dy;
    moveX[b] = at(moveX, b) - dx;
    moveY[b] = at(moveY, b) - dy;
  };
  for (let round = 0; round < ROUNDS; round++) {
    moveX.fill(0);
    moveY.fill(0);
    for (let a = 0; a < count; a++)
      for (let b = a + 1; b < count; b++) {
        const dx = at(x, a) - at(x, b) || 0.01 * (b - a);
        const dy = at(y, a) - at(y, b) || 0.01;
        const distance = dx * dx + dy * dy;
        if (distance > REACH * REACH) continue;
        const force = (LINK * LINK) / distance;
        push(a, b, dx * force, dy * force);
      }
    for (const { from, to } of edges) {
      const dx = at(x, from) - at(x, to);
      const dy = at(y, from) - at(y, to);
      const force = -Math.hypot(dx, dy) / LINK;
      push(from, to, dx * force, dy * force);
    }
    const reach = LINK * (1 - round / ROUNDS);
    for (let node = 0; node < count; node++) {
      // A little gravity keeps parts without a link in the picture.
      const dx = at(moveX, node) - at(x, node) * 0.12;
      const dy = at(moveY, node) - at(y, node) * 0.12;
      const length = Math.hypot(dx, dy) || 1;
      const share = (Math.min(length, reach) / length) * (nodes[node]?.at === undefined ? 1 : 0.1);
      x[node] = at(x, node) + dx * share;
      y[node] = at(y, node) + dy * share;
    }
  }
}

/** Pushes overlapping boxes apart, each along the axis on which they overlap less. Returns false if some still do. */
function pushedApart(nodes: readonly Size[], x: Float64Array, y: Float64Array): boolean {
  let isMoved = false;
  for (const [a, one] of nodes.entries())
    for (let b = a + 1; b < nodes.length; b++) {
      const other = nodes[b] as Size;
      const dx = (x[b] as number) - (x[a] as number);
      const dy = (y[b] as number) - (y[a] as number);
      const overX = (one.width + other.width) / 2 + GAP - Math.abs(dx);
      const overY = (one.height + other.height) / 2 + GAP - Math.abs(dy);
      if (overX <= 1e-6 || overY <= 1e-6) continue;
      isMoved = true;
      if (overX < overY) {
        const by = (dx < 0 ? -overX : overX) / 2;
        x[a] = (x[a] as number) - by;
        x[b] = (x[b] as number) + by;
      } else {
        const by = (dy < 0 ? -overY : overY) / 2;
        y[a] = (y[a] as number) - by;
        y[b] = (y[b] as number) + by;
      }
    }
  return !isMoved;
}

function separate(nodes: readonly Size[], x: Float64Array, y: Float64Array): void {
  for (;;) {
    for (let pass = 0; pass < 60; pass++) if (pushedApart(nodes, x, y)) return;
    // Too crowded to be untangled by pushing: all of it gets more room.
    for (let node = 0; node < nodes.length; node++) {
      x[node] = (x[node] as number) * 1.3;
      y[node] = (y[node] as number) * 1.3;
    }
  }
}

/** Returns the layout of a network; its upper left corner is at the margin. */
export function layOutNetwork(input: NetworkInput): NetworkLayout {
  const { nodes } = input;
  const neighbours = nodes.map((): number[] => []);
  const edges = input.edges.filter(({ from, to }) => from !== to);
  for (const { from, to } of edges) {
    neighbours[from]?.push(to);
    neighbours[to]?.push(from);
  }
  const { x, y } = startPositions(input, neighbours);
  settle({ nodes, edges }, x, y);
  separate(nodes, x, y);
  let [left, top, right, bottom] = [0, 0, 0, 0];
  for (const [node, { width, height }] of nodes.entries()) {
    const [cx, cy] = [x[node] as number, y[node] as number];
    left = node === 0 ? cx - width / 2 : Math.min(left, cx - width / 2);
    top = node === 0 ? cy - height / 2 : Math.min(top, cy - height / 2);
    right = node === 0 ? cx + width / 2 : Math.max(right, cx + width / 2);
    bottom = node === 0 ? cy + height / 2 : Math.max(bottom, cy + height / 2);
  }
  const centres = new Float64Array(nodes.length * 2);
  for (let node = 0; node < nodes.length; node++) {
    centres[node * 2] = (x[node] as number) - left + margin;
    centres[node * 2 + 1] = (y[node] as number) - top + margin;
  }
  return { centres, width: right - left + 2 * margin, height: bottom - top + 2 * margin };
}
