/** Wire schemas of transactions. */
import { z } from 'zod';
import {
  completenessFields,
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  hintsSchema,
  runTestsSchema,
  timeSchema,
} from './fields.ts';

import { supersededFields } from './facts.ts';
import { testsOfWriteFields } from './stored-tests.ts';

export const transactionParams = z.strictObject({ id: z.string().min(1).max(256) });

/** The answer to a write within a transaction. */
export const pendingSchema = z.object({
  status: z.literal('pending'),
  atom: z.string().optional().describe('The fact or pattern'),
  rule: z.string().optional().describe('The rule'),
  predicate: z.string().optional().describe('The declared predicate, as name/arity'),
  constraint: z.string().optional().describe('The constraint, as text'),
  tests: z.array(z.string()).optional().describe('The names of the tests'),
  entity: z.string().optional().describe('The entity of the alias'),
  alias: z.string().optional(),
  facts: z.int().optional().describe('Number of facts given'),
  retracted: z.int().optional().describe('Number of facts that match and will be retracted'),
  dryRun: z.literal(true).optional().describe('Nothing was written to the transaction'),
  hints: hintsSchema,
});
export type Pending = z.output<typeof pendingSchema>;

export const transactionBegunSchema = z.object({
  id: z.string(),
  status: z.literal('open'),
  expiresAt: timeSchema.describe('Rolled back then unless used before'),
});
export type TransactionBegun = z.output<typeof transactionBegunSchema>;

export const commitInputSchema = z.strictObject({
  dryRun: defaulted(z.boolean(), false),
  runTests: runTestsSchema,
  timeoutMs: consequencesTimeoutSchema.describe('Dry run: time for deriving consequences'),
});

const ended = { id: z.string(), operations: z.int(), generation: generationSchema };
export const committedSchema = z.object({
  ...ended,
  status: z.literal('committed'),
  ...supersededFields,
  dryRun: z.literal(true).optional(),
  gained: z.int().optional().describe('Dry run: new conclusions'),
  lost: z.int().optional().describe('Dry run: conclusions that would no longer be true'),
  ...completenessFields,
  ...testsOfWriteFields,
});
export type Committed = z.output<typeof committedSchema>;

export const rolledBackSchema = z.object({ ...ended, status: z.literal('rolled_back') });
export type RolledBack = z.output<typeof rolledBackSchema>;
