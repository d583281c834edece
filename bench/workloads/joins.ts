/** Joins, including cyclic and skewed ones, and recursions that join more than one relation. */
import {
  bipartite,
  classChain,
  classTree,
  instances,
  layers,
  type Relation,
  type Row,
  shuffled,
  skewedGraph,
  skewedPairs,
  turned,
} from '../graphs.ts';
import { rule } from '../program.ts';
import { randomEdges } from './closures.ts';
import { at, type BySize, coldQuestion, type Size, type Sql, type Workload } from './workload.ts';

const inheritance = [
  rule(['type', '?x', '?c'], ['instance', '?x', '?c']),
  rule(['type', '?x', '?d'], ['type', '?x', '?c'], ['subclass', '?c', '?d']),
];
const inheritanceSql: Sql = {
  with:
    'type(x, y) AS (SELECT x, y FROM instance ' +
    'UNION SELECT type.x, subclass.y FROM type JOIN subclass ON type.y = subclass.x)',
  from: 'type',
  indexes: ['subclass(x, y)'],
};

const recursiveJoins: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'same-generation',
    title: 'same generation, all free',
    largePeers: ['DuckDB'],
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
    build: (size) => [
      {
        name: 'parent',
        rows: layers(
          at({ tiny: 4, small: 6, full: 11 }, size),
          { tiny: 10, small: 100, full: 200, large: 450 }[size],
          23,
        ),
      },
    ],
  },
  {
    ...coldQuestion,
    name: 'class-hierarchy',
    title: 'class hierarchy with type inheritance, all free',
    largePeers: ['DuckDB'],
    rules: inheritance,
    goal: ['type', '?x', '?c'],
    sql: inheritanceSql,
    build: (size) => {
      const classes = { tiny: 20, small: 200, full: 2_000, large: 4_000 }[size];
      return [
        { name: 'subclass', rows: classTree(classes, 29) },
        { name: 'instance', rows: instances(classes * 100, classes, 31) },
      ];
    },
  },
  {
    ...coldQuestion,
    name: 'class-chain',
    title: 'type inheritance, each class below the next, all free',
    largePeers: ['DuckDB'],
    rules: inheritance,
    goal: ['type', '?x', '?c'],
    sql: inheritanceSql,
    build: (size) => {
      const classes = { tiny: 20, small: 120, full: 500, large: 700 }[size];
      return [
        { name: 'subclass', rows: classChain(classes) },
        { name: 'instance', rows: instances(classes * 5, classes, 31) },
      ];
    },
  },
];

const deepHierarchy: Workload = {
  ...coldQuestion,
  name: 'deep-hierarchy',
  title: 'type inheritance in a hierarchy 2,000 levels deep, all free',
  rules: inheritance,
  goal: ['type', '?x', '?c'],
  sql: inheritanceSql,
  build: (size) => {
    const classes = at({ tiny: 30, small: 300, full: 2_000 }, size);
    return [
      { name: 'subclass', rows: classChain(classes) },
      { name: 'instance', rows: instances(classes, classes, 31) },
    ];
  },
};

const triangle = rule(
  ['triangle', '?x', '?y', '?z'],
  ['edge', '?x', '?y'],
  ['edge', '?y', '?z'],
  ['edge', '?z', '?x'],
);
const triangleSql: Sql = {
  with:
    'triangle AS (SELECT a.x, b.x AS y, c.x AS z FROM edge a JOIN edge b ON a.y = b.x ' +
    'JOIN edge c ON b.y = c.x AND c.y = a.x)',
  from: 'triangle',
  indexes: ['edge(x, y)'],
};
const square = rule(
  ['square', '?w', '?x', '?y', '?z'],
  ['edge', '?w', '?x'],
  ['edge', '?x', '?y'],
  ['edge', '?y', '?z'],
  ['edge', '?z', '?w'],
);
const squareSql: Sql = {
  with:
    'square AS (SELECT a.x AS w, b.x AS x, c.x AS y, d.x AS z FROM edge a JOIN edge b ON a.y = b.x ' +
    'JOIN edge c ON b.y = c.x JOIN edge d ON c.y = d.x AND d.y = a.x)',
  from: 'square',
  indexes: ['edge(x, y)'],
};

