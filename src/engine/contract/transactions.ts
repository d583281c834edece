/** Transactions on the wire: writes that are seen together or not at all. */
import { z } from 'zod';
import { defaulted, generationSchema, hintsSchema, timeSchema } from './fields.ts';

export const transactionParams = z.strictObject({ id: z.string().min(1).max(256) });

/** The answer to a write that became part of a transaction. */
export const pendingSchema = z.object({
  status: z.literal('pending'),
  atom: z.string().optional().describe('The fact or pattern that was written'),
  rule: z.string().optional().describe('The rule that was written'),
  facts: z.int().optional().describe('How many facts were given'),
  retracted: z.int().optional().describe('How many facts were found to be retracted'),
  dryRun: z.literal(true).optional().describe('Nothing was written to the transaction'),
  hints: hintsSchema,
});
export type Pending = z.output<typeof pendingSchema>;

export const transactionBegunSchema = z.object({
  id: z.string(),
  status: z.literal('open'),
  expiresAt: timeSchema.describe('Rolled back then, unless it is used before'),
});
export type TransactionBegun = z.output<typeof transactionBegunSchema>;

export const commitInputSchema = z.strictObject({ dryRun: defaulted(z.boolean(), false) });

const ended = { id: z.string(), operations: z.int(), generation: generationSchema };
export const committedSchema = z.object({
  ...ended,
  status: z.literal('committed'),
  dryRun: z.literal(true).optional(),
  gained: z.int().optional().describe('Of a dry run: known conclusions that would be new'),
  lost: z.int().optional().describe('Of a dry run: known conclusions that would no longer hold'),
});
export type Committed = z.output<typeof committedSchema>;

export const rolledBackSchema = z.object({ ...ended, status: z.literal('rolled_back') });
export type RolledBack = z.output<typeof rolledBackSchema>;
