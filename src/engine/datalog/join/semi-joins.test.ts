import { expect, test } from 'vitest';
import { askInputSchema } from '../../contract/inference.ts';
import { ruleInputSchema } from '../../contract/rules.ts';
import { factInput, openSession, type Session } from '../../testing/engine-fixtures.ts';
import { Prng } from '../../testing/prng.ts';

/** Bodies of which few bindings can match, over so many edges that semi-joins are worked out while they are joined. */

type Edge = readonly [string, string];

/** Paths and squares over the edges, by nested loops. */
class Graph {
  readonly #byFrom = new Map<string, string[]>();
  readonly edges: Edge[] = [];

  constructor(nodes: number, edges: number, seed: number) {
    const prng = new Prng(seed);
    const seen = new Set<string>();
    while (this.edges.length < edges) {
      // Squared: few nodes have many edges.
      const node = (): string => `n${Math.floor((prng.below(nodes) * prng.below(nodes)) / nodes)}`;
      const edge = [node(), node()] as const;
      if (!seen.has(edge.join())) this.add(edge);
      seen.add(edge.join());
    }
  }

  add(edge: Edge): void {
    const [from, to] = edge;
    this.edges.push(edge);
    const known = this.#byFrom.get(from);
    if (known === undefined) this.#byFrom.set(from, [to]);
    else known.push(to);
  }

  from(node: string): readonly string[] {
    return this.#byFrom.get(node) ?? [];
  }

  /** The ends of the paths of so many edges that begin there. */
  ends(start: string, length: number): Set<string> {
    let nodes = new Set([start]);
    for (let step = 0; step < length; step++) nodes = new Set([...nodes].flatMap((node) => this.from(node)));
    return nodes;
  }

  squares(): string[] {
    return this.edges.flatMap(([w, x]) =>
      this.from(x).flatMap((y) =>
        this.from(y).flatMap((z) => (this.from(z).includes(w) ? [`${w} ${x} ${y} ${z}`] : [])),
      ),
    );
  }
}

async function sessionOf(graph: Graph, rules: readonly string[], facts: readonly string[]): Promise<Session> {
  const session = await openSession();
  const { engine, caller } = session;
  for (const text of rules) await engine.teach(caller, ruleInputSchema.parse({ text }));
  const edges = graph.edges.map(([from, to]) => `edge(${from}, ${to})`);
  await engine.tellAll(
    caller,
    [...edges, ...facts].map((fact) => factInput(fact)),
  );
  return session;
}

async function answers({ engine, caller }: Session, text: string): Promise<string[]> {
  const { bindings } = await engine.ask(caller, askInputSchema.parse({ text, limit: 100_000 }));
  return bindings.map((binding) => Object.values(binding).join(' ')).sort();
}

const path =
  'path(?a, ?e) :- start(?a), edge(?a, ?b), edge(?b, ?c), edge(?c, ?d), edge(?d, ?e), stop(?e, now)';
const starts = Array.from({ length: 20 }, (_, at) => `n${at * 3}`);
const stops = Array.from({ length: 20 }, (_, at) => `n${at * 4 + 1}`);
const ends = [...starts.map((node) => `start(${node})`), ...stops.map((node) => `stop(${node}, now)`)];

const pathsOf = (graph: Graph, to: readonly string[]): string[] =>
  starts
    .flatMap((start) => {
      const reached = graph.ends(start, 4);
      return to.filter((node) => reached.has(node)).map((node) => `${start} ${node}`);
    })
    .sort();

test('a path between few nodes is found, after changes too', async () => {
  const graph = new Graph(300, 2_000, 3);
  const session = await sessionOf(graph, [path], [...ends, 'stop(n2, later)']);
  const { engine, caller } = session;
  expect(await answers(session, 'path(?a, ?e)')).toEqual(pathsOf(graph, stops));
  await engine.tell(caller, factInput('stop(n2, now)'));
  expect(await answers(session, 'path(?a, ?e)')).toEqual(pathsOf(graph, [...stops, 'n2']));
  graph.add(['n0', 'new']);
  graph.add(['new', 'n1']);
  await engine.tellAll(caller, [factInput('edge(n0, new)'), factInput('edge(new, n1)')]);
  expect(await answers(session, 'path(?a, ?e)')).toEqual(pathsOf(graph, [...stops, 'n2']));
});

