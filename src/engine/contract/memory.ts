/** Wire schemas of memory: recall, statistics, consolidation, restoring and decay. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  listParameter,
  namedSchema,
  optional,
  queryFlag,
  queryInteger,
  queryNumber,
  scopeParameters,
  oneScopeChoice,
  scopeFields,
  windowTimeoutSchema,
  timeSchema,
} from './fields.ts';
import { predicateSchema } from './language-schemas.ts';
import { mentionSchema } from './mention.ts';
import { knowledgeGenerationField, knownWithoutQuery, momentFields, momentParameters } from './moments.ts';

export const maxPredicatesNamed = 1000;

export const predicatesSchema = optional(
  z.array(predicateSchema).min(1, 'name at least one predicate').max(maxPredicatesNamed),
).describe('Only these predicates, with any arity; absent: all');

const maxQueryCharacters = 65_536;

/** A text that a window or a recall is about. */
export const queryTextSchema = optional(z.string().min(1).max(maxQueryCharacters)).describe(
  'Plain words: what they mention becomes goals, and what matches them follows',
);

/** How facts to read are answered: as entries, or as a text. */
export const answerFormats = ['json', 'text'] as const;
export const answerFormatSchema = z
  .enum(answerFormats)
  .describe('text: a field `text` instead of the facts, one fact a line, to be read in this order');

export const maxTokensSchema = z
  .int()
  .min(1)
  .max(100_000_000)
  .describe('Maximum o200k_base tokens of the lines of all facts together');

/** The lines of facts, in the order in which to read them: premises before what they prove. */
export const factsTextSchema = z
  .string()
  .optional()
  .describe('With format text: one fact a line, conclusions after =>');

/** Category of a window entry; the first that applies. */
export const categories = [
  'goal_relevant',
  'related',
  'inferred',
  'consolidated',
  'ephemeral',
  'recent',
  'asserted',
] as const;
export type Category = (typeof categories)[number];

export const provenanceSchema = z
  .object({ rule: z.string(), premises: z.array(z.string()) })
  .nullable()
  .describe('null: a stored fact; else the rule that concludes it and its premises, as in its proof');

