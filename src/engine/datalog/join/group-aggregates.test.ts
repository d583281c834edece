import { expect, test } from 'vitest';
import type { AggregateName } from '../../contract/language.ts';
import { aggregate } from '../../language/arithmetic.ts';
import { openSession } from '../../testing/engine-fixtures.ts';
import { Prng } from '../../testing/prng.ts';

type Amount = readonly [x: string, k: string, m: string, v: string];

/** An aggregate for each key of some relation: its rule, and what it aggregates from which rows. */
interface Case {
  readonly head: string;
  readonly over: string;
  readonly of: string;
  /** The columns of the key, and of the tuple, by position. */
  readonly key: readonly number[];
  readonly tuple: readonly number[];
  readonly where?: (amount: Amount) => boolean;
}

const whole = 'amount(?x, ?k, ?m, ?v)';
const each = [3, 0, 2];
const cases: readonly (Case & { readonly name: AggregateName })[] = [
  ...(['count', 'sum', 'avg', 'min', 'max'] as const).flatMap((name) => [
    { name, head: `${name}_by_k(?k, ?n) :- k(?k)`, over: '?v, ?x, ?m', of: whole, key: [1], tuple: each },
    {
      name,
      head: `${name}_of_values(?k, ?n) :- k(?k)`,
      over: '?v',
      of: 'amount(?_, ?k, ?_, ?v)',
      key: [1],
      tuple: [3],
    },
    {
      name,
      head: `${name}_by_both(?k, ?m, ?n) :- cell(?k, ?m)`,
      over: '?v, ?x',
      of: whole,
      key: [1, 2],
      tuple: [3, 0],
    },
    {
      name,
      head: `${name}_copied(?k, ?n) :- k(?k)`,
      over: '?v, ?x, ?m',
      of: 'copied(?x, ?k, ?m, ?v)',
      key: [1],
      tuple: each,
    },
    { name, head: `${name}_whole(?n)`, over: '?v, ?x, ?k, ?m', of: whole, key: [], tuple: [3, 0, 1, 2] },
  ]),
  ...(
    [
      ['sum', 'joined', '?v, ?x, ?m', `${whole}, good(?x)`, each, ([x]) => x.endsWith('7')],
      ['sum', 'm1', '?v, ?x', 'amount(?x, ?k, m1, ?v)', [3, 0], ([, , m]) => m === 'm1'],
      ['max', 'same', '?v, ?x', 'amount(?x, ?k, ?x, ?v)', [3, 0], ([x, , m]) => x === m],
      ['min', 'twice', '?v', 'amount(?_, ?k, ?k, ?v)', [3], ([, k, m]) => k === m],
    ] satisfies [AggregateName, string, string, string, number[], Case['where']][]
  ).map(([name, suffix, over, of, tuple, where]) => ({
    name,
    head: `${name}_${suffix}(?k, ?n) :- k(?k)`,
    over,
    of,
    key: [1],
    tuple,
    where,
  })),
];

function conclusionsOf(
  { name, head, key, tuple, where }: (typeof cases)[number],
  amounts: readonly Amount[],
): string[] {
  const groups = new Map<string, Map<string, string>>();
  const demand = head.endsWith('cell(?k, ?m)') ? [1, 2] : key;
  const at = (columns: readonly number[], amount: Amount): string =>
    columns.map((each) => amount[each]).join(', ');
  for (const amount of amounts) groups.set(at(demand, amount), new Map());
  if (key.length === 1) groups.set('none', new Map());
  if (key.length === 2) for (const [, , m] of amounts) groups.set(`none, ${m}`, new Map());
  if (key.length === 0) groups.set('', new Map());
  for (const amount of amounts.filter((each) => where?.(each) ?? true))
    groups.get(at(key, amount))?.set(at(tuple, amount), amount[tuple[0] as number] as string);
  const predicate = head.slice(0, head.indexOf('('));
  return [...groups].flatMap(([of, values]) => {
    const value = aggregate(name, [...values.values()]);
    return value === null ? [] : [`${predicate}(${[...(of === '' ? [] : [of]), value].join(', ')})`];
  });
}

test('aggregates by no key, one and several, over facts and conclusions, are those of the tuples in every scope, and follow changes', async () => {
  const prng = new Prng(41);
  const { ask, teach, tellAll, forget } = await openSession();
  for (const { name, head, over, of } of cases)
    await teach(`${head}${head.includes(':-') ? ',' : ' :-'} ?n = ${name}{${over} : ${of}}`);
  for (const rule of [
    `k(?k) :- amount(?_, ?k, ?_, ?_)`,
    'k(none) :- good(?_)',
    'cell(?k, ?m) :- amount(?_, ?k, ?m, ?_)',
    'cell(none, ?m) :- amount(?_, ?_, ?m, ?_)',
    'copied(?x, ?k, ?m, ?v) :- amount(?x, ?k, ?m, ?v)',
  ])
    await teach(rule);
  const valueOf = (key: number): string => {
    if (key % 4 === 0) return String(prng.below(50) - 20);
    if (key % 4 === 1) return (prng.below(10_000) / 100).toFixed(2);
    if (key % 4 === 2) return `day${prng.below(30)}`;
    return prng.pick(['9007199254740993', '2', '1.0', '1', '0.1', key > 20 ? 'some' : '3']);
  };
  const random = (count: number): Amount[] =>
    Array.from({ length: count }, () => {
      const key = prng.below(30);
      const m = prng.pick(['m1', 'm2', `x${prng.below(40)}`, `k${key}`]);
      return [`x${prng.below(40)}`, `k${key}`, m, valueOf(key)];
    });
  const stored = { s: new Map<string, Amount>(), t: new Map<string, Amount>() };
  const add = async (scope: 's' | 't', amounts: readonly Amount[]): Promise<void> => {
    const facts = amounts.map((amount) => `amount(${amount.join(', ')})`);
    for (const [at, fact] of facts.entries()) stored[scope].set(fact, amounts[at] as Amount);
    await tellAll(facts, { scope });
  };
  const compare = async (scopes: readonly ('s' | 't')[], fields: { scope?: string }): Promise<void> => {
    const amounts = [...new Map(scopes.flatMap((scope) => [...stored[scope]])).values()];
    for (const each of cases) {
      const goal = /^\w+\([^)]*\)/.exec(each.head)?.[0] as string;
      const { results } = await ask(goal, { ...fields, limit: 100_000 });
      expect(results.toSorted()).toEqual(conclusionsOf(each, amounts).toSorted());
    }
  };
  await tellAll(
    Array.from({ length: 4 }, (_, ten) => `good(x${ten}7)`),
    { scope: 's' },
  );
  await tellAll(['good(x7)'], { scope: 's' });
  await add('s', random(1_200));
  await compare(['s'], {});
  for (const fact of [...stored.s.keys()].slice(0, 12)) {
    stored.s.delete(fact);
    await forget(fact, { scope: 's' });
  }
  await add('s', random(40));
  await compare(['s'], {});
  await add('t', random(100));
  await compare(['s'], { scope: 's' });
});
