import { expect, test } from 'vitest';
import { KeptFacts } from '../../testing/kept-facts.ts';

/**
 * Which relations are demanded key by key and which at once: this affects only cost, so the tests inspect the tables.
 */

/** Of odd length: the recursion below takes two steps at a time. */
const cycle = 21;
const nodes = 20 * cycle;
const last = nodes - 1;
const edges = Array.from({ length: nodes }, (_, at) => {
  const next = at % cycle === cycle - 1 ? at - cycle + 1 : at + 1;
  return `edge(n${at}, n${next})`;
});
const path = ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), path(?y, ?w), edge(?w, ?z)'];

function kept(rules: readonly string[], ...facts: (readonly string[])[]): KeptFacts {
  const world = new KeptFacts(rules);
  for (const fact of facts.flat()) world.tell(fact);
  return world;
}

function marks(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `mark(n${at})`);
}

/**
 * How many keys of the table were demanded, and how many rows it has; null if there is no such table or it was not
 * demanded.
 */
async function held(world: KeptFacts, name: string): Promise<[number, number] | null> {
  const table = (await world.tables()).get(name);
  if (table === undefined || table.demand.rows.count === 0) return null;
  return [table.demand.rows.count, table.rows.rows.live];
}

test('derives a recursion whole if most of its keys are demanded, and its table has only the keys', async () => {
  const world = kept([...path, 'far(?x, ?y) :- mark(?x), path(?x, ?y)'], edges, marks(300));
  expect(await world.ask('far(?x, ?y)', false)).toBe(300 * cycle);
  expect((await world.tables()).get('path/2 0')?.way).toBe('generalized');
  expect(await held(world, 'path/2 0')).toEqual([300, 300 * cycle]);
  expect(await held(world, 'path/2')).toEqual([1, nodes * cycle]);
});

test('derives a recursion only for reachable keys if few are demanded', async () => {
  const world = kept([...path, 'far(?x, ?y) :- mark(?x), path(?x, ?y)'], edges, marks(20));
  expect(await world.ask('far(?x, ?y)', false)).toBe(20 * cycle);
  expect(await held(world, 'path/2')).toBeNull();
  expect(await held(world, 'path/2 0')).toEqual([cycle, cycle * cycle]);
});

test('frees that of two bound arguments for which most values are demanded', async () => {
  const world = kept([...path, 'cut(?x, ?y) :- start(?x), node(?y), not path(?x, ?y)'], edges, ['start(n0)']);
  for (let at = 0; at < nodes; at++) world.tell(`node(n${at})`);
  expect(await world.ask('cut(?x, ?y)', false)).toBe(nodes - cycle);
  expect((await world.tables()).get('path/2 0,1')?.way).toBe('generalized');
  expect(await held(world, 'path/2')).toBeNull();
  const demanded = await held(world, 'path/2 0');
  expect(demanded?.[0]).toBe(cycle);
});

test('continues with a table that was demanded for few keys and then for most, with the same answers for those', async () => {
  const world = kept([...path, 'far(?x, ?y) :- mark(?x), path(?x, ?y)'], edges, marks(300));
  expect(await world.ask(`path(n${last}, ?y)`, false)).toBe(cycle);
  expect((await world.tables()).get('path/2 0')?.way).toBe('keyed');
  expect(await world.ask('far(?x, ?y)', false)).toBe(300 * cycle);
  expect((await world.tables()).get('path/2 0')?.way).toBe('generalized');
  world.forget(`edge(n${last}, n${nodes - cycle})`);
  expect(await world.ask(`path(n${last}, ?y)`, false)).toBe(0);
  expect(await world.ask(`path(n${last - 1}, ?y)`, false)).toBe(1);
  world.tell(`edge(n${last}, n0)`);
  expect(await world.ask(`path(n${last}, ?y)`, false)).toBe(cycle);
});

test('derives the relation of a negation whole if nearly all values are demanded', async () => {
  const rules = ['out(?x) :- edge(?x, ?y), not mark(?y)', 'lone(?x) :- edge(?_, ?x), not out(?x)'];
  const world = kept(rules, edges, marks(10));
  expect(await world.ask('lone(?x)', false)).toBe(10);
  expect(await held(world, 'out/1')).toEqual([1, nodes - 10]);
  expect(await held(world, 'out/1 0')).toBeNull();
});

test('derives the relation of a negation for few demanded values only', async () => {
  const rules = ['out(?x) :- edge(?x, ?y), not mark(?y)', 'lone(?x) :- mark(?x), not out(?x)'];
  const world = kept(rules, edges, marks(100));
  expect(await world.ask('lone(?x)', false)).toBe(99);
  expect(await held(world, 'out/1')).toBeNull();
  expect((await held(world, 'out/1 0'))?.[0]).toBe(100);
});

const cut = 'cut(?x, ?y) :- node(?x), node(?y), not path(?x, ?y)';

test('derives the relation of a negation whole if the pairs of two atoms are nearly all its keys', async () => {
  const world = kept([...path, cut], edges);
  for (let at = 0; at < nodes; at++) world.tell(`node(n${at})`);
  expect(await world.ask('cut(?x, ?y)', false)).toBe(nodes * (nodes - cycle));
  expect(await held(world, 'path/2')).toEqual([1, nodes * cycle]);
  expect(await held(world, 'path/2 0,1')).toBeNull();
});

test('does not if another atom restricts the pairs', async () => {
  const world = kept([...path, 'cut(?x, ?y) :- road(?x, ?y), not path(?x, ?y)'], edges);
  for (let at = 0; at < nodes; at++) world.tell(`road(n${at}, n${(at + 1) % nodes})`);
  expect(await world.ask('cut(?x, ?y)', false)).toBe(nodes / cycle);
  expect(await held(world, 'path/2 0,1')).not.toBeNull();
});
