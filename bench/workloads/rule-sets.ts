/** Many rules: mutual recursion, negation in layers, aggregates, a university, packages, ten thousand rules. */
import { acyclic, cycle, packages, randomGraph, type Row, skewedPairs } from '../graphs.ts';
import { Prng } from '../../src/engine/testing/prng.ts';
import { type Aggregate, aggregate, type BenchRule, count, not, rule } from '../program.ts';
import { university, universityRules, universitySql } from './university.ts';
import { closureLeft, closureLeftSql, randomEdges } from './closures.ts';
import { at, coldQuestion, databases, type Size, type Sql, type Workload } from './workload.ts';

const residues = 20;

/** Paths by their length modulo 20: twenty predicates in one component. */
const pathLengths: readonly BenchRule[] = [
  rule(['p0', '?x', '?y'], ['edge', '?x', '?y']),
  ...Array.from({ length: residues }, (_, index) =>
    rule([`p${(index + 1) % residues}`, '?x', '?z'], [`p${index}`, '?x', '?y'], ['edge', '?y', '?z']),
  ),
];
const pathLengthsSql: Sql = {
  with:
    'p(k, x, y) AS (SELECT 0, x, y FROM edge ' +
    `UNION SELECT (p.k + 1) % ${residues}, p.x, edge.y FROM p JOIN edge ON p.y = edge.x)`,
  from: 'p WHERE k = 0',
  indexes: ['edge(x, y)'],
};

const rounds = 10;

/**
 * Who wins within this many rounds, where a player that cannot move has lost; each round uses the negation of the one
 * before.
 */
const winning: readonly BenchRule[] = [
  rule(['position', '?x'], ['move', '?x', '?_']),
  rule(['position', '?y'], ['move', '?_', '?y']),
  rule(['won0', '?x'], ['move', '?x', '?y'], not('move', '?y', '?_')),
  ...Array.from({ length: rounds }, (_, round) => [
    rule([`open${round}`, '?x'], ['move', '?x', '?y'], not(`won${round}`, '?y')),
    rule([`lost${round}`, '?x'], ['position', '?x'], not(`open${round}`, '?x')),
    rule([`won${round + 1}`, '?x'], ['move', '?x', '?y'], [`lost${round}`, '?y']),
  ]).flat(),
];
const winningSql: Sql = {
  with: [
    'position(x) AS MATERIALIZED (SELECT x FROM move UNION SELECT y FROM move)',
    'won0(x) AS MATERIALIZED (SELECT DISTINCT x FROM move WHERE y NOT IN (SELECT x FROM move))',
    ...Array.from({ length: rounds }, (_, round) => [
      `open${round}(x) AS MATERIALIZED (SELECT DISTINCT x FROM move WHERE y NOT IN (SELECT x FROM won${round}))`,
      `lost${round}(x) AS MATERIALIZED (SELECT x FROM position WHERE x NOT IN (SELECT x FROM open${round}))`,
      `won${round + 1}(x) AS MATERIALIZED (SELECT DISTINCT move.x FROM move JOIN lost${round} ON lost${round}.x = move.y)`,
    ]).flat(),
  ].join(', '),
  from: `won${rounds}`,
  indexes: ['move(x, y)'],
};

const node: readonly BenchRule[] = [
  rule(['node', '?x'], ['edge', '?x', '?_']),
  rule(['node', '?y'], ['edge', '?_', '?y']),
];
const nodeSql = 'node(x) AS (SELECT x FROM edge UNION SELECT y FROM edge)';

const overClosures: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'unreached',
    title: 'negation over recursion: who does not reach whom',
    largePeers: ['DuckDB'],
    rules: [
      ...closureLeft,
      ...node,
      rule(['unreached', '?x', '?y'], ['node', '?x'], ['node', '?y'], not('tc', '?x', '?y')),
    ],
    goal: ['unreached', '?x', '?y'],
    sql: {
      with: `${closureLeftSql.with}, ${nodeSql}, unreached AS (SELECT a.x, b.x AS y FROM node a, node b EXCEPT SELECT x, y FROM tc)`,
      from: 'unreached',
      indexes: ['edge(x, y)'],
    },
    build: (size) => {
      const nodes = { tiny: 30, small: 100, full: 500, large: 1_500 }[size];
      return [{ name: 'edge', rows: randomGraph(nodes, Math.floor(nodes * 1.5), 17) }];
    },
  },
  {
    ...coldQuestion,
    name: 'reach-counts',
    title: 'an aggregate over recursion: how many each reaches',
    largePeers: ['DuckDB'],
    rules: [
      ...closureLeft,
      ...node,
      rule(['reaches', '?x', '?n'], ['node', '?x'], count('?n', '?y', ['tc', '?x', '?y'])),
    ],
    goal: ['reaches', '?x', '?n'],
    sql: {
      with: `${closureLeftSql.with}, ${nodeSql}, reaches AS (SELECT node.x, count(tc.y) FROM node LEFT JOIN tc ON tc.x = node.x GROUP BY node.x)`,
      from: 'reaches',
      indexes: ['edge(x, y)'],
    },
    build: randomEdges({ tiny: 60, small: 300, full: 800, large: 1_150 }, 3),
  },
  {
    ...coldQuestion,
    name: 'group-counts',
    title: 'an aggregate over facts: how many have each key',
    largePeers: databases,
    rules: [
      rule(['key', '?k'], ['has', '?_', '?k']),
      rule(['share', '?k', '?n'], ['key', '?k'], count('?n', '?x', ['has', '?x', '?k'])),
    ],
    goal: ['share', '?k', '?n'],
    sql: {
      with: 'share AS (SELECT y, count(*) FROM has GROUP BY y)',
      from: 'share',
      indexes: ['has(y, x)'],
    },
    build: (size) => {
      const pairs = { tiny: 200, small: 10_000, full: 100_000, large: 2_000_000 }[size];
      return [{ name: 'has', rows: skewedPairs('a', pairs / 5, pairs, 0.8, 89) }];
    },
  },
];

