/** Natural language: extract facts from text, and answer in words. */
import {
  extractedSchema,
  extractInputSchema,
  ingestedSchema,
  ingestInputSchema,
  synthesizedSchema,
  synthesizeInputSchema,
  turnsContextSchema,
  turnsInputSchema,
} from '../extraction.ts';
import type { OperationSpec } from '../operation-spec.ts';

const shared = { method: 'POST', tag: 'language', tenant: true, database: true } as const;

export const extractionOperations = {
  contextOfTurns: {
    ...shared,
    path: '/context',
    summary: 'Store what the turns of a conversation state, and return the facts relevant to them',
    role: 'writer',
    kind: 'write',
    body: turnsInputSchema,
    output: turnsContextSchema,
    problems: ['RuleException', 'LlmProviderException', 'StorageUnavailable'],
  },
  ingest: {
    ...shared,
    path: '/context/ingest',
    summary: 'Store what a text states, and return a context window',
    role: 'writer',
    kind: 'write',
    body: ingestInputSchema,
    output: ingestedSchema,
    problems: [
      'RuleException',
      'InferenceLimitExceeded',
      'LlmProviderException',
      'LlmUnavailable',
      'StorageUnavailable',
    ],
  },
  extract: {
    ...shared,
    path: '/extract',
    summary: 'Extract facts and rules from a text',
    role: 'writer',
    kind: 'write',
    body: extractInputSchema,
    output: extractedSchema,
    problems: ['RuleException', 'LlmProviderException', 'LlmUnavailable', 'StorageUnavailable'],
  },
  synthesize: {
    ...shared,
    path: '/synthesize',
    summary: 'Answer a question in words, using proved facts only',
    role: 'reader',
    kind: 'read',
    body: synthesizeInputSchema,
    output: synthesizedSchema,
    problems: ['InferenceLimitExceeded', 'LlmProviderException', 'LlmUnavailable'],
  },
} as const satisfies Record<string, OperationSpec>;
