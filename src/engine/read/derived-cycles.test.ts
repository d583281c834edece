import { expect, test, vi } from 'vitest';
import { DerivedStep } from '../datalog/join/derived-steps.ts';
import { askInput, factInput, openSession, type Session } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';

/** Triangles over derived edges, whose tables change between questions: a run of rows that are gone would show. */

const body = 'link(?x, ?y), link(?y, ?z), link(?z, ?x)';
const nodes = 12;

class Links {
  readonly edges = new Set<string>();

  constructor(seed: number, count: number) {
    const prng = new Prng(seed);
    while (this.edges.size < count) this.edges.add(`edge(n${prng.below(nodes)}, n${prng.below(nodes)})`);
  }

  get triangles(): string[] {
    const found: string[] = [];
    const has = (from: number, to: number): boolean => this.edges.has(`edge(n${from}, n${to})`);
    for (let x = 0; x < nodes; x++)
      for (let y = 0; y < nodes; y++)
        for (let z = 0; z < nodes; z++)
          if (has(x, y) && has(y, z) && has(z, x))
            found.push(`link(n${x}, n${y}), link(n${y}, n${z}), link(n${z}, n${x})`);
    return found.sort();
  }
}

async function linked(links: Links, options = {}): Promise<Session> {
  const session = await openSession(options);
  await session.teach('link(?x, ?y) :- edge(?x, ?y)');
  await session.teach('triangle(?x, ?y, ?z) :- link(?x, ?y), link(?y, ?z), link(?z, ?x)');
  await session.tellAll([...links.edges]);
  return session;
}

const all = { limit: 10_000 };

async function expectTriangles(session: Session, { triangles }: Links): Promise<void> {
  expect((await session.results(body, all)).sort()).toEqual(triangles);
  const results = await session.results('triangle(?x, ?y, ?z)', all);
  expect(results).toHaveLength(triangles.length);
}

test('asked again after rows came, went and came back, triangles of derived edges are those of the edges', async () => {
  const sorted = vi.spyOn(DerivedStep.prototype, 'sortable');
  const links = new Links(3, 60);
  const session = await linked(links);
  await expectTriangles(session, links);
  const gone = [...links.edges].filter((_, at) => at % 3 === 0);
  for (const edge of gone) {
    await session.forget(edge);
    links.edges.delete(edge);
  }
  await expectTriangles(session, links);
  const later = [...new Links(4, 40).edges, ...gone.slice(0, 5)];
  await session.tellAll(later);
  for (const edge of later) links.edges.add(edge);
  await expectTriangles(session, links);
  expect(sorted).toHaveBeenCalled();
  sorted.mockRestore();
});

test('a transaction sees triangles of derived edges with its own writes, and others without', async () => {
  const links = new Links(5, 50);
  const session = await linked(links);
  const { engine, caller } = session;
  await expectTriangles(session, links);
  const inside = new Links(5, 50);
  const within = { ...caller, transaction: (await engine.begin(caller)).id };
  for (const edge of new Links(6, 30).edges) {
    await engine.within(within).tell(factInput(edge));
    inside.edges.add(edge);
  }
  const seen = (await engine.ask(within, askInput(body, all))).results;
  expect([...seen].sort()).toEqual(inside.triangles);
  await expectTriangles(session, links);
  await engine.commit(caller, within.transaction, false);
  await expectTriangles(session, inside);
});

test('a scope sees triangles of the edges in it', async () => {
  const [links, scoped] = [new Links(7, 50), new Links(8, 50)];
  const session = await linked(links);
  await session.tellAll([...scoped.edges], { scope: 's' });
  const inScope = async (): Promise<string[]> => (await session.results(body, { ...all, scope: 's' })).sort();
  expect(await inScope()).toEqual(scoped.triangles);
  for (const edge of [...scoped.edges].slice(0, 20)) {
    await session.forget(edge, { scope: 's' });
    scoped.edges.delete(edge);
  }
  expect(await inScope()).toEqual(scoped.triangles);
  const both = new Links(7, 50);
  for (const edge of scoped.edges) both.edges.add(edge);
  await expectTriangles(session, both);
});

test('triangles of derived edges are right after a change of rules dropped their tables', async () => {
  const links = new Links(9, 60);
  const session = await linked(links);
  const added = new Links(10, 60);
  for (const [round, edge] of [...added.edges].slice(0, 4).entries()) {
    await expectTriangles(session, links);
    const [gone] = links.edges;
    await session.forget(gone as string);
    links.edges.delete(gone as string);
    await expectTriangles(session, links);
    await session.tell(edge.replace('edge', `road${round}`));
    await session.teach(`link(?x, ?y) :- road${round}(?x, ?y)`);
    links.edges.add(edge);
  }
  await expectTriangles(session, links);
});

test('constants that only rules make can be sides of a triangle', async () => {
  const session = await openSession();
  await session.teach('step(?x, ?y) :- size(?x), ?y = ?x + 1');
  await session.teach('step(?x, ?y) :- size(?z), ?x = ?z + 1, ?y = ?z + 2');
  await session.teach('step(?x, ?y) :- size(?y), ?x = ?y + 2');
  await session.tell('size(5)');
  const text = 'step(?x, ?y), step(?y, ?z), step(?z, ?x)';
  expect((await session.results(text)).sort()).toEqual([
    'step(5, 6), step(6, 7), step(7, 5)',
    'step(6, 7), step(7, 5), step(5, 6)',
    'step(7, 5), step(5, 6), step(6, 7)',
  ]);
  const square = 'step(?w, ?x), step(?x, ?y), step(?y, ?z), step(?z, ?w)';
  expect(await session.results(square)).toEqual([]);
});