const cyclicJoins: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'triangles',
    title: 'triangles of a random graph',
    largePeers: ['DuckDB'],
    rules: [triangle],
    goal: ['triangle', '?x', '?y', '?z'],
    sql: triangleSql,
    build: randomEdges({ tiny: 40, small: 500, full: 3_000, large: 25_000 }, 20),
  },
  {
    ...coldQuestion,
    name: 'triangles-skewed',
    title: 'triangles of a skewed graph',
    largePeers: ['DuckDB', 'SWI-Prolog'],
    rules: [triangle],
    goal: ['triangle', '?x', '?y', '?z'],
    sql: triangleSql,
    build: (size) => {
      const nodes = { tiny: 40, small: 400, full: 2_000, large: 20_000 }[size];
      return [{ name: 'edge', rows: skewedGraph(nodes, nodes * 8, 0.8, 71) }];
    },
  },
  {
    ...coldQuestion,
    name: 'triangles-derived',
    title: 'triangles of a derived copy of a random graph',
    largePeers: ['DuckDB'],
    rules: [
      rule(['link', '?x', '?y'], ['edge', '?x', '?y']),
      rule(['triangle', '?x', '?y', '?z'], ['link', '?x', '?y'], ['link', '?y', '?z'], ['link', '?z', '?x']),
    ],
    goal: ['triangle', '?x', '?y', '?z'],
    sql: {
      with:
        'link AS (SELECT DISTINCT x, y FROM edge), ' +
        'triangle AS (SELECT a.x, b.x AS y, c.x AS z FROM link a JOIN link b ON a.y = b.x ' +
        'JOIN link c ON b.y = c.x AND c.y = a.x)',
      from: 'triangle',
      indexes: ['edge(x, y)'],
    },
    build: randomEdges({ tiny: 40, small: 500, full: 5_000, large: 25_000 }, 20),
  },
  {
    ...coldQuestion,
    name: 'squares',
    title: 'cycles of four in a random graph',
    largePeers: ['DuckDB'],
    rules: [square],
    goal: ['square', '?w', '?x', '?y', '?z'],
    sql: squareSql,
    build: randomEdges({ tiny: 40, small: 400, full: 2_000, large: 40_000 }, 8),
  },
  {
    ...coldQuestion,
    name: 'squares-skewed',
    title: 'cycles of four in a skewed graph',
    largePeers: ['DuckDB', 'SWI-Prolog'],
    rules: [square],
    goal: ['square', '?w', '?x', '?y', '?z'],
    sql: squareSql,
    build: (size) => {
      const nodes = { tiny: 40, small: 200, full: 700, large: 12_000 }[size];
      return [{ name: 'edge', rows: skewedGraph(nodes, nodes * 4, 0.8, 73) }];
    },
  },
];

/** A graph whose nodes' degrees follow a power law. */
const powerLaw =
  (nodes: BySize, edgesPerNode: number, exponent: number) =>
  (size: Size): Relation[] => [
    {
      name: 'edge',
      rows: skewedGraph(at(nodes, size), Math.round(at(nodes, size) * edgesPerNode), exponent, 71),
    },
  ];

/** The same with some nodes at which a path starts, and others at which it ends. */
const withEnds =
  (build: (size: Size) => Relation[], count: BySize) =>
  (size: Size): Relation[] => {
    const relations = build(size);
    const nodes = shuffled([...new Set(relations.flatMap(({ rows }) => rows.map(([from]) => from)))], 97);
    const ends = (name: string, from: number): Relation => ({
      name,
      rows: nodes.slice(from, from + at(count, size)).map((node): Row => [node, name]),
    });
    return [...relations, ends('start', 0), ends('stop', at(count, size))];
  };

const hundredThousand = { tiny: 40, small: 2_000, full: 100_000 };
const threeHundredThousand = { tiny: 40, small: 3_000, full: 300_000 };

