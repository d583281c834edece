/** The structured content of MCP tools: compact forms of their operations' answers. */
import { z } from 'zod';
import { retractPatternOutcomeSchema } from './facts.ts';

const hints = z.array(z.string()).optional();
const generation = z.int();

/** The outcome of one of several statements. */
const statementSchema = z.object({
  status: z.string(),
  atom: z.string().optional(),
  rule: z.string().optional(),
  id: z.string().optional(),
  retracted: z.int().optional(),
});
export type StatementOutcome = z.output<typeof statementSchema>;

export const toldSchema = z.object({
  status: z.string(),
  atom: z.string().optional(),
  rule: z.string().optional(),
  id: z.string().optional(),
  statements: z.array(statementSchema).optional(),
  asserted: z.int().optional(),
  updated: z.int().optional(),
  unchanged: z.int().optional(),
  generation,
  hints,
});
export type Told = z.output<typeof toldSchema>;

export const taughtSchema = z.object({
  status: z.string(),
  rule: z.string(),
  id: z.string(),
  generation,
  hints,
});

export const forgottenSchema = retractPatternOutcomeSchema.partial().extend({
  status: z.string(),
  rule: z.string().optional(),
  statements: z.array(statementSchema).optional(),
  hints,
});
export type Forgotten = z.output<typeof forgottenSchema>;

const slimStepSchema = z.object({
  id: z.int(),
  atom: z.string(),
  kind: z.string(),
  rule: z.string().optional(),
  premises: z.array(z.int()).optional(),
  scope: z.string().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  alternatives: z.array(z.object({ rule: z.string(), premises: z.array(z.int()) })).optional(),
});
export type SlimStep = z.output<typeof slimStepSchema>;

const whyNotSchema = z.object({
  atom: z.string(),
  attempts: z.array(
    z.object({ rule: z.string(), satisfied: z.array(z.string()), missing: z.array(z.string()) }),
  ),
  blockedBy: z.array(z.string()),
});
export type SlimWhyNot = z.output<typeof whyNotSchema>;

export const answeredSchema = z.object({
  results: z.array(z.string()),
  bindings: z.array(z.record(z.string(), z.string())).optional(),
  named: z.array(z.record(z.string(), z.string())).optional(),
  count: z.int(),
  truncated: z.boolean(),
  generation,
  proof: z
    .object({ roots: z.array(z.int()), steps: z.array(slimStepSchema), truncated: z.boolean().optional() })
    .optional(),
  whyNot: z.array(whyNotSchema).optional(),
  hints,
});
export type Answered = z.output<typeof answeredSchema>;

const entrySchema = z.object({
  atom: z.string(),
  salience: z.number().optional(),
  category: z.string().optional(),
  scope: z.string().optional(),
  validFrom: z.string().optional(),
  validUntil: z.string().optional(),
  rule: z.string().optional(),
  premises: z.array(z.string()).optional(),
});
export type SlimEntry = z.output<typeof entrySchema>;

/** Facts as lines to be read, instead of a list. */
const text = z.string().optional();
/** The names of the arguments of declared predicates in the list, each once: `lives_in(person, city)`. */
const named = z.array(z.string()).optional();

export const slimRecalledSchema = z.object({
  facts: z.array(entrySchema).optional(),
  text,
  arguments: named,
  returned: z.int(),
  totalFacts: z.int(),
  hints,
});
export type SlimRecalled = z.output<typeof slimRecalledSchema>;

/** The outcome of a goal; if it is not proved, what its first answer needs. */
const goalSchema = z.object({
  goal: z.string(),
  status: z.string(),
  facts: z.int().optional(),
  chars: z.int().optional(),
});
export type SlimGoal = z.output<typeof goalSchema>;

export const windowSchema = z.object({
  entries: z.array(entrySchema).optional(),
  text,
  arguments: named,
  goals: z.array(goalSchema).optional(),
  relevantRules: z.array(z.string()),
  contradictions: z.array(z.string()).optional(),
  omitted: z.array(z.object({ atom: z.string(), reason: z.string() })).optional(),
  totalFactsIncluded: z.int(),
  totalFactsAvailable: z.int(),
  knowledgeGeneration: generation,
  hints,
});
export type SlimWindow = z.output<typeof windowSchema>;

export const slimConsolidatedSchema = z.object({
  patternsFound: z.int(),
  summariesCreated: z.int(),
  factsConsolidated: z.int(),
  summaries: z.array(z.object({ atom: z.string(), support: z.int(), scope: z.string().optional() })),
  skipped: z.array(z.object({ atom: z.string(), reason: z.string() })).optional(),
  dryRun: z.boolean().optional(),
  generation,
  hints,
});
export type SlimConsolidated = z.output<typeof slimConsolidatedSchema>;

export const slimDecayedSchema = z.object({
  evicted: z.int(),
  expired: z.int(),
  lowSalience: z.int(),
  remaining: z.int(),
  atoms: z.array(z.string()),
  dryRun: z.boolean().optional(),
  generation,
});

export const slimPredicateListSchema = z.object({
  predicates: z.array(
    z.object({
      name: z.string(),
      arity: z.int(),
      facts: z.int(),
      rules: z.int(),
      example: z.string().optional(),
      scopes: z.array(z.string()).optional(),
      declared: z.string().optional(),
    }),
  ),
  constraints: z.array(z.string()).optional(),
  hints,
});

export const foundSchema = z.object({
  hits: z.array(
    z.object({
      kind: z.string(),
      text: z.string().describe('The atom, rule, entity or predicate'),
      id: z.string().optional(),
      score: z.number(),
      scope: z.string().optional(),
    }),
  ),
  mentions: z.array(z.string()),
  matched: z.boolean(),
  goalsLeftOut: z.int().optional(),
});
