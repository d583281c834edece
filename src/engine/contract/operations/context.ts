/** Context windows: selection, comparison and summary. */
import {
  clearSessionInputSchema,
  contextSummarySchema,
  contextWindowSchema,
  optimizeInputSchema,
  summaryInputSchema,
  windowDiffInputSchema,
  windowDiffSchema,
} from '../context.ts';
import { z } from 'zod';
import type { OperationSpec } from '../operation-spec.ts';

const shared = {
  method: 'POST',
  tag: 'context',
  tenant: true,
  database: true,
  role: 'reader',
  kind: 'read',
} as const;

export const contextOperations = {
  optimizeContext: {
    ...shared,
    path: '/context/optimize',
    summary: 'Select a window of facts within a budget; complete proofs of the goals come first',
    body: optimizeInputSchema,
    output: contextWindowSchema,
    problems: ['InferenceLimitExceeded'],
    tool: {
      name: 'context',
      title: 'Choose a context window',
      description:
        'The facts to read for a task, within a budget: the answers to goals with every premise first, then related facts. For one question use ask.',
      example: { goals: [{ predicate: 'grandparent', args: ['alice', '?who'] }], maxFacts: 25 },
      destructive: false,
      idempotent: true,
    },
  },
  diffContext: {
    ...shared,
    path: '/context/diff',
    summary: 'What changed in the window of a session',
    body: windowDiffInputSchema,
    output: windowDiffSchema,
    problems: ['SessionNotFound', 'InferenceLimitExceeded'],
  },
  summarizeContext: {
    ...shared,
    path: '/context/summary',
    summary: 'Summarize the knowledge in figures',
    body: summaryInputSchema,
    output: contextSummarySchema,
    problems: ['InferenceLimitExceeded'],
  },
  clearContextSession: {
    ...shared,
    path: '/context/session/clear',
    summary: 'Discard the window of a session',
    body: clearSessionInputSchema,
    output: z.string(),
    answer: 'text',
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;