const patternsInLargeGraphs: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'triangles-million',
    title: 'triangles of a power-law graph, 1,000,000 edges',
    rules: [triangle],
    goal: ['triangle', '?x', '?y', '?z'],
    sql: triangleSql,
    build: powerLaw(hundredThousand, 10, 0.8),
  },
  {
    ...coldQuestion,
    name: 'squares-million',
    title: 'cycles of four in a power-law graph, 1,000,000 edges',
    rules: [square],
    goal: ['square', '?w', '?x', '?y', '?z'],
    sql: squareSql,
    build: powerLaw(threeHundredThousand, 10 / 3, 0.6),
  },
  {
    ...coldQuestion,
    name: 'four-clique',
    title: 'four nodes with all six edges in a power-law graph, 1,000,000 edges',
    rules: [
      rule(
        ['clique', '?a', '?b', '?c', '?d'],
        ['edge', '?a', '?b'],
        ['edge', '?a', '?c'],
        ['edge', '?a', '?d'],
        ['edge', '?b', '?c'],
        ['edge', '?b', '?d'],
        ['edge', '?c', '?d'],
      ),
    ],
    goal: ['clique', '?a', '?b', '?c', '?d'],
    sql: {
      with:
        'clique AS (SELECT ab.x AS a, ab.y AS b, ac.y AS c, ad.y AS d FROM edge ab JOIN edge ac ON ac.x = ab.x ' +
        'JOIN edge bc ON bc.x = ab.y AND bc.y = ac.y JOIN edge ad ON ad.x = ab.x ' +
        'JOIN edge bd ON bd.x = ab.y AND bd.y = ad.y JOIN edge cd ON cd.x = ac.y AND cd.y = ad.y)',
      from: 'clique',
      indexes: ['edge(x, y)'],
    },
    build: powerLaw(threeHundredThousand, 10 / 3, 0.65),
  },
  {
    ...coldQuestion,
    name: 'five-path',
    title: 'pairs of given nodes with a path of five edges in a power-law graph, 1,000,000 edges',
    largePeers: ['DuckDB'],
    rules: [
      rule(
        ['path', '?a', '?f'],
        ['start', '?a', '?_'],
        ['edge', '?a', '?b'],
        ['edge', '?b', '?c'],
        ['edge', '?c', '?d'],
        ['edge', '?d', '?e'],
        ['edge', '?e', '?f'],
        ['stop', '?f', '?_'],
      ),
    ],
    goal: ['path', '?a', '?f'],
    sql: {
      with:
        'path(x, y) AS (SELECT DISTINCT s.x, t.x FROM start s JOIN edge a ON a.x = s.x JOIN edge b ON b.x = a.y ' +
        'JOIN edge c ON c.x = b.y JOIN edge d ON d.x = c.y JOIN edge e ON e.x = d.y JOIN stop t ON t.x = e.y)',
      from: 'path',
      indexes: ['edge(x, y)', 'stop(x, y)'],
    },
    build: withEnds(powerLaw(threeHundredThousand, 10 / 3, 0.6), {
      tiny: 4,
      small: 20,
      full: 200,
      large: 800,
    }),
  },
  {
    ...coldQuestion,
    name: 'lollipop',
    title: 'triangles two edges from given nodes in a power-law graph, 1,000,000 edges',
    rules: [
      rule(
        ['lollipop', '?a', '?c', '?d', '?e'],
        ['start', '?a', '?_'],
        ['edge', '?a', '?b'],
        ['edge', '?b', '?c'],
        ['edge', '?c', '?d'],
        ['edge', '?d', '?e'],
        ['edge', '?e', '?c'],
      ),
    ],
    goal: ['lollipop', '?a', '?c', '?d', '?e'],
    sql: {
      with:
        'lollipop AS (SELECT DISTINCT s.x AS a, b.y AS c, c.y AS d, d.y AS e FROM start s ' +
        'JOIN edge a ON a.x = s.x JOIN edge b ON b.x = a.y JOIN edge c ON c.x = b.y ' +
        'JOIN edge d ON d.x = c.y JOIN edge e ON e.x = d.y AND e.y = b.y)',
      from: 'lollipop',
      indexes: ['edge(x, y)'],
    },
    build: withEnds(powerLaw(threeHundredThousand, 10 / 3, 0.6), {
      tiny: 4,
      small: 20,
      full: 200,
      large: 800,
    }),
  },
];

