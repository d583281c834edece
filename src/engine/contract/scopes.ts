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
      forkedFrom: z.string().nullable().describe('null: no fork, or one of the facts without scope'),
      forkedAt: generationSchema
        .nullable()
        .describe('The generation of the fork; null: no fork, or one made before forks were remembered'),
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

/** What merges come from: absent and null are not the same here. */
const mergeBaseSchema = z
  .union([scopeNameSchema, z.strictObject({ scope: scopeNameSchema }), z.null()], {
    error: 'base is "fork", null, the name of a scope, or {"scope": name}',
  })
  .optional()
  .describe(
    'What both come from, which makes it a three-way merge: "fork" (what they had in common when one was forked from the ' +
      'other, both from the same, or they were merged last; the default where there is that), or the name of a scope ' +
      '({"scope": "fork"} where that is its name); null: a two-way merge',
  );

/** What the answer says of the base. */
const baseFields = {
  base: z
    .union([z.string(), z.object({ scope: z.string() })])
    .nullable()
    .describe('The base that was used, as it is asked for: "fork", null, or a scope'),
  ancestor: z
    .object({
      scope: z.string().nullable().describe('null: the facts without scope'),
      generation: generationSchema,
      time: timeSchema,
    })
    .nullable()
    .describe('Of the base "fork": whose facts it is, and as of when'),
};

export const diffInputSchema = z.strictObject({
  source: sideSchema,
  target: sideSchema,
  limit: limitSchema,
  asMerge: defaulted(z.boolean(), false).describe('true: says too what a merge does with each difference'),
  base: mergeBaseSchema.describe('With asMerge: as in POST /scope/merge'),
});
export type DiffInput = z.output<typeof diffInputSchema>;
const mergeTakesSchema = z
  .enum(['source', 'target', 'conflict'])
  .optional()
  .describe('With asMerge: the side that a merge takes where nothing is resolved, or that it is a conflict');

const diffFactSchema = scopeFactSchema.extend({
  merge: mergeTakesSchema,
  opposite: scopeFactSchema
    .optional()
    .describe('With asMerge, of a fact to be added that is a conflict with it: what target holds'),
});

export const scopeDiffSchema = z.object({
  source: z.string().nullable(),
  target: z.string().nullable(),
  added: z.array(diffFactSchema).describe('In source, not in target'),
  removed: z.array(diffFactSchema).describe('In target, not in source'),
  modified: z.array(
    z.object({
      source: scopeFactSchema,
      target: scopeFactSchema,
      fields: z.array(z.enum(differingFields)),
      merge: mergeTakesSchema,
    }),
  ),
  unchanged: z.int(),
  truncated: z.boolean().describe('Some list is longer than limit'),
  base: baseFields.base.optional(),
  ancestor: baseFields.ancestor.optional(),
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
  base: mergeBaseSchema,
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
  target: scopeFactSchema
    .nullable()
    .describe('Its fact with these arguments, maybe the opposite; null: target deleted it since base'),
  fields: z.array(z.enum(differingFields)),
});
export type MergeConflict = z.output<typeof conflictSchema>;

export const mergedSchema = z.object({
  strategy: z.enum(mergeStrategies),
  ...baseFields,
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
