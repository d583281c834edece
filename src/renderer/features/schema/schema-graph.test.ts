import { expect, test } from 'vitest';
import type { PredicateGraph } from '../../../engine/contract/predicate-graph.ts';
import { layOutBands } from '../../ui/layout/band-layout.ts';
import { connectionsOf, schemaInBands } from './schema-graph.ts';

const predicate: Omit<Extract<PredicateGraph['nodes'][number], { kind: 'predicate' }>, 'id' | 'name'> = {
  kind: 'predicate',
  arity: 1,
  negated: false,
  facts: 0,
  rules: 0,
  stratum: 0,
  recursive: false,
  declared: false,
  key: [],
};

const graph: PredicateGraph = {
  nodes: [
    { ...predicate, id: 'adult/1', name: 'adult', rules: 1, recursive: true },
    { ...predicate, id: 'age/2', name: 'age', arity: 2, facts: 3, declared: true, key: ['person'] },
    { ...predicate, id: 'minor/1', name: 'minor', rules: 2, stratum: null },
    { kind: 'constraint', id: 'c1', name: 'of age', text: '!- adult(?x)', mode: 'reject', scope: null },
    { kind: 'argument', id: 'person: entity', name: 'person', type: 'entity' },
  ],
  edges: [
    { kind: 'constraint', from: 'adult/1', to: 'c1', completes: false },
    { kind: 'rule', from: 'age/2', to: 'adult/1', completes: false, rules: ['r1'], positions: [] },
    { kind: 'argument', from: 'age/2', to: 'person: entity', position: 0, inKey: true },
    { kind: 'argument', from: 'age/2', to: 'person: entity', position: 1, inKey: false },
    { kind: 'rule', from: 'adult/1', to: 'minor/1', completes: true, rules: ['r2', 'r3'], positions: [] },
  ],
  total: 5,
  truncated: false,
};

test('draws arguments at the left, predicates by stratum, and constraints at the right', () => {
  const drawn = schemaInBands(graph);
  const { bands } = layOutBands(drawn);
  expect(bands.map(({ band }) => drawn.titles.get(band))).toEqual([
    'Arguments',
    'Stratum 0',
    'No stratum',
    'Constraints',
  ]);
  expect(drawn.nodes.map(({ label, note, look }) => [label, note, look])).toEqual([
    ['adult/1', '1 rule · recursive', 'concluded'],
    ['age/2', '3 facts · key', 'stored'],
    ['minor/1', '2 rules', 'concluded'],
    ['of age', 'refuses', 'constraint'],
    ['person: entity', 'argument', 'argument'],
  ]);
});

test('draws what a predicate has twice once, without a direction', () => {
  expect(schemaInBands(graph).edges).toEqual([
    { from: 'adult/1', to: 'c1', kind: 'reads' },
    { from: 'age/2', to: 'adult/1', kind: 'reads' },
    { from: 'person: entity', to: 'age/2', kind: 'shares' },
    { from: 'adult/1', to: 'minor/1', kind: 'completes' },
  ]);
});

test('says in words what a node is connected to', () => {
  const words = Object.fromEntries(schemaInBands(graph).nodes.map((node) => [node.id, node.words]));
  expect(words['adult/1']).toBe('adult/1, stratum 0; 1 rule · recursive; reads age/2; checked by of age');
  expect(words['minor/1']).toContain('reads adult/1 (through not or an aggregate)');
  expect(words['person: entity']).toContain('argument of age/2 (argument 1, in the key), age/2 (argument 2)');
});

test('lists connections with the rules that conclude a predicate', () => {
  const connections = connectionsOf(graph);
  expect([...(connections.get('minor/1')?.rules ?? [])]).toEqual(['r2', 'r3']);
  expect(connections.get('c1')?.reads).toEqual([{ id: 'adult/1', label: 'adult/1', note: null }]);
  expect(connections.get('age/2')?.readBy.map(({ id }) => id)).toEqual(['adult/1']);
});
