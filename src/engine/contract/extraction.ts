/** Wire schemas of natural language: extraction, ingestion, and answers in words. */
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
import { constantProblem, isVariable, isWellFormed } from './language.ts';
import {
  answerFormatSchema,
  factsTextSchema,
  maxTokensSchema,
  provenanceSchema,
  queryTextSchema,
} from './memory.ts';

export const maxTextCharacters = 1_000_000;
export const maxTurns = 1000;
export const maxQuestionCharacters = 10_000;

export const providerNames = ['local', 'anthropic', 'openai', 'google'] as const;
/** In order of preference if several are configured. */
export type ProviderName = (typeof providerNames)[number];

function textOf(maxLength: number) {
  return z
    .string()
    .max(maxLength, `a text has at most ${maxLength} characters: send it in parts`)
    .refine(isWellFormed, 'the text holds a lone surrogate');
}

function isConstant(text: string): boolean {
  return !isVariable(text) && constantProblem(text) === null;
}

/** The session of turns that are remembered without one. */
export const defaultSession = 'default';

export const turnsInputSchema = z
  .strictObject({
    turns: z
      .array(textOf(maxTextCharacters))
      .min(1, 'give at least one turn')
      .max(maxTurns, `give at most ${maxTurns} turns`),
    maxFacts: defaulted(maxFactsSchema, 50),
    maxTokens: optional(maxTokensSchema),
    query: queryTextSchema,
    remember: defaulted(z.boolean(), false).describe(
      'Keep each turn as a fact said(session, number, text), to be found by its words later',
    ),
    sessionId: optional(sessionIdSchema).describe(
      `With remember: the conversation, in which turns are numbered on; default ${defaultSession}`,
    ),
    format: defaulted(answerFormatSchema, 'json'),
    ...scopeFields,
  })
  .superRefine(oneScopeChoice)
  .refine(({ turns }) => turns.reduce((sum, turn) => sum + turn.length, 0) <= maxTextCharacters, {
    path: ['turns'],
    message: `the turns have at most ${maxTextCharacters} characters together`,
  })
  .refine(({ remember, sessionId }) => !remember || sessionId === null || isConstant(sessionId), {
    path: ['sessionId'],
    message: 'does not start with ? where turns are remembered: it becomes a constant',
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
  remembered: z
    .object({ sessionId: z.string(), first: z.int().nullable(), count: z.int() })
    .optional()
    .describe('With remember: the session, the number of its first new turn, and how many facts keep them'),
  extraction: z.enum(['llm', 'statements']),
  warning: z
    .string()
    .optional()
    .describe(
      'Present if natural language was ignored because no provider is available; says how to change that',
    ),
  generation: generationSchema.optional().describe('Present if something was stored'),
});
export type TurnsContext = z.output<typeof turnsContextSchema>;

/** The context of a conversation as it is answered: its facts, or their text. */
export const turnsAnswerSchema = turnsContextSchema.extend({
  facts: turnsContextSchema.shape.facts.optional(),
  text: factsTextSchema,
});
export type TurnsAnswer = z.output<typeof turnsAnswerSchema>;

export const ingestInputSchema = z
  .strictObject({
    text: textOf(maxTextCharacters).min(1, 'give a text'),
    goals: goalsSchema,
    maxFacts: optional(maxFactsSchema),
    ...scopeFields,
    sessionId: optional(sessionIdSchema),
    autoResolveContradictions: defaulted(z.boolean(), true),
    contextHint: optional(textOf(maxQuestionCharacters)).describe(
      'What the text is about; passed to the provider',
    ),
  })
  .superRefine(oneScopeChoice);
export type IngestInput = z.output<typeof ingestInputSchema>;

/** What the provider returned but extraction discarded, and why. */
const discardedSchema = z
  .array(z.object({ what: z.string(), reason: z.string() }))
  .describe('What the provider returned but extraction discarded, and why');

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
    assert: defaulted(z.boolean(), false).describe('Store the extracted facts and rules'),
    rules: defaulted(z.boolean(), false).describe('Extract general rules too'),
    ...scopeFields,
    context: optional(textOf(maxQuestionCharacters)).describe(
      'What the text is about; passed to the provider',
    ),
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
        .describe('Position in the text: UTF-16 offsets, end exclusive'),
    }),
  ),
  rules: z.array(z.string()).optional().describe('Rendered; present if rules were requested'),
  asserted: z.boolean().describe('Storing was requested, and everything extracted is now stored'),
  assertedCount: z.int().describe('Number of newly stored facts'),
  discarded: discardedSchema,
  provider: z.enum([...providerNames, 'statements']),
  model: z.string().nullable(),
  generation: generationSchema.optional().describe('Present if something was stored'),
});
export type Extracted = z.output<typeof extractedSchema>;

export const synthesizeInputSchema = z
  .strictObject({
    question: textOf(maxQuestionCharacters).min(1, 'give a question'),
    ...scopeFields,
    timeoutMs: timeoutSchema.describe('Time limit for proving all planned queries; beyond it 422'),
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
