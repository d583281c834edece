/** Wire schemas of import and export. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  oneScopeChoice,
  optional,
  queryFlag,
  scopeNameSchema,
  scopeParameters,
} from './fields.ts';
import { factInputSchema } from './facts.ts';
import {
  type ConstraintInput,
  constraintInputSchema,
  constraintViolationSchema,
  maxViolationsListed,
} from './constraints.ts';
import { type DeclarationInput, declarationInputSchema } from './declarations.ts';
import { maxArguments } from './language.ts';
import { predicateSchema } from './language-schemas.ts';
import { maxRuleTextCharacters, type RuleInput, ruleInputSchema } from './rules.ts';
import { momentParameters } from './moments.ts';

export const importTypes = [
  'application/x-ndjson',
  'text/csv',
  'text/tab-separated-values',
  'text/x-datalog',
  'text/turtle',
  'application/n-triples',
] as const;
export type ImportType = (typeof importTypes)[number];

/** Maximum number of errors that an import lists; all are counted. */
export const maxImportErrors = 1000;
/** How many things without a counterpart an import lists. */
export const maxLeftOut = 100;

/** The query string of POST /import. */
export const importQuerySchema = z
  .strictObject({
    ...scopeParameters,
    predicate: optional(predicateSchema).describe(
      'CSV and TSV: the predicate of every line; each column is an argument',
    ),
    declare: defaulted(queryFlag, false).describe(
      'CSV and TSV with a predicate: the first line names the columns. They become the declared names of its arguments, or ' +
        'are put in the order of a declaration with these names',
    ),
    shapes: defaulted(queryFlag, false).describe(
      'Turtle and N-Triples: domains, ranges and SHACL shapes become declarations and constraints, too',
    ),
    dryRun: defaulted(queryFlag, false),
  })
  .superRefine(oneScopeChoice);
export type ImportQuery = z.output<typeof importQuerySchema>;

/** An NDJSON line with a fact: the fields of /assert/fact. */
export const importedFactSchema = factInputSchema;
export type ImportedFact = z.output<typeof importedFactSchema>;

/** An NDJSON line with a rule: its text in `rule`, and the other fields of /teach. */
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

/** An NDJSON line with a constraint: its text in `constraint`, and the other fields of POST /constraints but dryRun. */
export const importedConstraintSchema = z
  .object({ constraint: z.string().min(1).max(maxRuleTextCharacters) })
  .catchall(z.unknown())
  .transform(({ constraint, ...fields }, context): ConstraintInput => {
    for (const field of ['text', 'dryRun', 'timeoutMs'])
      if (field in fields) {
        context.addIssue({ code: 'custom', path: [field], message: 'unknown field' });
        return z.NEVER;
      }
    const parsed = constraintInputSchema.safeParse({ ...fields, text: constraint });
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues)
      context.addIssue({
        code: 'custom',
        path: path.map((part) => (part === 'text' ? 'constraint' : part)),
        message,
      });
    return z.NEVER;
  });
/** An NDJSON line with a test: its text in `test`. */
export const importedTestSchema = z.strictObject({
  test: z.string().min(1).max(maxRuleTextCharacters),
  scope: optional(scopeNameSchema),
});
export type ImportedTest = z.output<typeof importedTestSchema>;

/** An NDJSON line with a declaration: the predicate and the fields of PUT /predicates in `declare`. */
export const importedDeclarationSchema = z
  .strictObject({
    declare: z
      .object({ name: predicateSchema, arity: z.int().min(0).max(maxArguments) })
      .catchall(z.unknown()),
  })
  .transform(({ declare: { name, arity, ...fields } }, context): ImportedDeclaration => {
    const parsed = declarationInputSchema.safeParse(fields);
    if (parsed.success) return { name, arity, ...parsed.data };
    for (const { path, message } of parsed.error.issues)
      context.addIssue({ code: 'custom', path: ['declare', ...path], message });
    return z.NEVER;
  });
export type ImportedDeclaration = DeclarationInput & { readonly name: string; readonly arity: number };

/** Progress of a running import; all of it is durable. */
const importProgressSchema = z.object({
  processed: z.int().describe('Facts, rules, constraints and tests that were read, plus lines that failed'),
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
  rules: z.int().describe('Rules that were taught, whether new or known'),
  aliases: z.int().optional().describe('Aliases of entities, whether new or known; absent: none'),
  declarations: z.int().optional().describe('Predicates that were declared; absent: none'),
  failed: z.int(),
  errors: z
    .array(z.object({ line: z.int().describe('From 1'), message: z.string() }))
    .describe(`The first ${maxImportErrors}`),
  constraints: z.int().optional().describe('Constraints that were added or changed; absent: none'),
  tests: z.int().optional().describe('Tests that were read, whether new or known; absent: none'),
  refused: z
    .literal('ConstraintViolated')
    .optional()
    .describe('What the import newly asserted violates constraints, and was retracted as by undo'),
  violations: z
    .array(constraintViolationSchema)
    .optional()
    .describe(`The first ${maxViolationsListed} of them`),
  violationCount: z.int().optional(),
  stopped: z
    .literal('QuotaExceeded')
    .optional()
    .describe(
      'The import ended at a line that a quota refused, the last of `errors`; what was before it is stored',
    ),
  leftOut: z
    .array(z.string())
    .optional()
    .describe(
      'With `shapes`: what of the class model became neither declaration nor constraint, the first 100; absent: nothing',
    ),
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
});
export type ImportDone = z.output<typeof importDoneSchema>;

/** One line of the answer; the last is `done`, or a problem if the import was aborted. */
export const importLineSchema = z.union([
  importDoneSchema,
  importProgressSchema,
  z.object({ error: z.looseObject({ code: z.string(), detail: z.string() }) }),
]);

export const importUndoneSchema = z.object({
  retracted: z.int(),
  kept: z.array(z.string()).describe('Facts that have changed since, in order of assertion'),
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
    ...momentParameters,
    predicate: optional(predicateSchema),
    rules: optional(queryFlag).describe(
      'Export rules, constraints and tests too; absent: true in ndjson and datalog, the formats that can express them',
    ),
    ended: optional(queryFlag).describe(
      'NDJSON: also facts whose validity has ended, as long as they are kept; an import takes them back',
    ),
    escape: optional(z.literal('spreadsheet')).describe(
      'CSV: put an apostrophe before each value that a spreadsheet would run as a formula',
    ),
  })
  .superRefine(oneScopeChoice)
  .superRefine(({ format, escape, ended }, context) => {
    if (ended === true && format !== 'ndjson')
      context.addIssue({
        code: 'custom',
        path: ['ended'],
        message: 'is for format=ndjson, which has validity',
      });
    if (escape !== null && format !== 'csv')
      context.addIssue({ code: 'custom', path: ['escape'], message: 'is for format=csv' });
  });
export type ExportQuery = z.output<typeof exportQuerySchema>;
