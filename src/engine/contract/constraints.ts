/** Wire schemas of constraints and what violates them. Constraints belong to the database and apply to all its tenants. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  optional,
  scopeNameSchema,
  timeSchema,
  timeoutSchema,
} from './fields.ts';
import { proofSchema } from './inference.ts';
import { literalOutputSchema, maxRuleTextCharacters } from './rules.ts';

const modeSchema = z
  .enum(['warn', 'reject'])
  .describe('warn: violations are listed; reject: a write that would cause one is refused');

const fields = {
  name: z.string().min(1).max(256).describe('For people'),
  description: optional(z.string().max(10_000)).describe(
    'Why it is forbidden; absent: the text in quotation marks after the body, if there is one',
  ),
  mode: modeSchema,
  scope: optional(scopeNameSchema).describe(
    'The only view in which it is checked; absent: the unscoped view and the view of each scope',
  ),
  dryRun: defaulted(z.boolean(), false).describe('Store nothing, and answer what is violated already'),
  timeoutMs: timeoutSchema.describe('Dry run: time for finding violations, in milliseconds'),
};

const textSchema = z
  .string()
  .min(1)
  .max(maxRuleTextCharacters)
  .describe('`!- body`: what must have no answer. A body as in rules');

export const constraintInputSchema = z.strictObject({ text: textSchema, ...fields });
export type ConstraintInput = z.output<typeof constraintInputSchema>;

/** PUT /constraints/:id: what changes. With `text`, `scope` is replaced too. */
export const constraintUpdateSchema = z
  .strictObject({
    ...fields,
    text: optional(textSchema).describe('The new text; the scope is then the given one, or none'),
    name: optional(fields.name),
    mode: optional(modeSchema),
  })
  .superRefine(({ text, name, description, mode, scope }, context) => {
    if (text === null && scope !== null)
      context.addIssue({
        code: 'custom',
        path: ['scope'],
        message: 'to change the scope, give the text too',
      });
    else if (text === null && name === null && description === null && mode === null)
      context.addIssue({
        code: 'custom',
        path: [],
        message: 'give some of text, name, description and mode',
      });
  });
export type ConstraintUpdate = z.output<typeof constraintUpdateSchema>;

/** How many violations a refusal or a dry run lists. */
export const maxViolationsListed = 100;

export const constraintViolationSchema = z.object({
  kind: z.literal('constraint'),
  constraint: z.string().describe('Id of the constraint'),
  name: z.string().describe('Name of the constraint'),
  mode: modeSchema,
  scope: z.string().nullable().describe('The view: that of this scope; null: the unscoped view'),
  bindings: z
    .record(z.string(), z.string())
    .describe('The values of the variables that atoms of the body bind: they tell violations apart'),
  instance: z.string().describe('The body with its values, as text'),
  proof: proofSchema.nullable().describe('Its one root is the instance'),
});
/** An instance of the body of a constraint that has an answer. */
export type ConstraintViolation = z.output<typeof constraintViolationSchema>;

const dryRunFields = {
  dryRun: z.literal(true).optional(),
  violations: z
    .array(constraintViolationSchema)
    .optional()
    .describe(`Dry run: what is violated already, the first ${maxViolationsListed}`),
  violationCount: z.int().optional().describe('Dry run: number of violations'),
  refused: z
    .literal('ConstraintViolated')
    .optional()
    .describe('Dry run: the real call would be refused for violations that are new with it'),
};

export const constraintOutcomeSchema = z.object({
  status: z.enum(['asserted', 'updated', 'unchanged']),
  id: z.string(),
  constraint: z.string().describe('As text'),
  generation: generationSchema,
  ...dryRunFields,
});
export type ConstraintOutcome = z.output<typeof constraintOutcomeSchema>;

export const constraintRemovedSchema = z.object({
  status: z.literal('retracted'),
  id: z.string(),
  generation: generationSchema,
});
export type ConstraintRemoved = z.output<typeof constraintRemovedSchema>;

export const storedConstraintSchema = z.object({
  id: z.string(),
  text: z.string(),
  body: z.array(literalOutputSchema),
  name: z.string(),
  description: z.string().nullable(),
  mode: modeSchema,
  scope: z.string().nullable(),
  createdAt: timeSchema,
});
export type StoredConstraint = z.output<typeof storedConstraintSchema>;
export const constraintListSchema = z.object({ constraints: z.array(storedConstraintSchema) });
