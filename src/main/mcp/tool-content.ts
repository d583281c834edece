/**
 * The structured content of the tools: what an operation answers, without what an agent does not need.
 *
 * Many clients give the model the structured content in place of the text, and every token of it is paid for. So an
 * atom is a text, what is absent by nature is left out, and the text beside it (`tool-text.ts`) has all of it.
 */
import { z } from 'zod';
import { retractPatternOutcomeSchema } from '../../engine/contract/facts.ts';
import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import type { OperationOutput } from '../../engine/contract/operations.ts';
import { renderAtom } from '../../engine/index.ts';
import { cutArguments } from './cut-arguments.ts';
import type { ToolOperation } from './tools.ts';

const hints = z.array(z.string()).optional();
const generation = z.int();

/** What became of one statement of several. */
export const statementSchema = z.object({
  status: z.string(),
  atom: z.string().optional(),
  rule: z.string().optional(),
  id: z.string().optional(),
  retracted: z.int().optional(),
});
export type StatementOutcome = z.output<typeof statementSchema>;

const toldSchema = z.object({
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

const taughtSchema = z.object({ status: z.string(), rule: z.string(), id: z.string(), generation, hints });
export type Taught = z.output<typeof taughtSchema>;

const forgottenSchema = retractPatternOutcomeSchema.partial().extend({
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

const answeredSchema = z.object({
  results: z.array(z.string()),
  bindings: z.array(z.record(z.string(), z.string())).optional(),
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
  salience: z.number(),
  category: z.string().optional(),
  scope: z.string().optional(),
  validFrom: z.string().optional(),
  validUntil: z.string().optional(),
  rule: z.string().optional(),
  premises: z.array(z.string()).optional(),
});
export type SlimEntry = z.output<typeof entrySchema>;

const recalledSchema = z.object({
  facts: z.array(entrySchema),
  returned: z.int(),
  totalFacts: z.int(),
  hints,
});
export type SlimRecalled = z.output<typeof recalledSchema>;

const windowSchema = z.object({
  entries: z.array(entrySchema),
  relevantRules: z.array(z.string()),
  contradictions: z.array(z.string()).optional(),
  omitted: z.array(z.object({ atom: z.string(), reason: z.string() })).optional(),
  totalFactsIncluded: z.int(),
  totalFactsAvailable: z.int(),
  knowledgeGeneration: generation,
  hints,
});
export type SlimWindow = z.output<typeof windowSchema>;

const consolidatedSchema = z.object({
  patternsFound: z.int(),
  summariesCreated: z.int(),
  factsConsolidated: z.int(),
  summaries: z.array(z.object({ atom: z.string(), support: z.int(), scope: z.string().optional() })),
  skipped: z.array(z.object({ atom: z.string(), reason: z.string() })).optional(),
  dryRun: z.boolean().optional(),
  generation,
  hints,
});
export type SlimConsolidated = z.output<typeof consolidatedSchema>;

const decayedSchema = z.object({
  evicted: z.int(),
  expired: z.int(),
  lowSalience: z.int(),
  remaining: z.int(),
  atoms: z.array(z.string()),
  dryRun: z.boolean().optional(),
  generation,
});
export type SlimDecayed = z.output<typeof decayedSchema>;

const predicateListSchema = z.object({
  predicates: z.array(
    z.object({
      name: z.string(),
      arity: z.int(),
      facts: z.int(),
      rules: z.int(),
      example: z.string().optional(),
      scopes: z.array(z.string()).optional(),
    }),
  ),
  hints,
});
export type SlimPredicates = z.output<typeof predicateListSchema>;

/** The content of every tool. */
export interface ToolContents {
  assertFact: Told;
  assertRule: Taught;
  retractPattern: Forgotten;
  ask: Answered;
  recall: SlimRecalled;
  optimizeContext: SlimWindow;
  consolidate: SlimConsolidated;
  decay: SlimDecayed;
  listPredicates: SlimPredicates;
}

export const contentSchemas: Readonly<Record<ToolOperation, z.ZodObject>> = {
  assertFact: toldSchema,
  assertRule: taughtSchema,
  retractPattern: forgottenSchema,
  ask: answeredSchema,
  recall: recalledSchema,
  optimizeContext: windowSchema,
  consolidate: consolidatedSchema,
  decay: decayedSchema,
  listPredicates: predicateListSchema,
};

type Projection<Name extends ToolOperation> = (output: OperationOutput<Name>) => ToolContents[Name];

/** What is left of the hints of an operation, and of whatever else it says of its answer as a whole. */
const hintsOf = (output: object): { hints?: string[] } =>
  'hints' in output && Array.isArray(output.hints) ? { hints: output.hints as string[] } : {};

/** The content of an operation's answer. */
export const projections: { readonly [Name in ToolOperation]: Projection<Name> } = {
  assertFact: (output) => output,
  assertRule: ({ etag: _, ...output }) => output,
  retractPattern: (output) => output,
  ask: slimAnswer,
  recall: (output) => ({
    facts: output.facts.map((entry) => slimEntry(entry)),
    returned: output.returned,
    totalFacts: output.totalFacts,
    ...hintsOf(output),
  }),
  optimizeContext: (output) => ({
    entries: output.entries.map((entry) => ({ ...slimEntry(entry), category: entry.category })),
    relevantRules: output.relevantRules,
    ...(output.contradictions.length === 0
      ? {}
      : { contradictions: output.contradictions.map((atom) => renderAtom({ ...atom, negated: false })) }),
    ...(output.omitted === undefined
      ? {}
      : { omitted: output.omitted.map(({ atom, reason }) => ({ atom, reason })) }),
    totalFactsIncluded: output.totalFactsIncluded,
    totalFactsAvailable: output.totalFactsAvailable,
    knowledgeGeneration: output.knowledgeGeneration,
    ...hintsOf(output),
  }),
  consolidate: ({ skipped, summaries, ...output }) => ({
    ...output,
    summaries: summaries.map(({ atom, support, scope }) => ({ atom, support, ...named({ scope }) })),
    ...(skipped.length === 0 ? {} : { skipped: skipped.map(({ atom, reason }) => ({ atom, reason })) }),
  }),
  decay: (output) => output,
  listPredicates: (output) => ({
    predicates: output.predicates.map(({ name, arity, facts, rules, example, scopes }) => {
      const inScopes = scopes.filter((scope) => scope !== null);
      return {
        name,
        arity,
        facts,
        rules,
        ...named({ example }),
        ...(inScopes.length === 0 ? {} : { scopes: inScopes }),
      };
    }),
    ...hintsOf(output),
  }),
};

/** Those fields that are something. */
function named<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}

const isoOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

function slimEntry(entry: OperationOutput<'recall'>['facts'][number]): SlimEntry {
  const { predicate, args, negated, salience, scope, validFrom, validUntil, provenance } = entry;
  return {
    atom: renderAtom({ predicate, args, negated }),
    salience: Math.round(salience * 100) / 100,
    ...named({ scope, validFrom: isoOf(validFrom), validUntil: isoOf(validUntil) }),
    ...provenance,
  };
}

function slimAnswer(answer: Answer): Answered {
  const { results, bindings, count, truncated, generation: at, proof } = answer;
  const hasBindings = bindings.some((binding) => Object.keys(binding).length > 0);
  return {
    results,
    ...(hasBindings ? { bindings } : {}),
    count,
    truncated,
    generation: at,
    ...(proof === undefined ? {} : { proof: { ...proof, steps: proof.steps.map(slimStep) } }),
    ...hintsOf(answer),
  };
}

function slimStep({ id, atom, kind, rule, premises, scope, metadata, alternatives }: ProofStep): SlimStep {
  return {
    id,
    atom,
    kind,
    ...named({ rule, scope }),
    ...(premises.length === 0 ? {} : { premises }),
    // Of long metadata the beginnings: a proof says who told a fact, and is not the place for all of it.
    ...(metadata === undefined || Object.keys(metadata).length === 0
      ? {}
      : { metadata: cutArguments(metadata).value as NonNullable<SlimStep['metadata']> }),
    ...(alternatives === undefined || alternatives.length === 0
      ? {}
      : { alternatives: alternatives.map(({ rule: by, premises: from }) => ({ rule: by, premises: from })) }),
  };
}
