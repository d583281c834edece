import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { FactStore } from '../../store/fact-store.ts';
import { ruleIdentity } from '../../language/print.ts';
import { parseAtom, parseRule } from '../../language/parse.ts';
import { Pacer } from '../tables/evaluation.ts';
import { holderOf, MemoryBudget } from '../model/memory-budget.ts';
import { Program } from '../model/program.ts';
import { matchesOf, question } from '../tables/question.ts';
import { TableSet } from '../tables/table-set.ts';

/** Triangles, and paths to marked nodes, of stored edges, asked for in new tables each time. */

const everything = { kind: 'all' } as const;
const texts = [
  'triangle(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z), edge(?z, ?x).',
  'arrives(?a, ?d) :- mark(?a, blue), edge(?a, ?b), edge(?b, ?c), edge(?c, ?d), mark(?d, red).',
];

class Graph {
  readonly facts = new FactStore(0);
  readonly budget = new MemoryBudget(2 ** 30);
  readonly edges = new Set<string>();
  #generation = 0;

  tell(from: string, to: string, scope: string | null = null): void {
    this.#store('edge', [from, to], scope);
    this.edges.add(`${from} ${to}`);
  }

  mark(node: string, color: string): void {
    this.#store('mark', [node, color], null);
  }

  #store(predicate: string, args: string[], scope: string | null): void {
    const fact = { predicate, args, truthVal: true, scope };
    this.facts.store({ ...fact, validFrom: 'always', validUntil: 'never' }, ++this.#generation, 0);
  }

  retract(from: string, to: string): void {
    const stored = this.facts.find('edge', [from, to], true, null);
    if (stored === null) throw new Error(`no edge from ${from} to ${to}`);
    this.facts.retract(stored, ++this.#generation);
    this.edges.delete(`${from} ${to}`);
  }

  get runs() {
    const relation = this.facts.relation('edge', 2, false);
    if (relation === null) throw new Error('no edge is stored');
    return relation.runs;
  }

  /** The triangles, and how many instances of the rule the question met. */
  async ask(atom = 'triangle(?x, ?y, ?z)') {
    const about = { name: null, description: null, changedIn: 0, createdAt: 0, scope: null, enabled: true };
    const rules = texts.map((text) => ({ text, rule: parseRule(text) }));
    const program = new Program(
      rules.map(({ text, rule }, at) => ({
        ...about,
        id: `r${at}`,
        rule,
        text,
        identity: ruleIdentity(rule),
      })),
    );
    const set = new TableSet(this.facts, program, { withHeights: false, isMaintained: true }, new Map());
    const { signal } = new AbortController();
    const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal, memory: this.budget };
    const pacer = new Pacer(limits, () => Promise.resolve());
    const reader = { facts: this.facts, generation: this.#generation, time: 0, overlay: null };
    const asked = question(everything, [{ ...parseAtom(atom), naf: false }]);
    const { columns, count, constants } = await matchesOf(asked, set, reader, pacer);
    const found = Array.from({ length: count }, (_, row) =>
      columns.map((column) => constants.text(column[row] as number)).join(' '),
    ).sort();
    return { found, derivations: pacer.derivations };
  }

  get expected(): string[] {
    const pairs = [...this.edges].map((edge) => edge.split(' ') as [string, string]);
    return pairs
      .flatMap(([x, y]) => pairs.filter(([from]) => from === y).map(([, z]) => [x, y, z] as const))
      .filter(([x, , z]) => this.edges.has(`${z} ${x}`))
      .map((nodes) => nodes.join(' '))
      .sort();
  }
}

/** Pairs of one of `starts` and one of `ends`, three edges from it. */
function arrivals({ edges }: Graph, starts: readonly string[], ends: readonly string[]): string[] {
  const targets = new Map<string, string[]>();
  for (const edge of edges) {
    const [from = '', to = ''] = edge.split(' ');
    targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const next = (nodes: Iterable<string>): Set<string> =>
    new Set([...nodes].flatMap((node) => targets.get(node) ?? []));
  return starts
    .flatMap((from) =>
      [...next(next(next([from])))].filter((to) => ends.includes(to)).map((to) => `${from} ${to}`),
    )
    .sort();
}

function randomGraph(nodes: number, edges: number): Graph {
  const graph = new Graph();
  const prng = new Prng(17);
  while (graph.edges.size < edges) graph.tell(`n${prng.below(nodes)}`, `n${prng.below(nodes)}`);
  return graph;
}

test('sorts a relation in both orders for the triangles of all nodes, and not for those of one', async () => {
  const graph = randomGraph(60, 900);
  await graph.ask('triangle(n1, ?y, ?z)');
  expect(graph.runs.bytes).toBe(0);
  expect((await graph.ask()).found).toEqual(graph.expected);
  expect(graph.runs.known([0, 1], 900)).not.toBeNull();
  expect(graph.runs.known([1, 0], 900)).not.toBeNull();
});

test('meets no dead row, and every later row after it sorted again', async () => {
  const graph = randomGraph(40, 500);
  await graph.ask();
  for (const edge of [...graph.edges].slice(0, 100)) graph.retract(...(edge.split(' ') as [string, string]));
  expect((await graph.ask()).found).toEqual(graph.expected);
  for (let node = 0; node < 40; node++) graph.tell(`n${node}`, 'late');
  for (let node = 0; node < 40; node++) graph.tell('late', `n${node}`);
  expect((await graph.ask()).found).toEqual(graph.expected);
});

test('meets an atom once, however many scopes store it', async () => {
  const graph = randomGraph(40, 500);
  const once = await graph.ask();
  for (const edge of graph.edges)
    for (const scope of ['s', 't', 'u']) graph.tell(...(edge.split(' ') as [string, string]), scope);
  expect(await graph.ask()).toEqual(once);
});

test('holds its runs under the memory budget, which evicts them', async () => {
  const graph = randomGraph(60, 900);
  await graph.ask();
  const { bytes } = holderOf(graph.runs);
  expect(bytes).toBeGreaterThan(2 * 900 * 12);
  expect(graph.budget.heldBytes).toBe(bytes);
  expect(graph.budget.fits(graph.budget.limit, null)).toBe(true);
  expect([graph.runs.bytes, graph.budget.heldBytes]).toEqual([0, 0]);
  expect((await graph.ask()).found).toEqual(graph.expected);
});

test('finds the same from every node when the last intersection, which has one key, is cached', async () => {
  const graph = randomGraph(60, 400);
  const starts = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
  const ends = ['n10', 'n11', 'n12', 'n13', 'n14', 'n15', 'n16', 'n17'];
  for (const node of starts) graph.mark(node, 'blue');
  for (const node of ends) graph.mark(node, 'red');
  expect((await graph.ask('arrives(?a, ?d)')).found).toEqual(arrivals(graph, starts, ends));
  for (const edge of [...graph.edges].slice(0, 100)) graph.retract(...(edge.split(' ') as [string, string]));
  expect((await graph.ask('arrives(?a, ?d)')).found).toEqual(arrivals(graph, starts, ends));
});
