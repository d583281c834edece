import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../client/src/operation.ts';
import { operations as table } from '../../../client/src/operations.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import {
  type PastMoment,
  momentOfSearch,
  momentSearchOf,
  presentSearch,
  reasonInPast,
  requestAt,
  searchOfMoment,
} from './moment.ts';
import { ApiError } from './problem.ts';

const names = Object.keys(table) as OperationName[];
const generation: PastMoment = { asOf: null, asKnown: '412' };
const bitemporal: PastMoment = { asOf: '2026-07-01T10:00:00Z', asKnown: '2026-11-20T08:00:00Z' };

function specOf(name: OperationName): OperationSpec {
  return operations[name];
}

describe('the moment in the address', () => {
  test('is a generation or an instant of knowledge, and an instant of validity; anything else is dropped', () => {
    expect(momentSearchOf({ asKnown: '412', asOf: '2026-07-01' })).toEqual({
      asKnown: '412',
      asOf: '2026-07-01',
    });
    expect(momentSearchOf({ asKnown: '2026-07-01T10:00:00Z' })).toEqual({ asKnown: '2026-07-01T10:00:00Z' });
    expect(momentSearchOf({ asKnown: 'yesterday', asOf: '412' })).toEqual({});
    expect(momentSearchOf({ asKnown: 412, asOf: '2026-02-31' })).toEqual({});
    expect(momentSearchOf({ asKnown: '-1' })).toEqual({});
  });

  test('is the present without either', () => {
    expect(momentOfSearch({})).toBe(null);
    expect(momentOfSearch({ asKnown: '7' })).toEqual({ asOf: null, asKnown: '7' });
    expect(searchOfMoment(null)).toEqual(presentSearch);
    expect(searchOfMoment(bitemporal)).toEqual(bitemporal);
  });
});

describe('a request about the past', () => {
  test('carries the moment in its body or query string, a generation in a body as a number', () => {
    expect(requestAt(generation, 'ask', { body: { text: 'p(?x)' } })).toEqual({
      body: { text: 'p(?x)', asKnown: 412 },
    });
    expect(requestAt(bitemporal, 'ask', { body: { text: 'p(?x)' } })).toEqual({
      body: { text: 'p(?x)', ...bitemporal },
    });
    expect(requestAt(generation, 'listFacts', { query: { predicate: 'p' } })).toEqual({
      query: { predicate: 'p', asKnown: '412' },
    });
    expect(requestAt(bitemporal, 'exportKnowledge', {})).toEqual({ query: bitemporal });
  });

  test('is unchanged in the present, and where the moment makes no difference', () => {
    const request = { body: { text: 'p(?x)' } };
    expect(requestAt(null, 'ask', request)).toBe(request);
    expect(requestAt(null, 'assertFact', request)).toBe(request);
    for (const name of [
      'history',
      'historyDiff',
      'whoami',
      'listDatabases',
      'listMcpCalls',
      'health',
    ] as const)
      expect(requestAt(generation, name, request), name).toBe(request);
  });

  test.each(['query', 'body'] as const)('is one that the operation takes in its %s', (fields) => {
    const asked = names.filter((name) => {
      const { moments, fields: where }: Operation = table[name];
      return moments !== undefined && where === fields;
    });
    expect(asked.length).toBeGreaterThan(fields === 'query' ? 4 : 8);
    for (const name of asked)
      for (const moment of [generation, bitemporal]) {
        if (reasonInPast(moment, name) !== null) continue;
        const schema = specOf(name)[fields];
        const issues = schema?.safeParse(requestAt(moment, name, {})[fields]).error?.issues ?? [];
        const ofMoment = issues.filter(
          ({ code, path }) => code === 'unrecognized_keys' || path[0] === 'asOf' || path[0] === 'asKnown',
        );
        expect(ofMoment, name).toEqual([]);
      }
  });

  test('searches by words only in what is known now', () => {
    expect(reasonInPast(generation, 'search')).toContain('known now');
    const valid = { asOf: '2026-07-01', asKnown: null };
    expect(requestAt(valid, 'search', { body: { query: 'anna' } })).toEqual({
      body: { query: 'anna', asOf: '2026-07-01' },
    });
  });
});

describe('while the past is shown', () => {
  test('every write that needs a credential is refused before it is sent', () => {
    const writes = names.filter((name) => specOf(name).kind === 'write' && specOf(name).role !== 'public');
    expect(writes.length).toBeGreaterThan(30);
    for (const name of writes) {
      let thrown: unknown;
      try {
        requestAt(generation, name, {});
      } catch (error) {
        thrown = error;
      }
      expect(thrown, name).toBeInstanceOf(ApiError);
      expect(thrown, name).toMatchObject({ code: 'ReadOnlyPast', requestId: '' });
      expect(reasonInPast(null, name), name).toBe(null);
    }
  });

  // Another one here is a view, or a part of one, that says so in place of its content: look at it.
  test('what the service answers of the present only is refused, and nothing shows the present as the past', () => {
    const refused = names.filter(
      (name) => specOf(name).kind === 'read' && reasonInPast(generation, name) !== null,
    );
    expect(refused).toEqual([
      'getFact',
      'entity',
      'describeEntity',
      'getPredicate',
      'getRule',
      'listConstraints',
      'listViolations',
      'listTests',
      'runTests',
      'memoryStats',
      'search',
      'diffContext',
      'clearContextSession',
      'listPackages',
      'getPackage',
    ]);
    expect(() => requestAt(generation, 'getRule', {})).toThrow(/present only/);
  });
});
