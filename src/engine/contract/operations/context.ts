/** Context windows: selection, comparison and summary. */
import {
  clearSessionInputSchema,
  contextSummarySchema,
  chosenWindowSchema,
  optimizeInputSchema,
  summaryInputSchema,
  windowDiffInputSchema,
  diffAnswerSchema,
} from '../context.ts';
import { z } from 'zod';
import type { OperationSpec } from '../operation-spec.ts';
import { entryExample } from './memory.ts';
import { windowSchema } from '../tool-contents.ts';

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
    description:
      'With goals, answers come first, with every premise of their proofs, each proof whole or not at ' +
      'all; then related facts; then the rest by salience. `goals` reports for each goal whether the ' +
      'window has a whole proof of an answer, and the room that one needs. `status` is `proved` (a whole ' +
      'proof is in the window), `premises` (only the stored facts of a proof are), `does_not_fit` or ' +
      '`no_answer`; `limit` is not used today. A goal that exceeds a limit ends the call with 422, which names the limit: a window ' +
      'without it would depend on the load of the machine. A window changes nothing, and is not a use of ' +
      'its facts. `maxTokens` bounds the o200k_base tokens of its lines, and `format: "text"` answers these ' +
      'lines in `text`, each conclusion after its premises and marked with `=>`.',
    body: optimizeInputSchema,
    output: chosenWindowSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    tool: {
      name: 'context',
      title: 'Choose a context window',
      description:
        'The facts to read for a task, within a budget: the answers to goals with every premise first, then related facts. For one question use ask.',
      output: windowSchema,
      example: { goals: [{ predicate: 'grandparent', args: ['alice', '?who'] }], maxFacts: 25 },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: {
        goals: [{ predicate: 'grandparent', args: ['alice', 'carol'] }],
        maxFacts: 3,
        maxChars: 2000,
        sessionId: 'chat-1',
      },
      answer: {
        windowId: '573a8050-ce09-4e1a-883e-ddb4bb32c48d',
        entries: [
          {
            ...entryExample,
            id: 'f1-0',
            args: ['alice', 'bob'],
            salience: 0.9979,
            category: 'goal_relevant',
            createdAt: 1782900000300,
            metadata: { source: 'the register' },
          },
          { ...entryExample, salience: 0.9986, category: 'goal_relevant' },
          {
            ...entryExample,
            id: null,
            predicate: 'grandparent',
            args: ['alice', 'carol'],
            salience: 0.9979,
            category: 'goal_relevant',
            charCount: 25,
            provenance: {
              rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
              premises: ['parent(alice, bob)', 'parent(bob, carol)'],
            },
          },
        ],
        goals: [
          {
            goal: 'grandparent(alice, carol)',
            status: 'proved',
            answers: { found: 1, whole: 1, premises: 0, omitted: 0 },
            atoms: ['grandparent(alice, carol)'],
            needs: { facts: 3, chars: 61, tokens: 22 },
            reason: null,
          },
        ],
        relevantRules: ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)'],
        totalFactsAvailable: 4,
        totalFactsIncluded: 3,
        deduplicationSavings: 0,
        contradictionsFound: 0,
        contradictionsResolved: 0,
        contradictions: [],
        bucketStats: {},
        totalCharCount: 61,
        totalTokenCount: 22,
        goalDriven: true,
        knowledgeGeneration: 4,
        generatedAt: 1782900002100,
      },
    },
  },
  diffContext: {
    ...shared,
    path: '/context/diff',
    summary: 'What changed in the window of a session',
    description:
      'Builds the window of the session again, with its parameters except those given here, and reports ' +
      'what came and went. The new window replaces the old one.',
    body: windowDiffInputSchema,
    output: diffAnswerSchema,
    counts: 'question',
    problems: ['SessionNotFound', 'InferenceLimitExceeded'],
    example: {
      body: { sessionId: 'chat-1' },
      answer: {
        previousWindowId: '573a8050-ce09-4e1a-883e-ddb4bb32c48d',
        currentWindowId: '50d469b9-92ab-4d6c-ba97-2607c91060a8',
        added: [
          {
            predicate: 'parent',
            args: ['carol', 'emil'],
            negated: false,
            salience: 0.9975,
            category: 'related',
            charCount: 19,
          },
        ],
        removed: [],
        unchanged: 3,
        fullRefreshRecommended: false,
        reason: null,
      },
    },
  },
  summarizeContext: {
    ...shared,
    path: '/context/summary',
    summary: 'Summarize the knowledge in figures',
    description:
      'The ten largest predicates, the ten most salient facts, and counts of expiring facts and ' +
      'contradictions.',
    body: summaryInputSchema,
    output: contextSummarySchema,
    problems: ['InferenceLimitExceeded'],
    example: {
      body: { unscoped: true },
      answer: {
        totalFacts: 1,
        predicateCount: 1,
        topPredicates: [{ predicate: 'parent', count: 1 }],
        factsWithTtl: 0,
        factsExpiringWithin1h: 0,
        contradictions: 0,
        topSalientFacts: [{ ...entryExample, salience: 0.9985 }],
        totalCharCount: 18,
        knowledgeGeneration: 5,
        generatedAt: 1782900002300,
      },
    },
  },
  clearContextSession: {
    ...shared,
    path: '/context/session/clear',
    summary: 'Discard the window of a session',
    description: 'The answer is the same if there is no such session.',
    body: clearSessionInputSchema,
    output: z.string(),
    answer: 'text',
    problems: [],
    example: { body: { sessionId: 'chat-1' }, answer: "Session 'chat-1' cleared" },
  },
} as const satisfies Record<string, OperationSpec>;
