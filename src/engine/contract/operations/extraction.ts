/** Natural language: text that becomes facts, and facts that become words. */
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
    summary: 'Keep what the turns of a conversation say, and answer with what matters to them',
    role: 'writer',
    kind: 'write',
    body: turnsInputSchema,
    output: turnsContextSchema,
    problems: ['RuleException', 'LlmProviderException', 'StorageUnavailable'],
  },
  ingest: {
    ...shared,
    path: '/context/ingest',
    summary: 'Keep what a text says, and answer with a window',
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
    summary: 'Find facts and rules in a text',
    role: 'writer',
    kind: 'write',
    body: extractInputSchema,
    output: extractedSchema,
    problems: ['RuleException', 'LlmProviderException', 'LlmUnavailable', 'StorageUnavailable'],
  },
  synthesize: {
    ...shared,
    path: '/synthesize',
    summary: 'Answer a question in words, from proved facts only',
    role: 'reader',
    kind: 'read',
    body: synthesizeInputSchema,
    output: synthesizedSchema,
    problems: ['InferenceLimitExceeded', 'LlmProviderException', 'LlmUnavailable'],
  },
} as const satisfies Record<string, OperationSpec>;
