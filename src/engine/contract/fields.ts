/**
 * Fields that many requests share: names, paging, times and the choice of a scope.
 *
 * `null` in an optional field counts as absent everywhere; the helpers here map both to one value.
 */
import { z } from 'zod';
import { parseTime } from './time-text.ts';
import {
  databaseNamePattern,
  databaseNameRule,
  dotsRule,
  isNoDots,
  maxScopeName,
  scopeLengthRule,
  scopeNameProblem,
  tenantNamePattern,
  tenantNameRule,
} from './names.ts';

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

/** What was probably meant, for a call that was executed as given. */
export const hintsSchema = z
  .array(z.string())
  .max(5)
  .optional()
  .describe(
    'What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none',
  );

export const databaseNameSchema = z
  .string()
  .regex(databaseNamePattern, databaseNameRule)
  .refine(isNoDots, dotsRule);

export const tenantNameSchema = z
  .string()
  .regex(tenantNamePattern, tenantNameRule)
  .refine(isNoDots, dotsRule);

export const scopeNameSchema = z
  .string()
  .min(1, scopeLengthRule)
  .max(maxScopeName, scopeLengthRule)
  .superRefine((name, context) => {
    const problem = scopeNameProblem(name);
    if (problem !== null && problem !== scopeLengthRule)
      context.addIssue({ code: 'custom', message: problem });
  });

/** `scope` and `unscoped` of every request that can name a scope. Both absent: scope null. */
export const scopeFields = {
  scope: optional(scopeNameSchema).describe(
    'A named part of the knowledge; absent: all of it when reading, no scope when storing',
  ),
  unscoped: defaulted(z.boolean(), false).describe('true instead of scope: the facts without scope'),
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
export const limitSchema = optional(z.int().min(1).max(100_000)).describe(
  'Maximum number of results; absent: all',
);
export const offsetSchema = defaulted(z.int().min(0), 0).describe('Number of results to skip');
export const timeoutSchema = defaulted(z.int().min(1).max(600_000), 10_000).describe(
  'Time limit in milliseconds',
);

/** Time for a window unless the request names one, in milliseconds. */
export const windowTimeoutMs = 10_000;
/** The time limit of a window; absent: `windowTimeoutMs`, and less for the goals of a query. */
export const windowTimeoutSchema = optional(z.int().min(1).max(600_000)).describe(
  'Time limit in milliseconds, 10,000 if absent. Goals have 60% of it; those of a query 2,000 if it is absent. Beyond it 422',
);

/** A database's write counter. */
export const generationSchema = z.int().min(0);
export const timeSchema = z.int().describe('Epoch milliseconds');

/** The furthest time from the epoch, in milliseconds. */
export const maxTime = 8_640_000_000_000_000;

/** Parses epoch milliseconds or ISO 8601 text into epoch milliseconds; `open` is the word that clears the bound. */
export function instantSchema<Word extends string>(open: Word) {
  return z
    .union([z.int().min(-maxTime).max(maxTime), z.string()], {
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

/** An integer in a query string. */
export function queryInteger(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a whole number from ${min} to ${max}`);
}

/** A decimal number in a query string. */
export function queryNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,15}(?:\.\d{1,18})?$/, `a number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a number from ${min} to ${max}`);
}

/** A comma-separated list in a query string; a repeated parameter arrives in the same form. */
export function listParameter(element: z.ZodType<string, string>, maxLength: number) {
  return optional(
    z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(element).max(maxLength)),
  ).describe('Repeated or comma-separated; absent: all');
}

/** `scopeFields` in a query string. */
export const scopeParameters = { scope: scopeFields.scope, unscoped: defaulted(queryFlag, false) };

/** The arguments of an atom in an answer by their declared names. */
export const namedSchema = z
  .record(z.string(), z.string())
  .describe('The arguments by name; absent unless all have a declared name');

/** Time limit for deriving the consequences of a change. */
export const consequencesTimeoutSchema = defaulted(z.int().min(1).max(600_000), 2000).describe(
  'Time for deriving consequences',
);

/** `runTests` of a write. */
export const runTestsSchema = defaulted(z.boolean(), false).describe(
  'Run the stored tests over what the write would make of the knowledge, and refuse it with 422 TestsFailed if one fails',
);

/** How the stored tests went, in the answer of a write with `runTests`. */
export const testsPassedSchema = z
  .object({ passed: z.int(), failed: z.int() })
  .optional()
  .describe('With runTests: how many tests passed; absent if the answer repeats that of an earlier request');

/** Whether the consequences of a change could be derived completely; both absent if so. */
export const completenessFields = {
  consequencesComplete: z
    .literal(false)
    .optional()
    .describe('Time or memory ran out: the numbers of conclusions are lower bounds'),
  notWorkedOut: z
    .array(z.string())
    .optional()
    .describe('With it: predicate/arity of what was not derived, negated with -'),
};
