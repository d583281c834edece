/** Knowledge as files: imported from a stream, exported to one. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  oneScopeChoice,
  optional,
  queryFlag,
  scopeParameters,
} from './fields.ts';
import { factInputSchema } from './facts.ts';
import { predicateSchema } from './language.ts';
import { maxRuleTextCharacters, type RuleInput, ruleInputSchema } from './rules.ts';

export const importTypes = [
  'application/x-ndjson',
  'text/csv',
  'text/tab-separated-values',
  'text/x-datalog',
  'text/turtle',
  'application/n-triples',
] as const;
export type ImportType = (typeof importTypes)[number];

/** So many complaints an answer lists; all are counted. */
export const maxImportErrors = 1000;

/** The query string of POST /import. */
export const importQuerySchema = z
  .strictObject({
    ...scopeParameters,
    predicate: optional(predicateSchema).describe(
      'Of CSV and TSV: the predicate of every line, each column of which is an argument',
    ),
    dryRun: defaulted(queryFlag, false),
  })
  .superRefine(oneScopeChoice);
export type ImportQuery = z.output<typeof importQuerySchema>;

/** A line of NDJSON that is a fact: as /assert/fact takes it. */
export const importedFactSchema = factInputSchema;
export type ImportedFact = z.output<typeof importedFactSchema>;

/** A line of NDJSON that is a rule: its text in `rule`, and beside it what /teach takes. */
export const importedRuleSchema = z
  .object({ rule: z.string().min(1).max(maxRuleTextCharacters) })
  .catchall(z.unknown())
  .transform(({ rule, ...fields }, context): RuleInput => {
    for (const field of ['text', 'head', 'body'])
      if (field in fields) {
        context.addIssue({ code: 'custom', path: [field], message: 'unknown field' });
        return z.NEVER;
      }
    const parsed = ruleInputSchema.safeParse({ ...fields, text: rule });
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues)
      context.addIssue({
        code: 'custom',
        path: path.map((part) => (part === 'text' ? 'rule' : part)),
        message,
      });
    return z.NEVER;
  });

/** While an import is going on: what has been done so far, all of it durable. */
const importProgressSchema = z.object({
  processed: z.int().describe('Facts and rules that were read, and lines that failed'),
  asserted: z.int(),
  failed: z.int(),
});
export type ImportProgress = z.output<typeof importProgressSchema>;

const importDoneSchema = z.object({
  done: z.literal(true),
  id: z.string(),
  asserted: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  rules: z.int().describe('Rules that were taught, known before or not'),
  failed: z.int(),
  errors: z
    .array(z.object({ line: z.int().describe('From 1 on'), message: z.string() }))
    .describe(`The first ${maxImportErrors}`),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type ImportDone = z.output<typeof importDoneSchema>;

/** One line of the answer; the last is `done`, or, where the import broke off, a problem. */
export const importLineSchema = z.union([
  importDoneSchema,
  importProgressSchema,
  z.object({ error: z.looseObject({ code: z.string(), detail: z.string() }) }),
]);

export const importUndoneSchema = z.object({
  retracted: z.int(),
  kept: z.array(z.string()).describe('Facts that were changed since, in the order of their assertion'),
  generation: generationSchema,
});
export type ImportUndone = z.output<typeof importUndoneSchema>;

export const exportFormats = ['ndjson', 'datalog', 'csv', 'ntriples'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The query string of GET /export. */
export const exportQuerySchema = z
  .strictObject({
    format: defaulted(z.enum(exportFormats), 'ndjson'),
    ...scopeParameters,
    predicate: optional(predicateSchema),
    rules: optional(queryFlag).describe(
      'Rules too; absent: in the formats that can hold them, ndjson and datalog',
    ),
  })
  .superRefine(oneScopeChoice);
export type ExportQuery = z.output<typeof exportQuerySchema>;
