/** Natural language on the wire: text that becomes facts, and facts that become an answer in words. */
import { z } from 'zod';
import { contextWindowSchema, goalsSchema, maxFactsSchema, sessionIdSchema } from './context.ts';
import {
  defaulted,
  generationSchema,
  oneScopeChoice,
  optional,
  scopeFields,
  timeoutSchema,
} from './fields.ts';
import { isWellFormed } from './language.ts';
import { provenanceSchema } from './memory.ts';

export const maxTextCharacters = 1_000_000;
export const maxTurns = 1000;
export const maxQuestionCharacters = 10_000;

export const providerNames = ['local', 'anthropic', 'openai', 'google'] as const;
/** In the order in which one is chosen where several are configured. */
export type ProviderName = (typeof providerNames)[number];

function textOf(most: number) {
  return z
    .string()
    .max(most, `a text has at most ${most} characters: send it in parts`)
    .refine(isWellFormed, 'the text holds a lone surrogate');
}

export const turnsInputSchema = z
  .strictObject({
    turns: z
      .array(textOf(maxTextCharacters))
      .min(1, 'give at least one turn')
      .max(maxTurns, `give at most ${maxTurns} turns`),
    maxFacts: defaulted(maxFactsSchema, 50),
    ...scopeFields,
  })
  .superRefine(oneScopeChoice)
  .refine(({ turns }) => turns.reduce((sum, turn) => sum + turn.length, 0) <= maxTextCharacters, {
    path: ['turns'],
    message: `the turns have at most ${maxTextCharacters} characters together`,
  });
export type TurnsInput = z.output<typeof turnsInputSchema>;

export const turnsContextSchema = z.object({
  facts: z.array(
    z.object({
      predicate: z.string(),
      args: z.array(z.string()),
      negated: z.boolean(),
      salience: z.number(),
      provenance: provenanceSchema,
    }),
  ),
  totalFactsInKB: z.int(),
  factsReturned: z.int(),
  contradictions: z.int(),
  newFactsExtracted: z.int(),
  extraction: z.enum(['llm', 'statements']),
  warning: z
    .string()
    .optional()
    .describe('Where natural language was left alone, since no provider may be asked: what to do about it'),
  generation: generationSchema.optional().describe('Where something was stored'),
});
export type TurnsContext = z.output<typeof turnsContextSchema>;

export const ingestInputSchema = z
  .strictObject({
    text: textOf(maxTextCharacters).min(1, 'give a text'),
    goals: goalsSchema,
    maxFacts: optional(maxFactsSchema),
    ...scopeFields,
    sessionId: optional(sessionIdSchema),
    autoResolveContradictions: defaulted(z.boolean(), true),
    contextHint: optional(textOf(maxQuestionCharacters)).describe('What the text is about, for the provider'),
  })
  .superRefine(oneScopeChoice);
export type IngestInput = z.output<typeof ingestInputSchema>;

/** What of an answer of a provider was not taken over, and why. */
const discardedSchema = z
  .array(z.object({ what: z.string(), reason: z.string() }))
  .describe('What the provider gave that was not taken over');

export const ingestedSchema = z.object({
  extracted: z.array(
    z.object({
      predicate: z.string(),
      args: z.array(z.string()),
      negated: z.boolean(),
      confidence: z.number().min(0).max(1),
    }),
  ),
  extractionProvider: z.enum([...providerNames, 'statements']),
  discarded: discardedSchema,
  context: contextWindowSchema,
  generation: generationSchema,
});
export type Ingested = z.output<typeof ingestedSchema>;

export const extractInputSchema = z
  .strictObject({
    text: textOf(maxTextCharacters).min(1, 'give a text'),
    assert: defaulted(z.boolean(), false).describe('Store what was found'),
    rules: defaulted(z.boolean(), false).describe('Look for general rules too'),
    ...scopeFields,
    context: optional(textOf(maxQuestionCharacters)).describe('What the text is about, for the provider'),
  })
  .superRefine(oneScopeChoice);
export type ExtractInput = z.output<typeof extractInputSchema>;

export const extractedSchema = z.object({
  facts: z.array(
    z.object({
      predicate: z.string(),
      args: z.array(z.string()),
      negated: z.boolean(),
      confidence: z.number().min(0).max(1),
      source: z
        .object({ start: z.int(), end: z.int() })
        .describe('Where in the text it stands: UTF-16 offsets, end exclusive'),
    }),
  ),
  rules: z.array(z.string()).optional().describe('Rendered; where rules were asked for'),
  asserted: z.boolean().describe('It was asked for, and all that was found is stored now'),
  assertedCount: z.int().describe('Facts that are newly stored'),
  discarded: discardedSchema,
  provider: z.enum([...providerNames, 'statements']),
  model: z.string().nullable(),
  generation: generationSchema.optional().describe('Where something was stored'),
});
export type Extracted = z.output<typeof extractedSchema>;

export const synthesizeInputSchema = z
  .strictObject({
    question: textOf(maxQuestionCharacters).min(1, 'give a question'),
    ...scopeFields,
    timeoutMs: timeoutSchema.describe('For proving all that is planned; past it 422'),
  })
  .superRefine(oneScopeChoice);
export type SynthesizeInput = z.output<typeof synthesizeInputSchema>;

export const synthesizedSchema = z.object({
  answer: z.string(),
  derivation: z.array(
    z.object({ fact: z.string(), type: z.enum(['fact', 'rule', 'absence', 'builtin', 'aggregate']) }),
  ),
  confidence: z.number().min(0).max(1),
  queriesExecuted: z.array(z.string()),
  provider: z.enum(providerNames),
  model: z.string(),
});
export type Synthesized = z.output<typeof synthesizedSchema>;
