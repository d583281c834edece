/**
 * Wire schemas of tests kept in the service: what must come out of the knowledge. Tests belong to the database, as rules do;
 * they run over the knowledge of the caller's tenant.
 */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  oneScopeChoice,
  optional,
  queryFlag,
  scopeFields,
  scopeNameSchema,
  timeoutSchema,
  timeSchema,
} from './fields.ts';
import { supposedFields } from './explanation.ts';
import { defaultMaxDerivations } from './inference.ts';
import { maxRuleTextCharacters } from './rules.ts';
import { testOutcomeSchema, testRunSchema } from './tests.ts';

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
  .describe(
    'The last run by name over the stored knowledge of this tenant; absent: none since the service started',
  );
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

/** POST /tests/run. */
export const runTestsInputSchema = z
  .strictObject({
    names: optional(z.array(testNameSchema).min(1).max(maxTests)).describe(
      'Stored tests to run; absent: all, or none if text is given',
    ),
    text: optional(textSchema).describe('Tests as text, which are run and not stored'),
    scope: scopeFields.scope.describe(
      'Run the tests in this scope; absent: stored tests each in its own, those of text in none',
    ),
    unscoped: scopeFields.unscoped.describe('true instead of scope: ask the facts without scope alone'),
    suppose: optional(z.strictObject(supposedFields)).describe(
      'Run them over what this change would make of the knowledge, as in /whatIf',
    ),
    coverage: defaulted(z.boolean(), false).describe('Add which rules and literals the tests exercised'),
    timeoutMs: timeoutSchema.describe(
      'Time for all of them, in milliseconds. A test that has no time left fails and says so',
    ),
    maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations).describe(
      'Of each test; one that needs more fails and says so',
    ),
  })
  .superRefine(oneScopeChoice);
export type RunTestsInput = z.output<typeof runTestsInputSchema>;

/** The answer of POST /tests/run. */
export const testsRunSchema = testRunSchema;

/** How many failing tests a refused write lists. */
export const maxFailuresListed = 100;

const testsOfWriteSchema = z.object({
  passed: z.int(),
  failed: z.int(),
  failures: z
    .array(testOutcomeSchema)
    .optional()
    .describe(`Dry run: the tests that fail, the first ${maxFailuresListed}; absent: none`),
});
/** How the stored tests went over the outcome of a write. */
export type TestsOfWrite = z.output<typeof testsOfWriteSchema>;

/** What a write that can be tried answers of its tests. */
export const testsOfWriteFields = {
  tests: testsOfWriteSchema
    .optional()
    .describe('With runTests; absent if the answer repeats that of an earlier request'),
  refused: z
    .literal('TestsFailed')
    .optional()
    .describe('Dry run: the real call would be refused, since tests fail'),
};
