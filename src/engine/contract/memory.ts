/** Memory on the wire: what is most present, what fades, and how it is evicted, consolidated and restored. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  listParameter,
  optional,
  queryFlag,
  queryInteger,
  queryNumber,
  scopeParameters,
  oneScopeChoice,
  scopeFields,
  timeoutSchema,
  timeSchema,
} from './fields.ts';
import { predicateSchema } from './language.ts';

export const maxPredicatesNamed = 1000;

export const predicatesSchema = optional(
  z.array(predicateSchema).min(1, 'name at least one predicate').max(maxPredicatesNamed),
).describe('Only these predicates, of any arity; absent: all');

/** What an entry of a window is; of several that fit, the first. */
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
  .describe('null: a stored fact; else the rule that concludes it and the premises, as in its proof');

export const contextEntrySchema = z.object({
  id: z.string().nullable().describe('Of the stored fact; null for a conclusion'),
  predicate: z.string(),
  args: z.array(z.string()),
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

/** Body of POST /memory/context. */
export const recallInputSchema = z
  .strictObject({
    maxFacts: defaulted(maxFactsSchema, 100).describe('Facts at most'),
    minSalience: defaulted(z.number().min(0).max(1), 0).describe('Facts below it are left out'),
    predicates: predicatesSchema,
    ...scopeFields,
    includeInferred: defaulted(z.boolean(), false).describe(
      'The derivable conclusions of the predicates too',
    ),
    timeoutMs: timeoutSchema,
  })
  .superRefine(oneScopeChoice);
export type RecallInput = z.output<typeof recallInputSchema>;

/** The query string of GET /memory/context: the same fields. */
export const recallQuerySchema = z
  .strictObject({
    maxFacts: defaulted(queryInteger(1, 100_000), 100),
    minSalience: defaulted(queryNumber(0, 1), 0),
    predicates: listParameter(predicateSchema, maxPredicatesNamed),
    ...scopeParameters,
    includeInferred: defaulted(queryFlag, false),
    timeoutMs: defaulted(queryInteger(1, 600_000), 10_000),
  })
  .superRefine(oneScopeChoice);

export const recalledSchema = z.object({
  facts: z.array(contextEntrySchema).describe('Highest salience first'),
  totalFacts: z.int().describe('Visible in the scope, before the filters'),
  returned: z.int(),
  generatedAt: timeSchema,
});
export type Recalled = z.output<typeof recalledSchema>;

export const memoryStatsQuerySchema = z.strictObject(scopeParameters).superRefine(oneScopeChoice);
export type MemoryStatsQuery = z.output<typeof memoryStatsQuerySchema>;

/** Bins of the histogram, each 1/20 wide; the last holds 1 too. */
export const histogramBins = 20;

export const memoryStatsSchema = z.object({
  facts: z.int(),
  derived: z.int().describe('Conclusions that are known: at least so many where not complete'),
  derivedComplete: z.boolean().describe('true: there are exactly so many now'),
  histogram: z.array(z.int()).length(histogramBins).describe('Facts by salience, in bins of 0.05'),
  expiring: z.object({ within1h: z.int(), within24h: z.int(), within7d: z.int() }),
  fading: z
    .array(contextEntrySchema)
    .describe('The facts of least salience that are not pinned, least first'),
});
export type MemoryStats = z.output<typeof memoryStatsSchema>;

export const consolidateInputSchema = z
  .strictObject({
    ...scopeFields,
    predicates: predicatesSchema,
    minOccurrences: defaulted(z.int().min(2).max(1_000_000), 3).describe('Alike facts that make a summary'),
    dryRun: defaulted(z.boolean(), false).describe('Answer as if, and change nothing'),
  })
  .superRefine(oneScopeChoice);
export type ConsolidateInput = z.output<typeof consolidateInputSchema>;

/** One fact that a summary stands for: what it had at the episodic position, and all that brings it back. */
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
  from: z.string().describe('The predicate of the facts that the summary stands for'),
  position: z.int().min(0).describe('Where they differ, from 0'),
  values: z.array(consolidatedValueSchema).describe('By createdAt, then by value'),
  count: z.int(),
  first: timeSchema.describe('The earliest createdAt'),
  last: timeSchema.describe('The latest createdAt'),
});
export type Consolidation = z.output<typeof consolidationSchema>;

/** What follows the predicate of the facts in that of their summary. */
export const summarySuffix = '_summary';

export const skipReasons = ['name_too_long', 'atom_taken', 'too_large', 'next_time'] as const;
export type SkipReason = (typeof skipReasons)[number];
/** How many patterns that were left alone are named. */
export const maxSkippedNamed = 100;

export const consolidatedSchema = z.object({
  patternsFound: z.int().describe('Those that became a summary, joined one, or were left alone'),
  summariesCreated: z.int().describe('Summaries that are new, or have more members than before'),
  factsConsolidated: z.int().describe('Facts retracted since a summary stands for them now'),
  summaries: z
    .array(
      z.object({
        atom: z.string(),
        scope: z.string().nullable(),
        support: z.int().describe('How many facts the summary stands for'),
        replaced: z.array(z.string()).describe('Atoms that it took the place of, now'),
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
      'Patterns left alone, by the summary they would have: its name would be too long; something else is stored ' +
        'under it; their facts are too large for one summary; or for this write, so that the next call takes them',
    ),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type Consolidated = z.output<typeof consolidatedSchema>;

export const restoreInputSchema = z.strictObject({
  id: z.string().min(1).max(256).describe('Of a summary'),
});
export type RestoreInput = z.output<typeof restoreInputSchema>;

export const restoredSchema = z.object({
  restored: z.int().describe('Facts that returned; what was stored again meanwhile stays as it is'),
  atoms: z.array(z.string()).describe('Their atoms, in the order of the summary'),
  generation: generationSchema,
});
export type Restored = z.output<typeof restoredSchema>;

export const decayInputSchema = z
  .strictObject({
    threshold: defaulted(z.number().min(0).max(1), 0.05).describe('Salience below which a fact goes'),
    ...scopeFields,
    dryRun: defaulted(z.boolean(), false).describe('Answer as if, and change nothing'),
  })
  .superRefine(oneScopeChoice);
export type DecayInput = z.output<typeof decayInputSchema>;

export const decayedSchema = z.object({
  evicted: z.int().describe('expired + lowSalience'),
  expired: z.int().describe('Their validity had ended'),
  lowSalience: z.int().describe('Their salience was below the threshold'),
  remaining: z.int().describe('Facts stored in the view afterwards'),
  atoms: z.array(z.string()).describe('What was evicted: the expired first, each by salience, then by atom'),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type Decayed = z.output<typeof decayedSchema>;
