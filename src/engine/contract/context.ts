/** Wire schemas of context windows: facts for an agent to read, selected for goals and within a budget. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  namedSchema,
  oneScopeChoice,
  optional,
  scopeFields,
  windowTimeoutSchema,
  timeSchema,
} from './fields.ts';
import { predicateSchema, termsSchema } from './language-schemas.ts';
import { mentionSchema } from './mention.ts';
import {
  answerFormatSchema,
  contextEntrySchema,
  factsTextSchema,
  maxPredicatesNamed,
  maxTokensSchema,
  predicatesSchema,
  queryTextSchema,
} from './memory.ts';
import { takingTruthVal } from './same-said.ts';
import { knownWithoutQuery, momentFields } from './moments.ts';

export const maxGoals = 100;
export const maxBuckets = 100;

const goalSchema = takingTruthVal(
  z.strictObject({
    predicate: predicateSchema,
    args: termsSchema,
    negated: defaulted(z.boolean(), false),
  }),
);
export type Goal = z.output<typeof goalSchema>;

const bucketSchema = z.strictObject({
  name: z.string().min(1).max(256),
  predicates: z
    .array(predicateSchema)
    .min(1, 'a bucket names at least one predicate')
    .max(maxPredicatesNamed),
  weight: defaulted(z.number().gt(0, 'a weight is above 0').max(1_000_000), 1),
  maxFacts: optional(z.int().min(1).max(100_000)),
});
export type Bucket = z.output<typeof bucketSchema>;

export const sessionIdSchema = z.string().min(1).max(256);

export const goalsSchema = optional(
  z.array(goalSchema).max(maxGoals, `give at most ${maxGoals} goals`),
).describe('Their proofs come first, each complete or not at all');
export const maxFactsSchema = z.int().min(1).max(100_000);

/** How the answers to goals are proved in a window. */
const proofModes = ['whole', 'premises', 'auto'] as const;
export type ProofMode = (typeof proofModes)[number];

export const optimizeInputSchema = z
  .strictObject({
    maxFacts: defaulted(maxFactsSchema, 100).describe('Maximum number of facts'),
    maxChars: optional(z.int().min(1).max(100_000_000)).describe(
      'Maximum length of all rendered atoms together',
    ),
    maxTokens: optional(maxTokensSchema),
    goals: goalsSchema,
    query: queryTextSchema,
    fill: defaulted(z.boolean(), false).describe(
      'With a query: fill what room is left with the most salient facts',
    ),
    proofs: defaulted(z.enum(proofModes), 'auto').describe(
      'auto: whole proofs; of an answer whose proof does not fit, the stored premises. whole, premises: only these',
    ),
    relevanceBuckets: optional(z.array(bucketSchema).max(maxBuckets)).describe(
      'Shares of the budget for groups of predicates',
    ),
    ...scopeFields,
    ...momentFields,
    predicates: predicatesSchema,
    sessionId: optional(sessionIdSchema).describe('Save the window as the baseline of /context/diff'),
    autoResolveContradictions: defaulted(z.boolean(), true).describe(
      'Of an atom that is true and false, keep only the more salient',
    ),
    maxFactsPerPredicate: optional(z.int().min(1).max(100_000)).describe(
      'Maximum number of facts per predicate',
    ),
    includeInferred: defaulted(z.boolean(), false).describe(
      'Also include conclusions that are not about the goals',
    ),
    explainOmitted: defaulted(z.boolean(), false).describe('List what was omitted, and why'),
    format: defaulted(answerFormatSchema, 'json'),
    timeoutMs: windowTimeoutSchema,
  })
  .superRefine(oneScopeChoice)
  .superRefine(knownWithoutQuery)
  .superRefine((value, context) => {
    const names = new Set<string>();
    for (const [at, { name }] of (value.relevanceBuckets ?? []).entries()) {
      if (names.has(name))
        context.addIssue({
          code: 'custom',
          path: ['relevanceBuckets', at, 'name'],
          message: 'another bucket has this name',
        });
      names.add(name);
    }
  });
export type OptimizeInput = z.output<typeof optimizeInputSchema>;

export const omissionReasons = [
  'budget',
  'bucket',
  'predicate_cap',
  'duplicate',
  'contradiction',
  'filtered',
] as const;
export type OmissionReason = (typeof omissionReasons)[number];

export const contradictionSchema = z.object({
  predicate: z.string(),
  args: z.array(z.string()),
  positiveSalience: z.number(),
  negativeSalience: z.number(),
});
export type Contradiction = z.output<typeof contradictionSchema>;

const goalStatuses = ['proved', 'premises', 'does_not_fit', 'no_answer', 'limit'] as const;
export type GoalStatus = (typeof goalStatuses)[number];

