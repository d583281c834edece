/**
 * Fields that many requests share: names, paging, time and the choice of a scope.
 *
 * `null` in an optional field counts as absent everywhere, so the helpers here turn both into one value.
 */
import { z } from 'zod';
import { isWellFormed } from './language.ts';

/** An optional field: absent and `null` both become `null`. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value): z.output<Schema> | null => value ?? null);
}

/** An optional field with a default: absent and `null` both become the default. */
export function defaulted<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema
    .nullish()
    .transform((value): z.output<Schema> => value ?? fallback)
    .meta({ default: fallback });
}

/** What probably went wrong, for a call that was carried out as it was given. */
export const hintsSchema = z
  .array(z.string())
  .max(5)
  .optional()
  .describe(
    'What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where ' +
      'there are none',
  );

function notDots(name: string): boolean {
  return name !== '.' && name !== '..';
}

const databaseName = /^[A-Za-z0-9_.-]{1,128}$/;
const tenantName = /^[\x21-\x7e]{1,256}$/;

/** As `databaseNameSchema`. */
export function isDatabaseName(name: string): boolean {
  return databaseName.test(name) && notDots(name);
}

/** As `tenantNameSchema`. */
export function isTenantName(name: string): boolean {
  return tenantName.test(name) && notDots(name);
}

export const databaseNameSchema = z
  .string()
  .regex(databaseName, 'a database name is 1 to 128 ASCII letters, digits, _ - or .')
  .refine(notDots, 'a name is never . or ..');

export const tenantNameSchema = z
  .string()
  .regex(tenantName, 'a tenant is 1 to 256 visible ASCII characters')
  .refine(notDots, 'a name is never . or ..');

export const scopeNameSchema = z
  .string()
  .min(1, 'a scope has 1 to 256 characters')
  .max(256, 'a scope has 1 to 256 characters')
  // eslint-disable-next-line no-control-regex
  .refine((name) => !/[\u0000-\u001f\u007f-\u009f]/.test(name), 'a scope has no control characters')
  .refine(isWellFormed, 'the text holds a lone surrogate')
  .refine(notDots, 'a name is never . or ..');

/** `scope` and `unscoped` of every request that can name a scope. Both absent: scope null. */
export const scopeFields = {
  scope: optional(scopeNameSchema).describe(
    'A named part of the knowledge; absent: all of it, where something is stored none',
  ),
  unscoped: defaulted(z.boolean(), false).describe('true in place of scope: the facts without scope'),
};

/** Refuses `scope` together with `unscoped: true`. Use with `.superRefine`. */
export function oneScopeChoice(
  value: { scope: string | null; unscoped: boolean },
  context: z.RefinementCtx,
): void {
  if (value.unscoped && value.scope !== null)
    context.addIssue({
      code: 'custom',
      path: ['unscoped'],
      message: 'give either scope or unscoped, not both',
    });
}

/** Absent: everything. */
export const limitSchema = optional(z.int().min(1).max(100_000)).describe('Results at most; absent: all');
export const offsetSchema = defaulted(z.int().min(0), 0).describe('Results to leave out before the first');
export const timeoutSchema = defaulted(z.int().min(1).max(600_000), 10_000).describe(
  'Milliseconds it may take',
);

/** A write counter of a database. */
export const generationSchema = z.int().min(0);
export const timeSchema = z.int().describe('Epoch milliseconds');

const withOffset = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const dateTime =
  /^[+-]?\d{4,6}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const greatestTime = 8_640_000_000_000_000;

/** Epoch milliseconds of an ISO 8601 text (without an offset: UTC), or null where it is none. */
export function parseTime(text: string): number | null {
  if (!dateTime.test(text) || !isDay(text)) return null;
  const isDateOnly = !/[T ]\d{2}:/i.test(text);
  const normal = text.replace(' ', 'T').replace(/([+-]\d{2})$/, isDateOnly ? '$1' : '$1:00');
  const time = Date.parse(isDateOnly || withOffset.test(normal) ? normal : `${normal}Z`);
  return Number.isNaN(time) ? null : time;
}

/** False for a day that its month does not have: `Date.parse` would take it for one of the next month. */
function isDay(text: string): boolean {
  const [, year, month, day] = (/^([+-]?\d+)-(\d{2})-(\d{2})/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  // The calendar repeats itself every 400 years.
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}

/** Epoch milliseconds or ISO 8601 text, to epoch milliseconds; `open` is the word that clears the bound. */
export function instantSchema<Word extends string>(open: Word) {
  return z
    .union([z.int().min(-greatestTime).max(greatestTime), z.string()], {
      error: `a time is epoch milliseconds, ISO 8601 text or "${open}"`,
    })
    .transform((value, context): number | Word => {
      if (typeof value === 'number' || value === open) return value as number | Word;
      const time = parseTime(value);
      if (time !== null) return time;
      context.addIssue({
        code: 'custom',
        message: `a time is epoch milliseconds, ISO 8601 text or "${open}"`,
      });
      return z.NEVER;
    });
}

/** A boolean in a query string. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ description: 'true or false' });

/** A whole number in a query string. */
export function queryInteger(least: number, greatest: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `a whole number from ${least} to ${greatest}`)
    .transform(Number)
    .refine((value) => value >= least && value <= greatest, `a whole number from ${least} to ${greatest}`);
}

/** A number in a query string, in decimals. */
export function queryNumber(least: number, greatest: number) {
  return z
    .string()
    .regex(/^\d{1,15}(?:\.\d{1,18})?$/, `a number from ${least} to ${greatest}`)
    .transform(Number)
    .refine((value) => value >= least && value <= greatest, `a number from ${least} to ${greatest}`);
}

/** A list in a query string, its parts separated by commas; a parameter that is repeated arrives so too. */
export function listParameter(element: z.ZodType<string, string>, most: number) {
  return optional(
    z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(element).max(most)),
  ).describe('Repeated, or separated by commas; absent: all');
}

/** `scopeFields` in a query string. */
export const scopeParameters = { scope: scopeFields.scope, unscoped: defaulted(queryFlag, false) };
