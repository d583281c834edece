import { describe, expect, test } from 'vitest';
import {
  answerGraph,
  knownLinks,
  MAX_NODES,
  MAX_UNFOLDED,
  nodeToward,
  withKnownLinks,
} from './entity-graph.ts';

const axes = { source: 'a', target: 'b', label: 'how' };

describe('the graph of answers', () => {
  test('has a link for each pair, with all labels and how many answers say it', () => {
    const rows = [
      { a: 'ada', b: 'bob', how: 'knows' },
      { a: 'ada', b: 'bob', how: 'likes' },
      { a: 'ada', b: 'bob', how: 'knows' },
      { a: 'bob', b: 'ada', how: 'knows' },
    ];
    expect(answerGraph(rows, axes)).toEqual({
      nodes: ['ada', 'bob'],
      links: [
        { from: 'ada', to: 'bob', labels: ['knows', 'likes'], count: 3 },
        { from: 'bob', to: 'ada', labels: ['knows'], count: 1 },
      ],
      notDrawn: null,
    });
  });

  test('keeps what is around the most linked of too many nodes, and says what is not drawn', () => {
    const rows = Array.from({ length: 400 }, (_, index) => ({
      a: `n${index}`,
      b: index < 200 ? 'hub' : `m${index}`,
    }));
    const graph = answerGraph(rows, { ...axes, label: null });
    expect(graph.nodes).toHaveLength(MAX_NODES);
    expect(graph.nodes).toContain('hub');
    expect(graph.links.every(({ from, to }) => graph.nodes.includes(from) && graph.nodes.includes(to))).toBe(
      true,
    );
    expect(graph.links.length).toBeGreaterThan(10);
    expect(graph.notDrawn).toBe(
      `Drawn: 150 of 601 nodes, around the most linked, and ${graph.links.length} of 400 links.`,
    );
  });
});

describe('what is known about an entity', () => {
  const facts = [
    { predicate: 'parent', args: ['ada', 'bob'], truthVal: true },
    { predicate: 'gave', args: ['carl', 'ada', 'book'], truthVal: true },
    { predicate: 'person', args: ['ada'], truthVal: true },
    { predicate: 'likes', args: ['ada', 'bob'], truthVal: false },
    { predicate: 'other', args: ['adam', 'bob'], truthVal: true },
  ];

  test('links it to every other argument, in the order of the arguments', () => {
    const { links, alone } = knownLinks('ada', facts);
    expect(links.map(({ from, to, labels }) => `${from} ${labels.join('+')} ${to}`)).toEqual([
      'ada parent+-likes bob',
      'carl gave ada',
      'ada gave book',
    ]);
    expect(alone).toEqual(['person']);
  });

  test('is added without losing what was there, up to a limit that is told', () => {
    const start = answerGraph([{ a: 'ada', b: 'bob', how: 'x' }], axes);
    const more = withKnownLinks(start, 'ada', knownLinks('ada', facts).links);
    expect(more.nodes).toEqual(['ada', 'bob', 'carl', 'book']);
    expect(more.links.find(({ to }) => to === 'bob')?.labels).toEqual(['x', 'parent', '-likes']);
    const many = Array.from({ length: 100 }, (_, index) => ({
      predicate: 'p',
      args: ['ada', `n${index}`],
      truthVal: true,
    }));
    const full = withKnownLinks(start, 'ada', knownLinks('ada', many).links);
    expect(full.nodes).toHaveLength(2 + MAX_UNFOLDED);
    expect(full.notDrawn).toBe('60 more neighbours of ada are not drawn.');
  });
});

test('an arrow key goes to the nearest node in its direction, which need not be straight ahead', () => {
  const centres = new Map([
    ['here', { x: 0, y: 0 }],
    ['right', { x: 100, y: 20 }],
    ['far', { x: 400, y: 0 }],
    ['up', { x: 10, y: -90 }],
  ]);
  expect(nodeToward('here', { x: 1, y: 0 }, centres)).toBe('right');
  expect(nodeToward('here', { x: 0, y: -1 }, centres)).toBe('up');
  expect(nodeToward('here', { x: -1, y: 0 }, centres)).toBeNull();
  expect(nodeToward('missing', { x: 1, y: 0 }, centres)).toBeNull();
});
