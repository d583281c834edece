/** Questions about answers on the wire: why and why not, what if, what inference did. */
import { z } from 'zod';
import { factSchema } from './facts.ts';
import { defaulted, oneScopeChoice, optional, scopeFields, timeoutSchema } from './fields.ts';
import { askedForms, defaultMaxDerivations, oneForm, proofSchema } from './inference.ts';
import { constantsSchema, predicateSchema, termsSchema } from './language.ts';
import { ruleInputSchema } from './rules.ts';

const limitFields = {
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations),
};

export const explainInputSchema = z
  .strictObject({
    predicate: predicateSchema,
    args: termsSchema,
    ...scopeFields,
    negated: defaulted(z.boolean(), false).describe('true: about what is explicitly not so'),
    mode: z.enum(['why', 'whyNot']),
    ...limitFields,
  })
  .superRefine(oneScopeChoice);
export type ExplainInput = z.output<typeof explainInputSchema>;

export const blockReasons = ['expired', 'not_yet_valid', 'other_scope', 'rule_disabled'] as const;

const attemptSchema = z.object({
  rule: z.string(),
  ruleId: z.string(),
  bindings: z.record(z.string(), z.string()).describe('Those that got furthest, without ?'),
  satisfied: z.array(z.string()),
  missing: z.array(z.string()),
});

const whySchema = z.object({ atom: z.string(), holds: z.boolean(), proof: proofSchema });
const whyNotSchema = z.object({
  atom: z.string(),
  holds: z.boolean(),
  attempts: z.array(attemptSchema),
  blockedBy: z.array(z.object({ reason: z.enum(blockReasons), detail: z.string() })),
});
export const explanationSchema = z.union([whySchema, whyNotSchema]);
export type Why = z.output<typeof whySchema>;
export type WhyNot = z.output<typeof whyNotSchema>;
export type Explanation = z.output<typeof explanationSchema>;

const goalSchema = z.strictObject({
  predicate: predicateSchema,
  args: termsSchema,
  negated: defaulted(z.boolean(), false),
});

/** What /retract takes of a fact: no scope means every scope, no truthVal both. */
const retractionSchema = z
  .strictObject({
    predicate: predicateSchema,
    args: constantsSchema,
    ...scopeFields,
    truthVal: optional(z.boolean()),
  })
  .superRefine(oneScopeChoice);

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
      gained: z.array(z.string()),
      lost: z.array(z.string()),
    }),
  ),
});
export type WhatIfResult = z.output<typeof whatIfResultSchema>;

export const traceInputSchema = z
  .strictObject({
    ...askedForms,
    ...scopeFields,
    maxEvents: defaulted(z.int().min(1).max(100_000), 10_000),
    ...limitFields,
  })
  .superRefine(oneScopeChoice)
  .superRefine(oneForm);
export type TraceInput = z.output<typeof traceInputSchema>;

export const tracePorts = ['call', 'exit', 'fail', 'reuse'] as const;

export const traceSchema = z.object({
  answers: z.int(),
  elapsedMs: z.number(),
  rules: z.array(
    z.object({
      ruleId: z.string(),
      rule: z.string(),
      fired: z.int().describe('How often its body was satisfied'),
      derived: z.int().describe('How many conclusions were new'),
      elapsedMs: z.number(),
    }),
  ),
  subgoals: z.array(z.object({ goal: z.string(), calls: z.int(), answers: z.int() })),
  events: z.array(
    z.object({
      seq: z.int(),
      port: z.enum(tracePorts),
      depth: z.int(),
      atom: z.string(),
      ruleId: z.string().nullable(),
    }),
  ),
  truncated: z.boolean(),
});
export type Trace = z.output<typeof traceSchema>;

export const aggregateOperations = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVG'] as const;

export const aggregateInputSchema = z
  .strictObject({
    operation: z.enum(aggregateOperations),
    predicate: predicateSchema,
    args: optional(termsSchema).describe('Absent: any arguments, whatever the arity'),
    variable: optional(z.string().min(1).max(256)).describe('With or without ?'),
    argIndex: optional(z.int().min(0).max(63)).describe('In place of variable, from 0'),
    groupBy: defaulted(z.array(z.string().min(1).max(256)).max(64), []).describe('Variables'),
    distinct: defaulted(z.boolean(), false),
    infer: defaulted(z.boolean(), false),
    ...scopeFields,
    ...limitFields,
  })
  .superRefine(oneScopeChoice);
export type AggregateInput = z.output<typeof aggregateInputSchema>;

const aggregateValueSchema = z.union([z.number(), z.string(), z.null()]);

export const aggregateResultSchema = z.object({
  operation: z.enum(aggregateOperations),
  result: aggregateValueSchema,
  matchedFacts: z.int(),
  groups: z.array(
    z.object({
      key: z.record(z.string(), z.string()),
      result: aggregateValueSchema,
      matchedFacts: z.int(),
    }),
  ),
});
export type AggregateResult = z.output<typeof aggregateResultSchema>;
