import { describe, expect, it } from 'vitest';
import { jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import {
  anonymous,
  checkInput,
  checkParams,
  type Identity,
  requireCoverage,
  requirePermission,
  saysDryRun,
} from './dispatch.ts';

const reader: Identity = { ...anonymous, role: 'reader' };
const writer: Identity = { ...anonymous, role: 'writer' };
const replica: Identity = { ...anonymous, role: 'replica' };

describe('permissions', () => {
  it.each(Object.entries<OperationSpec>(operations))('of %s follow its role', (_name, spec) => {
    const allowed = (identity: Identity): boolean => {
      try {
        requirePermission(identity, spec);
        return true;
      } catch {
        return false;
      }
    };
    const rank = ['public', 'reader', 'writer', 'admin'].indexOf(spec.role);
    const expected =
      rank < 0
        ? [false, false, true, true]
        : [
            rank <= 1 || spec.dryRun !== undefined,
            rank <= 2 || spec.dryRun !== undefined,
            true,
            spec.role === 'public',
          ];
    expect([allowed(reader), allowed(writer), allowed(anonymous), allowed(replica)]).toEqual(expected);
    if (allowed(reader)) expect(requirePermission(reader, spec)).toBe(rank <= 1 ? 'call' : 'dryRun');
  });

  it('cover every operation that accepts dryRun', () => {
    for (const [name, spec] of Object.entries<OperationSpec>(operations)) {
      const takes = (part: OperationSpec['body']): boolean =>
        part !== undefined && Object.keys(jsonSchemaOf(part, 'input')['properties'] ?? {}).includes('dryRun');
      const place = takes(spec.body) ? 'body' : takes(spec.query) ? 'query' : undefined;
      expect(spec.kind === 'write' ? spec.dryRun : place, name).toBe(place);
    }
  });

  it('count a call as a dry run only if it says so', () => {
    const { retract, ask } = operations;
    expect(saysDryRun(retract, { body: { dryRun: true } })).toBe(true);
    for (const dryRun of [false, null, 'true', 1, undefined])
      expect(saysDryRun(retract, { body: { dryRun } })).toBe(false);
    for (const body of [undefined, null, [true], 'dryRun']) expect(saysDryRun(retract, { body })).toBe(false);
    expect(saysDryRun(retract, { query: { dryRun: 'true' }, body: {} })).toBe(false);
    expect(saysDryRun({ ...retract, dryRun: 'query' }, { query: { dryRun: 'true' } })).toBe(true);
    expect(saysDryRun({ ...retract, dryRun: 'query' }, { query: { dryRun: true } })).toBe(true);
    expect(saysDryRun(ask, { body: { dryRun: true } })).toBe(false);
  });

  it('of replica operations require a replica or an unrestricted admin', () => {
    const spec = { role: 'replica' } as const;
    for (const identity of [replica, anonymous]) {
      expect(requirePermission(identity, spec)).toBe('call');
      expect(() => requirePermission({ ...identity, databases: ['d'] }, spec)).toThrow(
        'unrestricted credential',
      );
      expect(() => requirePermission({ ...identity, tenants: ['t'] }, spec)).toThrow(
        'unrestricted credential',
      );
    }
    for (const identity of [reader, writer])
      expect(() => requirePermission(identity, spec)).toThrow('the role replica');
  });

  it('keep a tenant-restricted credential from changing rules, and from nothing else', () => {
    const restricted: Identity = { ...writer, tenants: ['one'] };
    for (const name of ['assertRule', 'updateRule', 'deleteRule'] as const)
      expect(() => requirePermission(restricted, operations[name])).toThrow('rules serve all tenants');
    for (const name of ['assertFact', 'listRules', 'ask', 'retract'] as const)
      expect(() => requirePermission(restricted, operations[name])).not.toThrow();
  });

  it('cover all databases and tenants, or only the named ones if restricted', () => {
    const place = { database: 'd', tenant: 't' };
    requireCoverage(anonymous, place);
    requireCoverage({ ...anonymous, databases: ['d'], tenants: ['t'] }, place);
    requireCoverage({ ...anonymous, tenants: ['t'] }, { database: 'd', tenant: null });
    expect(() => requireCoverage({ ...anonymous, databases: ['x'] }, place)).toThrow('database');
    expect(() => requireCoverage({ ...anonymous, tenants: ['x'] }, place)).toThrow('tenant');
  });
});

describe('input', () => {
  it('reaches handlers with its defaults filled in', () => {
    expect(checkInput('query', { body: { predicate: 'p', args: [1, true] } }).body).toEqual({
      predicate: 'p',
      args: ['1', 'true'],
      scope: null,
      unscoped: false,
      truthVal: null,
      limit: null,
      offset: 0,
    });
    expect(checkInput('listFacts', { query: { limit: '7' } }).query).toMatchObject({
      limit: 7,
      sort: 'predicate',
    });
    expect(checkParams('getFact', { id: 'f1' })).toEqual({ id: 'f1' });
  });

  it('gets the errors of query and body in one report', () => {
    expect(() => checkInput('query', { query: { x: '1' }, body: { predicate: 'p' } })).toThrow(
      'x: unknown query parameter (and 1 more)',
    );
  });
});
