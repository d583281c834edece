import { describe, expect, test } from 'vitest';
import { allScopes, type Space } from '../../api/space.ts';
import { type Erasure, nextSpace, statementOf } from './erasing.ts';

const shop = { kind: 'database', name: 'shop', tenants: 2, facts: 1_234, rules: 1 } as const;
const acme = { kind: 'tenant', database: 'shop', name: 'acme', facts: 1 } as const;
const inAcme: Space = { database: 'shop', tenant: 'acme', scope: { kind: 'named', name: 'draft' } };
const elsewhere: Space = { database: 'default', tenant: 'acme', scope: allScopes };

describe('the confirmation of a deletion', () => {
  test('says that a database is deleted with the facts of its tenants and its rules', () => {
    expect(statementOf({ how: 'delete', target: shop }, elsewhere)).toEqual({
      title: 'Delete the database shop?',
      goes: '1,234 facts of 2 tenants, and 1 rule',
      stays: 'Nothing of the database stays.',
      here: null,
    });
  });

  test('says that a tenant is deleted with its facts only', () => {
    expect(statementOf({ how: 'nuke', target: acme }, elsewhere)).toEqual({
      title: 'Empty the tenant acme?',
      goes: '1 fact',
      stays: 'The tenant stays, without facts. The rules stay: they belong to the database.',
      here: null,
    });
  });

  test('says that a nuked database remains, with its tenants', () => {
    expect(statementOf({ how: 'nuke', target: shop }, elsewhere)).toMatchObject({
      title: 'Empty the database shop?',
      goes: '1,234 facts of 2 tenants, and 1 rule',
      stays: 'The database and its tenants stay, empty.',
    });
  });

  test('says where the workbench goes if it is in the target', () => {
    expect(statementOf({ how: 'delete', target: shop }, inAcme).here).toContain(
      'goes to the database default',
    );
    expect(statementOf({ how: 'delete', target: acme }, inAcme).here).toContain('goes to the tenant default');
    expect(statementOf({ how: 'nuke', target: acme }, inAcme).here).toContain('stays there');
    expect(
      statementOf({ how: 'delete', target: { ...acme, name: 'default' } }, { ...inAcme, tenant: 'default' })
        .here,
    ).toContain('comes back with its first fact');
  });
});

describe('where the workbench goes', () => {
  const cases: readonly (readonly [string, Erasure, Space, Space | null])[] = [
    [
      'from a deleted database to the default one',
      { how: 'delete', target: shop },
      inAcme,
      { database: 'default', tenant: 'default', scope: allScopes },
    ],
    [
      'from a deleted tenant to the default one',
      { how: 'delete', target: acme },
      inAcme,
      { database: 'shop', tenant: 'default', scope: allScopes },
    ],
    ['nowhere from what was only emptied', { how: 'nuke', target: shop }, inAcme, null],
    ['nowhere where it is elsewhere', { how: 'delete', target: shop }, elsewhere, null],
    [
      'nowhere from a tenant of the same name in another database',
      { how: 'delete', target: acme },
      elsewhere,
      null,
    ],
    [
      'nowhere from the default tenant',
      { how: 'delete', target: { ...acme, name: 'default' } },
      { ...inAcme, tenant: 'default' },
      null,
    ],
  ];
  for (const [title, erasure, space, expected] of cases)
    test(`it goes ${title}`, () => {
      expect(nextSpace(erasure, space)).toEqual(expected);
    });
});
