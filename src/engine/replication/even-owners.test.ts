import { expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { EvenOwners, type OwnerMove, ownerMove } from './even-owners.ts';

type Log = Parameters<typeof ownerMove>[0][number];

const nodesOf = (ids: string) => ids.split('').map((id) => ({ id, isAlive: true, takesPart: true }));
const logOf = (at: number, owner: string | null, placed: string, ready = placed): Log => ({
  name: `d${at}`,
  owner,
  isOwned: owner !== null,
  placed: placed.split(''),
  ready: ready.split(''),
});
const many = (count: number, owner: string, placed: string, ready = placed): Log[] =>
  Array.from({ length: count }, (_, at) => logOf(at, owner, placed, ready));

it('a node that owns 20% and two databases more than the mean gives one to the node with a copy that owns the fewest', () => {
  expect(ownerMove(many(6, 'a', 'abc'), nodesOf('abc'))).toMatchObject({ from: 'a', to: 'b' });
  const logs = [...many(6, 'a', 'abc'), logOf(7, 'b', 'ab')];
  expect(ownerMove(logs, nodesOf('abc'))).toMatchObject({ from: 'a', to: 'c' });
  // One above the mean is even enough, and so is a tenth.
  expect(ownerMove(many(3, 'a', 'ab'), nodesOf('ab'))).toBeNull();
  expect(ownerMove([...many(22, 'a', 'ab'), ...many(18, 'b', 'ab')], nodesOf('ab'))).toBeNull();
});

it('no database goes to a node without a ready copy, that is not to have it, that is gone, or that still starts', () => {
  expect(ownerMove(many(6, 'a', 'ab', 'a'), nodesOf('ab'))).toBeNull();
  expect(ownerMove(many(6, 'a', 'a', 'ab'), nodesOf('ab'))).toBeNull();
  const [a, b] = nodesOf('ab');
  for (const other of [
    { id: 'b', isAlive: false, takesPart: true },
    { id: 'b', isAlive: true, takesPart: false },
  ])
    expect(
      ownerMove(many(6, 'a', 'abc'), [a, b].flatMap((node) => (node === a ? [node] : [other])) as never),
    ).toBeNull();
});

it('in 300 random stores moves end, each makes owners more even, and what remains uneven no copy can mend', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const prng = new Prng(seed);
    const ids = 'abcdef'.slice(0, 1 + prng.below(6));
    const nodes = nodesOf(ids);
    let logs = Array.from({ length: prng.below(60) }, (_, at) => {
      const placed = ids.split('').filter(() => prng.chance(0.5));
      const ready = placed.filter(() => prng.chance(0.9));
      // Often the same one, as after restarts of the others.
      const owner = prng.chance(0.7) ? placed[0] : prng.pick(ids.split(''));
      return logOf(at, owner ?? null, placed.join(''), ready.join(''));
    });
    const ownedBy = (id: string): number => logs.filter(({ owner }) => owner === id).length;
    const sum = (): number => ids.split('').reduce((all, id) => all + ownedBy(id) ** 2, 0);
    let moves = 0;
    for (let move: OwnerMove | null; (move = ownerMove(logs, nodes)) !== null; moves++) {
      const { name, from, to } = move;
      const log = logs.find((each) => each.name === name);
      expect([log?.owner, log?.placed.includes(to), log?.ready.includes(to)], `seed ${seed}`).toEqual([
        from,
        true,
        true,
      ]);
      const before = sum();
      logs = logs.map((each) => (each.name === name ? { ...each, owner: to } : each));
      expect(sum(), `seed ${seed}`).toBeLessThan(before);
    }
    expect(moves, `seed ${seed}`).toBeLessThanOrEqual(logs.length);
    const mean = logs.filter(({ isOwned }) => isOwned).length / ids.length;
    for (const id of ids)
      if (ownedBy(id) >= mean * 1.2 && ownedBy(id) >= mean + 2)
        for (const { owner, placed, ready } of logs)
          for (const other of owner === id && placed.includes(id) ? placed : [])
            expect(ready.includes(other) && ownedBy(other) <= ownedBy(id) - 2, `seed ${seed}`).toBe(false);
  }
});

it('nothing moves before owners were uneven for a while with the same nodes, and then what this node owns', () => {
  const view = (ids: string, logs: Log[]) =>
    ({ databases: logs, nodes: new Map(nodesOf(ids).map((node) => [node.id, node])) }) as never;
  const uneven = many(6, 'a', 'ab');
  const patient = new EvenOwners('a', 60_000);
  expect([patient.due(view('ab', uneven)), patient.due(view('ab', uneven))]).toEqual([null, null]);
  const eager = new EvenOwners('a', 0);
  expect(eager.due(view('ab', uneven))).toMatchObject({ from: 'a', to: 'b' });
  expect(new EvenOwners('b', 0).due(view('ab', uneven))).toBeNull();
});
