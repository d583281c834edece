/** Wire schemas of packages: knowledge from files, applied under a name. */
import { z } from 'zod';
import {
  completenessFields,
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  optional,
  queryFlag,
  queryInteger,
  scopeNameSchema,
  timeSchema,
} from './fields.ts';
import { actorSchema } from './history.ts';

/** Packages of one tenant. */
export const maxPackages = 1000;
/** UTF-16 units of one text; MAX_REQUEST_BODY_BYTES bounds all of them together. */
const maxPackageCharacters = 100_000_000;
/** Files of one package. */
const maxFiles = 10_000;
/** Changes of each kind that an answer lists; all are counted. */
export const maxPackageChangesListed = 100;

/** The path of a package: a name is what a scope's name may be. */
export const packageParams = z.strictObject({ name: scopeNameSchema });

const fileSchema = z.strictObject({
  path: z.string().min(1).max(1024).describe('For messages: it is where errors are'),
  text: z.string().max(maxPackageCharacters),
});

/** The body of PUT /packages/:name. */
export const packageInputSchema = z
  .strictObject({
    text: optional(z.string().max(maxPackageCharacters)).describe(
      'The whole package: facts, rules, `!-` constraints and `:declare` lines. Tests are left out',
    ),
    files: optional(z.array(fileSchema).max(maxFiles)).describe('The same in several texts'),
    scope: optional(scopeNameSchema).describe(
      'Of its facts, rules and constraints; absent: none. Declarations have no scope',
    ),
    dryRun: defaulted(z.boolean(), false).describe('Answer without storing anything'),
    timeoutMs: consequencesTimeoutSchema,
  })
  .superRefine(({ text, files }, context) => {
    if ((text === null) !== (files === null)) return;
    context.addIssue({ code: 'custom', path: ['text'], message: 'give either text or files' });
  });
export type PackageInput = z.output<typeof packageInputSchema>;

/** The query string of DELETE /packages/:name. */
export const packageRemovalSchema = z.strictObject({
  dryRun: defaulted(queryFlag, false),
  timeoutMs: defaulted(queryInteger(1, 600_000), 2000).describe('Time for deriving consequences'),
});
export type PackageRemoval = z.output<typeof packageRemovalSchema>;

const listed = z.array(z.string()).max(maxPackageChangesListed);

const changesSchema = z.object({
  added: z.int(),
  removed: z.int(),
  changed: z.int(),
  kept: z.int().describe('What the package states and was stored already'),
  listed: z
    .object({ added: listed, removed: listed, changed: listed })
    .describe(`As text, the first ${maxPackageChangesListed} of each`),
});
export type PackageChanges = z.output<typeof changesSchema>;

const keptSchema = z.object({
  kind: z.enum(['fact', 'rule', 'declaration', 'constraint']),
  text: z.string(),
  reason: z.string().describe('Why it stays'),
});
export type PackageKept = z.output<typeof keptSchema>;

/** What applying or deleting a package did, or would do. */
export const packageOutcomeSchema = z.object({
  name: z.string(),
  scope: z.string().nullable(),
  status: z
    .enum(['applied', 'unchanged', 'deleted'])
    .describe('unchanged: the service holds all that the package states, and nothing else of the package'),
  facts: changesSchema.describe('changed: facts of others whose validity ends, by a key with `supersede`'),
  rules: changesSchema,
  declarations: changesSchema,
  constraints: changesSchema,
  kept: z
    .array(keptSchema)
    .describe(
      'What the package no longer states and stays: somebody changed it since, or another package holds it too. It is then ' +
        `no longer the package's. The first ${maxPackageChangesListed}`,
    ),
  keptCount: z.int(),
  gained: z.int().describe('Conclusions that become true'),
  lost: z.int().describe('Conclusions that are no longer true'),
  conclusions: z
    .object({ gained: listed, lost: listed })
    .describe(
      `As text, the first ${maxPackageChangesListed} of each by code point; of a repeated request none`,
    ),
  ...completenessFields,
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type PackageOutcome = z.output<typeof packageOutcomeSchema>;

const summaryFields = {
  name: z.string(),
  scope: z.string().nullable(),
  appliedAt: timeSchema.describe('When it was last applied with a change'),
  appliedBy: actorSchema,
  generation: generationSchema.describe('Of that'),
  counts: z
    .object({ facts: z.int(), rules: z.int(), declarations: z.int(), constraints: z.int() })
    .describe('What it brought, as of then'),
};

export const packageListSchema = z.object({
  packages: z.array(z.object(summaryFields)).describe('By name'),
});
export type PackageList = z.output<typeof packageListSchema>;
export type PackageSummary = PackageList['packages'][number];

/** The query string of GET /packages/:name. */
export const packageQuerySchema = z.strictObject({
  limit: defaulted(queryInteger(1, 100_000), 100).describe('Facts'),
  offset: defaulted(queryInteger(0, 999_999_999_999_999), 0).describe('Facts to skip'),
});
export type PackageQuery = z.output<typeof packageQuerySchema>;

const stateSchema = z
  .enum(['held', 'changed', 'gone'])
  .describe(
    'changed: somebody changed it since, so that applying does not take it away; gone: it is not stored',
  );
export type PackagedState = z.output<typeof stateSchema>;

export const packageDetailSchema = z.object({
  ...summaryFields,
  facts: z
    .array(
      z.object({
        atom: z.string(),
        predicate: z.string(),
        args: z.array(z.string()),
        truthVal: z.boolean(),
        scope: z.string().nullable(),
        id: z.string().nullable().describe('null: it is not stored'),
        state: stateSchema,
      }),
    )
    .describe('One page, in the order in which it brought them'),
  nextOffset: z.int().nullable(),
  rules: z.array(
    z.object({
      id: z.string(),
      text: z.string().nullable().describe('null: it is gone'),
      scope: z.string().nullable(),
      state: stateSchema,
    }),
  ),
  declarations: z.array(
    z.object({ name: z.string(), arity: z.int(), text: z.string().nullable(), state: stateSchema }),
  ),
  constraints: z.array(
    z.object({
      id: z.string(),
      text: z.string().nullable(),
      description: z.string().nullable(),
      scope: z.string().nullable(),
      state: stateSchema,
    }),
  ),
});
export type PackageDetail = z.output<typeof packageDetailSchema>;
