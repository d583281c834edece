/** Wire schemas of scopes: variants of the knowledge that can be forked, compared and merged. */
import { z } from 'zod';
import {
  completenessFields,
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  namedSchema,
  limitSchema,
  optional,
  runTestsSchema,
  scopeNameSchema,
  timeSchema,
} from './fields.ts';
import { constantsSchema, predicateSchema } from './language-schemas.ts';
import { knowledgeGenerationField, momentFields } from './moments.ts';
import { testsOfWriteFields } from './stored-tests.ts';

export const scopeParams = z.strictObject({ name: scopeNameSchema });

/** A required choice of scope: null means the facts without scope. */
const sideSchema = z
  .union([scopeNameSchema, z.null()], {
    error: 'give the name of a scope, or null for the facts without scope',
  })
  .describe('A scope; null: the facts without scope');

export const scopeListSchema = z.object({
  ...knowledgeGenerationField,
  scopes: z.array(
    z.object({
      name: z.string(),
      facts: z.int(),
      rules: z.int(),
      createdAt: timeSchema,
      forkedFrom: z.string().nullable().describe('null: not a fork, or a fork of the facts without scope'),
      forkedAt: generationSchema
        .nullable()
        .describe('Generation of the fork; null: not a fork, or one from before forks were recorded'),
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

/** A stored fact of one of the two compared scopes. */
export const scopeFactSchema = z.object({
  id: z.string(),
  predicate: z.string(),
  args: z.array(z.string()),
  named: namedSchema.optional(),
  truthVal: z.boolean(),
  scope: z.string().nullable(),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type ScopeFact = z.output<typeof scopeFactSchema>;

/** `key`: two facts of different arguments with one value of a declared key. */
export const differingFields = ['truthVal', 'validFrom', 'validUntil', 'metadata', 'key'] as const;

/** The base of a merge: absent and null differ here. */
const mergeBaseSchema = z
  .union([scopeNameSchema, z.strictObject({ scope: scopeNameSchema }), z.null()], {
    error: 'base is "fork", null, the name of a scope, or {"scope": name}',
  })
  .optional()
  .describe(
    'The common base, which makes it a three-way merge: "fork" (their common state when one was forked from ' +
      'the other, both from the same, or they were last merged; the default if there is one), or the name of a ' +
      'scope ({"scope": "fork"} if that is its name); null: a two-way merge',
  );

/** What the answer reports about the base. */
const baseFields = {
  base: z
    .union([z.string(), z.object({ scope: z.string() })])
    .nullable()
    .describe('The base that was used, in the form of the request: "fork", null, or a scope'),
  ancestor: z
    .object({
      scope: z.string().nullable().describe('null: the facts without scope'),
      generation: generationSchema,
      time: timeSchema,
    })
    .nullable()
    .describe('For base "fork": the scope it is taken from, and the time'),
};

export const diffInputSchema = z.strictObject({
  source: sideSchema,
  target: sideSchema,
  limit: limitSchema,
  asMerge: defaulted(z.boolean(), false).describe(
    'true: also report what a merge would do with each difference',
  ),
  base: mergeBaseSchema.describe('With asMerge: as in POST /scope/merge'),
  ...momentFields,
});
export type DiffInput = z.output<typeof diffInputSchema>;
const mergeTakesSchema = z
  .enum(['source', 'target', 'conflict'])
  .optional()
  .describe('With asMerge: the side that a merge takes unless resolved, or conflict');

const diffFactSchema = scopeFactSchema.extend({
  merge: mergeTakesSchema,
  opposite: scopeFactSchema
    .optional()
    .describe('With asMerge, for a fact to be added that conflicts: the opposite fact of target'),
});

export const scopeDiffSchema = z.object({
  ...knowledgeGenerationField,
  source: z.string().nullable(),
  target: z.string().nullable(),
  added: z.array(diffFactSchema).describe('In source but not in target'),
  removed: z.array(diffFactSchema).describe('In target but not in source'),
  modified: z.array(
    z.object({
      source: scopeFactSchema,
      target: scopeFactSchema,
      fields: z.array(z.enum(differingFields)),
      merge: mergeTakesSchema,
    }),
  ),
  unchanged: z.int(),
  truncated: z.boolean().describe('A list is longer than limit'),
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
  runTests: runTestsSchema,
  base: mergeBaseSchema,
  resolutions: optional(
    z.array(resolutionSchema).max(maxResolutions, 'give at most 100,000 resolutions'),
  ).describe('Choices for single facts, applied before the strategy'),
  timeoutMs: consequencesTimeoutSchema,
});
/** The list in `mergeInputSchema`. */
export const resolutionsList = { field: 'resolutions', element: resolutionSchema, max: maxResolutions };
export type MergeInput = z.output<typeof mergeInputSchema>;

export const conflictSchema = z.object({
  predicate: z.string(),
  args: z.array(z.string()),
  named: namedSchema.optional(),
  source: scopeFactSchema.nullable().describe('null: source has deleted it since base'),
  target: scopeFactSchema
    .nullable()
    .describe(
      'The fact of target with these arguments, possibly the opposite; null: target has deleted it since base',
    ),
  fields: z.array(z.enum(differingFields)),
});
export type MergeConflict = z.output<typeof conflictSchema>;

export const mergedSchema = z.object({
  strategy: z.enum(mergeStrategies),
  ...baseFields,
  added: z.int(),
  updated: z.int(),
  deleted: z.int(),
  kept: z.int().describe("Pairs for which target's version stayed"),
  conflicts: z.array(conflictSchema),
  resolved: z.int().describe('Conflicts settled by resolutions'),
  gained: z.int().describe('New conclusions in the view of target'),
  lost: z.int().describe('Conclusions in the view of target that are no longer true'),
  ...completenessFields,
  ...testsOfWriteFields,
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
