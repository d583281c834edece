/** Questions on the wire, their answers and proofs. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  hintsSchema,
  limitSchema,
  offsetSchema,
  oneScopeChoice,
  optional,
  scopeFields,
  timeoutSchema,
} from './fields.ts';
import { isPlainPredicate, isPlainScope } from './facts.ts';
import { bodySchema, predicateSchema, termsSchema } from './language.ts';
import { areTerms, isBoolean, isWhole, plainInput } from './plain-input.ts';
import { takingTruthVal } from './same-said.ts';

export const defaultMaxDerivations = 10_000_000;
/** A proof stops growing here and says `truncated`. */
export const maxProofSteps = 100_000;

/** A pattern (`predicate`, `args`), or a rule body as literals or as text: exactly one of the three (`oneForm`). */
export const askedForms = {
  predicate: optional(predicateSchema),
  args: optional(termsSchema),
  body: optional(bodySchema),
  text: optional(z.string().min(1).max(100_000)).describe(
    'A question as text: atoms with commas for and, not, comparisons',
  ),
  negated: defaulted(z.boolean(), false).describe('With predicate: ask for what is explicitly not so'),
};

/** What is asked, in one of its forms. */
export type AskedForms = z.output<z.ZodObject<typeof askedForms>>;

/** Refuses a question in no form or in several. Use with `.superRefine`. */
export function oneForm(value: AskedForms, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message });
  const forms = [value.predicate, value.body, value.text].filter((form) => form !== null).length;
  if (forms === 0) refuse('predicate', 'give predicate and args, or body, or text');
  else if (forms > 1) refuse('predicate', 'give only one of predicate, body and text');
  else if (value.predicate !== null && value.args === null) refuse('args', 'give args beside predicate');
  else if (value.predicate === null && value.args !== null)
    refuse('args', 'args stand beside predicate only');
  else if (value.predicate === null && value.negated)
    refuse('negated', 'negated stands beside predicate only');
}

/** The fields of /ask. */
export const askFields = {
  ...askedForms,
  ...scopeFields,
  withProof: defaulted(z.boolean(), false).describe('The proof too'),
  allProofs: defaulted(z.boolean(), false).describe('In the proof, the other ways to each conclusion too'),
  limit: limitSchema,
  offset: offsetSchema,
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations).describe(
    'Steps it may take',
  ),
};

export const askInputSchema = takingTruthVal(
  z.strictObject(askFields).superRefine(oneScopeChoice).superRefine(oneForm),
);
export type AskInput = z.output<typeof askInputSchema>;

/** What `askInputSchema` makes of a usual question of one atom; null of all others. */
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

export const proofStepSchema = z.object({
  id: z.int(),
  atom: z.string(),
  kind: z.enum(proofStepKinds),
  rule: z.string().nullable(),
  ruleId: z.string().nullable(),
  premises: z.array(z.int()).describe('Ids of earlier steps, in the order of the rule’s body'),
  scope: z.string().nullable(),
  factId: z.string().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  alternatives: z
    .array(z.object({ rule: z.string(), ruleId: z.string(), premises: z.array(z.int()) }))
    .optional(),
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
  count: z.int(),
  truncated: z.boolean(),
  total: z.int(),
  generation: generationSchema,
  elapsedMs: z.number(),
  proof: proofSchema.optional(),
  hints: hintsSchema,
});
export type Answer = z.output<typeof answerSchema>;
