/**
 * What is measured: the recursions, joins, loads and changes that deductive engines are compared by.
 *
 * Every workload has one program, one question and three sizes. The rules and the question go to every
 * contestant unchanged; the SQL beside them is what a person would write for that question by hand (seeded with
 * the constant where the question is bound), which is more help than the others get.
 */
import {
  bipartite,
  chain,
  classTree,
  instances,
  keyed,
  layers,
  randomGraph,
  type Relation,
  type Row,
  shuffled,
} from './graphs.ts';
import { type BenchAtom, type BenchRule, rule } from './program.ts';

export const sizes = ['tiny', 'small', 'full'] as const;
export type Size = (typeof sizes)[number];

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** `ask`: one cold question. `change`: after it, take one fact away, ask again, put it back. `load`: look-ups. */
  readonly kind: 'ask' | 'change' | 'load';
  readonly rules: readonly BenchRule[];
  readonly goal: BenchAtom;
  /** Everything behind `SELECT count(*) FROM`; relations are tables with columns x and y. */
  readonly sql: { readonly with: string; readonly from: string; readonly indexes: readonly string[] };
  /** True where only an engine that follows the question's constant has a chance at full size. */
  readonly needsDemand: boolean;
  /**
   * So many scopes hold every fact, forked from one, and the question is put to all of them; 1 where it is left out.
   * Who knows no scopes has every fact once.
   */
  readonly scopes?: Readonly<Record<Size, number>>;
  build(size: Size): Relation[];
  /** Rows of the first relation that are taken away and put back, or keys that are looked up. */
  probes(relations: readonly Relation[], size: Size): Row[];
}

const closureLeft = [
  rule(['tc', '?x', '?y'], ['edge', '?x', '?y']),
  rule(['tc', '?x', '?z'], ['tc', '?x', '?y'], ['edge', '?y', '?z']),
];
const closureRight = [
  rule(['tc', '?x', '?y'], ['edge', '?x', '?y']),
  rule(['tc', '?x', '?z'], ['edge', '?x', '?y'], ['tc', '?y', '?z']),
];
const closureLeftSql = {
  with: 'tc(x, y) AS (SELECT x, y FROM edge UNION SELECT tc.x, edge.y FROM tc JOIN edge ON tc.y = edge.x)',
  from: 'tc',
  indexes: ['edge(x, y)'],
};
const closureRightSql = {
  with: 'tc(x, y) AS (SELECT x, y FROM edge UNION SELECT edge.x, tc.y FROM edge JOIN tc ON edge.y = tc.x)',
  from: 'tc',
  indexes: ['edge(y, x)'],
};
const reachSql = {
  with: "tc(y) AS (SELECT y FROM edge WHERE x = 'n0' UNION SELECT edge.y FROM tc JOIN edge ON tc.y = edge.x)",
  from: 'tc',
  indexes: ['edge(x, y)'],
};

const randomNodes = { tiny: 60, small: 300, full: 800 };
const none = (): Row[] => [];

function randomEdges(nodes: Record<Size, number>, degree: number) {
  return (size: Size): Relation[] => [
    { name: 'edge', rows: randomGraph(nodes[size], nodes[size] * degree, 17) },
  ];
}

const closures: Workload[] = [
  {
    name: 'closure-left',
    title: 'transitive closure, left recursion, all free, random graph',
    kind: 'ask',
    rules: closureLeft,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    needsDemand: false,
    build: randomEdges(randomNodes, 3),
    probes: none,
  },
  {
    name: 'closure-right',
    title: 'the same, right recursion',
    kind: 'ask',
    rules: closureRight,
    goal: ['tc', '?x', '?y'],
    sql: closureRightSql,
    needsDemand: false,
    build: randomEdges(randomNodes, 3),
    probes: none,
  },
  {
    name: 'chain-right',
    title: 'right recursion, all free, a chain',
    kind: 'ask',
    rules: closureRight,
    goal: ['tc', '?x', '?y'],
    sql: closureRightSql,
    needsDemand: false,
    build: (size) => [{ name: 'edge', rows: chain({ tiny: 50, small: 400, full: 1500 }[size], 5) }],
    probes: none,
  },
  {
    name: 'bound-left',
    title: 'left recursion, first argument bound, large random graph',
    kind: 'ask',
    rules: closureLeft,
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
    needsDemand: true,
    build: randomEdges({ tiny: 100, small: 5_000, full: 100_000 }, 4),
    probes: none,
  },
  {
    name: 'bound-right',
    title: 'right recursion, first argument bound, random graph',
    kind: 'ask',
    rules: closureRight,
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
    needsDemand: false,
    build: randomEdges(randomNodes, 3),
    probes: none,
  },
];

