/** Seeded inputs of the workloads: the same seed gives the same rows on every machine. */
import { Prng } from '../src/engine/testing/prng.ts';

/** At least two columns. */
export type Row = readonly [string, string, ...string[]];

export interface Relation {
  readonly name: string;
  readonly rows: readonly Row[];
  /** The names of the columns in SQL; default x and y. */
  readonly columns?: readonly string[];
}

export const columnsOf = ({ columns }: Relation): readonly string[] => columns ?? ['x', 'y'];

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

/** `count` facts with a key of their own and one of `count / 5` values: 1.2 distinct constants per fact. */
export function keyed(count: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const values = Math.max(1, Math.floor(count / 5));
  return shuffled(
    Array.from({ length: count }, (_, index): Row => [`key_${index}`, `value_${prng.below(values)}`]),
    seed + 1,
  );
}

/** The same with its latest result kept, which a call with the same arguments returns. */
export function keepingLatest<Arguments extends readonly number[], Result>(
  make: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  let latest: { readonly key: string; readonly result: Result } | null = null;
  return (...args) => {
    const key = args.join(' ');
    if (latest?.key !== key) latest = { key, result: make(...args) };
    return latest.result;
  };
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

/** A grid of `width` by `width` nodes with edges to the right and down, in random order. */
export function grid(width: number, seed: number): Row[] {
  const rows: Row[] = [];
  for (let y = 0; y < width; y++)
    for (let x = 0; x < width; x++) {
      const from = `n${y * width + x}`;
      if (x + 1 < width) rows.push([from, `n${y * width + x + 1}`]);
      if (y + 1 < width) rows.push([from, `n${(y + 1) * width + x}`]);
    }
  return shuffled(rows, seed);
}

/** n0 -> n1 -> … -> n0: `nodes` edges, in random order. */
export function cycle(nodes: number, seed: number): Row[] {
  return shuffled(
    Array.from({ length: nodes }, (_, index): Row => [`n${index}`, `n${(index + 1) % nodes}`]),
    seed,
  );
}

/** Edges from earlier to later nodes only: the moves of a game that always ends. */
export function acyclic(nodes: number, edges: number, seed: number): Row[] {
  const prng = new Prng(seed);
  return distinct(edges, () => {
    const from = prng.below(nodes - 1);
    return [`n${from}`, `n${from + 1 + prng.below(Math.min(nodes - from - 1, 1_000))}`];
  });
}

/** A chain of classes as (class, superclass). */
export function classChain(classes: number): Row[] {
  return Array.from({ length: classes - 1 }, (_, index): Row => [`c${index}`, `c${index + 1}`]);
}

/**
 * Numbers below `count`, each with a frequency proportional to `rank + 1` to the power of minus `exponent` (Zipf's
 * law): 0 is the most frequent.
 */
export function zipf(count: number, exponent: number, prng: Prng): () => number {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) {
    sum += (rank + 1) ** -exponent;
    sums[rank] = sum;
  }
  return () => {
    const wanted = (prng.below(2 ** 30) / 2 ** 30) * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) <= wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** `count` distinct pairs returned by `draw`; null: draw again. */
function distinct(count: number, draw: () => Row | null): Row[] {
  const rows = new Map<string, Row>();
  while (rows.size < count) {
    const row = draw();
    if (row !== null) rows.set(row.join(' '), row);
  }
  return [...rows.values()];
}

/** `edges` distinct edges whose ends are both drawn by Zipf's law: few nodes have most of them. */
export function skewedGraph(nodes: number, edges: number, exponent: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const draw = zipf(nodes, exponent, prng);
  // Which nodes are frequent differs between sources and targets, so that hubs do not only point at themselves.
  return distinct(edges, () => [`n${draw()}`, `n${(draw() * 7 + 3) % nodes}`]);
}

/** `count` distinct pairs of a uniformly distributed left value and a key with a Zipf distribution. */
export function skewedPairs(
  left: string,
  keys: number,
  count: number,
  exponent: number,
  seed: number,
): Row[] {
  const prng = new Prng(seed);
  const draw = zipf(keys, exponent, prng);
  return distinct(count, () => [`${left}${prng.below(count)}`, `k${draw()}`]);
}

/** The same with the columns swapped. */
export function turned(rows: readonly Row[]): Row[] {
  return rows.map(([x, y]) => [y, x]);
}

/**
 * Dependencies between packages, shaped like those of Debian: few libraries that most others need, directly or not, and
 * many programs that nothing needs. A package needs more popular ones than itself, rarely others; p0 is the most
 * popular, and `suite` needs twenty packages of any kind.
 */
export function packages(count: number, dependencies: number, seed: number): Row[] {
  const prng = new Prng(seed);
  const wanted = zipf(count, 0.9, prng);
  const suite = distinct(20, () => ['suite', `p${prng.below(count)}`]);
  const others = distinct(dependencies - suite.length, () => {
    const from = prng.below(count);
    const to = wanted();
    return to < from || (to > from && prng.below(500) === 0) ? [`p${from}`, `p${to}`] : null;
  });
  return shuffled([...suite, ...others], seed + 1);
}