const letters = ['a', 'b', 'c', 'd', 'e'];

const plainJoins: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'five-way-join',
    title: 'five-way join',
    largePeers: ['DuckDB'],
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
    build: (size) => {
      const width = { tiny: 10, small: 80, full: 200, large: 2_000 }[size];
      const pairs = width * at({ tiny: 2, small: 4, full: 6 }, size);
      return letters.map((from, index) => ({
        name: `r${index + 1}`,
        rows: bipartite(from, 'bcdef'.charAt(index), width, pairs, 41 + index),
      }));
    },
  },
  {
    ...coldQuestion,
    name: 'skewed-join',
    title: 'join over keys of which few are frequent',
    largePeers: ['DuckDB'],
    rules: [rule(['pair', '?x', '?z'], ['r', '?x', '?k'], ['s', '?k', '?z'])],
    goal: ['pair', '?x', '?z'],
    sql: {
      with: 'pair(x, y) AS (SELECT DISTINCT r.x, s.y FROM r JOIN s ON r.y = s.x)',
      from: 'pair',
      indexes: ['r(y, x)', 's(x, y)'],
    },
    build: (size) => {
      const pairs = { tiny: 60, small: 1_000, full: 5_000, large: 12_000 }[size];
      return [
        { name: 'r', rows: skewedPairs('a', pairs >> 2, pairs, 1, 79) },
        { name: 's', rows: turned(skewedPairs('b', pairs >> 2, pairs, 1, 83)) },
      ];
    },
  },
  {
    ...coldQuestion,
    name: 'late-filter',
    title: 'join over skewed keys whose last relation is tiny',
    largePeers: ['DuckDB'],
    rules: [rule(['pick', '?x', '?w'], ['r', '?x', '?k'], ['s', '?k', '?z'], ['t', '?z', '?w'])],
    goal: ['pick', '?x', '?w'],
    sql: {
      with: 'pick(x, y) AS (SELECT DISTINCT r.x, t.y FROM r JOIN s ON r.y = s.x JOIN t ON s.y = t.x)',
      from: 'pick',
      indexes: ['r(y, x)', 's(y, x)', 't(x, y)'],
    },
    build: (size) => {
      const pairs = { tiny: 60, small: 1_000, full: 6_000, large: 300_000 }[size];
      const right = skewedPairs('b', pairs >> 2, pairs, 1, 83);
      const kept = right
        .slice(0, at({ tiny: 20, small: 20, full: 20, large: 1_000 }, size))
        .map(([value]): Row => [value, 'kept']);
      return [
        { name: 'r', rows: skewedPairs('a', pairs >> 2, pairs, 1, 79) },
        { name: 's', rows: turned(right) },
        { name: 't', rows: [...new Map(kept.map((row) => [row[0], row])).values()] },
      ];
    },
  },
  {
    ...coldQuestion,
    name: 'forked-join',
    title: 'join of two atoms that all of many forked scopes store',
    largePeers: ['DuckDB', 'SQLite', 'SWI-Prolog', 'gringo'],
    rules: [rule(['near', '?x', '?z'], ['edge', '?x', '?y'], ['edge', '?y', '?z'])],
    goal: ['near', '?x', '?z'],
    sql: {
      with: 'near(x, y) AS (SELECT DISTINCT a.x, b.y FROM edge a JOIN edge b ON a.y = b.x)',
      from: 'near',
      indexes: ['edge(x, y)'],
    },
    scopes: { tiny: 5, small: 100, full: 1_000, large: 10 },
    build: randomEdges({ tiny: 60, small: 100, full: 200, large: 100_000 }, 3),
  },
];

export const joins: readonly Workload[] = [
  ...recursiveJoins,
  deepHierarchy,
  ...plainJoins,
  ...cyclicJoins,
  ...patternsInLargeGraphs,
];
