import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { FactStore } from '../../store/fact-store.ts';
import { parseAtom, parseRule } from '../../language/parse.ts';
import { ruleIdentity } from '../../language/print.ts';
import { Pacer } from '../tables/evaluation.ts';
import { MemoryBudget } from '../model/memory-budget.ts';
import { Program, type Tallies } from '../model/program.ts';
import { type Matches, matchesOf, question } from '../tables/question.ts';
import { TableSet } from '../tables/table-set.ts';
import { maintainTables } from '../maintain/table-cache.ts';
import type { Reader } from '../model/reader.ts';

/** Checks which tables become bitset relations, and their contents, against a graph search. */

const everything = { kind: 'all' } as const;
const left = ['tc(?x, ?y) :- edge(?x, ?y).', 'tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z).'];
const right = ['tc(?x, ?y) :- edge(?x, ?y).', 'tc(?x, ?z) :- edge(?x, ?y), tc(?y, ?z).'];
const double = ['tc(?x, ?y) :- edge(?x, ?y).', 'tc(?x, ?z) :- tc(?x, ?y), tc(?y, ?z).'];

class Graph {
  readonly facts = new FactStore(0);
  readonly edges = new Set<string>();
  readonly roads = new Set<string>();
  readonly tallies: Tallies = new Map();
  readonly set: TableSet;
  generation = 0;

  constructor(rules: readonly string[]) {
    const about = { name: null, description: null, changedIn: 0, createdAt: 0, scope: null, enabled: true };
    const kept = rules.map((text, at) => {
      const rule = parseRule(text);
      return { ...about, id: `r${at}`, rule, text, identity: ruleIdentity(rule) };
    });
    this.set = new TableSet(
      this.facts,
      new Program(kept),
      { withHeights: false, isMaintained: true },
      this.tallies,
    );
  }

  get reader(): Reader {
    return { facts: this.facts, generation: this.generation, time: 0, overlay: null };
  }

  pacer(maxDerivations = 1e9): Pacer {
    const { signal } = new AbortController();
    const memory = new MemoryBudget(2 ** 30);
    return new Pacer({ timeoutMs: 600_000, maxDerivations, signal, memory }, () => Promise.resolve());
  }

  /** Stores the edge, or retracts it if it is stored. Returns its fact number. */
  change(from: number, to: number, predicate: 'edge' | 'road' = 'edge'): number {
    const args = [`n${from}`, `n${to}`];
    const fact = { predicate, args, truthVal: true, scope: null };
    const key = args.join(' ');
    const known = predicate === 'edge' ? this.edges : this.roads;
    this.generation++;
    if (known.delete(key)) {
      const stored = this.facts.find(predicate, args, true, null);
      if (stored === null) throw new Error(`no edge ${key}`);
      this.facts.retract(stored, this.generation);
      return stored.relation.number[stored.row] as number;
    }
    known.add(key);
    const { relation, row } = this.facts.store(
      { ...fact, validFrom: 'always', validUntil: 'never' },
      this.generation,
      0,
    );
    return relation.number[row] as number;
  }

  ask(atom: string, pacer = this.pacer()): Promise<Matches> {
    const literal = { ...parseAtom(atom), naf: false };
    return matchesOf(question(everything, [literal]), this.set, this.reader, pacer);
  }

  /** The pairs of nodes connected by an edge followed by any number of steps, by graph search. */
  closure(steps: ReadonlySet<string> = this.edges): string[] {
    const listsOf = (pairs: ReadonlySet<string>): Map<string, string[]> => {
      const lists = new Map<string, string[]>();
      for (const pair of pairs) {
        const [from, to] = pair.split(' ') as [string, string];
        lists.set(from, [...(lists.get(from) ?? []), to]);
      }
      return lists;
    };
    const first = listsOf(this.edges);
    const next = listsOf(steps);
    const pairs: string[] = [];
    for (const from of first.keys()) {
      const found = new Set(first.get(from));
      for (const node of found) for (const other of next.get(node) ?? []) found.add(other);
      for (const to of found) pairs.push(`${from} ${to}`);
    }
    return pairs.sort();
  }

  /** The pairs of nodes at equal distance from a common ancestor. */
  sameGeneration(): string[] {
    const edges = [...this.edges].map((edge) => edge.split(' ') as [string, string]);
    const pairs = new Set<string>();
    const open: [string, string][] = [];
    const meet = (x: string, y: string): void => {
      if (pairs.has(`${x} ${y}`)) return;
      pairs.add(`${x} ${y}`);
      open.push([x, y]);
    };
    for (const [p, x] of edges) for (const [q, y] of edges) if (p === q) meet(x, y);
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const [p, x] of edges)
        if (p === next[0]) for (const [q, y] of edges) if (q === next[1]) meet(x, y);
    return [...pairs].sort();
  }

  get bits(): boolean {
    return [...this.set.tables.values()].some(({ bits }) => bits !== null);
  }
}

function pairsOf({ columns, count, constants }: Matches): string[] {
  const texts = Array.from({ length: count }, (_, row) =>
    [0, 1].map((at) => constants.text((columns[at] as Int32Array)[row] as number)).join(' '),
  );
  return texts.sort();
}

function randomGraph(rules: readonly string[], nodes: number, edges: number, prng: Prng): Graph {
  const graph = new Graph(rules);
  while (graph.edges.size < edges) {
    const [from, to] = [prng.below(nodes), prng.below(nodes)];
    if (!graph.edges.has(`n${from} n${to}`)) graph.change(from, to);
  }
  return graph;
}

