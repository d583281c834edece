import { describe, expect, test } from 'vitest';
import { topicsOf } from './live.ts';
import {
  scopeFieldsOf,
  scopeFieldsOfStored,
  searchOf,
  type Space,
  spaceOfSearch,
  spaceSearchOf,
} from './space.ts';

const spaces: Space[] = [
  { database: 'default', tenant: 'default', scope: { kind: 'all' } },
  { database: 'debian', tenant: 'a@b', scope: { kind: 'unscoped' } },
  { database: 'x', tenant: 'default', scope: { kind: 'named', name: 'plan B' } },
];

describe('the space in the address', () => {
  test('is read back as written', () => {
    for (const space of spaces) expect(spaceOfSearch(spaceSearchOf({ ...searchOf(space) }))).toEqual(space);
  });

  test('has no parameters for the default space', () => {
    expect(searchOf({ database: 'default', tenant: 'default', scope: { kind: 'all' } })).toEqual({});
  });

  test('drops malformed names and never sends them', () => {
    expect(
      spaceSearchOf({ database: '../x', tenant: 'two words', scope: 7, unscoped: 'yes', other: 1 }),
    ).toEqual({});
  });

  test('makes requests name a scope, the unscoped facts, or neither', () => {
    expect(spaces.map((space) => scopeFieldsOf(space.scope))).toEqual([
      {},
      { unscoped: true },
      { scope: 'plan B' },
    ]);
    expect(scopeFieldsOfStored(null)).toEqual({ unscoped: true });
  });
});

describe('what a change affects', () => {
  test('is facts, vocabulary and conclusions for a fact, not the rules', () => {
    const stale = topicsOf([{ kind: 'fact.asserted' }]);
    expect(stale.has('facts') && stale.has('predicates') && stale.has('answers')).toBe(true);
    expect(stale.has('rules')).toBe(false);
  });

  test('is all knowledge for a rule, only the log of calls for a tool call, everything for a reset', () => {
    expect(topicsOf([{ kind: 'rule.changed' }]).size).toBe(5);
    expect(topicsOf([{ kind: 'rule.changed' }]).has('agents')).toBe(false);
    expect([...topicsOf([{ kind: 'mcp.call' }])]).toEqual(['agents']);
    expect(topicsOf([{ kind: 'reset' }]).size).toBe(6);
  });
});
