import { describe, expect, it } from 'vitest';
import { operations } from '../engine/contract/operations.ts';
import type { OperationSpec } from '../engine/contract/operation-spec.ts';
import { checkInput, checkParams, requireCoverage, requirePermission } from './dispatch.ts';
import { anonymous, type Identity } from './identity.ts';

const reader: Identity = { ...anonymous, role: 'reader' };
const writer: Identity = { ...anonymous, role: 'writer' };

describe('permission', () => {
  it.each(Object.entries<OperationSpec>(operations))('of %s follows its role', (_name, spec) => {
    const allowed = (identity: Identity): boolean => {
      try {
        requirePermission(identity, spec);
        return true;
      } catch {
        return false;
      }
    };
    const rank = ['public', 'reader', 'writer', 'admin'].indexOf(spec.role);
    expect([allowed(reader), allowed(writer), allowed(anonymous)]).toEqual([rank <= 1, rank <= 2, true]);
  });

  it('keeps a credential restricted to tenants from changing rules, and from nothing else', () => {
    const restricted: Identity = { ...writer, tenants: ['one'] };
    for (const name of ['assertRule', 'updateRule', 'deleteRule'] as const)
      expect(() => requirePermission(restricted, operations[name])).toThrow('rules serve all tenants');
    for (const name of ['assertFact', 'listRules', 'ask', 'retract'] as const)
      expect(() => requirePermission(restricted, operations[name])).not.toThrow();
  });

  it('covers all databases and tenants where there is no restriction, else those named', () => {
    const place = { database: 'd', tenant: 't' };
    requireCoverage(anonymous, place);
    requireCoverage({ ...anonymous, databases: ['d'], tenants: ['t'] }, place);
    requireCoverage({ ...anonymous, tenants: ['t'] }, { database: 'd', tenant: null });
    expect(() => requireCoverage({ ...anonymous, databases: ['x'] }, place)).toThrow('database');
    expect(() => requireCoverage({ ...anonymous, tenants: ['x'] }, place)).toThrow('tenant');
  });
});

describe('input', () => {
  it('is given to handlers with its defaults filled in', () => {
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

  it('names what is wrong in query and body together', () => {
    expect(() => checkInput('query', { query: { x: '1' }, body: { predicate: 'p' } })).toThrow(
      'x: unknown query parameter (and 1 more)',
    );
  });
});
