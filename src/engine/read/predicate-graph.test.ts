import { describe, expect, it } from 'vitest';
import { constraintInputSchema } from '../contract/constraints.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { type PredicateGraph, predicateGraphQuerySchema } from '../contract/predicate-graph.ts';
import { openSession, type Session } from '../testing/engine-fixtures.ts';

/** The graph of predicates: contract section 14. */

function graph(
  { engine, caller }: Session,
  query: Readonly<Record<string, string>> = {},
): Promise<PredicateGraph> {
  return engine.predicateGraph(caller, predicateGraphQuerySchema.parse(query));
}

function declare({ engine, caller }: Session, name: string, arity: number, fields: object) {
  return engine.declare(caller, { ...declarationInputSchema.parse(fields), name, arity });
}

async function family(): Promise<Session> {
  const session = await openSession();
  await session.tellAll(['parent(ann, bob)', 'parent(bob, carol)', '-parent(ann, carol)', 'lone(x)']);
  await session.teach('ancestor(?x, ?y) :- parent(?x, ?y)');
  await session.teach('ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z)');
  await session.teach('apart(?x, ?y) :- person(?x), person(?y), not ancestor(?x, ?y)');
  const person = { name: 'person', type: 'entity' };
  await declare(session, 'person', 1, { arguments: [person], key: ['person'] });
  await declare(session, 'lives_in', 2, {
    arguments: [person, { name: 'size', type: { oneOf: ['small', 'large'] } }],
  });
  await session.engine.addConstraint(
    session.caller,
    constraintInputSchema.parse({ text: '!- ancestor(?x, ?x), not lone(?x)', name: 'no loop', mode: 'warn' }),
  );
  return session;
}

const ids = ({ nodes }: PredicateGraph): string[] => nodes.map(({ id }) => id.replace(/^c\d+$/, 'c'));

