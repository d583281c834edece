/**
 * Analyses of generated programs: which objects a variable may point to (Andersen's analysis, with fields), and a graph of
 * calls that is built on the fly, since a call's target depends on the class of the object that receives it.
 *
 * No SQL: the recursions are mutual and not linear.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import type { Relation, Row } from '../graphs.ts';
import { type BenchRule, not, rule } from '../program.ts';
import { at, type BySize, coldQuestion, type Workload } from './workload.ts';

const pointsTo: readonly BenchRule[] = [
  rule(['points_to', '?v', '?o'], ['alloc', '?v', '?o']),
  rule(['points_to', '?v', '?o'], ['assign', '?v', '?w'], ['points_to', '?w', '?o']),
  rule(
    ['heap', '?o', '?f', '?p'],
    ['store', '?b', '?f', '?v'],
    ['points_to', '?b', '?o'],
    ['points_to', '?v', '?p'],
  ),
  rule(
    ['points_to', '?v', '?p'],
    ['load', '?v', '?b', '?f'],
    ['points_to', '?b', '?o'],
    ['heap', '?o', '?f', '?p'],
  ),
];

const callGraph: readonly BenchRule[] = [
  ...pointsTo,
  rule(['dispatch', '?t', '?s', '?m'], ['declares', '?t', '?s', '?m']),
  rule(
    ['dispatch', '?t', '?s', '?m'],
    ['extends', '?t', '?u'],
    ['dispatch', '?u', '?s', '?m'],
    not('declares', '?t', '?s', '?_'),
  ),
  rule(
    ['calls', '?i', '?m'],
    ['invocation', '?i', '?v', '?s'],
    ['points_to', '?v', '?o'],
    ['object_class', '?o', '?t'],
    ['dispatch', '?t', '?s', '?m'],
  ),
  rule(
    ['points_to', '?p', '?o'],
    ['calls', '?i', '?m'],
    ['actual', '?i', '?n', '?v'],
    ['formal', '?m', '?n', '?p'],
    ['points_to', '?v', '?o'],
  ),
  rule(
    ['points_to', '?r', '?o'],
    ['calls', '?i', '?m'],
    ['result', '?i', '?r'],
    ['returns', '?m', '?w'],
    ['points_to', '?w', '?o'],
  ),
];

type Rows = Readonly<Record<string, Row[]>>;

const relationsOf = (rows: Rows): Relation[] =>
  Object.entries(rows).map(([name, its]) => ({
    name,
    rows: [...new Map(its.map((row) => [row.join(' '), row])).values()],
    columns: (its[0] ?? ['', '']).map((_, index) => `c${index}`),
  }));

const variablesOfMethod = 12;
const fields = 40;

/** Assignments mostly within a method, some between methods; each method allocates, stores and loads. */
function statements(methods: number, prng: Prng): Rows {
  const rows: Rows = { alloc: [], assign: [], store: [], load: [] };
  const local = (method: number): string => `v${method}_${prng.below(variablesOfMethod)}`;
  const field = (): string => `f${prng.below(fields)}`;
  for (let method = 0; method < methods; method++) {
    const near = Math.max(0, method - prng.below(8));
    for (let object = 0; object < 3; object++) rows['alloc']?.push([local(method), `o${method}_${object}`]);
    for (let step = 0; step < 8; step++) rows['assign']?.push([local(method), local(method)]);
    rows['assign']?.push([local(method), local(near)]);
    rows['store']?.push([local(method), field(), local(method)]);
    rows['load']?.push([local(method), local(method), field()]);
  }
  return rows;
}

/** A hierarchy of classes whose methods call one another by signature. */
function calls(methods: number, prng: Prng): Rows {
  const rows: Rows = {
    extends: [],
    declares: [],
    object_class: [],
    invocation: [],
    actual: [],
    result: [],
    formal: [],
    returns: [],
  };
  const classes = Math.max(2, methods >> 3);
  const signatures = Math.max(2, methods >> 5);
  for (let each = 1; each < classes; each++) rows['extends']?.push([`t${each}`, `t${prng.below(each)}`]);
  for (let signature = 0; signature < signatures; signature++)
    rows['declares']?.push([`t0`, `s${signature}`, `m${prng.below(methods)}`]);
  for (let method = 0; method < methods; method++) {
    const local = (): string => `v${method}_${prng.below(variablesOfMethod)}`;
    rows['declares']?.push([`t${prng.below(classes)}`, `s${prng.below(signatures)}`, `m${method}`]);
    rows['formal']?.push([`m${method}`, 'first', local()]);
    rows['returns']?.push([`m${method}`, local()]);
    for (let object = 0; object < 3; object++)
      rows['object_class']?.push([`o${method}_${object}`, `t${prng.below(classes)}`]);
    const site = `i${method}`;
    rows['invocation']?.push([site, local(), `s${prng.below(signatures)}`]);
    rows['actual']?.push([site, 'first', local()]);
    rows['result']?.push([site, local()]);
  }
  return rows;
}

const pointsToMethods: BySize = { tiny: 8, small: 200, full: 4_000, large: 28_000 };
const callGraphMethods: BySize = { tiny: 8, small: 100, full: 200 };

export const programAnalyses: readonly Workload[] = [
  {
    ...coldQuestion,
    name: 'points-to',
    title: 'which objects the variables of a program may point to, by field',
    largePeers: ['gringo', 'SWI-Prolog'],
    rules: pointsTo,
    goal: ['points_to', '?v', '?o'],
    sql: null,
    build: (size) => relationsOf(statements(at(pointsToMethods, size), new Prng(139))),
  },
  {
    ...coldQuestion,
    name: 'call-graph',
    title: 'a call graph built while it is found which objects receive the calls',
    rules: callGraph,
    goal: ['calls', '?i', '?m'],
    sql: null,
    build: (size) => {
      const prng = new Prng(149);
      const methods = at(callGraphMethods, size);
      return relationsOf({ ...statements(methods, prng), ...calls(methods, prng) });
    },
  },
];
