import { describe, expect, test } from 'vitest';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { reaches, reasonAgainst, type Rights } from './rights.ts';

const here = { database: 'shop', tenant: 'acme' };
const names = Object.keys(operations) as OperationName[];

function mayCall(rights: Partial<Rights>, place = here): OperationName[] {
  const whole = { role: 'reader', databases: [], tenants: [], ...rights } as const;
  return names.filter((name) => reasonAgainst(whole, name, place) === null);
}

const changing: readonly OperationName[] = [
  'assertFact',
  'assertFacts',
  'retract',
  'assertRule',
  'updateRule',
  'deleteRule',
  'forkScope',
  'mergeScopes',
  'commitTransaction',
  'importKnowledge',
  'consolidate',
  'decay',
];
const administering: readonly OperationName[] = ['createDatabase', 'nukeTenant', 'createKey', 'listKeys'];

describe('permissions known before a call', () => {
  test('allow a reader everything that does not change knowledge, and a writer changes too', () => {
    const reader = mayCall({ role: 'reader' });
    expect(reader).toEqual(expect.arrayContaining(['ask', 'query', 'events', 'whoami', 'exportKnowledge']));
    for (const name of [...changing, ...administering]) expect(reader, name).not.toContain(name);
    const writer = mayCall({ role: 'writer' });
    expect(writer).toEqual(expect.arrayContaining([...reader, ...changing]));
    for (const name of administering) expect(writer, name).not.toContain(name);
  });

  test('allow an admin everything, and a replica only replication', () => {
    expect(mayCall({ role: 'admin' })).toEqual(names);
    for (const name of mayCall({ role: 'replica' }))
      expect(['public', 'replica'], name).toContain(operations[name].role);
  });

  test('forbid rule changes to a tenant-restricted key, and allow fact changes', () => {
    const restricted = mayCall({ role: 'writer', tenants: ['acme'] });
    for (const name of ['assertRule', 'updateRule', 'deleteRule'] as const)
      expect(restricted).not.toContain(name);
    expect(restricted).toEqual(expect.arrayContaining(['assertFact', 'forkScope']));
    expect(mayCall({ role: 'admin', tenants: ['acme'] })).not.toContain('nukeDatabase');
    expect(mayCall({ role: 'writer', databases: ['shop'] })).toContain('assertRule');
  });

  test('exclude names outside the restrictions', () => {
    const rights = { role: 'admin', databases: ['shop'], tenants: ['acme'] } as const;
    expect(reasonAgainst(rights, 'ask', here)).toBe(null);
    expect(reasonAgainst(rights, 'ask', { ...here, database: 'lab' })).toContain('lab');
    expect(reasonAgainst(rights, 'ask', { ...here, tenant: 'globex' })).toContain('globex');
    expect(reasonAgainst(rights, 'takeSnapshot', { database: null, tenant: null })).toBe(null);
  });

  test('give the required and the actual role as the reason', () => {
    expect(reasonAgainst({ role: 'reader', databases: [], tenants: [] }, 'assertFact', here)).toBe(
      'This needs a key of the role writer; you are signed in as reader.',
    );
  });
});

test('treat empty lists as no restriction', () => {
  expect(reaches({ databases: [], tenants: [] }, here)).toBe(true);
  expect(reaches({ databases: ['shop'], tenants: [] }, here)).toBe(true);
  expect(reaches({ databases: ['lab'], tenants: [] }, here)).toBe(false);
  expect(reaches({ databases: [], tenants: ['globex'] }, here)).toBe(false);
  expect(reaches({ databases: ['lab'], tenants: ['globex'] }, { database: null, tenant: null })).toBe(true);
});
