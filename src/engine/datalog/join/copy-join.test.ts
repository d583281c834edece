import { expect, test } from 'vitest';
import { openSession } from '../../testing/engine-fixtures.ts';
import { Prng } from '../../testing/prng.ts';

const rules = [
  'copied(?x, ?y) :- pair(?x, ?y)',
  'turned(?y, ?x) :- copied(?x, ?y)',
  'left(?x) :- pair(?x, ?_)',
  'both(?x) :- pair(?x, ?_)',
  'both(?x) :- pair(?_, ?x)',
  'own(?x) :- pair(?x, ?x)',
  'of(?x, b1) :- pair(?x, b1)',
  'of(?x, b2) :- copied(?x, b2)',
  'either(?x, ?y) :- pair(?x, ?y)',
  'either(?y, ?x) :- copied(?x, ?y)',
  'within(?x, ?y) :- pair(?x, ?y)',
  'within(?x, ?z) :- within(?x, ?y), below(?y, ?z)',
  'size(?x, ?n) :- left(?x), ?n = count{?y : pair(?x, ?y)}',
  'reached(?x, ?n) :- left(?x), ?n = count{?y : turned(?y, ?x)}',
  'least(?x, ?n) :- left(?x), ?n = min{?y : pair(?x, ?y)}',
];
const goals = [
  'copied(?x, ?y)',
  'turned(?x, ?y)',
  'left(?x)',
  'both(?x)',
  'own(?x)',
  'of(?x, ?y)',
  'either(?x, ?y)',
  'within(?x, top)',
  'size(?x, ?n)',
  'reached(?x, ?n)',
  'least(?x, ?n)',
];
/** Those below `top`. */
const classes = ['b3', 'b4', 'b5'];

type Pair = readonly [string, string];

/** What the rules conclude from the pairs. */
function conclusions(pairs: Iterable<Pair>): Set<string> {
  const found = new Set<string>();
  const groups = new Map<string, string[]>();
  for (const [x, y] of pairs) {
    for (const each of [`copied(${x}, ${y})`, `turned(${y}, ${x})`, `left(${x})`, `both(${x})`, `both(${y})`])
      found.add(each);
    found.add(`either(${x}, ${y})`).add(`either(${y}, ${x})`);
    if (classes.includes(y)) found.add(`within(${x}, top)`);
    if (x === y) found.add(`own(${x})`);
    if (y === 'b1' || y === 'b2') found.add(`of(${x}, ${y})`);
    groups.set(x, [...(groups.get(x) ?? []), y]);
  }
  for (const [x, ys] of groups)
    for (const each of [
      `size(${x}, ${ys.length})`,
      `reached(${x}, ${ys.length})`,
      `least(${x}, ${ys.toSorted()[0]})`,
    ])
      found.add(each);
  return found;
}

test('rules of one atom conclude each tuple of many facts once, in each scope, and follow changes', async () => {
  const prng = new Prng(23);
  const { ask, teach, tellAll, forget } = await openSession();
  for (const rule of rules) await teach(rule);
  const stored = new Map<string, Map<string, Pair>>([
    ['s', new Map()],
    ['t', new Map()],
  ]);
  const random = (count: number): Pair[] =>
    Array.from({ length: count }, () => {
      const y = prng.chance(0.5) ? `b${prng.below(90)}` : `a${prng.below(150)}`;
      return [`a${prng.below(150)}`, y];
    });
  const add = async (scope: string, pairs: readonly Pair[]): Promise<void> => {
    const its = stored.get(scope) as Map<string, Pair>;
    for (const [x, y] of pairs) its.set(`pair(${x}, ${y})`, [x, y]);
    await tellAll(
      pairs.map(([x, y]) => `pair(${x}, ${y})`),
      { scope },
    );
  };
  const compare = async (scopes: readonly string[], fields: { scope?: string }): Promise<void> => {
    const pairs = new Map(scopes.flatMap((scope) => [...(stored.get(scope) as Map<string, Pair>)]));
    const found: string[] = [];
    for (const goal of goals) found.push(...(await ask(goal, { ...fields, limit: 100_000 })).results);
    expect(found.length).toBe(new Set(found).size);
    expect(new Set(found)).toEqual(conclusions(pairs.values()));
  };
  await tellAll(
    classes.map((each) => `below(${each}, top)`),
    { scope: 's' },
  );
  await add('s', random(9_000));
  await compare(['s'], {});
  const its = stored.get('s') as Map<string, Pair>;
  const gone = [...its].slice(0, 30);
  for (const [fact] of gone) {
    its.delete(fact);
    await forget(fact, { scope: 's' });
  }
  await compare(['s'], {});
  // What is concluded from these was concluded from those before.
  await add('s', [...gone.map(([, [x, y]]): Pair => [y, x]), ...random(100)]);
  await add('t', random(500));
  await compare(['s', 't'], {});
  await compare(['s'], { scope: 's' });
});
