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
  test('what is written is read back', () => {
    for (const space of spaces) expect(spaceOfSearch(spaceSearchOf({ ...searchOf(space) }))).toEqual(space);
  });

  test('the default space needs no parameters', () => {
    expect(searchOf({ database: 'default', tenant: 'default', scope: { kind: 'all' } })).toEqual({});
  });

  test('malformed names are dropped, never sent', () => {
    expect(
      spaceSearchOf({ database: '../x', tenant: 'two words', scope: 7, unscoped: 'yes', other: 1 }),
    ).toEqual({});
  });

  test('requests name a scope, the unscoped, or neither', () => {
    expect(spaces.map((space) => scopeFieldsOf(space.scope))).toEqual([
      {},
      { unscoped: true },
      { scope: 'plan B' },
    ]);
    expect(scopeFieldsOfStored(null)).toEqual({ unscoped: true });
  });
});

describe('what changes concern', () => {
  test('a fact concerns facts, vocabulary and conclusions, not the rules', () => {
    const stale = topicsOf([{ kind: 'fact.asserted' }]);
    expect(stale.has('facts') && stale.has('predicates') && stale.has('answers')).toBe(true);
    expect(stale.has('rules')).toBe(false);
  });

  test('a changed rule concerns all knowledge, a tool call the log of calls alone, a reset everything', () => {
    expect(topicsOf([{ kind: 'rule.changed' }]).size).toBe(5);
    expect(topicsOf([{ kind: 'rule.changed' }]).has('agents')).toBe(false);
    expect([...topicsOf([{ kind: 'mcp.call' }])]).toEqual(['agents']);
    expect(topicsOf([{ kind: 'reset' }]).size).toBe(6);
  });
});
