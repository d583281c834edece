import { expect, test } from 'vitest';
import { openSession } from '../../testing/engine-fixtures.ts';
import { Prng } from '../../testing/prng.ts';

const rules = [
  'left(?x) :- pair(?x, ?_)',
  'turned(?y, ?x) :- other(?x, ?y)',
  'size(?x, ?n) :- left(?x), ?n = count{?y : pair(?x, ?y)}',
  'taken(?n) :- other(?x, ?_), ?n = count{?y : other(?x, ?y)}',
  'both(?x, ?y) :- pair(?x, ?y), not other(?x, ?y)',
  'one(?x) :- pair(?x, ?y), not other(?y, ?_)',
  'given(?x) :- left(?x), not other(?x, a1)',
  'same(?x, ?y) :- pair(?x, ?y), not other(?y, ?y)',
  'loop(?x) :- left(?x), not turned(?_, ?x)',
  'twice(?x, ?y) :- pair(?x, ?y), not turned(?x, ?y), not left(?y)',
  'rare(?x) :- size(?x, ?n), not taken(?n)',
];
const goals = [
  'both(?x, ?y)',
  'one(?x)',
  'given(?x)',
  'same(?x, ?y)',
  'loop(?x)',
  'twice(?x, ?y)',
  'rare(?x)',
];

/** What the rules conclude from the pairs and the others, as texts like `a1, a2`. */
function conclusions(pairs: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const split = (texts: ReadonlySet<string>) =>
    [...texts].map((text) => text.split(', ') as [string, string]);
  const sizesOf = (texts: ReadonlySet<string>): Map<string, number> => {
    const sizes = new Map<string, number>();
    for (const [x] of split(texts)) sizes.set(x, (sizes.get(x) ?? 0) + 1);
    return sizes;
  };
  const [sizes, taken] = [sizesOf(pairs), new Set(sizesOf(others).values())];
  for (const [x, y] of split(pairs)) {
    if (!others.has(`${x}, ${y}`)) found.add(`both(${x}, ${y})`);
    if (![...others].some((each) => each.startsWith(`${y}, `))) found.add(`one(${x})`);
    if (!others.has(`${x}, a1`)) found.add(`given(${x})`);
    if (!others.has(`${y}, ${y}`)) found.add(`same(${x}, ${y})`);
    if (![...others].some((each) => each.startsWith(`${x}, `))) found.add(`loop(${x})`);
    if (!others.has(`${y}, ${x}`) && !sizes.has(y)) found.add(`twice(${x}, ${y})`);
    if (!taken.has(sizes.get(x) ?? 0)) found.add(`rare(${x})`);
  }
  return found;
}

test('rules of one atom and absences conclude what the negated atoms lack, in each scope, and follow changes of both', async () => {
  const prng = new Prng(29);
  const { ask, teach, tellAll, forget } = await openSession();
  for (const rule of rules) await teach(rule);
  const stored = { pair: new Set<string>(), other: new Set<string>() };
  const random = (count: number, among: number): string[] =>
    Array.from({ length: count }, () => `a${prng.below(among)}, a${prng.below(400)}`);
  const add = async (name: 'pair' | 'other', texts: readonly string[]): Promise<void> => {
    for (const text of texts) stored[name].add(text);
    await tellAll(
      texts.map((text) => `${name}(${text})`),
      { scope: 's' },
    );
  };
  const compare = async (fields: { scope?: string }): Promise<void> => {
    const found: string[] = [];
    for (const goal of goals) found.push(...(await ask(goal, { ...fields, limit: 10_000 })).results);
    expect(found.toSorted()).toEqual([...conclusions(stored.pair, stored.other)].toSorted());
  };
  const pairs = random(900, 300);
  await add('pair', pairs);
  await add('other', [...random(300, 200), ...pairs.slice(0, 100), 'a5, a5', 'a6, a6', 'a7, a1', 'a8, a1']);
  await compare({});
  for (const name of ['pair', 'other'] as const) {
    for (const text of [...stored[name]].slice(95, 105)) {
      stored[name].delete(text);
      await forget(`${name}(${text})`, { scope: 's' });
    }
    await add(name, random(20, 300));
    await compare({});
  }
  await tellAll(['pair(b1, b2)', 'other(a1, a2)'], { scope: 't' });
  await compare({ scope: 's' });
});
