import { describe, expect, test } from 'vitest';
import { type Layout, type LayoutInput, layOutProof, margin } from './proof-layout.ts';

const box = { width: 100, height: 40 };

function edge(from: number, to: number, more: { isOwn?: boolean; isCircle?: boolean } = {}) {
  return { from, to, isOwn: true, isCircle: false, ...more };
}

function boxesOf(input: LayoutInput, { corners }: Layout) {
  return input.nodes.map(({ width, height }, index) => {
    const left = corners[index * 2] ?? Number.NaN;
    const top = corners[index * 2 + 1] ?? Number.NaN;
    return { left, top, right: left + width, bottom: top + height };
  });
}

function overlaps(input: LayoutInput, layout: Layout): number {
  const boxes = boxesOf(input, layout);
  let count = 0;
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1))
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) count += 1;
  return count;
}

/** A tree of three levels with boxes of several sizes. */
const branching: LayoutInput = {
  nodes: Array.from({ length: 13 }, (_, index) => ({
    width: 80 + (index % 4) * 40,
    height: index % 2 ? 60 : 40,
  })),
  edges: Array.from({ length: 12 }, (_, index) => edge(Math.floor(index / 3), index + 1)),
};

/** 3 is a premise of 1 and 2; 4 of 3 and the root. */
const shared: LayoutInput = {
  nodes: Array.from({ length: 5 }, () => box),
  edges: [
    edge(0, 1),
    edge(1, 3),
    edge(3, 4),
    edge(0, 2),
    edge(2, 3, { isOwn: false }),
    edge(0, 4, { isOwn: false }),
  ],
};

describe.each([
  ['a tree', branching],
  ['a graph with shared steps', shared],
])('the layout of %s', (_, input) => {
  const layout = layOutProof(input);
  test('puts each box right of those that use it, without overlap, all inside the frame', () => {
    const boxes = boxesOf(input, layout);
    for (const { from, to } of input.edges)
      expect(boxes[to]?.left).toBeGreaterThan(boxes[from]?.right ?? Number.NaN);
    expect(overlaps(input, layout)).toBe(0);
    expect(Math.min(...boxes.map(({ left }) => left))).toBe(margin);
    expect(Math.min(...boxes.map(({ top }) => top))).toBe(margin);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(layout.width - margin);
    expect(Math.max(...boxes.map(({ bottom }) => bottom))).toBeLessThanOrEqual(layout.height - margin);
  });
});

test('bends an edge over several layers between its ends', () => {
  const { bends } = layOutProof(shared);
  expect(bends[5]?.length).toBeGreaterThan(0);
  expect(bends).toHaveLength(shared.edges.length);
});

test('is unaffected by a cyclic alternative', () => {
  const circle: LayoutInput = {
    nodes: [box, box, box],
    edges: [edge(0, 1), edge(1, 2), edge(2, 0, { isOwn: false, isCircle: true })],
  };
  const { corners } = layOutProof(circle);
  expect([...corners]).toEqual([...layOutProof({ ...circle, edges: circle.edges.slice(0, 2) }).corners]);
});

test('lays out chains of ten thousand boxes, and graphs too large for layers', () => {
  const count = 10_000;
  const nodes = Array.from({ length: count }, () => box);
  const chain = Array.from({ length: count - 1 }, (_, index) => edge(index, index + 1));
  const { width, corners } = layOutProof({ nodes, edges: chain });
  expect(width).toBeGreaterThan(count * box.width);
  expect(corners[1]).toBe(margin);
  const withLinks = [...chain, edge(0, count - 1, { isOwn: false })];
  expect(layOutProof({ nodes, edges: withLinks }).width).toBe(width);
});

test('gives a single box the whole frame', () => {
  const { corners, width, height } = layOutProof({ nodes: [box], edges: [] });
  expect([...corners, width, height]).toEqual([margin, margin, 100 + 2 * margin, 40 + 2 * margin]);
});

test('from the top down, each box is below those that use it, without overlap', () => {
  for (const input of [branching, shared]) {
    const layout = layOutProof({ ...input, isDown: true });
    const boxes = boxesOf(input, layout);
    for (const { from, to } of input.edges)
      expect(boxes[to]?.top).toBeGreaterThan(boxes[from]?.bottom ?? Number.NaN);
    expect(overlaps(input, layout)).toBe(0);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(layout.width);
    expect(Math.max(...boxes.map(({ bottom }) => bottom))).toBeLessThanOrEqual(layout.height);
  }
});
