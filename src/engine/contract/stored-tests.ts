/**
 * Wire schemas of tests kept in the service: what must come out of the knowledge. Tests belong to the database, as rules do;
 * they run over the knowledge of the caller's tenant.
 */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  optional,
  queryFlag,
  scopeNameSchema,
  timeSchema,
} from './fields.ts';
import { maxRuleTextCharacters } from './rules.ts';

/** How many tests a database has at most, and how many characters all their texts. */
export const maxTests = 10_000;
export const maxTestCharacters = 10_000_000;
/** How many tests one request stores or deletes at most. */
export const maxTestsInRequest = 1000;

export const testNameSchema = z.string().min(1).max(256).describe('Unique within the database');

const scopeSchema = optional(scopeNameSchema).describe(
  'The scope in which tests suppose facts and ask; absent: facts without scope, and the view of all scopes',
);
const dryRunSchema = defaulted(z.boolean(), false).describe('Store nothing, and answer what would be');

const textSchema = z.string().min(1).max(maxRuleTextCharacters);

/** PUT /tests. */
export const storeTestsInputSchema = z
  .strictObject({
    text: optional(textSchema).describe(
      `Tests as text, \`test "name" { … }\`: up to ${maxTestsInRequest}, each stored under its name`,
    ),
    tests: optional(
      z
        .array(
          z.strictObject({
            name: optional(testNameSchema).describe('The name in the text; it may be left out'),
            text: textSchema.describe('One test as text'),
            scope: scopeSchema,
          }),
        )
        .min(1)
        .max(maxTestsInRequest),
    ).describe('Instead of text: tests of several scopes'),
    scope: scopeSchema.describe('With text: the scope of its tests; absent: none'),
    dryRun: dryRunSchema,
  })
  .superRefine(({ text, tests, scope }, context) => {
    if ((text === null) === (tests === null))
      context.addIssue({ code: 'custom', path: ['text'], message: 'give either text or tests' });
    else if (tests !== null && scope !== null)
      context.addIssue({ code: 'custom', path: ['scope'], message: 'give each of tests its own scope' });
  });
export type StoreTestsInput = z.output<typeof storeTestsInputSchema>;

const dryRunField = { dryRun: z.literal(true).optional() };

export const testsStoredSchema = z.object({
  tests: z
    .array(z.object({ name: testNameSchema, status: z.enum(['asserted', 'updated', 'unchanged']) }))
    .describe('In the order of the request'),
  generation: generationSchema,
  ...dryRunField,
});
export type TestsStored = z.output<typeof testsStoredSchema>;

export const testsQuerySchema = z.strictObject({
  name: optional(testNameSchema).describe('This test only; absent: all'),
});
export type TestsQuery = z.output<typeof testsQuerySchema>;

const lastRunSchema = z
  .object({
    passed: z.boolean(),
    time: timeSchema,
    generation: generationSchema.describe('The knowledge over which it ran'),
  })
  .optional()
  .describe('The last run by name over the stored knowledge of this tenant; absent: none since the service started');
export type LastRun = z.output<typeof lastRunSchema>;

export const storedTestSchema = z.object({
  name: testNameSchema,
  text: z.string(),
  scope: z.string().nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema.describe('When its text or scope last changed'),
  lastRun: lastRunSchema,
});
export type StoredTest = z.output<typeof storedTestSchema>;
export const testListSchema = z.object({ tests: z.array(storedTestSchema).describe('Oldest first') });
export type TestList = z.output<typeof testListSchema>;

/** DELETE /tests: one by the query string, others by the body. */
export const deleteTestsQuerySchema = z.strictObject({
  name: optional(testNameSchema),
  dryRun: defaulted(queryFlag, false),
});
export const deleteTestsInputSchema = z.strictObject({
  name: optional(testNameSchema),
  names: optional(z.array(testNameSchema).min(1).max(maxTestsInRequest)).describe('Several'),
});

/** The tests that a request deletes, however it named them. */
export interface DeletedTests {
  readonly names: readonly string[];
  readonly dryRun: boolean;
}

export const testsDeletedSchema = z.object({
  tests: z.array(z.object({ name: testNameSchema, status: z.literal('retracted') })),
  generation: generationSchema,
  ...dryRunField,
});
export type TestsDeleted = z.output<typeof testsDeletedSchema>;
