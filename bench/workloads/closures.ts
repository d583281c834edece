/**
 * Recursion over one relation: the closures that engines are compared by, and shapes of graphs that are hard for some
 * of them.
 */
import { chain, cycle, grid, randomGraph, type Relation } from '../graphs.ts';
import { rule } from '../program.ts';
import { at, type BySize, coldQuestion, databases, type Size, type Sql, type Workload } from './workload.ts';

export const closureLeft = [
  rule(['tc', '?x', '?y'], ['edge', '?x', '?y']),
  rule(['tc', '?x', '?z'], ['tc', '?x', '?y'], ['edge', '?y', '?z']),
];
const closureRight = [
  rule(['tc', '?x', '?y'], ['edge', '?x', '?y']),
  rule(['tc', '?x', '?z'], ['edge', '?x', '?y'], ['tc', '?y', '?z']),
];
const closureDouble = [
  rule(['tc', '?x', '?y'], ['edge', '?x', '?y']),
  rule(['tc', '?x', '?z'], ['tc', '?x', '?y'], ['tc', '?y', '?z']),
];

export const closureLeftSql: Sql = {
  with: 'tc(x, y) AS (SELECT x, y FROM edge UNION SELECT tc.x, edge.y FROM tc JOIN edge ON tc.y = edge.x)',
  from: 'tc',
  indexes: ['edge(x, y)'],
};
const closureRightSql: Sql = {
  with: 'tc(x, y) AS (SELECT x, y FROM edge UNION SELECT edge.x, tc.y FROM edge JOIN tc ON edge.y = tc.x)',
  from: 'tc',
  indexes: ['edge(y, x)'],
};
/** The nodes reachable from n0. */
export const reachSql: Sql = {
  with: "tc(y) AS (SELECT y FROM edge WHERE x = 'n0' UNION SELECT edge.y FROM tc JOIN edge ON tc.y = edge.x)",
  from: 'tc',
  indexes: ['edge(x, y)'],
};

const randomNodes: BySize = { tiny: 60, small: 300, full: 800, large: 1_300 };

export function randomEdges(nodes: BySize, degree: number) {
  return (size: Size): Relation[] => [
    { name: 'edge', rows: randomGraph(at(nodes, size), at(nodes, size) * degree, 17) },
  ];
}

export const closures: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'closure-left',
    title: 'transitive closure, left recursion, all free, random graph',
    largePeers: ['DuckDB'],
    rules: closureLeft,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    build: randomEdges(randomNodes, 3),
  },
  {
    ...coldQuestion,
    name: 'closure-right',
    title: 'the same, right recursion',
    largePeers: ['DuckDB'],
    rules: closureRight,
    goal: ['tc', '?x', '?y'],
    sql: closureRightSql,
    build: randomEdges(randomNodes, 3),
  },
  {
    ...coldQuestion,
    name: 'chain-right',
    title: 'right recursion, all free, a chain',
    rules: closureRight,
    goal: ['tc', '?x', '?y'],
    sql: closureRightSql,
    build: (size) => [{ name: 'edge', rows: chain(at({ tiny: 50, small: 400, full: 1500 }, size), 5) }],
  },
  {
    ...coldQuestion,
    name: 'closure-double',
    title: 'double recursion, all free, random graph (SQL: left recursion)',
    largePeers: ['DuckDB'],
    rules: closureDouble,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    build: randomEdges({ tiny: 30, small: 100, full: 250, large: 1_100 }, 3),
  },
  {
    ...coldQuestion,
    name: 'closure-grid',
    title: 'left recursion, all free, a grid',
    largePeers: ['DuckDB'],
    rules: closureLeft,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    build: (size) => [{ name: 'edge', rows: grid({ tiny: 6, small: 18, full: 40, large: 56 }[size], 7) }],
  },
  {
    ...coldQuestion,
    name: 'closure-cycle',
    title: 'right recursion, all free, one cycle',
    largePeers: ['DuckDB'],
    rules: closureRight,
    goal: ['tc', '?x', '?y'],
    sql: closureRightSql,
    build: (size) => [
      { name: 'edge', rows: cycle({ tiny: 40, small: 300, full: 1000, large: 1_250 }[size], 9) },
    ],
  },
  {
    ...coldQuestion,
    name: 'bound-left',
    title: 'left recursion, first argument bound, large random graph',
    largePeers: ['DuckDB'],
    rules: closureLeft,
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
    needsDemand: true,
    build: randomEdges({ tiny: 100, small: 5_000, full: 100_000, large: 250_000 }, 4),
  },
  {
    ...coldQuestion,
    name: 'bound-right',
    title: 'right recursion, first argument bound, random graph',
    largePeers: databases,
    rules: closureRight,
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
    build: randomEdges({ ...randomNodes, large: 300_000 }, 3),
  },
];
