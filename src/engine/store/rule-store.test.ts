import { expect, test } from 'vitest';
import { parseRule } from '../language/parse.ts';
import { relationOf } from '../language/terms.ts';
import { dependenciesOf } from '../language/stratify.ts';
import { type RuleRecord, RuleStore } from './rule-store.ts';

const rule = { head: { predicate: 'p', args: ['?x'], negated: false }, body: [] };

function kept(id: string, changes: Partial<RuleRecord> = {}): RuleRecord {
  return {
    id,
    rule,
    text: `rule ${id}`,
    identity: id,
    scope: null,
    name: null,
    description: null,
    enabled: true,
    createdAt: 0,
    changedIn: 0,
    ...changes,
  };
}

test('lists rules in the order of their creation, a changed one at its position', () => {
  const store = new RuleStore();
  for (const id of ['a', 'b', 'c']) store.put(kept(id));
  store.put(kept('b', { name: 'new name' }));
  expect(store.all().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(store.get('b')?.name).toBe('new name');
});

test('finds the same rule by its identity in its own scope only', () => {
  const store = new RuleStore();
  store.put(kept('a', { identity: 'i' }));
  store.put(kept('b', { identity: 'i', scope: 's' }));
  expect(store.same('i', null)?.id).toBe('a');
  expect(store.same('i', 's')?.id).toBe('b');
  expect(store.same('i', 't')).toBeNull();
});

test('no longer finds a changed rule by its old identity', () => {
  const store = new RuleStore();
  store.put(kept('a', { identity: 'i' }));
  store.put(kept('a', { identity: 'j' }));
  expect(store.same('i', null)).toBeNull();
  expect(store.same('j', null)?.id).toBe('a');
  store.remove(kept('a', { identity: 'j' }));
  expect(store.same('j', null)).toBeNull();
  expect(store.get('a')).toBeNull();
  expect(store.size).toBe(0);
});

test('changes the version only for changes that affect evaluation', () => {
  const store = new RuleStore();
  const versions: number[] = [];
  const put = (changes: Partial<RuleRecord>): void => {
    store.put(kept('a', changes));
    versions.push(store.version);
  };
  put({});
  put({ name: 'name', description: 'words' });
  put({ enabled: false });
  put({ enabled: false, scope: 's' });
  put({ enabled: false, scope: 's', rule: { ...rule } });
  store.remove(kept('a', { scope: 's' }));
  expect(versions).toEqual([1, 1, 2, 3, 4]);
  expect(store.version).toBe(5);
});

test('does not confuse scopes with identities', () => {
  const store = new RuleStore();
  store.put(kept('a', { identity: 'x', scope: 'ab' }));
  store.put(kept('b', { identity: 'bx', scope: 'a' }));
  store.put(kept('c', { identity: '1:ax' }));
  expect(store.same('x', 'ab')?.id).toBe('a');
  expect(store.same('bx', 'a')?.id).toBe('b');
  expect(store.same('1:ax', null)?.id).toBe('c');
});

/** Ids of the rules on a cycle with this one, which is not stored. */
function around(store: RuleStore, text: string): string[] {
  const { head, body } = parseRule(text);
  const read = dependenciesOf(body).map(({ relation }) => relation);
  return store
    .around(relationOf(head), read)
    .map(({ id }) => id)
    .sort();
}

function storeOf(...texts: string[]): RuleStore {
  const store = new RuleStore();
  for (const text of texts)
    store.put(kept(text, { rule: parseRule(text), scope: text.length % 2 ? 's' : null }));
  return store;
}

test('finds the rules on a cycle with another, through every kind of literal, and no others', () => {
  const store = storeOf(
    'b(?x) :- a(?x)',
    'c(?x) :- d(?x), not b(?x)',
    'e(?n) :- ?n = count { ?x : c(?x) }',
    'f(?x) :- e(?x)',
    '-a(?x) :- f(?x)',
    'z(?x) :- a(?x)',
  );
  expect(around(store, 'a(?x) :- e(?x)')).toEqual([
    'b(?x) :- a(?x)',
    'c(?x) :- d(?x), not b(?x)',
    'e(?n) :- ?n = count { ?x : c(?x) }',
  ]);
  expect(around(store, 'a(?x) :- z(?x)')).toEqual(['z(?x) :- a(?x)']);
  expect(around(store, 'a(?x) :- -a(?x)')).toHaveLength(5);
  expect(around(store, 'd(?x) :- a(?x)')).toEqual([]);
  expect(around(store, 'new(?x) :- f(?x), z(?x)')).toEqual([]);
  expect(around(store, 'b(?x) :- b(?x)')).toEqual(['b(?x) :- a(?x)']);
});

test('removes changed and deleted rules from cycles', () => {
  const store = storeOf('b(?x) :- a(?x)');
  store.put(kept('b(?x) :- a(?x)', { rule: parseRule('b(?x) :- c(?x)') }));
  expect(around(store, 'a(?x) :- b(?x)')).toEqual([]);
  expect(around(store, 'c(?x) :- b(?x)')).toHaveLength(1);
  store.remove(kept('b(?x) :- a(?x)'));
  expect(around(store, 'c(?x) :- b(?x)')).toEqual([]);
});
