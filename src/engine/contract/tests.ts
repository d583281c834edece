/** Wire schemas of tests of knowledge: what a run takes, and what it found. */
import { z } from 'zod';
import { explanationSchema } from './explanation.ts';
import { generationSchema, hintsSchema } from './fields.ts';
import { proofSchema } from './inference.ts';

const answersSchema = z.array(z.string());

const attemptsField = explanationSchema.options[1].shape.attempts;

/** Why an expectation was not met. */
const testFailureSchema = z.object({
  expectation: z.string().describe('As written, without expect and the full stop'),
  line: z.int().describe('In the text of the tests, from 1'),
  column: z.int(),
  message: z.string(),
  expected: answersSchema.optional().describe('The answers in the test, in its order'),
  found: answersSchema.optional().describe('The answers, at most 1000'),
  missing: answersSchema.optional().describe('Expected and not found'),
  unexpected: answersSchema.optional().describe('Found and not expected, at most 1000'),
  proof: proofSchema.optional().describe('Of what was unexpected, the first 10 of it'),
  attempts: attemptsField
    .optional()
    .describe('Why the first missing answer is not true, as mode whyNot of /explain'),
  blockedBy: explanationSchema.options[1].shape.blockedBy.optional(),
  hints: hintsSchema,
});
export type TestFailure = z.output<typeof testFailureSchema>;

export const testOutcomeSchema = z.object({
  name: z.string(),
  line: z.int().describe('In the text of the tests, from 1'),
  passed: z.boolean(),
  elapsedMs: z.number(),
  failures: z.array(testFailureSchema),
  hints: hintsSchema.describe('What could not fail, since nothing has the predicate; absent: nothing of it'),
});
export type TestOutcome = z.output<typeof testOutcomeSchema>;

/** A rule that no test exercised, or one with literals that none did. */
const uncoveredRuleSchema = z.object({
  rule: z.string(),
  ruleId: z.string(),
  exercised: z.boolean().describe('It is in a proof of an expected answer'),
  literals: z
    .array(z.object({ at: z.int().describe('Position in the body, from 0'), literal: z.string() }))
    .describe('The literals of the body that no test exercised'),
});

const coverageSchema = z.object({
  rules: z.int().describe('Enabled rules'),
  rulesExercised: z.int(),
  literals: z.int().describe('Literals in their bodies'),
  literalsExercised: z.int(),
  complete: z
    .boolean()
    .describe('false: a limit was exceeded, or a goal has more answers than are proved: lower bounds'),
  uncovered: z.array(uncoveredRuleSchema).describe('Oldest first'),
});
export type TestCoverage = z.output<typeof coverageSchema>;

export const testRunSchema = z.object({
  passed: z.int().describe('Number of tests that passed'),
  failed: z.int(),
  tests: z.array(testOutcomeSchema).describe('In the order of the text'),
  coverage: coverageSchema.optional(),
  generation: generationSchema.describe('Of the knowledge that was tested'),
  elapsedMs: z.number(),
});
export type TestRun = z.output<typeof testRunSchema>;
