/** Operations after the first question: changes, look-ups in derived tuples, proofs; and loading. */
import { chain, keyed, type Relation, type Row, shuffled, skewedGraph, turned } from '../graphs.ts';
import { not, rule } from '../program.ts';
import { closureLeft, closureLeftSql, randomEdges, reachSql } from './closures.ts';
import { at, type BySize, type Size, type Workload } from './workload.ts';

/** At full size the closure has 1.1 million tuples. */
const changingNodes: BySize = { tiny: 60, small: 400, full: 1_200 };
const changes: BySize = { tiny: 3, small: 5, full: 5 };

function someRows(relations: readonly Relation[], size: Size): Row[] {
  return shuffled(relations[0]?.rows ?? [], 53).slice(0, at(changes, size));
}

/** `count` rows of the first relation, each with a key that no other of them has. */
function someKeys(count: BySize) {
  return (relations: readonly Relation[], size: Size): Row[] => {
    const byKey = new Map(shuffled(relations[0]?.rows ?? [], 67).map((row) => [row[0], row]));
    return [...byKey.values()].slice(0, at(count, size));
  };
}

export const changing: readonly Workload[] = [
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
    name: 'change-closure',
    title: 'with the whole closure there, retract one edge and ask what one node reaches',
    kind: 'change',
    rules: closureLeft,
    before: ['tc', '?x', '?y'],
    goal: ['tc', 'n0', '?y'],
    sql: reachSql,
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
  {
    name: 'closure-look-up',
    title: 'with the whole closure there, what one node after the other reaches',
    kind: 'look-up',
    rules: closureLeft,
    goal: ['tc', '?x', '?y'],
    sql: closureLeftSql,
    needsDemand: false,
    build: randomEdges({ tiny: 60, small: 300, full: 800 }, 3),
    probes: someKeys({ tiny: 20, small: 100, full: 500 }),
  },
];

const knows = rule(
  ['suggested', '?x', '?z'],
  ['knows', '?x', '?y'],
  ['knows', '?y', '?z'],
  not('knows', '?x', '?z'),
);

export const reads: readonly Workload[] = [
  {
    name: 'friends-of-friends',
    title: 'whom the friends of one person after the other know, and that person does not',
    kind: 'reads',
    rules: [knows],
    goal: ['suggested', '?x', '?y'],
    sql: {
      with:
        'suggested AS (SELECT DISTINCT a.x, b.y FROM probe p JOIN knows a ON a.x = p.x JOIN knows b ON b.x = a.y ' +
        'WHERE NOT EXISTS (SELECT 1 FROM knows c WHERE c.x = a.x AND c.y = b.y))',
      from: 'suggested',
      indexes: ['knows(x, y)'],
    },
    needsDemand: true,
    build: (size) => {
      const people = at({ tiny: 40, small: 3_000, full: 100_000 }, size);
      const rows = skewedGraph(people, people * 5, 0.5, 127);
      // Who knows somebody is known by them.
      const both = [...rows, ...turned(rows)].filter(([x, y]) => x !== y);
      return [{ name: 'knows', rows: [...new Map(both.map((row) => [row.join(' '), row])).values()] }];
    },
    probes: someKeys({ tiny: 10, small: 200, full: 5_000 }),
  },
];

export const loads: readonly Workload[] = [
  {
    name: 'load',
    title: 'load, then look up by key',
    kind: 'load',
    rules: [],
    goal: ['item', '?x', '?y'],
    sql: { with: 'answer AS (SELECT x, y FROM item)', from: 'answer', indexes: ['item(x, y)'] },
    needsDemand: false,
    build: (size) => [
      { name: 'item', rows: keyed(at({ tiny: 1_000, small: 100_000, full: 1_000_000 }, size), 61) },
    ],
    probes: someKeys({ tiny: 500, small: 50_000, full: 200_000 }),
  },
];

export const proofs: readonly Workload[] = [
  {
    name: 'proof',
    title: 'a proof of thirty steps over the closure of a chain',
    kind: 'proof',
    rules: closureLeft,
    before: ['tc', '?x', '?y'],
    goal: ['tc', 'n0', 'n30'],
    sql: null,
    needsDemand: false,
    build: (size) => [{ name: 'edge', rows: chain(at({ tiny: 50, small: 400, full: 1500 }, size), 5) }],
    probes: (relations) => (relations[0]?.rows ?? []).filter(([from]) => from === 'n20'),
  },
];
