/** Seeded inputs of the workloads: the same seed gives the same rows on every machine. */
import { Prng } from '../src/engine/base/prng.ts';

export type Row = readonly [string, string];

export interface Relation {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** `edges` distinct random edges between `nodes` nodes n0, n1, … */
export function randomGraph(nodes: number, edges: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const seen = new Set<number>();
  const rows: Row[] = [];
  while (rows.length < edges) {
    const from = prng.below(nodes);
    const to = prng.below(nodes);
    const key = from * nodes + to;
    if (seen.has(key)) continue;
    seen.add(key);
    rows.push([`n${from}`, `n${to}`]);
  }
  return rows;
}

/** n0 -> n1 -> … : `edges` edges in a line, in random order. */
export function chain(edges: number, seed: number): Row[] {
  const rows = Array.from({ length: edges }, (_, index): Row => [`n${index}`, `n${index + 1}`]);
  return shuffled(rows, seed);
}

/** `layers` layers of `width` people, each with two different parents in the layer above: (parent, child). */
export function layers(count: number, width: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const rows: Row[] = [];
  for (let layer = 1; layer < count; layer++)
    for (let person = 0; person < width; person++) {
      const first = prng.below(width);
      const second = (first + 1 + prng.below(width - 1)) % width;
      const child = `p${layer}_${person}`;
      rows.push([`p${layer - 1}_${first}`, child], [`p${layer - 1}_${second}`, child]);
    }
  return rows;
}

/** A random tree of classes as (class, superclass): each class below a random earlier one. */
export function classTree(classes: number, seed: number): Row[] {
  const prng = new Prng(seed);
  return Array.from(
    { length: classes - 1 },
    (_, index): Row => [`c${index + 1}`, `c${prng.below(index + 1)}`],
  );
}

/** (instance, class) with a random class each. */
export function instances(count: number, classes: number, seed: number): Row[] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, (_, index): Row => [`i${index}`, `c${prng.below(classes)}`]);
}

/** Distinct random pairs between two layers of `width` values. */
export function bipartite(from: string, to: string, width: number, pairs: number, seed: number): Row[] {
  return randomGraph(width, pairs, seed).map(([left, right]) => [
    `${from}${left.slice(1)}`,
    `${to}${right.slice(1)}`,
  ]);
}

/** `count` facts with a key of their own and one of `count / 5` values: 1.2 distinct constants a fact. */
export function keyed(count: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const values = Math.max(1, Math.floor(count / 5));
  return shuffled(
    Array.from({ length: count }, (_, index): Row => [`key_${index}`, `value_${prng.below(values)}`]),
    seed + 1,
  );
}

/** A shuffled copy. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const prng = new Prng(seed);
  const copy = [...items];
  for (let index = copy.length - 1; index > 0; index--) {
    const other = prng.below(index + 1);
    const item = copy[index] as T;
    copy[index] = copy[other] as T;
    copy[other] = item;
  }
  return copy;
}