test('the values that can match are worked out while the join runs, and the rest is not followed', async () => {
  const graph = new Graph(1500, 12_000, 5);
  const session = await sessionOf(graph, [path], ends);
  const { engine, caller } = session;
  const answer = await engine.ask(caller, askInputSchema.parse({ text: 'path(?a, ?e)', plan: true }));
  const steps = answer.planText?.split('\n').map((line) => line.trim()) ?? [];
  const reduced = steps.findIndex((line) =>
    line.startsWith('-> semi-join ?d in edge(?d, ?e), stop(?e, now)'),
  );
  const rowsOf = (line = ''): number => Number(/rows (\d+)/.exec(line)?.[1]);
  expect(rowsOf(steps[reduced])).toBeLessThan(rowsOf(steps[reduced - 1]));
  expect(answer.total).toBe(pathsOf(graph, stops).length);
});

test('a derived atom is asked for values that no later atom has yet', async () => {
  const graph = new Graph(300, 2_500, 7);
  const rules = [
    'good(?x) :- fine(?x)',
    'good(?x) :- fair(?x)',
    'found(?a, ?c) :- start(?a), edge(?a, ?b), edge(?b, ?c), good(?c), link(?c, ?d)',
  ];
  const links = (node: string): string[] => [1, 2, 3, 4, 5].map((at) => `link(${node}, l${at})`);
  const nodes = [...new Set(graph.edges.flat())];
  const facts = [...nodes.map((node) => `fine(${node})`), ...starts.map((node) => `start(${node})`)];
  const linked = ['n1', 'n3', 'n8', 'n90', 'n150'];
  const session = await sessionOf(graph, rules, [...facts, ...linked.flatMap(links)]);
  const { engine, caller } = session;
  const expected = (ends: readonly string[]): string[] =>
    starts
      .flatMap((node) => ends.filter((end) => graph.ends(node, 2).has(end)).map((end) => `${node} ${end}`))
      .sort();
  expect(await answers(session, 'found(?a, ?c)')).toEqual(expected(linked));
  for (const node of nodes)
    await engine.tellAll(
      caller,
      links(node).map((fact) => factInput(fact)),
    );
  expect(await answers(session, 'found(?a, ?c)')).toEqual(expected(nodes));
});

test('cycles of four are those that nested loops find, before and after changes', async () => {
  const graph = new Graph(80, 450, 11);
  const square = 'square(?w, ?x, ?y, ?z) :- edge(?w, ?x), edge(?x, ?y), edge(?y, ?z), edge(?z, ?w)';
  const session = await sessionOf(graph, [square], []);
  const { engine, caller } = session;
  expect(await answers(session, 'square(?w, ?x, ?y, ?z)')).toEqual(graph.squares().sort());
  const { text } = await engine.plan(caller, askInputSchema.parse({ text: 'square(?w, ?x, ?y, ?z)' }));
  expect(text).toContain('semi-join ?y in edge(?y, ?z), edge(?z, ?w) [sorted]');
  graph.add(['n0', 'new']);
  graph.add(['new', 'n0']);
  await engine.tellAll(caller, [factInput('edge(n0, new)'), factInput('edge(new, n0)')]);
  expect(await answers(session, 'square(?w, ?x, ?y, ?z)')).toEqual(graph.squares().sort());
});

test('supposed facts are among the values', async () => {
  const graph = new Graph(300, 2_000, 3);
  const session = await sessionOf(graph, [path], ends);
  const { engine, caller } = session;
  const { id } = await engine.begin(caller);
  const within = { ...session, caller: { ...caller, transaction: id } };
  await engine.tell(within.caller, factInput('stop(n2, now)'));
  expect(await answers(within, 'path(?a, ?e)')).toEqual(pathsOf(graph, [...stops, 'n2']));
});
