import { expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { FULL_SHARE, placement, type PlacedLog, type NodeToFill } from './placement.ts';

const mebi = 1024 * 1024;
const noneAwaited = { copies: 2, isAwaited: () => false };

it('each database has an owner and a copy, on the nodes with the least; as many nodes as copies have everything', () => {
  const logs = [logOf(1, 100), logOf(2, 60), logOf(3, 60)];
  const two = placedAs(logs, placement(logs, nodesOf('a', 'b'), noneAwaited));
  for (const { placed } of two) expect(placed.toSorted()).toEqual(['a', 'b']);
  const three = placedAs(logs, placement(logs, nodesOf('a', 'b', 'c'), noneAwaited));
  for (const { placed } of three) expect(new Set(placed).size).toBe(2);
  expect(loads(three).toSorted((one, other) => one - other)).toEqual([120, 160, 160]);
});

it('a node that may come back keeps its place; once it is gone for good another one takes it', () => {
  const log = { ...logOf(1, 10), placed: ['a', 'b'], owner: 'b', ready: ['a', 'b'] };
  expect(placement([log], nodesOf('b', 'c'), { copies: 2, isAwaited: () => true }).size).toBe(0);
  expect(placement([log], nodesOf('b', 'c'), noneAwaited).get(1)).toEqual(['b', 'c']);
  // With nobody left it does not wait.
  expect(placement([log], nodesOf('c', 'd'), { copies: 2, isAwaited: () => true }).get(1)).toEqual([
    'c',
    'd',
  ]);
});

it('nothing goes to a full node, unless no other one has the database', () => {
  const full = { id: 'c', usedBytes: 81 * mebi, memoryBytes: 100 * mebi };
  const log = { ...logOf(1, 10), placed: ['a', 'b'], owner: 'a', ready: ['a'] };
  const [node] = nodesOf('a');
  expect(placement([log], [node as NodeToFill, full], noneAwaited).get(1)).toEqual(['a']);
  const other = { id: 'd', usedBytes: 81 * mebi, memoryBytes: 100 * mebi };
  const third = { id: 'e', usedBytes: 99 * mebi, memoryBytes: 100 * mebi };
  const lost = placement([log], [full, other, third], noneAwaited).get(1);
  expect(lost?.length).toBe(1);
  expect(['c', 'd']).toContain(lost?.[0]);
});

it('small databases do not move to even nodes out', () => {
  const logs = Array.from({ length: 8 }, (_, at) => ({
    ...logOf(at, 1),
    placed: ['a', 'b'],
    owner: 'a',
    ready: ['a', 'b'],
  }));
  expect(placement(logs, nodesOf('a', 'b', 'c'), noneAwaited).size).toBe(0);
});

it('in 300 random stores placements settle, even out, and keep what they promise', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const prng = new Prng(seed);
    const nodes = nodesOf(...'abcdef'.slice(0, 1 + prng.below(6)));
    const copies = 1 + prng.below(3);
    let logs: PlacedLog[] = Array.from({ length: 1 + prng.below(30) }, (_, at) => {
      const placed = 'abcdefgh'.split('').filter(() => prng.chance(0.3));
      const ready = placed.filter(() => prng.chance(0.7));
      return { id: at, bytes: prng.below(64) * mebi, owner: null, placed, ready };
    });
    let passes = 0;
    for (; passes < 200; passes++) {
      const changes = placement(logs, nodes, { copies, isAwaited: () => false });
      const ids = new Set(nodes.map(({ id }) => id));
      for (const placed of changes.values()) expect(placed.length, `seed ${seed}`).toBeGreaterThan(0);
      const before = logs;
      logs = placedAs(logs, changes).map((log) => ({
        ...log,
        // Nodes make and drop copies as they are told.
        ready: log.placed.filter((node) => ids.has(node)),
        owner: log.placed.find((node) => ids.has(node)) ?? null,
      }));
      if (changes.size === 0 && passes > 0 && before.length === logs.length) break;
    }
    expect(passes, `seed ${seed} settles`).toBeLessThan(200);
    for (const { placed } of logs) expect(placed.length, `seed ${seed}`).toBe(Math.min(copies, nodes.length));
    const each = nodes.map(({ id }) => loadOf(logs, id));
    const mean = each.reduce((sum, load) => sum + load, 0) / each.length;
    const largest = Math.max(...logs.map(({ bytes }) => bytes / mebi));
    // What remains uneven is what no move of a whole database mends.
    expect(Math.max(...each), `seed ${seed}`).toBeLessThanOrEqual(
      Math.max(mean * 1.2, Math.min(...each) + Math.max(16, largest)),
    );
  }
  expect(FULL_SHARE).toBe(0.8);
});

function logOf(id: number, mebibytes: number): PlacedLog {
  return { id, bytes: mebibytes * mebi, owner: null, placed: [], ready: [] };
}

function nodesOf(...ids: string[]): NodeToFill[] {
  return ids.map((id) => ({ id, usedBytes: 0, memoryBytes: null }));
}

function placedAs(logs: readonly PlacedLog[], changes: Map<number, readonly string[]>): PlacedLog[] {
  return logs.map((log) => ({ ...log, placed: changes.get(log.id) ?? log.placed }));
}

function loadOf(logs: readonly PlacedLog[], node: string): number {
  return logs.reduce((sum, { placed, bytes }) => sum + (placed.includes(node) ? bytes / mebi : 0), 0);
}

function loads(logs: readonly PlacedLog[]): number[] {
  return ['a', 'b', 'c'].map((node) => loadOf(logs, node));
}
