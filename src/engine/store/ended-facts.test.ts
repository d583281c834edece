import { expect, test } from 'vitest';
import { EndedFacts, endRememberedFor } from './version-archive.ts';
import { FactStore, type FactToStore } from './fact-store.ts';

const fact = (arg: string, changes: Partial<FactToStore> = {}): FactToStore => ({
  predicate: 'p',
  args: [arg],
  truthVal: true,
  scope: null,
  ...changes,
});

/** The ended validities that the store reports, as `arg@scope until`. */
function ends(
  store: FactStore,
  generation: number,
  time: number,
  args = ['?x'],
  scope: string | null = null,
) {
  const pattern = {
    predicate: 'p',
    args,
    truthVal: true,
    scope: scope === null ? ({ kind: 'all' } as const) : ({ kind: 'scope', scope } as const),
  };
  return [...store.matchEnded(pattern, generation, time)].map(
    (ended) => `${ended.args.join(',')}@${ended.scope ?? ''} ${ended.until}`,
  );
}

test('reports a fact as ended from the end of its validity, for a day', () => {
  const store = new FactStore(0);
  store.store(fact('a', { validUntil: 10 }), 1, 0);
  expect(ends(store, 1, 9)).toEqual([]);
  expect(ends(store, 1, 10)).toEqual(['a@ 10']);
  expect(ends(store, 1, 9 + endRememberedFor)).toEqual(['a@ 10']);
  expect(ends(store, 1, 10 + endRememberedFor)).toEqual([]);
});

test('remembers an ended fact when it is asserted again, and reports it once', () => {
  const store = new FactStore(0);
  store.store(fact('a', { validUntil: 10, scope: 's' }), 1, 0);
  store.store(fact('a', { scope: 's' }), 2, 20);
  expect(ends(store, 2, 20)).toEqual(['a@s 10']);
  expect(ends(store, 1, 20)).toEqual(['a@s 10']);
  expect(ends(store, 2, 20, ['a'], 's')).toEqual(['a@s 10']);
  expect(ends(store, 2, 20, ['b'], 's')).toEqual([]);
  expect(ends(store, 2, 20, ['a'], 't')).toEqual([]);
});

test('does not report a fact that was retracted before its end', () => {
  const store = new FactStore(0);
  store.retract(store.store(fact('a', { validUntil: 10 }), 1, 0), 2);
  store.store(fact('a', { validUntil: 30 }), 3, 20);
  expect(ends(store, 3, 29)).toEqual([]);
  expect(ends(store, 3, 30)).toEqual(['a@ 30']);
});

test('drops ends of more than a day ago', () => {
  const ended = new EndedFacts();
  for (let index = 0; index < 5000; index++)
    ended.remember('p/1', { identity: Int32Array.of(index, 0), until: index, replacedIn: 1 }, index);
  const time = endRememberedFor + 4000;
  for (let index = 0; index < 20_000; index++)
    ended.remember('q/1', { identity: Int32Array.of(index, 0), until: time, replacedIn: 1 }, time);
  expect([...ended.of('p/1')].every(({ until }) => until > 4000)).toBe(true);
  expect([...ended.of('q/1')]).toHaveLength(20_000);
});

test('drops the earliest of too many ends first', () => {
  const ended = new EndedFacts();
  const count = 250_000;
  for (let index = 0; index < count; index++)
    ended.remember('p/1', { identity: Int32Array.of(index, 0), until: index, replacedIn: 1 }, count);
  const left = [...ended.of('p/1')];
  expect(left.length).toBeLessThanOrEqual(100_001);
  expect(left.length).toBeGreaterThan(40_000);
  expect(left.at(-1)?.until).toBe(count - 1);
  expect(ended.bytes).toBeLessThan(30_000_000);
});

test('forgets chosen ends, in one scope or all', () => {
  const ended = new EndedFacts();
  for (const scope of [0, 1, 1])
    ended.remember('p/1', { identity: Int32Array.of(scope * 7, scope), until: 1, replacedIn: 1 }, 1);
  ended.remember('q/1', { identity: Int32Array.of(3, 1), until: 1, replacedIn: 1 }, 1);
  const isIn =
    (scope: number) =>
    ({ identity }: { readonly identity: Int32Array }): boolean =>
      identity.at(-1) === scope;
  expect([ended.has(isIn(1)), ended.has(isIn(2))]).toEqual([true, false]);
  ended.forget(isIn(1));
  expect([ended.has(isIn(1)), [...ended.of('p/1')].length, [...ended.of('q/1')].length]).toEqual([
    false,
    1,
    0,
  ]);
  ended.forget(() => true);
  expect(ended.bytes).toBe(0);
});
