/** Wire schemas of rules. Rules belong to the database and apply to all its tenants. */
import { z } from 'zod';
import {
  generationSchema,
  completenessFields,
  defaulted,
  hintsSchema,
  oneScopeChoice,
  optional,
  queryFlag,
  runTestsSchema,
  scopeFields,
  testsPassedSchema,
  timeSchema,
} from './fields.ts';
import type { Atom, Literal } from './language.ts';
import { bodySchema, headSchema } from './language-schemas.ts';
import { knowledgeGenerationField } from './moments.ts';

export const maxRuleTextCharacters = 1_000_000;

const ruleTextSchema = z.string().min(1).max(maxRuleTextCharacters);

/** Refuses anything but exactly one of `text` and `head` with `body`. */
function oneForm(
  value: { text: string | null; head: Atom | null; body: Literal[] | null },
  context: z.RefinementCtx,
): void {
  if (value.text !== null) {
    if (value.head !== null || value.body !== null)
      context.addIssue({
        code: 'custom',
        path: ['text'],
        message: 'give either text or head and body, not both',
      });
    return;
  }
  if (value.head === null)
    context.addIssue({ code: 'custom', path: ['head'], message: 'give head and body, or text' });
  if (value.body === null)
    context.addIssue({ code: 'custom', path: ['body'], message: 'a rule needs a body' });
}

const ruleFields = {
  head: optional(headSchema).describe('The conclusion'),
  body: optional(bodySchema),
  text: optional(ruleTextSchema).describe('The rule as text, instead of head and body'),
  ...scopeFields,
  name: optional(z.string().max(256)).describe('For people'),
  description: optional(z.string().max(10_000)).describe('For people'),
  enabled: optional(z.boolean()).describe(
    'Default true; a disabled rule that is taught again stays disabled unless this is true',
  ),
};

export const ruleInputSchema = z.strictObject(ruleFields).superRefine(oneForm).superRefine(oneScopeChoice);
export type RuleInput = z.output<typeof ruleInputSchema>;

/** POST /teach. */
export const teachInputSchema = z
  .strictObject({ ...ruleFields, runTests: runTestsSchema })
  .superRefine(oneForm)
  .superRefine(oneScopeChoice);

/** The query string of DELETE /rules/:id. */
export const forgetRuleQuerySchema = z.strictObject({
  runTests: defaulted(queryFlag, false).describe(
    'Run the stored tests without the rule, and refuse with 422 TestsFailed if one fails',
  ),
});

/** PUT /rules/:id: the whole rule, or only some of `enabled`, `name`, `description`. */
export const ruleUpdateSchema = z
  .strictObject({ ...ruleFields, runTests: runTestsSchema })
  .superRefine(oneScopeChoice)
  .superRefine((value, context) => {
    if (value.text !== null || value.head !== null || value.body !== null) oneForm(value, context);
    else if (value.enabled === null && value.name === null && value.description === null)
      context.addIssue({
        code: 'custom',
        path: [],
        message: 'give the whole rule, or some of enabled, name, description',
      });
    else if (value.scope !== null || value.unscoped)
      context.addIssue({
        code: 'custom',
        path: ['scope'],
        message: 'to change the scope, give the whole rule',
      });
  });
export type RuleUpdate = z.output<typeof ruleUpdateSchema>;

const etagSchema = z.string().describe('The current entity tag of the rule, for If-Match');

export const ruleOutcomeSchema = z.object({
  status: z.enum(['asserted', 'updated', 'unchanged']),
  rule: z.string(),
  id: z.string(),
  etag: etagSchema,
  generation: generationSchema,
  tests: testsPassedSchema,
  hints: hintsSchema,
});
export type RuleOutcome = z.output<typeof ruleOutcomeSchema>;

export const ruleRetractedSchema = z.object({
  status: z.literal('retracted'),
  dependentsCount: z.int().describe('Conclusions in the view of its scope that are no longer true'),
  ...completenessFields,
  tests: testsPassedSchema,
  generation: generationSchema,
});
export type RuleRetracted = z.output<typeof ruleRetractedSchema>;

const atomOutput = z.object({ predicate: z.string(), args: z.array(z.string()), negated: z.boolean() });
export const literalOutputSchema: z.ZodType<Literal> = z.lazy(() =>
  z.union([
    z.object({ predicate: z.string(), args: z.array(z.string()), negated: z.boolean(), naf: z.boolean() }),
    z.object({
      aggregate: z.enum(['count', 'sum', 'min', 'max', 'avg']),
      result: z.string(),
      over: z.array(z.string()),
      body: z.array(literalOutputSchema),
    }),
  ]),
);

export const storedRuleSchema = z.object({
  id: z.string(),
  text: z.string(),
  head: atomOutput,
  body: z.array(literalOutputSchema),
  scope: z.string().nullable(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  createdAt: timeSchema,
  etag: etagSchema,
  fired: z.int().describe('How often inference drew a conclusion with it; saved with snapshots'),
});
export type StoredRule = z.output<typeof storedRuleSchema>;
export const ruleListSchema = z.object({ rules: z.array(storedRuleSchema), ...knowledgeGenerationField });

export const diagnosticCodes = [
  'syntax',
  'unknown_argument',
  'unsafe_variable',
  'arity_drift',
  'unknown_predicate',
  'near_miss_case',
  'singleton_variable',
  'negative_cycle',
  'duplicate',
] as const;

/** Lines and columns count from 1; columns in UTF-16 code units; the end is exclusive. */
export const diagnosticSchema = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  code: z.enum(diagnosticCodes),
  message: z.string(),
  startLine: z.int(),
  startColumn: z.int(),
  endLine: z.int(),
  endColumn: z.int(),
});
export type Diagnostic = z.output<typeof diagnosticSchema>;

export const validateInputSchema = z.strictObject({ text: z.string().max(maxRuleTextCharacters) });
export const validateResultSchema = z.object({
  valid: z.boolean(),
  diagnostics: z.array(diagnosticSchema),
  rules: z.int(),
  facts: z.int(),
  constraints: z.int(),
});
export type ValidateResult = z.output<typeof validateResultSchema>;