export const contextEntrySchema = z.object({
  id: z.string().nullable().describe('Id of the stored fact; null for a conclusion'),
  predicate: z.string(),
  args: z.array(z.string()),
  named: namedSchema.optional(),
  negated: z.boolean(),
  scope: z.string().nullable(),
  salience: z.number().min(0).max(1),
  category: z.enum(categories),
  charCount: z.int().describe('Characters of the rendered atom'),
  provenance: provenanceSchema,
  createdAt: timeSchema,
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type ContextEntry = z.output<typeof contextEntrySchema>;

const maxFactsSchema = z.int().min(1).max(100_000);

/** The fields of POST /memory/context. */
export const recallFields = {
  maxFacts: defaulted(maxFactsSchema, 100).describe('Maximum number of facts'),
  maxTokens: optional(maxTokensSchema),
  minSalience: defaulted(z.number().min(0).max(1), 0).describe('Omit facts below it'),
  predicates: predicatesSchema,
  query: queryTextSchema,
  ...scopeFields,
  ...momentFields,
  includeInferred: defaulted(z.boolean(), false).describe(
    'Also include derivable conclusions of the predicates',
  ),
  format: defaulted(answerFormatSchema, 'json'),
  timeoutMs: windowTimeoutSchema,
};

export const recallInputSchema = z
  .strictObject(recallFields)
  .superRefine(oneScopeChoice)
  .superRefine(knownWithoutQuery);
export type RecallInput = z.output<typeof recallInputSchema>;

/** Query string of GET /memory/context: the same fields. */
export const recallQuerySchema = z
  .strictObject({
    maxFacts: defaulted(queryInteger(1, 100_000), 100),
    maxTokens: optional(queryInteger(1, 100_000_000)),
    minSalience: defaulted(queryNumber(0, 1), 0),
    predicates: listParameter(predicateSchema, maxPredicatesNamed),
    query: queryTextSchema,
    ...scopeParameters,
    ...momentParameters,
    includeInferred: defaulted(queryFlag, false),
    format: defaulted(answerFormatSchema, 'json'),
    timeoutMs: optional(queryInteger(1, 600_000)),
  })
  .superRefine(oneScopeChoice)
  .superRefine(knownWithoutQuery);

export const recalledSchema = z.object({
  ...knowledgeGenerationField,
  facts: z
    .array(contextEntrySchema)
    .describe('Highest salience first; with a query in the order in which to read them'),
  totalFacts: z.int().describe('Visible in the scope, before filtering'),
  returned: z.int(),
  mentions: z.array(mentionSchema).optional().describe('With a query: what it names'),
  goalsLeftOut: z.int().optional().describe('With a query: goals that were not worked out or not kept'),
  generatedAt: timeSchema,
});
export type Recalled = z.output<typeof recalledSchema>;

/** What was recalled as it is answered: its facts, or their text. */
export const recallAnswerSchema = recalledSchema.extend({
  facts: recalledSchema.shape.facts.optional(),
  text: factsTextSchema,
});

/** How far ahead the saliences can be asked for, in days. */
const maxDaysAhead = 3650;

export const memoryStatsQuerySchema = z
  .strictObject({
    ...scopeParameters,
    inDays: defaulted(queryInteger(0, maxDaysAhead), 0).describe(
      'The statistics in so many days, if no fact is used, stored or retracted until then',
    ),
  })
  .superRefine(oneScopeChoice);
export type MemoryStatsQuery = z.output<typeof memoryStatsQuerySchema>;

/** Histogram bins, each 1/20 wide; the last one includes 1. */
export const histogramBins = 20;

export const memoryStatsSchema = z.object({
  facts: z.int(),
  derived: z.int().describe('Known conclusions; a lower bound unless derivedComplete'),
  derivedComplete: z.boolean().describe('true: the count is exact'),
  histogram: z.array(z.int()).length(histogramBins).describe('Number of facts by salience, in bins of 0.05'),
  expiring: z.object({ within1h: z.int(), within24h: z.int(), within7d: z.int() }),
  fading: z.array(contextEntrySchema).describe('The unpinned facts with the lowest salience, lowest first'),
});
export type MemoryStats = z.output<typeof memoryStatsSchema>;

export const consolidateInputSchema = z
  .strictObject({
    ...scopeFields,
    predicates: predicatesSchema,
    minOccurrences: defaulted(z.int().min(2).max(1_000_000), 3).describe(
      'Minimum number of similar facts for a summary',
    ),
    dryRun: defaulted(z.boolean(), false).describe('Preview: report the outcome, change nothing'),
  })
  .superRefine(oneScopeChoice);
export type ConsolidateInput = z.output<typeof consolidateInputSchema>;

/** One fact that a summary replaces: its value at the episodic position, and all that is needed to restore it. */
export const consolidatedValueSchema = z.object({
  value: z.string(),
  createdAt: timeSchema,
  validFrom: timeSchema.exactOptional(),
  validUntil: timeSchema.exactOptional(),
  metadata: z.record(z.string(), z.json()).exactOptional(),
});
export type ConsolidatedValue = z.output<typeof consolidatedValueSchema>;

/** `metadata.consolidated` of a summary. */
export const consolidationSchema = z.object({
  from: z.string().describe('Predicate of the facts that the summary replaces'),
  position: z.int().min(0).describe('Position of the argument in which they differ, from 0'),
  values: z.array(consolidatedValueSchema).describe('By createdAt, then by value'),
  count: z.int(),
  first: timeSchema.describe('The earliest createdAt'),
  last: timeSchema.describe('The latest createdAt'),
});
export type Consolidation = z.output<typeof consolidationSchema>;

/** Suffix that turns the predicate of the facts into that of their summary. */
export const summarySuffix = '_summary';

export const skipReasons = ['name_too_long', 'atom_taken', 'too_large', 'next_time'] as const;
export type SkipReason = (typeof skipReasons)[number];
/** Maximum number of skipped patterns that are listed. */
export const maxSkippedNamed = 100;

export const consolidatedSchema = z.object({
  patternsFound: z.int().describe('Patterns that became a summary, joined one, or were skipped'),
  summariesCreated: z.int().describe('Summaries that are new or have more members than before'),
  factsConsolidated: z.int().describe('Facts retracted because a summary now replaces them'),
  summaries: z
    .array(
      z.object({
        atom: z.string(),
        scope: z.string().nullable(),
        support: z.int().describe('Number of facts that the summary represents'),
        replaced: z.array(z.string()).describe('Atoms that this call replaced'),
        metadata: z.object({ consolidated: consolidationSchema }).catchall(z.json()),
      }),
    )
    .describe('By atom, then by scope'),
  skipped: z
    .array(
      z.object({
        atom: z.string(),
        scope: z.string().nullable(),
        support: z.int(),
        reason: z.enum(skipReasons),
      }),
    )
    .max(maxSkippedNamed)
    .describe(
      'Skipped patterns, named by the summary they would have. Reasons: the name would be too long; another ' +
        'fact is stored under it; the facts are too large for one summary; or too large for this write, so that ' +
        'the next call takes them',
    ),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type Consolidated = z.output<typeof consolidatedSchema>;

export const restoreInputSchema = z.strictObject({
  id: z.string().min(1).max(256).describe('Id of a summary'),
});
export type RestoreInput = z.output<typeof restoreInputSchema>;

export const restoredSchema = z.object({
  restored: z.int().describe('Facts that were restored; those stored again in the meantime stay as they are'),
  atoms: z.array(z.string()).describe('Their atoms, in the order of the summary'),
  generation: generationSchema,
});
export type Restored = z.output<typeof restoredSchema>;

export const decayInputSchema = z
  .strictObject({
    threshold: defaulted(z.number().min(0).max(1), 0.05).describe('Evict facts with salience below it'),
    ...scopeFields,
    dryRun: defaulted(z.boolean(), false).describe('Preview: report the outcome, change nothing'),
  })
  .superRefine(oneScopeChoice);
export type DecayInput = z.output<typeof decayInputSchema>;

export const decayedSchema = z.object({
  evicted: z.int().describe('expired + lowSalience'),
  expired: z.int().describe('Facts whose validity had ended'),
  lowSalience: z.int().describe('Facts with salience below the threshold'),
  remaining: z.int().describe('Facts stored in the view afterwards'),
  atoms: z
    .array(z.string())
    .describe(
      'The evicted atoms: expired ones first, each group by salience, then by atom; at most 64 MiB of them, and 4 MiB with an `Idempotency-Key`',
    ),
  atomsOmitted: z
    .int()
    .optional()
    .describe('Number of evicted atoms that are not listed, since the list would be longer; absent: none'),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type Decayed = z.output<typeof decayedSchema>;
