import { expect, test } from 'vitest';
import { type KeptRule, RuleStore } from './rule-store.ts';

const rule = { head: { predicate: 'p', args: ['?x'], negated: false }, body: [] };

function kept(id: string, changes: Partial<KeptRule> = {}): KeptRule {
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
    ...changes,
  };
}

test('rules are listed in the order of their creation, a changed one in its place', () => {
  const store = new RuleStore();
  for (const id of ['a', 'b', 'c']) store.put(kept(id));
  store.put(kept('b', { name: 'new name' }));
  expect(store.all().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(store.get('b')?.name).toBe('new name');
});

test('the same rule is found by its identity in its own scope only', () => {
  const store = new RuleStore();
  store.put(kept('a', { identity: 'i' }));
  store.put(kept('b', { identity: 'i', scope: 's' }));
  expect(store.same('i', null)?.id).toBe('a');
  expect(store.same('i', 's')?.id).toBe('b');
  expect(store.same('i', 't')).toBeNull();
});

test('a rule that became another is no longer found as what it was', () => {
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

test('the version moves with what evaluation can notice, and with nothing else', () => {
  const store = new RuleStore();
  const versions: number[] = [];
  const put = (changes: Partial<KeptRule>): void => {
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

test('scopes and identities are not confused with each other', () => {
  const store = new RuleStore();
  store.put(kept('a', { identity: 'x', scope: 'ab' }));
  store.put(kept('b', { identity: 'bx', scope: 'a' }));
  store.put(kept('c', { identity: '1:ax' }));
  expect(store.same('x', 'ab')?.id).toBe('a');
  expect(store.same('bx', 'a')?.id).toBe('b');
  expect(store.same('1:ax', null)?.id).toBe('c');
});
