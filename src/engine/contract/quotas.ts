/** Wire schemas of quotas: what a database or a tenant may store and ask. */
import { z } from 'zod';
import { optional } from './fields.ts';

/** The quotas, in the order in which they are described. */
export const quotaNames = [
  'facts',
  'bytes',
  'runningQuestions',
  'questionsPerMinute',
  'openTransactions',
] as const;

/** The name of one quota. */
export type QuotaName = (typeof quotaNames)[number];

/** Upper limits; null: none. */
export type Quota = Readonly<Record<QuotaName, number | null>>;

/** A quota that limits nothing. */
export const noQuota: Quota = {
  facts: null,
  bytes: null,
  runningQuestions: null,
  questionsPerMinute: null,
  openTransactions: null,
};

const limitSchema = optional(z.int().min(0).max(Number.MAX_SAFE_INTEGER));

/** The body of a PUT: the whole quota. What is absent or null is not limited. */
export const quotaInputSchema = z.strictObject({
  facts: limitSchema.describe('Stored facts, in all scopes; absent or null: no limit'),
  bytes: limitSchema.describe('UTF-8 bytes of the stored facts: their rendered atoms and their metadata'),
  runningQuestions: limitSchema.describe('Questions that run at the same time'),
  questionsPerMinute: limitSchema.describe('Questions in a minute, counted from the first one'),
  openTransactions: limitSchema.describe('Transactions that are open at the same time'),
});

const useSchema = z.object({
  facts: z.int(),
  bytes: z.int(),
  runningQuestions: z.int(),
  questionsPerMinute: z.int().describe('Questions so far in the current minute'),
  openTransactions: z.int(),
});

/** What is in use of each quota. */
export type QuotaUse = z.output<typeof useSchema>;

/** A quota and its use. */
export const quotaStateSchema = z.object({
  quota: z
    .object({
      facts: z.int().nullable(),
      bytes: z.int().nullable(),
      runningQuestions: z.int().nullable(),
      questionsPerMinute: z.int().nullable(),
      openTransactions: z.int().nullable(),
    })
    .describe('null: no limit'),
  use: useSchema,
});
export type QuotaState = z.output<typeof quotaStateSchema>;

/** True if the quota limits nothing. */
export function isUnlimited(quota: Quota): boolean {
  return quotaNames.every((name) => quota[name] === null);
}