const joins: Workload[] = [
  {
    name: 'same-generation',
    title: 'same generation, all free',
    kind: 'ask',
    rules: [
      rule(['sg', '?x', '?y'], ['parent', '?p', '?x'], ['parent', '?p', '?y']),
      rule(['sg', '?x', '?y'], ['parent', '?p', '?x'], ['sg', '?p', '?q'], ['parent', '?q', '?y']),
    ],
    goal: ['sg', '?x', '?y'],
    sql: {
      with:
        'sg(x, y) AS (SELECT a.y, b.y FROM parent a JOIN parent b ON a.x = b.x ' +
        'UNION SELECT a.y, b.y FROM sg JOIN parent a ON a.x = sg.x JOIN parent b ON b.x = sg.y)',
      from: 'sg',
      indexes: ['parent(x, y)'],
    },
    needsDemand: false,
    build: (size) => [
      {
        name: 'parent',
        rows: layers({ tiny: 4, small: 6, full: 11 }[size], { tiny: 10, small: 100, full: 200 }[size], 23),
      },
    ],
    probes: none,
  },
  {
    name: 'class-hierarchy',
    title: 'class hierarchy with type inheritance, all free',
    kind: 'ask',
    rules: [
      rule(['type', '?x', '?c'], ['instance', '?x', '?c']),
      rule(['type', '?x', '?d'], ['type', '?x', '?c'], ['subclass', '?c', '?d']),
    ],
    goal: ['type', '?x', '?c'],
    sql: {
      with:
        'type(x, y) AS (SELECT x, y FROM instance ' +
        'UNION SELECT type.x, subclass.y FROM type JOIN subclass ON type.y = subclass.x)',
      from: 'type',
      indexes: ['subclass(x, y)'],
    },
    needsDemand: false,
    build: (size) => {
      const classes = { tiny: 20, small: 200, full: 2_000 }[size];
      return [
        { name: 'subclass', rows: classTree(classes, 29) },
        { name: 'instance', rows: instances(classes * 100, classes, 31) },
      ];
    },
    probes: none,
  },
  {
    name: 'five-way-join',
    title: 'five-way join',
    kind: 'ask',
    rules: [
      rule(
        ['path', '?a', '?f'],
        ['r1', '?a', '?b'],
        ['r2', '?b', '?c'],
        ['r3', '?c', '?d'],
        ['r4', '?d', '?e'],
        ['r5', '?e', '?f'],
      ),
    ],
    goal: ['path', '?a', '?f'],
    sql: {
      with:
        'path(x, y) AS (SELECT DISTINCT r1.x, r5.y FROM r1 JOIN r2 ON r1.y = r2.x JOIN r3 ON r2.y = r3.x ' +
        'JOIN r4 ON r3.y = r4.x JOIN r5 ON r4.y = r5.x)',
      from: 'path',
      indexes: ['r1(x, y)', 'r2(x, y)', 'r3(x, y)', 'r4(x, y)', 'r5(x, y)'],
    },
    needsDemand: false,
    build: (size) => {
      const width = { tiny: 10, small: 80, full: 200 }[size];
      return ['a', 'b', 'c', 'd', 'e'].map((from, index) => ({
        name: `r${index + 1}`,
        rows: bipartite(
          from,
          'bcdef'.charAt(index),
          width,
          width * { tiny: 2, small: 4, full: 6 }[size],
          41 + index,
        ),
      }));
    },
    probes: none,
  },
];

const forks: Workload = {
  name: 'forked-join',
  title: 'join of two atoms that all of many forked scopes store',
  kind: 'ask',
  rules: [rule(['near', '?x', '?z'], ['edge', '?x', '?y'], ['edge', '?y', '?z'])],
  goal: ['near', '?x', '?z'],
  sql: {
    with: 'near(x, y) AS (SELECT DISTINCT a.x, b.y FROM edge a JOIN edge b ON a.y = b.x)',
    from: 'near',
    indexes: ['edge(x, y)'],
  },
  needsDemand: false,
  scopes: { tiny: 5, small: 100, full: 1_000 },
  build: randomEdges({ tiny: 60, small: 100, full: 200 }, 3),
  probes: none,
};

const changingNodes = { tiny: 60, small: 400, full: 1_200 };
const changes = { tiny: 3, small: 5, full: 5 };

function someRows(relations: readonly Relation[], size: Size): Row[] {
  return shuffled(relations[0]?.rows ?? [], 53).slice(0, changes[size]);
}

const loadsAndChanges: Workload[] = [
  {
    name: 'load',
    title: 'load, then look up by key',
    kind: 'load',
    rules: [],
    goal: ['item', '?x', '?y'],
    sql: { with: 'answer AS (SELECT x, y FROM item)', from: 'answer', indexes: ['item(x, y)'] },
    needsDemand: false,
    build: (size) => [
      { name: 'item', rows: keyed({ tiny: 1_000, small: 100_000, full: 1_000_000 }[size], 61) },
    ],
    probes: (relations, size) =>
      shuffled(relations[0]?.rows ?? [], 67).slice(0, { tiny: 500, small: 50_000, full: 200_000 }[size]),
  },
  {
    name: 'change-free',
    title: 'retract one edge and ask the whole closure again',
    kind: 'change',
    rules: closureLeft,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    needsDemand: false,
    build: randomEdges(changingNodes, 3),
    probes: someRows,
  },
  {
    name: 'change-bound',
    title: 'retract one edge and ask what one node reaches again',
    kind: 'change',
    rules: closureLeft,
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
    needsDemand: false,
    build: randomEdges(changingNodes, 3),
    probes: someRows,
  },
];

export const workloads: readonly Workload[] = [...closures, ...joins, forks, ...loadsAndChanges];
