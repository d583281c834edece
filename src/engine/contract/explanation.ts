/** Wire schemas of explanations: why, why not, what-if and trace. */
import { z } from 'zod';
import { factSchema } from './facts.ts';
import { defaulted, oneScopeChoice, optional, scopeFields, timeoutSchema } from './fields.ts';
import { askedForms, defaultMaxDerivations, oneForm, proofSchema } from './inference.ts';
import { constantsSchema, predicateSchema, termsSchema } from './language-schemas.ts';
import { ruleInputSchema } from './rules.ts';
import { takingNegated, takingTruthVal } from './same-said.ts';
import { knowledgeGenerationField, momentFields } from './moments.ts';

const limitFields = {
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations),
};

export const explainInputSchema = takingTruthVal(
  z
    .strictObject({
      predicate: predicateSchema,
      args: termsSchema,
      ...scopeFields,
      ...momentFields,
      negated: defaulted(z.boolean(), false).describe('true: ask about explicit negation (-predicate)'),
      mode: z.enum(['why', 'whyNot']).describe('whyNot needs an atom without variables'),
      ...limitFields,
    })
    .superRefine(oneScopeChoice),
);
export type ExplainInput = z.output<typeof explainInputSchema>;

export const blockReasons = ['expired', 'not_yet_valid', 'other_scope', 'rule_disabled'] as const;

const attemptSchema = z.object({
  rule: z.string(),
  ruleId: z.string(),
  bindings: z
    .record(z.string(), z.string())
    .describe('The bindings that satisfy most of the body; names without ?'),
  satisfied: z.array(z.string()).describe('Body literals that are satisfied, in body order'),
  missing: z.array(z.string()).describe('Body literals that are not, with the bound arguments filled in'),
});

const whySchema = z.object({
  atom: z.string(),
  holds: z.boolean(),
  proof: proofSchema,
  ...knowledgeGenerationField,
});
const whyNotSchema = z.object({
  ...knowledgeGenerationField,
  atom: z.string(),
  holds: z.boolean(),
  attempts: z.array(attemptSchema),
  blockedBy: z
    .array(z.object({ reason: z.enum(blockReasons), detail: z.string() }))
    .describe('Grouped by reason; those of the atom come before those of its missing premises'),
});
export const explanationSchema = z.union([whySchema, whyNotSchema]);
export type Why = z.output<typeof whySchema>;
export type WhyNot = z.output<typeof whyNotSchema>;
export type Explanation = z.output<typeof explanationSchema>;

/** A goal: a pattern of one atom. */
export const goalSchema = takingTruthVal(
  z.strictObject({
    predicate: predicateSchema,
    args: termsSchema,
    negated: defaulted(z.boolean(), false),
  }),
);

/** The same fields as /retract: no scope means every scope, no truthVal both truth values. */
const retractionSchema = takingNegated(
  z
    .strictObject({
      predicate: predicateSchema,
      args: constantsSchema,
      ...scopeFields,
      truthVal: optional(z.boolean()),
    })
    .superRefine(oneScopeChoice),
);

/** A supposed change: what a question is asked over. */
export const supposedFields = {
  assert: defaulted(z.array(factSchema).max(10_000), []).describe('Applied after retract'),
  retract: defaulted(z.array(retractionSchema).max(10_000), []).describe('Same meaning as in /retract'),
  rules: defaulted(z.array(ruleInputSchema).max(1000), []).describe(
    'Applied after withoutRules; same meaning as in /teach',
  ),
  withoutRules: defaulted(z.array(z.string().min(1).max(256)).max(10_000), []).describe('Ids'),
};

export const whatIfInputSchema = z
  .strictObject({
    ...supposedFields,
    goals: optional(z.array(goalSchema).min(1).max(1000)).describe(
      'Absent: everything that the change can reach',
    ),
    ...scopeFields,
    ...momentFields,
    ...limitFields,
  })
  .superRefine(oneScopeChoice);
export type WhatIfInput = z.output<typeof whatIfInputSchema>;

export const whatIfResultSchema = z.object({
  ...knowledgeGenerationField,
  goals: z.array(
    z.object({
      goal: z.string(),
      before: z.array(z.string()),
      after: z.array(z.string()),
      gained: z.array(z.string()).describe('In after but not in before, except what was supposed'),
      lost: z.array(z.string()),
    }),
  ),
});
export type WhatIfResult = z.output<typeof whatIfResultSchema>;

export const traceInputSchema = takingTruthVal(
  z
    .strictObject({
      ...askedForms,
      ...scopeFields,
      ...momentFields,
      maxEvents: defaulted(z.int().min(1).max(100_000), 10_000),
      ...limitFields,
    })
    .superRefine(oneScopeChoice)
    .superRefine(oneForm),
);
export type TraceInput = z.output<typeof traceInputSchema>;

export const tracePorts = ['call', 'exit', 'fail', 'reuse'] as const;

/** Maximum number of subgoals in a trace; further ones are evaluated but not listed. */
export const maxTracedSubgoals = 100_000;

const tracedScope = z
  .string()
  .nullable()
  .describe('The scope in whose view it is evaluated; null: another view');

const traceEventSchema = z.object({
  seq: z.int().describe('From 1, in order of occurrence'),
  port: z
    .enum(tracePorts)
    .describe('call: first demanded; reuse: demanded again; exit: an answer was found; fail: no answer'),
  depth: z.int().describe('Number of demands that lead to it; 0 is the question'),
  atom: z.string().describe('exit: the answer; otherwise the subgoal'),
  ruleId: z
    .string()
    .nullable()
    .describe('call and reuse: the rule that demands it; exit: the rule that concludes it; null: no rule'),
  scope: tracedScope,
});
export type TraceEvent = z.output<typeof traceEventSchema>;

export const traceSchema = z.object({
  ...knowledgeGenerationField,
  answers: z.int(),
  elapsedMs: z.number(),
  rules: z
    .array(
      z.object({
        ruleId: z.string(),
        rule: z.string(),
        fired: z.int().describe('How often its body was satisfied'),
        derived: z.int().describe('How many of its conclusions were new'),
        elapsedMs: z.number().describe('Time spent in its joins'),
      }),
    )
    .describe('The rules that were tried, oldest first'),
  subgoals: z
    .array(
      z.object({
        goal: z.string(),
        calls: z.int().describe('How often it was demanded, including the first time'),
        answers: z.int(),
        scope: tracedScope,
      }),
    )
    .describe(`In order of their first call, at most ${maxTracedSubgoals}`),
  events: z.array(traceEventSchema),
  truncated: z.boolean().describe('More events or subgoals occurred than are listed'),
});
export type Trace = z.output<typeof traceSchema>;