const windowGoalSchema = z.object({
  goal: z.string(),
  status: z.enum(goalStatuses).describe('premises: the window has only the stored premises of an answer'),
  answers: z.object({ found: z.int(), whole: z.int(), premises: z.int(), omitted: z.int() }),
  atoms: z.array(z.string()).describe('The first 20 answers'),
  needs: z
    .object({ facts: z.int(), chars: z.int(), tokens: z.int() })
    .nullable()
    .describe('The room for the proof of the first answer in an empty window'),
  reason: z.enum(omissionReasons).nullable().describe('Why the first answer is omitted'),
});

export const contextWindowSchema = z.object({
  windowId: z.string(),
  entries: z.array(contextEntrySchema),
  goals: z.array(windowGoalSchema),
  goalsLeftOut: z
    .int()
    .optional()
    .describe('With a query: goals of its mentions that were not worked out or not kept'),
  mentions: z.array(mentionSchema).optional().describe('With a query: what it names'),
  relevantRules: z.array(z.string()).describe('Rendered, oldest rule first'),
  totalFactsAvailable: z.int().describe('After deduplication'),
  totalFactsIncluded: z.int(),
  deduplicationSavings: z.int(),
  contradictionsFound: z.int(),
  contradictionsResolved: z.int(),
  contradictions: z.array(contradictionSchema),
  bucketStats: z.record(
    z.string(),
    z.object({
      factsIncluded: z.int(),
      maxAllocation: z.int(),
      minSalience: z.number().nullable(),
      maxSalience: z.number().nullable(),
    }),
  ),
  totalCharCount: z.int(),
  totalTokenCount: z.int().describe('o200k_base tokens of the lines of all entries, as in the text'),
  goalDriven: z.boolean(),
  knowledgeGeneration: generationSchema,
  generatedAt: timeSchema,
  omitted: z
    .array(z.object({ atom: z.string(), salience: z.number(), reason: z.enum(omissionReasons) }))
    .optional()
    .describe('Present if explainOmitted was set'),
  omittedComplete: z.literal(false).optional().describe('More was omitted than is listed'),
});
export type ContextWindow = z.output<typeof contextWindowSchema>;

/** A window as it is answered: its entries, or their text. */
export const chosenWindowSchema = contextWindowSchema.extend({
  entries: z.array(contextEntrySchema).optional(),
  text: factsTextSchema,
});

export const windowDiffInputSchema = z
  .strictObject({
    sessionId: sessionIdSchema,
    maxFacts: optional(maxFactsSchema),
    maxTokens: optional(maxTokensSchema),
    ...scopeFields,
    goals: goalsSchema,
    query: queryTextSchema,
    format: optional(answerFormatSchema),
  })
  .superRefine(oneScopeChoice);
export type WindowDiffInput = z.output<typeof windowDiffInputSchema>;

export const windowDiffSchema = z.object({
  previousWindowId: z.string(),
  currentWindowId: z.string(),
  added: z.array(
    contextEntrySchema.pick({
      predicate: true,
      args: true,
      named: true,
      negated: true,
      salience: true,
      category: true,
      charCount: true,
    }),
  ),
  removed: z.array(
    z.object({
      key: z.string().describe('predicate/arg1/arg2'),
      predicate: z.string(),
      args: z.array(z.string()),
      named: namedSchema.optional(),
      negated: z.boolean(),
      scope: z.string().nullable(),
    }),
  ),
  unchanged: z.int(),
  fullRefreshRecommended: z.boolean(),
  reason: z.string().nullable(),
});
export type WindowDiff = z.output<typeof windowDiffSchema>;

/** A comparison as it is answered: what was added and removed, or its text. */
export const diffAnswerSchema = windowDiffSchema.extend({
  added: windowDiffSchema.shape.added.optional(),
  removed: windowDiffSchema.shape.removed.optional(),
  text: z
    .string()
    .optional()
    .describe('With format text: a line for each atom that was added, after +, or removed, after -'),
});
export type DiffAnswer = z.output<typeof diffAnswerSchema>;

export const summaryInputSchema = z.strictObject(scopeFields).superRefine(oneScopeChoice);
export type SummaryInput = z.output<typeof summaryInputSchema>;

export const contextSummarySchema = z.object({
  totalFacts: z.int(),
  predicateCount: z.int(),
  topPredicates: z.array(z.object({ predicate: z.string(), count: z.int() })),
  factsWithTtl: z.int(),
  factsExpiringWithin1h: z.int(),
  contradictions: z.int(),
  topSalientFacts: z.array(contextEntrySchema),
  totalCharCount: z.int(),
  knowledgeGeneration: generationSchema,
  generatedAt: timeSchema,
});
export type ContextSummary = z.output<typeof contextSummarySchema>;

export const clearSessionInputSchema = z.strictObject({ sessionId: sessionIdSchema });
export type ClearSessionInput = z.output<typeof clearSessionInputSchema>;
