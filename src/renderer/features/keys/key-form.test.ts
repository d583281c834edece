import '../../api/testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { createKeySchema, type KeyView, updateKeySchema } from '../../../engine/contract/authentication.ts';
import { validate } from '../../../engine/contract/validation.ts';
import {
  changeOf,
  creationOf,
  emptyKeyForm,
  endChoices,
  formOfKey,
  type KeyFormFields,
  limitOf,
  losesPlace,
  keyFormProblems,
} from './key-form.ts';
import { keysSearchOf } from './keys-search.ts';

const day = 86_400_000;
const now = Date.parse('2026-11-21T12:00:00Z');
const free = { databases: [], tenants: [] };
const form = (part: Partial<KeyFormFields>): KeyFormFields => ({ ...emptyKeyForm, ...part });

const stored: KeyView = {
  id: 'k1',
  prefix: 'cor_abcdefgh',
  role: 'writer',
  databases: ['shop', 'lab'],
  tenants: [],
  description: 'ours',
  createdAt: now - day,
  expiresAt: now + day,
  lastUsedAt: null,
};

describe('a new key', () => {
  test('has the fields of the contract, for every choice', () => {
    for (const end of endChoices) {
      const made = creationOf(form({ role: 'writer', end, date: '2027-01-31T18:00', tenants: ['a'] }), now);
      expect(validate(createKeySchema, made).ok, end).toBe(true);
    }
  });

  test('expires after the chosen days, including fractions', () => {
    expect(creationOf(form({ end: '30' }), now).expiresInDays).toBe(30);
    expect(creationOf(form({ end: 'never' }), now).expiresInDays).toBe('never');
    expect(creationOf(form({ end: 'unsaid' }), now).expiresInDays).toBe(null);
    const inAnHour = new Date(now + day / 24);
    const local = new Date(inAnHour.getTime() - inAnHour.getTimezoneOffset() * 60_000)
      .toISOString()
      .slice(0, 16);
    expect(creationOf(form({ end: 'date', date: local }), now).expiresInDays).toBeCloseTo(1 / 24, 9);
  });

  test('for a follower has no restrictions, since a replica has everything', () => {
    const made = creationOf(form({ role: 'replica', databases: ['shop'], tenants: ['acme'] }), now);
    expect(made).toMatchObject({ databases: [], tenants: [] });
  });
});

describe('problems of the form', () => {
  test('include an invalid name, a past or missing time, and a long description', () => {
    expect(keyFormProblems(emptyKeyForm, free, now)).toEqual({});
    expect(keyFormProblems(form({ databases: ['shop', 'a b'] }), free, now).databases).toContain('a b');
    expect(keyFormProblems(form({ tenants: ['..'] }), free, now).tenants).toContain('..');
    expect(keyFormProblems(form({ end: 'date', date: '' }), free, now)).toHaveProperty('date');
    expect(keyFormProblems(form({ end: 'date', date: '2020-01-01T00:00' }), free, now)).toHaveProperty(
      'date',
    );
    expect(keyFormProblems(form({ description: 'x'.repeat(1001) }), free, now)).toHaveProperty('description');
  });

  test("include a missing restriction of a restricted admin's key", () => {
    const rights = { databases: ['shop'], tenants: [] };
    expect(keyFormProblems(emptyKeyForm, rights, now)).toHaveProperty('databases');
    expect(keyFormProblems(form({ databases: ['shop', 'lab'] }), rights, now).databases).toContain('lab');
    expect(keyFormProblems(form({ databases: ['shop'] }), rights, now)).toEqual({});
  });
});

describe('a changed key', () => {
  test('sends only the changed fields', () => {
    expect(changeOf(stored, formOfKey(stored), now)).toBe(null);
    // The order of names does not matter.
    expect(changeOf(stored, { ...formOfKey(stored), databases: ['lab', 'shop'] }, now)).toBe(null);
    const change = changeOf(stored, { ...formOfKey(stored), tenants: ['acme'], end: 'never' }, now);
    expect(change).toEqual({ databases: null, tenants: ['acme'], description: null, expiresAt: 'never' });
    expect(validate(updateKeySchema, change).ok).toBe(true);
  });

  test('may lose its description and its restrictions', () => {
    const change = changeOf(stored, { ...formOfKey(stored), description: '', databases: [] }, now);
    expect(change).toMatchObject({ description: '', databases: [] });
  });

  test('without an end does not send that again', () => {
    const endless = { ...stored, expiresAt: null };
    expect(changeOf(endless, { ...formOfKey(endless), end: 'never' }, now)).toBe(null);
  });

  test('warns its owner if they would lose access', () => {
    expect(losesPlace({ databases: ['lab'], tenants: [] }, { database: 'shop', tenant: 'a' })).toBe(true);
    expect(losesPlace({ databases: [], tenants: ['a'] }, { database: 'shop', tenant: 'a' })).toBe(false);
  });
});

test('explains limits that restrictions put on a role', () => {
  expect(limitOf({ role: 'writer', tenants: ['acme'], databases: [] })).toContain('no rules');
  expect(limitOf({ role: 'writer', tenants: [], databases: ['shop'] })).toBe(null);
  expect(limitOf({ role: 'reader', tenants: ['acme'], databases: [] })).toBe(null);
  expect(limitOf({ role: 'admin', tenants: [], databases: [] })).toBe(null);
  expect(limitOf({ role: 'admin', tenants: [], databases: ['shop'] })).toContain('replication');
});

test('keeps known parameters in the address of the keys', () => {
  expect(keysSearchOf({ q: 'a', key: 'k1', make: 'true', other: 'x' })).toEqual({
    q: 'a',
    key: 'k1',
    make: 'true',
  });
  expect(keysSearchOf({ q: '', key: 7, make: 'yes' })).toEqual({});
});