describe('the graph of predicates', () => {
  it('has predicates, constraints and declared arguments, in order', async () => {
    const { nodes, total, truncated } = await graph(await family());
    expect(ids({ nodes, edges: [], total, truncated })).toEqual([
      'ancestor/2',
      'apart/2',
      'lives_in/2',
      'lone/1',
      'parent/2',
      '-parent/2',
      'person/1',
      'c',
      'person: entity',
      'size: oneOf',
    ]);
    expect([total, truncated]).toEqual([10, false]);
    expect(nodes[0]).toMatchObject({ facts: 0, rules: 2, stratum: 0, recursive: true, declared: false });
    expect(nodes[1]).toMatchObject({ rules: 1, stratum: 1, recursive: false });
    expect(nodes[4]).toMatchObject({ facts: 2, negated: false, recursive: false });
    expect(nodes[5]).toMatchObject({ facts: 1, negated: true });
    expect(nodes[6]).toMatchObject({ declared: true, key: ['person'], facts: 0 });
    expect(nodes[7]).toMatchObject({ kind: 'constraint', name: 'no loop', mode: 'warn', scope: null });
    expect(nodes[9]).toMatchObject({ kind: 'argument', name: 'size', type: 'oneOf' });
  });

  it('leads from what rules and constraints read, with the arguments that variables join', async () => {
    const { edges } = await graph(await family());
    const between = (from: string, to: RegExp) =>
      edges.filter((edge) => edge.from === from && to.test(edge.to));
    expect(between('parent/2', /^ancestor/)).toMatchObject([
      {
        kind: 'rule',
        completes: false,
        rules: [expect.any(String), expect.any(String)],
        positions: [
          { from: 0, to: 0 },
          { from: 1, to: 1 },
        ],
      },
    ]);
    expect(between('ancestor/2', /^ancestor/)).toMatchObject([{ positions: [{ from: 0, to: 0 }] }]);
    expect(between('ancestor/2', /^apart/)).toMatchObject([{ kind: 'rule', completes: true }]);
    expect(between('ancestor/2', /^c/)).toEqual([
      { kind: 'constraint', from: 'ancestor/2', to: expect.any(String), completes: false },
    ]);
    expect(between('lone/1', /^c/)).toMatchObject([{ completes: true }]);
    expect(between('person/1', /: /)).toEqual([
      { kind: 'argument', from: 'person/1', to: 'person: entity', position: 0, inKey: true },
    ]);
    expect(between('lives_in/2', /: /)).toMatchObject([
      { to: 'person: entity', position: 0, inKey: false },
      { to: 'size: oneOf', position: 1, inKey: false },
    ]);
  });

  it('around a predicate has what it depends on, what depends on it and what shares an argument', async () => {
    const session = await family();
    expect(ids(await graph(session, { predicate: 'parent' }))).toEqual([
      'ancestor/2',
      'apart/2',
      'parent/2',
      '-parent/2',
      'c',
    ]);
    // person/1 is read by apart, and shares its argument with lives_in/2, whose other argument is shown too.
    expect(ids(await graph(session, { predicate: 'person', arity: '1' }))).toEqual([
      'apart/2',
      'lives_in/2',
      'person/1',
      'person: entity',
      'size: oneOf',
    ]);
    expect(await graph(session, { predicate: 'person', arity: '2' })).toEqual({
      nodes: [],
      edges: [],
      total: 0,
      truncated: false,
    });
  });

  it('keeps what is nearest within its limit, says what there is, and has edges between given nodes only', async () => {
    const session = await family();
    const near = await graph(session, { predicate: 'parent', limit: '3' });
    expect(ids(near)).toEqual(['ancestor/2', 'parent/2', '-parent/2']);
    expect([near.total, near.truncated]).toEqual([5, true]);
    expect(near.edges.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'ancestor/2 ancestor/2',
      'parent/2 ancestor/2',
    ]);
  });

  it('counts facts and rules of the view', async () => {
    const session = await family();
    await session.tell('parent(eve, dan)', { scope: 's' });
    await session.teach('parent(?x, ?y) :- lone(?x), lone(?y)', { scope: 's' });
    const parentOf = async (query: Readonly<Record<string, string>>) =>
      (await graph(session, query)).nodes.find(({ id }) => id === 'parent/2');
    expect(await parentOf({})).toMatchObject({ facts: 3, rules: 1 });
    expect(await parentOf({ scope: 's' })).toMatchObject({ facts: 1, rules: 1 });
    expect(await parentOf({ unscoped: 'true' })).toMatchObject({ facts: 2, rules: 0 });
  });

  it('has no strata for what scopes alone conclude if their rules together cannot be stratified', async () => {
    const session = await family();
    await session.teach('odd(?x) :- lone(?x), not even(?x)', { scope: 'a' });
    await session.teach('even(?x) :- lone(?x), not odd(?x)', { scope: 'b' });
    const strata = async (query: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        (await graph(session, query)).nodes.flatMap((node) =>
          node.kind === 'predicate' ? [[node.id, node.stratum]] : [],
        ),
      );
    expect(await strata({})).toMatchObject({ 'odd/1': null, 'even/1': null, 'ancestor/2': 0, 'apart/2': 1 });
    expect(await strata({ scope: 'a' })).toMatchObject({ 'odd/1': 1, 'even/1': 0 });
  });

  it('tells a tenant nothing of the facts of another', async () => {
    const session = await family();
    const other = session.as({ tenant: 'other' });
    await other.tell('secret(x)');
    expect(ids(await graph(session))).not.toContain('secret/1');
    const seen = await graph(other);
    expect(ids(seen)).toContain('secret/1');
    expect(ids(seen)).not.toContain('-parent/2');
    expect(seen.nodes.find(({ id }) => id === 'parent/2')).toMatchObject({ facts: 0 });
  });

  it('refuses an arity without a predicate, and a limit that is none', () => {
    for (const query of [
      { arity: '2' },
      { limit: '0' },
      { limit: '10001' },
      { scope: 's', unscoped: 'true' },
    ])
      expect(predicateGraphQuerySchema.safeParse(query).success).toBe(false);
  });
});
