/** Scopes on the wire: variants of the knowledge side by side, forked, compared and merged. */
import { z } from 'zod';
import {
  completenessFields,
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  limitSchema,
  optional,
  scopeNameSchema,
  timeSchema,
} from './fields.ts';
import { constantsSchema, predicateSchema } from './language.ts';

export const scopeParams = z.strictObject({ name: scopeNameSchema });

/** A scope that has to be said: null is for the facts without scope. */
const sideSchema = z
  .union([scopeNameSchema, z.null()], {
    error: 'give the name of a scope, or null for the facts without scope',
  })
  .describe('A scope; null: the facts without scope');

export const scopeListSchema = z.object({
  scopes: z.array(
    z.object({
      name: z.string(),
      facts: z.int(),
      rules: z.int(),
      createdAt: timeSchema,
      forkedFrom: z.string().nullable(),
    }),
  ),
  count: z.int(),
});
export type ScopeList = z.output<typeof scopeListSchema>;

export const forkInputSchema = z.strictObject({ source: sideSchema, target: sideSchema });
export type ForkInput = z.output<typeof forkInputSchema>;
export const forkedSchema = z.object({
  source: z.string().nullable(),
  target: z.string().nullable(),
  facts: z.int(),
  rules: z.int(),
  generation: generationSchema,
});
export type Forked = z.output<typeof forkedSchema>;

/** A stored fact as it stands in one of the scopes that are compared. */
export const scopeFactSchema = z.object({
  id: z.string(),
  predicate: z.string(),
  args: z.array(z.string()),
  truthVal: z.boolean(),
  scope: z.string().nullable(),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type ScopeFact = z.output<typeof scopeFactSchema>;

export const differingFields = ['truthVal', 'validFrom', 'validUntil', 'metadata'] as const;

export const diffInputSchema = z.strictObject({ source: sideSchema, target: sideSchema, limit: limitSchema });
export type DiffInput = z.output<typeof diffInputSchema>;
export const scopeDiffSchema = z.object({
  source: z.string().nullable(),
  target: z.string().nullable(),
  added: z.array(scopeFactSchema).describe('In source, not in target'),
  removed: z.array(scopeFactSchema).describe('In target, not in source'),
  modified: z.array(
    z.object({ source: scopeFactSchema, target: scopeFactSchema, fields: z.array(z.enum(differingFields)) }),
  ),
  unchanged: z.int(),
  truncated: z.boolean().describe('Some list is longer than limit'),
});
export type ScopeDiff = z.output<typeof scopeDiffSchema>;

export const mergeStrategies = ['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH', 'REJECT'] as const;
export type MergeStrategy = (typeof mergeStrategies)[number];

const resolutionSchema = z.strictObject({
  predicate: predicateSchema,
  args: constantsSchema,
  take: z.enum(['source', 'target', 'both']),
});
export type Resolution = z.output<typeof resolutionSchema>;

const maxResolutions = 100_000;

export const mergeInputSchema = z.strictObject({
  source: sideSchema,
  target: sideSchema,
  strategy: z.enum(mergeStrategies),
  dryRun: defaulted(z.boolean(), false),
  base: optional(scopeNameSchema).describe('The scope that both come from: makes it a three-way merge'),
  resolutions: optional(
    z.array(resolutionSchema).max(maxResolutions, 'give at most 100,000 resolutions'),
  ).describe('Choices by fact, before the strategy'),
  timeoutMs: consequencesTimeoutSchema,
});
/** The list in `mergeInputSchema`. */
export const resolutionsList = { field: 'resolutions', element: resolutionSchema, most: maxResolutions };
export type MergeInput = z.output<typeof mergeInputSchema>;

export const conflictSchema = z.object({
  predicate: z.string(),
  args: z.array(z.string()),
  source: scopeFactSchema.nullable().describe('null: source deleted it since base'),
  target: scopeFactSchema.nullable().describe('null: target deleted it since base'),
  fields: z.array(z.enum(differingFields)),
});
export type MergeConflict = z.output<typeof conflictSchema>;

export const mergedSchema = z.object({
  strategy: z.enum(mergeStrategies),
  added: z.int(),
  updated: z.int(),
  deleted: z.int(),
  kept: z.int().describe("Pairs of which target's version stayed"),
  conflicts: z.array(conflictSchema),
  resolved: z.int().describe('Conflicts settled by resolutions'),
  gained: z.int().describe('Conclusions in the view of target that are new'),
  lost: z.int().describe('Conclusions in the view of target that no longer hold'),
  ...completenessFields,
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type Merged = z.output<typeof mergedSchema>;

export const scopeDeletedSchema = z.object({
  scope: z.string(),
  facts: z.int(),
  rules: z.int(),
  generation: generationSchema,
});
export type ScopeDeleted = z.output<typeof scopeDeletedSchema>;
