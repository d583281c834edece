/** Questions about answers on the wire: why and why not, what if, what inference did. */
import { z } from 'zod';
import { factSchema } from './facts.ts';
import { defaulted, oneScopeChoice, optional, scopeFields, timeoutSchema } from './fields.ts';
import { askedForms, defaultMaxDerivations, oneForm, proofSchema } from './inference.ts';
import { constantsSchema, predicateSchema, termsSchema } from './language.ts';
import { ruleInputSchema } from './rules.ts';
import { takingNegated, takingTruthVal } from './same-said.ts';

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
      negated: defaulted(z.boolean(), false).describe('true: about what is explicitly not so'),
      mode: z.enum(['why', 'whyNot']).describe('whyNot: of an atom without variables'),
      ...limitFields,
    })
    .superRefine(oneScopeChoice),
);
export type ExplainInput = z.output<typeof explainInputSchema>;

export const blockReasons = ['expired', 'not_yet_valid', 'other_scope', 'rule_disabled'] as const;

const attemptSchema = z.object({
  rule: z.string(),
  ruleId: z.string(),
  bindings: z.record(z.string(), z.string()).describe('Those that satisfy most of the body; names without ?'),
  satisfied: z.array(z.string()).describe('Literals of the body that hold, in its order'),
  missing: z.array(z.string()).describe('Those that do not, with what is bound'),
});

const whySchema = z.object({ atom: z.string(), holds: z.boolean(), proof: proofSchema });
const whyNotSchema = z.object({
  atom: z.string(),
  holds: z.boolean(),
  attempts: z.array(attemptSchema),
  blockedBy: z
    .array(z.object({ reason: z.enum(blockReasons), detail: z.string() }))
    .describe('By reason; of the atom before its missing premises'),
});
export const explanationSchema = z.union([whySchema, whyNotSchema]);
export type Why = z.output<typeof whySchema>;
export type WhyNot = z.output<typeof whyNotSchema>;
export type Explanation = z.output<typeof explanationSchema>;

const goalSchema = takingTruthVal(
  z.strictObject({
    predicate: predicateSchema,
    args: termsSchema,
    negated: defaulted(z.boolean(), false),
  }),
);

/** What /retract takes of a fact: no scope means every scope, no truthVal both. */
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

export const whatIfInputSchema = z
  .strictObject({
    assert: defaulted(z.array(factSchema).max(10_000), []).describe('After retract'),
    retract: defaulted(z.array(retractionSchema).max(10_000), []).describe('As /retract would'),
    rules: defaulted(z.array(ruleInputSchema).max(1000), []).describe('After withoutRules; as /teach would'),
    withoutRules: defaulted(z.array(z.string().min(1).max(256)).max(10_000), []).describe('Ids'),
    goals: optional(z.array(goalSchema).min(1).max(1000)).describe('Absent: all that the change can reach'),
    ...scopeFields,
    ...limitFields,
  })
  .superRefine(oneScopeChoice);
export type WhatIfInput = z.output<typeof whatIfInputSchema>;

export const whatIfResultSchema = z.object({
  goals: z.array(
    z.object({
      goal: z.string(),
      before: z.array(z.string()),
      after: z.array(z.string()),
      gained: z.array(z.string()).describe('In after and not in before, without what was supposed'),
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
      maxEvents: defaulted(z.int().min(1).max(100_000), 10_000),
      ...limitFields,
    })
    .superRefine(oneScopeChoice)
    .superRefine(oneForm),
);
export type TraceInput = z.output<typeof traceInputSchema>;

export const tracePorts = ['call', 'exit', 'fail', 'reuse'] as const;

/** More subgoals than these are worked out and not listed. */
export const maxTracedSubgoals = 100_000;

const tracedScope = z.string().nullable().describe('Of the view it is read in, where that is one of a scope');

const traceEventSchema = z.object({
  seq: z.int().describe('From 1, in the order in which it happened'),
  port: z
    .enum(tracePorts)
    .describe(
      'call: demanded for the first time; reuse: demanded again; exit: an answer was found; fail: there is none',
    ),
  depth: z.int().describe('How many demands lead to it; 0 is the question'),
  atom: z.string().describe('Of an exit the answer, else the subgoal'),
  ruleId: z
    .string()
    .nullable()
    .describe(
      'Of call and reuse the rule that demands, of exit the rule that concludes, null where it is none',
    ),
  scope: tracedScope,
});
export type TraceEvent = z.output<typeof traceEventSchema>;

export const traceSchema = z.object({
  answers: z.int(),
  elapsedMs: z.number(),
  rules: z
    .array(
      z.object({
        ruleId: z.string(),
        rule: z.string(),
        fired: z.int().describe('How often its body was satisfied'),
        derived: z.int().describe('How many conclusions were new'),
        elapsedMs: z.number().describe('Spent in its joins'),
      }),
    )
    .describe('Those that were tried, the first created first'),
  subgoals: z
    .array(
      z.object({
        goal: z.string(),
        calls: z.int().describe('How often it was demanded, the first time included'),
        answers: z.int(),
        scope: tracedScope,
      }),
    )
    .describe(`In the order of their first call, ${maxTracedSubgoals} at most`),
  events: z.array(traceEventSchema),
  truncated: z.boolean().describe('There were more events, or more subgoals, than are listed'),
});
export type Trace = z.output<typeof traceSchema>;
