import { expect, test } from 'vitest';
import type { z } from 'zod';
import {
  databaseNameSchema,
  instantSchema,
  limitSchema,
  offsetSchema,
  scopeNameSchema,
  tenantNameSchema,
  timeoutSchema,
} from './fields.ts';
import { parseTime } from './time-text.ts';

function takes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

test('accepts a database of 1 to 128 ASCII letters, digits, _ - . except . and ..', () => {
  for (const name of ['a', 'A-b_c.9', '...', '-', 'x'.repeat(128)])
    expect(takes(databaseNameSchema, name)).toBe(true);
  for (const name of ['', 'x'.repeat(129), 'a b', 'é', 'a/b', '.', '..', 'a\n', 7])
    expect(takes(databaseNameSchema, name), String(name)).toBe(false);
});

test('accepts a tenant of 1 to 256 visible ASCII characters except . and ..', () => {
  for (const name of ['a', '!~{}|/\\"', 'x'.repeat(256)]) expect(takes(tenantNameSchema, name)).toBe(true);
  for (const name of ['', 'x'.repeat(257), 'a b', 'é', '\u007f', '.', '..', null])
    expect(takes(tenantNameSchema, name), String(name)).toBe(false);
});

test('accepts a scope of 1 to 256 characters without control characters except . and ..', () => {
  for (const name of ['a', 'with space', 'é😀', '%', 'x'.repeat(256), '\u200b'])
    expect(takes(scopeNameSchema, name), name).toBe(true);
  for (const name of ['', 'x'.repeat(257), 'a\u0000', 'a\n', '\u0085', '\ud800', '.', '..'])
    expect(takes(scopeNameSchema, name), JSON.stringify(name)).toBe(false);
});

test('accepts a limit of 1 to 100,000 (absent: everything), an offset from 0 and a timeout of 1 to 600,000', () => {
  expect([limitSchema.parse(undefined), limitSchema.parse(null), limitSchema.parse(100_000)]).toEqual([
    null,
    null,
    100_000,
  ]);
  for (const limit of [0, -1, 100_001, 1.5, '5', Number.NaN]) expect(takes(limitSchema, limit)).toBe(false);
  expect([offsetSchema.parse(undefined), offsetSchema.parse(0), offsetSchema.parse(5_000_000)]).toEqual([
    0, 0, 5_000_000,
  ]);
  for (const offset of [-1, 0.5, '0']) expect(takes(offsetSchema, offset)).toBe(false);
  expect(timeoutSchema.parse(undefined)).toBe(10_000);
  for (const timeout of [0, 600_001, 1.5]) expect(takes(timeoutSchema, timeout)).toBe(false);
});

test('reads times as epoch milliseconds or ISO 8601 text, UTC without an offset', () => {
  const noon = Date.UTC(2024, 1, 29, 12);
  for (const text of [
    '2024-02-29T12:00Z',
    '2024-02-29T12:00:00',
    '2024-02-29 12:00:00.000',
    '2024-02-29T14:00:00+02:00',
    '2024-02-29T14:00:00+0200',
    '2024-02-29T14:00:00+02',
    '2024-02-29T07:00:00.000-05:00',
  ])
    expect(parseTime(text), text).toBe(noon);
  expect(parseTime('2024-02-29')).toBe(Date.UTC(2024, 1, 29));
  expect(parseTime('2000-02-29')).toBe(Date.UTC(2000, 1, 29));
  expect(parseTime('-000001-02-28')).toBe(new Date('-000001-02-28').getTime());
  for (const text of [
    '',
    'now',
    '2024',
    '2023-02-29',
    '2023-02-30T00:00Z',
    '1900-02-29',
    '2024-04-31',
    '2024-00-10',
    '2024-01-00',
    '29.02.2024',
    '2024-13-01',
    '12:00',
    'Infinity',
    '2024-02-29T25:00',
  ])
    expect(parseTime(text), text).toBeNull();
});

test('accepts a time or the word that clears it as a bound of validity', () => {
  const schema = instantSchema('never');
  expect(schema.parse('never')).toBe('never');
  expect(schema.parse(-5)).toBe(-5);
  expect(schema.parse('1970-01-01T00:00:01Z')).toBe(1000);
  for (const value of ['always', 1.5, Number.POSITIVE_INFINITY, 8_640_000_000_000_001, true, {}])
    expect(takes(schema, value), JSON.stringify(value)).toBe(false);
});
