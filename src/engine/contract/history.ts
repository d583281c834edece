/** Wire schemas of the history: who changed what, the lives of a fact, taking changes back, and erasing. */
import { z } from 'zod';
import {
  databaseNameSchema,
  defaulted,
  generationSchema,
  optional,
  queryInteger,
  tenantNameSchema,
  timeSchema,
} from './fields.ts';
import { constantSchema, predicateSchema } from './language-schemas.ts';
import { momentSchema, momentTextSchema } from './moments.ts';

/** Facts listed of one kind of change; all are counted. */
export const maxChangesListed = 100;

const pattern = z.array(z.string()).max(64);

const queryArgs = z
  .string()
  .max(65_536)
  .transform((text, context): string[] => {
    try {
      const parsed = pattern.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    context.addIssue({
      code: 'custom',
      message: 'args is a JSON list of texts, such as ["alice", "?who"]; ?name matches anything',
    });
    return z.NEVER;
  });

/** The query string of GET /history. */
export const historyQuerySchema = z
  .strictObject({
    entity: optional(constantSchema).describe('Changes of facts with this argument, or one of its aliases'),
    predicate: optional(predicateSchema).describe('Changes of facts of this predicate'),
    args: optional(queryArgs).describe(
      'With predicate: a JSON list of arguments, such as ["alice", "?who"]; ?name matches anything',
    ),
    rule: optional(z.string().min(1).max(256)).describe('Changes of the rule with this id'),
    actor: optional(z.string().min(1).max(256)).describe('Id or name of a key, or `local`'),
    surface: optional(z.enum(['http', 'mcp', 'a2a', 'workbench', 'cli', 'system'])),
    after: optional(momentTextSchema).describe('Generations after this one, or after this ISO 8601 instant'),
    before: optional(momentTextSchema).describe(
      'Generations before this one, or before this ISO 8601 instant',
    ),
    limit: defaulted(queryInteger(1, 1000), 100),
    cursor: optional(z.string().max(64)).describe('nextCursor of the previous page of the same query'),
  })
  .superRefine(({ predicate, args }, context) => {
    if (args !== null && predicate === null)
      context.addIssue({ code: 'custom', path: ['args'], message: 'args needs predicate' });
  });
export type HistoryQuery = z.output<typeof historyQuerySchema>;

export const actorSchema = z
  .object({
    id: z.string().describe('Of the key; `local`: without a key'),
    name: z.string().nullable().describe('Of the key, as it was then'),
  })
  .nullable()
  .describe('null: unknown, for records of earlier versions');
export type Actor = z.output<typeof actorSchema>;

const surfaceSchema = z
  .string()
  .nullable()
  .describe('http, mcp, a2a, workbench, cli or system; null: unknown');

const changeListSchema = z.object({
  count: z.int(),
  facts: z.array(z.string()).describe(`The first ${maxChangesListed}, as text`),
});
export type ChangeList = z.output<typeof changeListSchema>;

const changeKindSchema = z.enum(['added', 'removed', 'changed']);
export type ChangeKindOfHistory = z.output<typeof changeKindSchema>;

const ruleChangesSchema = z.array(z.object({ id: z.string(), rule: z.string(), change: changeKindSchema }));
const shapeChangesSchema = z
  .array(
    z.object({
      kind: z.enum(['declaration', 'constraint', 'test', 'alias']),
      name: z.string(),
      change: changeKindSchema,
    }),
  )
  .describe('Of declarations, constraints, tests and aliases');

const changesFields = {
  added: changeListSchema,
  removed: changeListSchema,
  changed: changeListSchema.describe('Facts that got another validity or other metadata'),
  rules: ruleChangesSchema,
  declarations: shapeChangesSchema,
};

export const generationEntrySchema = z.object({
  generation: generationSchema,
  time: timeSchema,
  actor: actorSchema,
  surface: surfaceSchema,
  client: z.string().nullable().describe('Name and version of the program, as it said'),
  session: z.string().nullable(),
  reason: z.string().nullable().describe('What the request said in X-Reason'),
  operation: z.string(),
  ...changesFields,
  redacted: z
    .int()
    .describe(
      'Facts and aliases that were erased since, and are not listed; without entity, predicate and rule',
    ),
});
export type GenerationEntry = z.output<typeof generationEntrySchema>;

export const historySchema = z.object({
  generations: z.array(generationEntrySchema).describe('Newest first'),
  nextCursor: z
    .string()
    .nullable()
    .describe('null: these are the last ones. A page can have fewer than limit, or none, and a next one'),
  since: timeSchema
    .nullable()
    .describe(
      'The stamp of the oldest retained state; writes up to it are not listed. null: from the first write on',
    ),
  gaps: z
    .array(
      z.object({
        from: timeSchema.describe('The stamp of the last write that is known before it'),
        to: timeSchema.describe('The stamp of the state with which the history goes on'),
      }),
    )
    .describe('Where --repair lost writes: nothing in between is listed. The latest first'),
});
export type History = z.output<typeof historySchema>;

const boundSchema = z.object({
  generation: generationSchema,
  time: timeSchema,
  actor: actorSchema,
  surface: surfaceSchema,
});
export type LifeBound = z.output<typeof boundSchema>;

export const factHistorySchema = z.object({
  atom: z.string(),
  scope: z.string().nullable(),
  lives: z
    .array(
      z.object({
        id: z.string(),
        from: boundSchema.describe('The write that made it so; its origin is unknown before the history'),
        to: boundSchema.nullable().describe('The write that ended or changed it; null: none'),
        validFrom: timeSchema.nullable(),
        validUntil: timeSchema.nullable(),
        metadata: z.record(z.string(), z.unknown()),
      }),
    )
    .describe('Oldest first. An update ends one entry and begins the next one, with the same id'),
});
export type FactHistory = z.output<typeof factHistorySchema>;

const revertFields = {
  generation: optional(z.int().min(1)).describe('Takes back this one'),
  from: optional(momentSchema).describe('Takes back what came after this moment'),
  to: optional(momentSchema).describe('Up to this moment'),
  rules: defaulted(z.boolean(), false).describe(
    'Takes back changes of rules, declarations and constraints too, for all tenants of the database',
  ),
  dryRun: defaulted(z.boolean(), false),
};

/** The body of POST /history/revert. */
export const revertInputSchema = z.strictObject(revertFields).superRefine((value, context) => {
  const refuse = (path: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  const isRange = value.from !== null || value.to !== null;
  if (value.generation === null && (value.from === null || value.to === null))
    refuse('generation', 'give a generation, or from and to');
  else if (value.generation !== null && isRange)
    refuse('generation', 'give generation or from and to, not both');
});
export type RevertInput = z.output<typeof revertInputSchema>;

export const revertedSchema = z.object({
  status: z.enum(['reverted', 'unchanged']).describe('unchanged: there was nothing to take back'),
  from: generationSchema,
  to: generationSchema,
  ...changesFields,
  left: z
    .object({ rules: z.int(), declarations: z.int() })
    .describe('Changes in the range that were left, since `rules` is false'),
  generation: generationSchema,
  dryRun: z.boolean().optional(),
});
export type Reverted = z.output<typeof revertedSchema>;

/** The body of POST /admin/forget. */
export const forgetEntitySchema = z.strictObject({
  database: defaulted(databaseNameSchema, 'default'),
  tenant: tenantNameSchema,
  entity: constantSchema.describe('The entity, or one of its aliases'),
  dryRun: defaulted(z.boolean(), false).describe('Preview: find what would be erased, change nothing'),
});
export type ForgetEntityInput = z.output<typeof forgetEntitySchema>;

export const forgottenEntitySchema = z.object({
  status: z.literal('forgotten'),
  facts: z.int().describe('Stored facts that were erased, those whose validity has ended too'),
  pastFacts: z.int().describe('Facts of the retained history that were no longer stored'),
  generationsRewritten: z.int().describe('Generations in the retained history that lost changes'),
  rulesMentioning: z.array(z.string()).describe('Ids of rules with one of the names; they are not changed'),
  notChanged: z
    .array(z.enum(['rules', 'metadata', 'reasons', 'backups']))
    .describe('Where the names may still be: rules and constraints, texts in metadata, earlier backups'),
  generation: generationSchema,
  dryRun: z.boolean().optional(),
});
export type ForgottenEntity = z.output<typeof forgottenEntitySchema>;
