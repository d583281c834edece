import { expect, test } from 'vitest';
import { FactStore, type FactToStore } from './fact-store.ts';

/** Stores facts as log records would: one generation each. */
function openStore() {
  const facts = new FactStore(0);
  let generation = 0;
  const fact = (scope: string | null, name: string, validUntil?: number | 'never'): FactToStore => ({
    predicate: 'p',
    args: [name],
    truthVal: true,
    scope,
    ...(validUntil === undefined ? {} : { validUntil }),
  });
  const store = (time: number, scope: string | null, name: string, validUntil?: number | 'never') =>
    facts.store(fact(scope, name, validUntil), ++generation, time);
  const record = (scope: string) => facts.scopes.get(facts.scopeNumber(scope));
  const settle = (time: number): void => {
    for (const _ of facts.settleScopes(time)) continue;
  };
  return { facts, store, record, settle, next: () => ++generation };
}

test('creates a scope with its first fact, and again after its last one was removed', () => {
  const { facts, store, record, next } = openStore();
  const first = store(1, 's', 'a');
  store(2, 's', 'b');
  expect(record('s')).toMatchObject({ createdAt: 1, held: 2, isForked: false, forkedFrom: null });
  facts.retract(first, next());
  store(3, 's', 'a');
  expect(record('s')).toMatchObject({ createdAt: 1, held: 2 });
  for (const name of ['a', 'b']) {
    const found = facts.find('p', [name], true, 's');
    if (found !== null) facts.retract(found, next());
  }
  expect(record('s')?.held).toBe(0);
  store(9, 's', 'a');
  expect(record('s')).toMatchObject({ createdAt: 9, held: 1 });
});

test('no longer counts an expired fact, however often its end was moved', () => {
  const { facts, store, record, settle, next } = openStore();
  store(1, 's', 'a', 100);
  store(2, 's', 'a', 50);
  store(3, 's', 'a', 100);
  store(4, 's', 'b', 70);
  store(5, 's', 'past', 5);
  expect(record('s')?.held).toBe(2);
  settle(60);
  expect(record('s')?.held).toBe(2);
  settle(70);
  expect(record('s')?.held).toBe(1);
  store(80, 's', 'b', 75);
  expect(record('s')?.held).toBe(1);
  store(81, 's', 'a', 10);
  expect(record('s')?.held).toBe(0);
  settle(200);
  expect(record('s')?.held).toBe(0);
  const again = store(201, 's', 'a', 'never');
  expect(record('s')).toMatchObject({ createdAt: 201, held: 1 });
  facts.retract(again, next());
  expect(record('s')?.held).toBe(0);
});

test('keeps the creation time of a scope that gets other facts in the write that removes its last one', () => {
  const { facts, store, record, next } = openStore();
  const first = store(1, 's', 'a');
  const generation = next();
  facts.retract(first, generation);
  const other = { predicate: 'p', args: ['b'], truthVal: true, scope: 's' };
  facts.store(other, generation, 2);
  expect(record('s')).toMatchObject({ createdAt: 1, held: 1 });
  const last = next();
  facts.store({ ...other, validUntil: 3 }, last, 3);
  expect(record('s')?.held).toBe(0);
  facts.store({ ...other, args: ['c'] }, last, 3);
  expect(record('s')).toMatchObject({ createdAt: 1, held: 1 });
});

test('keeps a fork without facts until it is deleted', () => {
  const { facts, store, record, next } = openStore();
  const number = facts.internScope('s');
  facts.scopes.fork(number, 'from', 5, 3);
  const fact = store(6, 's', 'a');
  facts.retract(fact, next());
  store(7, 's', 'a');
  expect(record('s')).toMatchObject({ createdAt: 5, isForked: true, forkedFrom: 'from', forkedAt: 3 });
  facts.scopes.delete(number);
  expect(record('s')).toMatchObject({ isForked: false, forkedFrom: null, forkedAt: null });
});

test('continues counting after it is saved and restored', () => {
  const { facts, store, record, settle } = openStore();
  store(1, 's', 'a', 100);
  store(2, 's', 'ended', 10);
  store(3, 't', 'a');
  store(4, 't', 'b', 200);
  settle(50);
  const again = new FactStore(0);
  const relation = facts.relation('p', 1, false);
  if (relation === null) throw new Error('facts were stored');
  const alive = [...relation.number.subarray(0, relation.count).keys()].map((row) => ({
    scope: (relation.columns[1] as Int32Array)[row] as number,
    number: relation.number[row] as number,
    until: relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY,
  }));
  again.scopes.restore(facts.scopes.saved());
  for (const fact of alive) again.scopes.hold(fact);
  expect([...again.scopes.all()]).toEqual([...facts.scopes.all()]);
  expect(record('s')?.held).toBe(1);
  const endingAt = (number: number, instant: number): number =>
    alive.find((each) => each.number === number && each.until === instant)?.scope ?? 0;
  for (const scopes of [again.scopes]) for (const _ of scopes.settle(150, endingAt)) continue;
  settle(150);
  expect([...again.scopes.all()]).toEqual([...facts.scopes.all()]);
});
