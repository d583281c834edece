import { expect, test } from 'vitest';
import { openSession } from '../../testing/engine-fixtures.ts';
import { Prng } from '../../testing/prng.ts';

const rules = [
  'path(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z)',
  'two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)',
  'far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), not edge(?x, ?z)',
  'red(?x, ?y) :- edge(?x, ?y), colour(?y, red)',
  'redder(?x, ?w) :- colour(?x, red), edge(?x, ?y), edge(?y, ?z), edge(?z, ?w), colour(?w, red)',
  'own(?x, ?y) :- edge(?x, ?y), triple(?y, ?z, ?z)',
  'other(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), ?z != ?x',
  'near(?x, ?y) :- edge(?x, ?y)',
  'near(?x, ?y) :- edge(?y, ?x), colour(?x, red)',
  'nearer(?x, ?z) :- near(?x, ?y), near(?y, ?z)',
  'kin(?x, ?y) :- near(?x, ?y), near(?y, ?x)',
  // Nothing reads what is bound.
  'tied(?x, ?y) :- near(?x, ?y), ?_w = ?x, colour(?y, red)',
  'lone(?x, ?z) :- edge(?x, ?y), colour(?x, red), near(?y, ?z), not kin(?y, ?z)',
  'calm(?x, ?y) :- edge(?x, ?y), colour(?x, red), not triple(?y, ?_, ?y)',
];
const goals = [
  'path(?x, ?y, ?z)',
  'two(?x, ?z)',
  'two(n1, ?z)',
  'far(?x, ?z)',
  'red(?x, ?y)',
  'redder(?x, ?w)',
  'own(?x, ?y)',
  'other(?x, ?z)',
  'near(?x, ?y)',
  'nearer(?x, ?z)',
  'kin(?x, ?y)',
  'tied(?x, ?y)',
  'lone(?x, ?z)',
  'calm(?x, ?y)',
];

type Atom = readonly [predicate: string, ...args: string[]];
const printed = ([predicate, ...args]: Atom): string => `${predicate}(${args.join(', ')})`;

/** What the rules conclude from the facts. */
function conclusions(facts: Iterable<Atom>): Set<string> {
  const all = [...facts];
  const edges = all
    .filter(([predicate]) => predicate === 'edge')
    .map(([, x = '', y = '']) => [x, y] as const);
  const triples = all.filter(([predicate]) => predicate === 'triple');
  const isRed = new Set(
    all.flatMap(([predicate, x = '', of]) => (predicate === 'colour' && of === 'red' ? [x] : [])),
  );
  const after = (pairs: Iterable<readonly [string, string]>): ((x: string) => Set<string>) => {
    const found = new Map<string, Set<string>>();
    for (const [x, y] of pairs) found.set(x, (found.get(x) ?? new Set<string>()).add(y));
    return (x) => found.get(x) ?? new Set();
  };
  const next = after(edges);
  const near = after([...edges, ...edges.filter(([, y]) => isRed.has(y)).map(([x, y]) => [y, x] as const)]);
  const found = new Set<string>();
  const add = (...atom: Atom): void => void found.add(printed(atom));
  for (const [x, y] of edges) {
    for (const z of next(y)) {
      add('path', x, y, z);
      add('two', x, z);
      if (!next(x).has(z)) add('far', x, z);
      if (z !== x) add('other', x, z);
      if (isRed.has(x)) for (const w of next(z)) if (isRed.has(w)) add('redder', x, w);
    }
    if (isRed.has(y)) add('red', x, y);
    if (triples.some(([, first, second, third]) => first === y && second === third)) add('own', x, y);
    if (!isRed.has(x)) continue;
    for (const z of near(y)) if (!near(z).has(y)) add('lone', x, z);
    if (!triples.some(([, first, , third]) => first === y && third === y)) add('calm', x, y);
  }
  for (const x of new Set(edges.flat()))
    for (const y of near(x)) {
      add('near', x, y);
      if (near(y).has(x)) add('kin', x, y);
      if (isRed.has(y)) add('tied', x, y);
      for (const z of near(y)) add('nearer', x, z);
    }
  return found;
}

test('rules of several atoms conclude each tuple of many facts once, in each scope, and follow changes', async () => {
  const prng = new Prng(41);
  const { ask, teach, tellAll, forget } = await openSession();
  for (const rule of rules) await teach(rule);
  const stored = new Map<string, Map<string, Atom>>([
    ['s', new Map()],
    ['t', new Map()],
  ]);
  const node = (): string => `n${prng.below(prng.chance(0.3) ? 12 : 160)}`;
  const random = (count: number): Atom[] =>
    Array.from({ length: count }, (_, at): Atom => {
      if (at % 8 === 0) return ['colour', node(), prng.chance(0.4) ? 'red' : 'blue'];
      return at % 8 === 1 ? ['triple', node(), node(), node()] : ['edge', node(), node()];
    });
  const add = async (scope: string, facts: readonly Atom[]): Promise<void> => {
    const its = stored.get(scope) as Map<string, Atom>;
    for (const fact of facts) its.set(printed(fact), fact);
    await tellAll(facts.map(printed), { scope });
  };
  const compare = async (scopes: readonly string[], fields: { scope?: string }): Promise<void> => {
    const facts = new Map(scopes.flatMap((scope) => [...(stored.get(scope) as Map<string, Atom>)]));
    const expected = conclusions(facts.values());
    const found = new Set<string>();
    for (const goal of goals) {
      const { results } = await ask(goal, { ...fields, limit: 100_000 });
      expect(results.length).toBe(new Set(results).size);
      for (const each of results) found.add(each);
    }
    expect([...found].filter((each) => !expected.has(each))).toEqual([]);
    expect([...expected].filter((each) => !found.has(each))).toEqual([]);
  };
  await add('s', [...random(900), ...['n3', 'n5', 'n9'].map((each): Atom => ['triple', each, 'n1', 'n1'])]);
  await compare(['s'], {});
  const its = stored.get('s') as Map<string, Atom>;
  for (const fact of [...its.keys()].slice(0, 40)) {
    its.delete(fact);
    await forget(fact, { scope: 's' });
  }
  await compare(['s'], {});
  await add('s', random(60));
  await compare(['s'], {});
  await add('t', random(100));
  await compare(['s', 't'], {});
  await compare(['s'], { scope: 's' });
});
