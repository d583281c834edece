/** Wire schemas of entities: the page of a constant, aliases and merges. */
import { z } from 'zod';
import {
  completenessFields,
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  namedSchema,
  offsetSchema,
  oneScopeChoice,
  queryFlag,
  queryInteger,
  scopeFields,
  scopeParameters,
  timeoutSchema,
  timeSchema,
} from './fields.ts';
import { storedFactSchema } from './facts.ts';
import { constantSchema } from './language-schemas.ts';

const limitOfPage = 100;
const maxLimit = 100_000;
const maxOffset = 999_999_999_999_999;
const about = {
  infer: 'true: derive every conclusion about it within timeoutMs; otherwise those derived before',
  limit: 'Entries of each list',
  offset: 'Entries of each list to skip',
};

/** Most characters of an alias. */
const maxAliasCharacters = 1_024;
/** Most aliases of one entity, and of all entities of a tenant. */
export const maxAliasesOfEntity = 1_000;
export const maxAliases = 100_000;

/** The path of GET /entities/:constant. */
export const entityParams = z.strictObject({ constant: constantSchema });

/** The query string of GET /entities/:constant. */
export const entityQuerySchema = z
  .strictObject({
    ...scopeParameters,
    infer: defaulted(queryFlag, false).describe(about.infer),
    limit: defaulted(queryInteger(1, maxLimit), limitOfPage).describe(about.limit),
    offset: defaulted(queryInteger(0, maxOffset), 0).describe(about.offset),
    timeoutMs: defaulted(queryInteger(1, 600_000), 10_000).describe('Time for deriving, in milliseconds'),
  })
  .superRefine(oneScopeChoice);

/** The body of POST /entities. */
export const entityInputSchema = z
  .strictObject({
    constant: constantSchema,
    ...scopeFields,
    infer: defaulted(z.boolean(), false).describe(about.infer),
    limit: defaulted(z.int().min(1).max(maxLimit), limitOfPage).describe(about.limit),
    offset: offsetSchema.describe(about.offset),
    timeoutMs: timeoutSchema,
  })
  .superRefine(oneScopeChoice);
export type EntityInput = z.output<typeof entityInputSchema>;

const conclusionSchema = z.object({
  atom: z.string(),
  predicate: z.string(),
  args: z.array(z.string()),
  truthVal: z.boolean(),
});
export type EntityConclusion = z.output<typeof conclusionSchema>;

export const entityPageSchema = z.object({
  entity: z.string().describe('The constant; if the request named an alias, the entity of that alias'),
  aliases: z.array(z.string()).describe('Its other names, by code point'),
  asArgument: z
    .array(
      z.object({
        predicate: z.string(),
        arity: z.int(),
        position: z.int().describe('From 0'),
        name: z.string().nullable().describe('The declared name of the argument; null: it has none'),
        count: z.int().describe('Stored facts with it there, of both truth values'),
        derived: z.int().describe('Conclusions with it there, as far as `conclusions` goes'),
      }),
    )
    .describe('Where it occurs, by predicate, arity and position'),
  facts: z.array(storedFactSchema).describe('Stored facts with it, newest first'),
  conclusions: z.array(conclusionSchema).describe('Conclusions with it that are not stored, by relation'),
  conclusionsComplete: z
    .boolean()
    .describe('true: these are all conclusions; false: only those that were derived so far'),
  notWorkedOut: z
    .array(z.string())
    .optional()
    .describe('With infer=true: predicate/arity of what was not derived in time, negated with -'),
  neighbours: z
    .array(
      z.object({
        entity: z.string(),
        via: z.string().describe('The predicate'),
        count: z.int().describe('Facts and conclusions of the predicate with both'),
      }),
    )
    .describe('Constants that share a fact or a conclusion with it, most first'),
  mentionsInRules: z
    .array(
      z.object({
        id: z.string(),
        rule: z.string(),
        name: z.string().nullable(),
        scope: z.string().nullable(),
        enabled: z.boolean(),
      }),
    )
    .describe('Rules that name it, in order of creation'),
  history: z
    .array(
      z.object({
        time: timeSchema,
        generation: generationSchema,
        requestId: z.string(),
        change: z.enum(['asserted', 'updated']),
        id: z.string(),
        atom: z.string(),
      }),
    )
    .describe('Changes of the facts that it has now, newest first'),
  totals: z
    .object({ facts: z.int(), conclusions: z.int(), neighbours: z.int(), mentionsInRules: z.int() })
    .describe('Lengths of the whole lists'),
  nextOffset: z.int().nullable().describe('The offset of the next page; null: no list goes on'),
  generation: generationSchema,
});
export type EntityPage = z.output<typeof entityPageSchema>;

export const aliasInputSchema = z.strictObject({
  entity: constantSchema,
  alias: constantSchema
    .refine(
      (alias) => alias.length <= maxAliasCharacters,
      `an alias has at most ${maxAliasCharacters} characters`,
    )
    .refine((alias) => alias.trim() !== '', 'an alias has a character that can be seen')
    .describe('Another name of the entity: no fact has it, and it is no other entity’s'),
});
export type AliasInput = z.output<typeof aliasInputSchema>;

const aliasOutcome = { entity: z.string(), alias: z.string(), generation: generationSchema };
export const aliasAddedSchema = z.object({ status: z.enum(['added', 'unchanged']), ...aliasOutcome });
export type AliasAdded = z.output<typeof aliasAddedSchema>;
export const aliasRemovedSchema = z.object({ status: z.enum(['removed', 'absent']), ...aliasOutcome });
export type AliasRemoved = z.output<typeof aliasRemovedSchema>;

/** Most rewritten facts that an answer lists. */
export const maxRewrittenListed = 10_000;

export const mergeEntitiesInputSchema = z.strictObject({
  from: constantSchema.describe('The name that goes: it becomes an alias'),
  into: constantSchema.describe('The name that stays'),
  dryRun: defaulted(z.boolean(), false).describe('Preview: report the outcome, change nothing'),
  limit: defaulted(z.int().min(1).max(100_000), 100).describe(
    `Rewritten facts to list; at most ${maxRewrittenListed} are`,
  ),
  timeoutMs: consequencesTimeoutSchema,
});
export type MergeEntitiesInput = z.output<typeof mergeEntitiesInputSchema>;

const rewrittenFactSchema = z.object({
  predicate: z.string(),
  args: z.array(z.string()),
  named: namedSchema.optional(),
  truthVal: z.boolean(),
  scope: z.string().nullable(),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
});
export type RewrittenFact = z.output<typeof rewrittenFactSchema>;

export const entitiesMergedSchema = z.object({
  from: z.string(),
  into: z.string(),
  facts: z.int().describe('Facts of `from`, in every scope and of both truth values: all were rewritten'),
  joined: z.int().describe('Those of them that became equal to another fact and were joined with it'),
  aliases: z.array(z.string()).describe('All aliases of `into` afterwards, by code point'),
  gained: z.int().describe('Conclusions that are true afterwards and were not before'),
  lost: z.int().describe('Conclusions that were true before and are not afterwards'),
  ...completenessFields,
  rulesMentioning: entityPageSchema.shape.mentionsInRules.describe(
    'Rules that name `from`: they are not rewritten',
  ),
  rewritten: z
    .array(
      z.object({
        before: rewrittenFactSchema,
        after: rewrittenFactSchema,
        joined: rewrittenFactSchema.nullable().describe('The stored fact that it was joined with, as it was'),
      }),
    )
    .describe('In order of assertion, the first `limit`; empty for a repeated request'),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type EntitiesMerged = z.output<typeof entitiesMergedSchema>;
