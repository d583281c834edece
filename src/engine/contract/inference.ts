/** Wire schemas of questions, answers and proofs. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  hintsSchema,
  limitSchema,
  namedSchema,
  offsetSchema,
  oneScopeChoice,
  optional,
  scopeFields,
  timeoutSchema,
} from './fields.ts';
import { isPlainPredicate, isPlainScope } from './facts.ts';
import { bodySchema, predicateSchema, termsSchema } from './language-schemas.ts';
import { knowledgeGenerationField, momentFields } from './moments.ts';
import { planStepSchema } from './plan.ts';
import { areTerms, isBoolean, isWhole, plainInput } from './plain-input.ts';
import { takingTruthVal } from './same-said.ts';

export const defaultMaxDerivations = 10_000_000;
/** Maximum number of proof steps; beyond it the proof is `truncated`. */
export const maxProofSteps = 100_000;

/** A pattern (`predicate`, `args`), or a rule body as literals or as text: exactly one of the three (`oneForm`). */
export const askedForms = {
  predicate: optional(predicateSchema),
  args: optional(termsSchema),
  body: optional(bodySchema),
  text: optional(z.string().min(1).max(100_000)).describe(
    'A question as text: atoms with commas for and, not, comparisons',
  ),
  negated: defaulted(z.boolean(), false).describe('With predicate: ask for explicit negation'),
};

/** A question in one of its forms. */
export type AskedForms = z.output<z.ZodObject<typeof askedForms>>;

/** Refuses a question in no form or in several. For `.superRefine`. */
export function oneForm(value: AskedForms, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message });
  const forms = [value.predicate, value.body, value.text].filter((form) => form !== null).length;
  if (forms === 0) refuse('predicate', 'give predicate and args, or body, or text');
  else if (forms > 1) refuse('predicate', 'give only one of predicate, body and text');
  else if (value.predicate !== null && value.args === null) refuse('args', 'give args beside predicate');
  else if (value.predicate === null && value.args !== null) refuse('args', 'give args only with predicate');
  else if (value.predicate === null && value.negated) refuse('negated', 'give negated only with predicate');
}

/** The fields of /ask. */
export const askFields = {
  ...askedForms,
  ...scopeFields,
  ...momentFields,
  withProof: defaulted(z.boolean(), false).describe('Include the proof'),
  allProofs: defaulted(z.boolean(), false).describe('Include the alternative derivations of each conclusion'),
  limit: limitSchema,
  offset: offsetSchema,
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations).describe(
    'Maximum number of derivations',
  ),
};

const planField = {
  plan: z
    .boolean()
    .nullish()
    .describe('Evaluate the question afresh and add its plan, with the rows and the time of each step'),
};

export const askInputSchema = takingTruthVal(
  z
    .strictObject({ ...askFields, ...planField })
    .superRefine(oneScopeChoice)
    .superRefine(oneForm),
);
export type AskInput = z.output<typeof askInputSchema>;

/** Fast path of `askInputSchema` for a usual question of one atom; null for all others. */
export const plainQuestion = plainInput(
  askInputSchema,
  { predicate: 'p', args: [] },
  {
    predicate: isPlainPredicate,
    args: areTerms,
    negated: isBoolean,
    scope: isPlainScope,
    withProof: isBoolean,
    allProofs: isBoolean,
    limit: isWhole(1, 100_000),
    offset: isWhole(0, Number.MAX_SAFE_INTEGER),
    timeoutMs: isWhole(1, 600_000),
    maxDerivations: isWhole(1, 1_000_000_000),
  },
);

export const proofStepKinds = ['fact', 'rule', 'absence', 'builtin', 'aggregate'] as const;

/** Other derivations of a step that are listed at most. */
export const maxAlternatives = 100;

export const proofStepSchema = z.object({
  id: z.int(),
  atom: z.string(),
  named: namedSchema.optional().describe('Of a fact or conclusion: its arguments by their declared names'),
  kind: z.enum(proofStepKinds),
  rule: z.string().nullable(),
  ruleId: z.string().nullable(),
  premises: z.array(z.int()).describe('Ids of earlier steps, in body order'),
  scope: z.string().nullable(),
  factId: z.string().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  alternatives: z
    .array(z.object({ rule: z.string(), ruleId: z.string(), premises: z.array(z.int()) }))
    .optional()
    .describe(`With allProofs, the other derivations: the first ${maxAlternatives} of them`),
});
export type ProofStep = z.output<typeof proofStepSchema>;

export const proofSchema = z.object({
  roots: z.array(z.int()).describe('roots[i] is the step that proves results[i]'),
  steps: z.array(proofStepSchema),
  truncated: z.boolean().optional(),
});
export type Proof = z.output<typeof proofSchema>;

export const answerSchema = z.object({
  results: z.array(z.string()),
  bindings: z.array(z.record(z.string(), z.string())),
  named: z
    .array(namedSchema)
    .optional()
    .describe('Of a question of one atom: the arguments of each result by name, if all have a declared name'),
  count: z.int(),
  truncated: z.boolean(),
  total: z.int(),
  generation: generationSchema,
  ...knowledgeGenerationField,
  elapsedMs: z.number(),
  proof: proofSchema.optional(),
  plan: planStepSchema.optional().describe('If asked for: the plan with the rows and the time of each step'),
  planText: z.string().optional().describe('The same plan as indented text'),
  hints: hintsSchema,
});
export type Answer = z.output<typeof answerSchema>;
