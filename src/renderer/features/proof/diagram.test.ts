import { describe, expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { keysBelow, treeOf, visibleRows } from '../../../proof/proof-tree.ts';
import { diagramOf, edgePath, nodeOfStep, placedDiagram, within } from './diagram.ts';
import { diagramAsSvg, type SvgLook, xmlText } from './save-proof.ts';
import { layOutProof } from '../../ui/layout/proof-layout.ts';
import { cut, foldMark, kindLine, shapesOf, sizeOfNode, type StepNotes } from './node-drawing.ts';

function step(id: number, atom: string, premises: number[] = [], more: Partial<ProofStep> = {}): ProofStep {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  const rule = kind === 'rule' ? `${atom} :- x` : null;
  return { id, atom, kind, rule, ruleId: null, premises, scope: null, ...more };
}

/** 3 uses 1 and 2, which both use 0. */
const diamond: Proof = {
  roots: [3],
  steps: [step(0, 'a()'), step(1, 'b()', [0]), step(2, 'c("<&>")', [0]), step(3, 'd()', [1, 2])],
};
const tree = treeOf(diamond, 3);
const notes: StepNotes = { chosen: new Map(), hiddenUnder: new Map() };
const size = { width: 100, height: 40 };

function graphOf(unfolded: ReadonlySet<string>) {
  return diagramOf(visibleRows([tree], unfolded), (row) => sizeOfNode(row, notes));
}

describe('the graph of a diagram', () => {
  test('has each step once, and an edge for each reference', () => {
    const { nodes, edges } = graphOf(keysBelow(tree, 3));
    expect(nodes.map(({ row }) => row.step.id)).toEqual([3, 1, 0, 2]);
    expect(nodes.map(({ uses }) => uses)).toEqual([0, 1, 2, 1]);
    expect(edges.map(({ from, to, isOwn }) => [from, to, isOwn])).toEqual([
      [0, 1, true],
      [1, 2, true],
      [0, 3, true],
      [3, 2, false],
    ]);
  });

  test('what is folded is not there; a step that is folded away elsewhere is a box that says so', () => {
    expect(graphOf(new Set()).nodes).toHaveLength(1);
    const { nodes, edges } = graphOf(new Set(['0:3', '0:2']));
    expect(nodes.map(({ row }) => row.isReference)).toEqual([false, false, false, true]);
    expect(edges.every(({ isOwn }) => isOwn)).toBe(true);
  });

  test('a premise that stands twice in one body is one edge', () => {
    const twice = treeOf({ roots: [1], steps: [step(0, 'a()'), step(1, 'b()', [0, 0])] }, 1);
    const { nodes, edges } = diagramOf(visibleRows([twice], new Set(['0:1'])), () => size);
    expect([nodes.length, edges.length]).toEqual([2, 1]);
  });

  test('a way in a circle is an edge back', () => {
    const circle = treeOf({ roots: [1], steps: [step(0, 'a()', [1]), step(1, 'b()', [0])] }, 1);
    const { edges } = diagramOf(visibleRows([circle], keysBelow(circle, 1)), () => size);
    expect(edges.map(({ from, to, isCircle }) => [from, to, isCircle])).toEqual([
      [0, 1, false],
      [1, 0, true],
    ]);
  });
});

describe('a box', () => {
  const [root] = visibleRows([tree], new Set());
  if (root === undefined) throw new Error('the tree has a root');

  test('says its kind in a word, and what is hidden under it', () => {
    expect(kindLine(root, notes)).toBe('derived');
    expect(kindLine(root, { ...notes, hiddenUnder: new Map([[3, 2]]) })).toBe('derived · 2 known hidden');
  });

  test('holds the statement, the rule and what its variables stand for, cut to its width', () => {
    const written = shapesOf(root, { width: 150, height: 63 }, notes, [['?x', 'a'.repeat(80)]]);
    const texts = written.flatMap((shape) =>
      shape.kind === 'text' ? [shape.spans.map(({ text }) => text).join('')] : [],
    );
    expect(texts.slice(0, 2)).toEqual(['d()', 'derived']);
    expect(texts.at(-1)).toMatch(/^\?x = a+…$/);
  });

  test('is folded, unfolded, or neither', () => {
    expect(foldMark(root, false)).toBe('+');
    expect(foldMark(root, true)).toBe('−');
    expect(foldMark({ ...root, isReference: true }, false)).toBeNull();
  });

  test('texts are cut by letters, wide ones counting twice', () => {
    expect(cut('parent(a, b)', 12)).toBe('parent(a, b)');
    expect(cut('parent(a, b)', 11)).toBe('parent(a, …');
    expect(cut('漢字漢字', 5)).toBe('漢字…');
  });
});

describe('a placed diagram', () => {
  const graph = graphOf(keysBelow(tree, 3));
  const placed = placedDiagram(graph, layOutProof(graph));

  test('tells what lies in a part of it', () => {
    const first = nodeOfStep(placed, 3);
    if (first === undefined) throw new Error('the root is in the diagram');
    expect(within(placed, first).nodes).toEqual([first]);
    expect(within(placed, first).edges).toHaveLength(2);
    expect(within(placed, { left: 0, top: 0, ...placed }).nodes).toHaveLength(4);
    expect(nodeOfStep(placed, 99)).toBeUndefined();
  });

  test('of very many lines to boxes out of sight some are drawn, and every line to a box in sight', () => {
    const steps = Array.from({ length: 2_000 }, (_, id) => step(id, `p(${id})`));
    const fan = treeOf(
      {
        roots: [2_000],
        steps: [
          ...steps,
          step(
            2_000,
            'q()',
            steps.map(({ id }) => id),
          ),
        ],
      },
      2_000,
    );
    const wide = diagramOf(visibleRows([fan], new Set(['0:2000'])), () => size);
    const drawn = placedDiagram(wide, layOutProof(wide));
    const part = { left: 0, top: 0, width: 1_000, height: 1_000 };
    const { nodes, edges } = within(drawn, part);
    const seenEnds = new Set(edges.map(({ edge }) => drawn.nodes[edge.to]));
    expect(nodes.length).toBeGreaterThan(10);
    // An edge ends at the middle of its box.
    const whole = nodes.filter((node) => node !== drawn.nodes[0] && node.top + node.height < part.height);
    expect(whole.every((node) => seenEnds.has(node))).toBe(true);
    expect(edges.length).toBeLessThanOrEqual(nodes.length + 150);
  });

  test('an edge runs from the right of one box to the left of the other', () => {
    expect(edgePath([0, 0, 10, 20])).toBe('M0 0C5 0 5 20 10 20');
    expect(edgePath([0, 0, 10, 20, 20, 20])).toContain('C15 20 15 20 20 20');
  });

  test('as SVG it is well-formed whatever its texts hold', () => {
    const look: SvgLook = {
      colourOf: (name) => (name === '--surface' ? '#fff' : '#123'),
      shapesOf: ({ node }) => shapesOf(node.row, node, notes, []),
      isUnfolded: () => true,
      codeFont: '"Some Mono", monospace',
      wordFont: 'sans-serif',
    };
    const svg = diagramAsSvg(placed, 'd() "quoted"', look);
    expect(svg).toContain('<title>d() &quot;quoted&quot;</title>');
    expect(svg).toContain('&lt;&amp;&gt;');
    expect(svg).not.toContain('--');
    expect(svg.match(/<path d=/g)).toHaveLength(4);
    expect(svg.match(/<(?:svg|g|title|text|tspan)\b/g)?.length).toBe(
      svg.match(/<\/(?:svg|g|title|text|tspan)>/g)?.length,
    );
    expect(xmlText('a\u0000b')).toBe('a\ufffdb');
  });
});