for (const [name, rules] of Object.entries({ left, right, double }))
  test(`holds a closure by ${name} recursion as a bitset relation, maintained edge by edge`, async () => {
    const prng = new Prng(5);
    const graph = randomGraph(rules, 40, 60, prng);
    expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure());
    for (let round = 0; round < 40; round++) {
      const changed = Array.from({ length: 1 + prng.below(3) }, () =>
        // Sometimes adds a new node.
        graph.change(prng.below(40), prng.below(round % 5 === 0 ? 80 : 40)),
      );
      await maintainTables(graph.set, changed, graph.reader, graph.pacer());
      expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure());
    }
    expect(graph.bits).toBe(true);
    const few = await graph.ask('tc(n3, ?y)');
    expect(few.count).toBe(graph.closure().filter((pair) => pair.startsWith('n3 ')).length);
    expect((await graph.ask('tc(n3, n3)')).count).toBe(graph.closure().includes('n3 n3') ? 1 : 0);
  });

test('shares bitset rows between sources, and applies a change of the base alone to them', async () => {
  const prng = new Prng(13);
  const graph = new Graph(['tc(?x, ?y) :- edge(?x, ?y).', 'tc(?x, ?z) :- tc(?x, ?y), road(?y, ?z).']);
  for (let road = 0; road < 40; road++) graph.change(prng.below(30), prng.below(30), 'road');
  for (let source = 100; source < 200; source++) graph.change(source, prng.below(30));
  for (let round = 0; round < 60; round++) {
    expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure(graph.roads));
    const changed = Array.from({ length: 1 + prng.below(3) }, () =>
      graph.change(100 + prng.below(110), prng.below(round % 7 === 0 ? 35 : 30)),
    );
    if (round % 10 === 9) changed.push(graph.change(prng.below(30), prng.below(30), 'road'));
    await maintainTables(graph.set, changed, graph.reader, graph.pacer());
  }
  expect(graph.bits).toBe(true);
});

const both = [
  'sg(?x, ?y) :- edge(?p, ?x), edge(?p, ?y).',
  'sg(?x, ?y) :- edge(?p, ?x), sg(?p, ?q), edge(?q, ?y).',
];

test('holds recursion at both ends as a bitset relation, maintained edge by edge', async () => {
  const prng = new Prng(11);
  const graph = randomGraph(both, 30, 40, prng);
  expect(pairsOf(await graph.ask('sg(?x, ?y)'))).toEqual(graph.sameGeneration());
  for (let round = 0; round < 40; round++) {
    const changed = Array.from({ length: 1 + prng.below(3) }, () =>
      graph.change(prng.below(30), prng.below(round % 5 === 0 ? 60 : 30)),
    );
    await maintainTables(graph.set, changed, graph.reader, graph.pacer());
    expect(pairsOf(await graph.ask('sg(?x, ?y)'))).toEqual(graph.sameGeneration());
  }
  expect(graph.bits).toBe(true);
});

test.each([
  'sg(?x, ?y) :- edge(?p, ?x), sg(?p, ?q), edge(?q, ?y), ?x != ?y.',
  'sg(?x, ?y) :- edge(?p, ?x), sg(?p, ?q), edge(?p, ?y).',
  'sg(?x, ?y) :- edge(?y, ?x), sg(?y, ?q), edge(?q, ?y).',
  'sg(?x, ?y) :- edge(?p, ?x), sg(?p, ?q), edge(?q, ?y), edge(?u, ?u).',
])('derives recursion whose ends depend on each other by its rules: %s', async (rule) => {
  const graph = randomGraph([both[0] as string, rule], 20, 30, new Prng(12));
  await graph.ask('sg(?x, ?y)');
  expect(graph.bits).toBe(false);
});

test('derives a closure by its rules if its sources reach few of all targets', async () => {
  for (const rules of [left, right, double]) {
    const graph = new Graph(rules);
    for (let node = 0; node < 400; node++) if (node % 4 !== 3) graph.change(node, node + 1);
    expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure());
    expect(graph.bits).toBe(false);
  }
});

test('derives a sparse closure over derived pairs by its rules once they are known', async () => {
  const graph = new Graph([
    'link(?x, ?y) :- edge(?y, ?x).',
    'tc(?y, ?x) :- link(?x, ?y).',
    'tc(?z, ?x) :- link(?x, ?y), tc(?z, ?y).',
  ]);
  for (let node = 0; node < 400; node++) if (node % 4 !== 3) graph.change(node, node + 1);
  expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure());
  expect(graph.bits).toBe(false);
  // The bitset attempt compiled its own joins; they must be complete too.
  for (const { derived } of graph.set.justifications.supports)
    expect(derived.done, derived.name).toBe(derived.rows.count);
  const changed = [graph.change(3, 4), graph.change(0, 1)];
  await maintainTables(graph.set, changed, graph.reader, graph.pacer());
  expect(pairsOf(await graph.ask('tc(?x, ?y)'))).toEqual(graph.closure());
});

test('applies the limit of derivations to bitset rows', async () => {
  const prng = new Prng(7);
  const graph = randomGraph(left, 300, 900, prng);
  const asked = graph.ask('tc(?x, ?y)', graph.pacer(10_000));
  await expect(asked).rejects.toThrow('more than 10000 derivations');
});

test('counts the conclusions of rules for bitset rows too', async () => {
  const graph = randomGraph(right, 30, 60, new Prng(3));
  const { count } = await graph.ask('tc(?x, ?y)');
  expect(graph.tallies.get('r0')?.fired).toBe(60);
  expect(graph.tallies.get('r1')?.fired).toBe(count - 60);
});
