/** Wire schemas of the comparison of two moments of knowledge. */
import { z } from 'zod';
import { predicatesSchema } from './memory.ts';
import { goalSchema } from './explanation.ts';
import { defaulted, generationSchema, namedSchema, timeoutSchema, timeSchema } from './fields.ts';
import { defaultMaxDerivations, proofSchema } from './inference.ts';
import { momentSchema } from './moments.ts';

const momentText = 'a generation (integer), or an instant (ISO 8601 text)';

export const historyDiffInputSchema = z.strictObject({
  from: momentSchema.describe(`One moment of knowledge: ${momentText}`),
  to: momentSchema.describe(`The other: ${momentText}`),
  goals: z
    .array(goalSchema)
    .min(1)
    .max(1000)
    .nullish()
    .transform((goals) => goals ?? null)
    .describe('Whose answers to compare; absent: everything that rules conclude'),
  predicates: predicatesSchema,
  limit: defaulted(z.int().min(1).max(100_000), 100).describe('Maximum length of each list'),
  withProof: defaulted(z.boolean(), false).describe('Prove each conclusion on the side where it was true'),
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations),
});
export type HistoryDiffInput = z.output<typeof historyDiffInputSchema>;

const momentOfSchema = z.object({
  generation: generationSchema,
  time: timeSchema.describe('The instant by which validity was judged'),
});

const comparedFactSchema = z.object({
  atom: z.string(),
  named: namedSchema.optional(),
  scope: z.string().nullable(),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type DatedFact = z.output<typeof comparedFactSchema>;

const comparedRuleSchema = z.object({
  id: z.string(),
  rule: z.string(),
  scope: z.string().nullable(),
  name: z.string().nullable(),
  enabled: z.boolean(),
});
export type ComparedRule = z.output<typeof comparedRuleSchema>;

function comparisonOf<Side extends z.ZodType>(side: Side) {
  return z.object({
    added: z.array(side),
    removed: z.array(side),
    changed: z.array(z.object({ from: side, to: side })),
  });
}

const flipSchema = z.object({
  goal: z.string(),
  atom: z.string(),
  named: namedSchema.optional(),
  held: z.enum(['from', 'to']).describe('The side where it was true'),
  by: z
    .enum(['change', 'validity'])
    .describe('validity: the time that passed alone made it true or untrue; change: facts or rules did'),
  proof: proofSchema.optional(),
});
export type Flip = z.output<typeof flipSchema>;

export const historyDiffSchema = z.object({
  from: momentOfSchema,
  to: momentOfSchema,
  facts: comparisonOf(comparedFactSchema).describe('In order of assertion'),
  rules: comparisonOf(comparedRuleSchema),
  flips: z.array(flipSchema).describe('Conclusions that are true on one side only'),
  complete: z.boolean().describe('false: a list is longer than limit, or not every goal could be worked out'),
});
export type HistoryDiff = z.output<typeof historyDiffSchema>;