/** Sales with a number each: an aggregate of the numbers for each key. */
const overSales = (name: Aggregate['name'], title: string): Workload => ({
  ...coldQuestion,
  name: `group-${name}`,
  title: `an aggregate over facts: ${title} of each key`,
  largePeers: databases,
  rules: [
    rule(['key', '?k'], ['sale', '?_', '?k', '?_']),
    rule(
      ['share', '?k', '?n'],
      ['key', '?k'],
      aggregate(name, '?n', ['?v', '?x'], ['sale', '?x', '?k', '?v']),
    ),
  ],
  goal: ['share', '?k', '?n'],
  sql: {
    with: `share(k, n) AS (SELECT y, ${name}(CAST(z AS BIGINT)) FROM sale GROUP BY y)`,
    // Read, or no database works it out.
    from: 'share WHERE n >= 0',
    indexes: ['sale(y, z)'],
  },
  build: (size) => {
    const pairs = { tiny: 200, small: 10_000, full: 100_000, large: 2_000_000 }[size];
    const prng = new Prng(113);
    const rows = skewedPairs('a', pairs / 5, pairs, 0.8, 89).map(
      ([x, key]): Row => [x, key, String(prng.below(100_000))],
    );
    return [{ name: 'sale', rows, columns: ['x', 'y', 'z'] }];
  },
});

const perChain = 100;
const ruleCounts = { tiny: 100, small: 1_000, full: 10_000 };

/** Chains of a hundred rules, each a join of the previous conclusions; a question on a chain needs no other one. */
function manyRules(size: Size): BenchRule[] {
  return Array.from({ length: at(ruleCounts, size) }, (_, index) => {
    const group = Math.floor(index / perChain);
    const step = index % perChain;
    const before = step === 0 ? 'link' : `q${group}_${step - 1}`;
    return rule([`q${group}_${step}`, '?x', '?z'], [before, '?x', '?y'], ['link', '?y', '?z']);
  });
}

const packageCounts = { tiny: 200, small: 6_367, full: 63_666 };
const dependencyCounts = { tiny: 600, small: 27_900, full: 279_000 };
const needs = [
  rule(['needs', '?x', '?y'], ['depends', '?x', '?y']),
  rule(['needs', '?x', '?z'], ['needs', '?x', '?y'], ['depends', '?y', '?z']),
];
const dependencies = (size: Size) => [
  { name: 'depends', rows: packages(at(packageCounts, size), at(dependencyCounts, size), 97) },
];

const packageGraph: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'package-needs',
    title: 'everything that a package needs, in a graph like that of Debian',
    rules: needs,
    goal: ['needs', 'suite', '?y'],
    sql: {
      with: "needs(y) AS (SELECT y FROM depends WHERE x = 'suite' UNION SELECT depends.y FROM needs JOIN depends ON needs.y = depends.x)",
      from: 'needs',
      indexes: ['depends(x, y)'],
    },
    needsDemand: true,
    withProofs: true,
    build: dependencies,
  },
  {
    ...coldQuestion,
    name: 'package-breaks',
    title: 'everything that breaks without a package',
    rules: [...needs, rule(['breaks_without', '?x', '?y'], ['needs', '?y', '?x'])],
    goal: ['breaks_without', 'p100', '?y'],
    sql: {
      with: "needs(x) AS (SELECT x FROM depends WHERE y = 'p100' UNION SELECT depends.x FROM needs JOIN depends ON needs.x = depends.y)",
      from: 'needs',
      indexes: ['depends(y, x)'],
    },
    needsDemand: true,
    withProofs: true,
    build: dependencies,
  },
];

export const ruleSets: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'university',
    title: 'a university: class hierarchy, membership, a join over all of it',
    largePeers: ['DuckDB'],
    rules: universityRules,
    goal: ['taught_by_advisor', '?s', '?p'],
    sql: universitySql,
    build: (size) => university({ tiny: 1, small: 8, full: 80, large: 800 }[size], 101),
  },
  {
    ...coldQuestion,
    name: 'mutual-recursion',
    title: 'mutual recursion of twenty predicates',
    largePeers: ['DuckDB'],
    rules: pathLengths,
    goal: ['p0', '?x', '?y'],
    sql: pathLengthsSql,
    build: (size) => {
      const nodes = { tiny: 15, small: 50, full: 150, large: 340 }[size];
      return [{ name: 'edge', rows: randomGraph(nodes, nodes * 2, 103) }];
    },
  },
  {
    ...coldQuestion,
    name: 'winning',
    title: 'a game: negation in twenty layers',
    largePeers: ['DuckDB'],
    rules: winning,
    goal: [`won${rounds}`, '?x'],
    sql: winningSql,
    build: (size) => {
      const nodes = { tiny: 100, small: 3_000, full: 30_000, large: 110_000 }[size];
      return [{ name: 'move', rows: acyclic(nodes, nodes * 3, 107) }];
    },
  },
  ...overClosures,
  overSales('sum', 'the sum'),
  overSales('max', 'the greatest value'),
  {
    ...coldQuestion,
    name: 'many-rules',
    title: 'a question that a hundred of ten thousand rules answer',
    largePeers: ['SWI-Prolog'],
    rules: manyRules,
    goal: [`q0_${perChain - 1}`, '?x', '?z'],
    sql: null,
    build: (size) => [{ name: 'link', rows: cycle(size === 'large' ? 12_000 : 100, 109) satisfies Row[] }],
  },
  ...packageGraph,
];
