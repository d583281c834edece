import { describe, expect, test } from 'vitest';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseRule } from '../../../engine/language/parse.ts';
import { aroundOf } from '../../ui/band-graph.ts';
import { layOutBands, nodeHeight, nodeWidth } from '../../ui/layout/band-layout.ts';
import { graphOf, inBands } from './dependency-graph.ts';

function rule(text: string, scope: string | null = null): StoredRule {
  const rest = { scope, name: null, description: null, enabled: true };
  return { id: text, text, ...parseRule(text), ...rest, createdAt: 0, etag: '"1"', fired: 0 };
}

const rules = [
  'path(?x, ?y) :- edge(?x, ?y)',
  'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)',
  'cut(?x, ?y) :- node(?x), node(?y), not path(?x, ?y)',
  'cuts(?n) :- ?n = count { ?x, ?y : cut(?x, ?y) }',
  '-safe(?x) :- cuts(?x)',
].map((text) => rule(text));
const predicates = [
  {
    name: 'edge',
    arity: 2,
    facts: 7,
    derived: 0,
    derivedComplete: true,
    rules: 0,
    scopes: [null],
    example: 'edge(a, b)',
  },
];

describe('the graph of relations', () => {
  const graph = graphOf(rules, predicates);

  test('puts a relation above those that it must wait for', () => {
    expect(graph.nodes.map(({ id, stratum }) => `${stratum} ${id}`)).toEqual([
      '0 edge/2',
      '0 node/1',
      '0 path/2',
      '1 cut/2',
      '2 -safe/1',
      '2 cuts/1',
    ]);
    expect(graph.edges.filter(({ completes }) => completes)).toEqual([
      { from: 'path/2', to: 'cut/2', completes: true },
      { from: 'cut/2', to: 'cuts/1', completes: true },
    ]);
  });

  test('shows counts, recursion and signs, also in words', () => {
    const of = (id: string) => graph.nodes.find((node) => node.id === id);
    expect(of('edge/2')).toMatchObject({ facts: 7, isRecursive: false });
    expect(of('path/2')).toMatchObject({ isRecursive: true, name: 'path', arity: 2 });
    expect(of('-safe/1')).toMatchObject({ name: 'safe' });
    const drawn = inBands(graph).nodes.find(({ id }) => id === 'cut/2');
    expect(drawn?.words).toContain('depends on node/1, absence or aggregate of path/2');
    expect(drawn).toMatchObject({ band: 1, look: 'concluded', note: '1 rule' });
  });

  test('shows around a relation what it depends on and what depends on it', () => {
    expect(aroundOf(graph, 'path/2').nodes.map(({ id }) => id)).not.toContain('node/1');
    expect(aroundOf(graph, 'cuts/1').nodes).toHaveLength(6);
  });

  test('omits rules of two scopes that make a cycle only together', () => {
    const apart = graphOf(
      [
        rule('a(?x) :- n(?x), not b(?x)', 'one'),
        rule('b(?x) :- n(?x), not a(?x)', 'two'),
        rule('c(?x) :- n(?x)'),
      ],
      [],
    );
    expect(apart.isUnscopedOnly).toBe(true);
    expect(apart.nodes.map(({ id }) => id)).toEqual(['c/1', 'n/1']);
  });

  test('lays out nodes without overlap, with a stratum right of the lower ones', () => {
    const { nodes, bands } = layOutBands(inBands(graph));
    for (const one of nodes)
      for (const other of nodes)
        if (one !== other)
          expect(Math.abs(one.x - other.x) >= nodeWidth || Math.abs(one.y - other.y) >= nodeHeight).toBe(
            true,
          );
    expect(bands.map(({ band }) => band)).toEqual([0, 1, 2]);
    for (const [index, band] of bands.entries())
      expect(band.x).toBeGreaterThanOrEqual(index === 0 ? 0 : (bands[index - 1]?.x ?? 0) + 1);
  });
});
