/** Natural language: extract facts from text, and answer in words. */
import {
  extractedSchema,
  extractInputSchema,
  ingestedSchema,
  ingestInputSchema,
  synthesizedSchema,
  synthesizeInputSchema,
  turnsAnswerSchema,
  turnsInputSchema,
} from '../extraction.ts';
import type { OperationSpec } from '../operation-spec.ts';
import { contextOperations } from './context.ts';
import { entryExample } from './memory.ts';

const shared = { method: 'POST', tag: 'language', tenant: true, database: true } as const;

/** The window of an example. */
const window = contextOperations.optimizeContext.example.answer;

export const extractionOperations = {
  contextOfTurns: {
    ...shared,
    isJudged: true,
    path: '/context',
    summary: 'Store what the turns of a conversation state, and return the facts relevant to them',
    description:
      'Statements in the turns are read as they are; natural language is read if a provider may be used, ' +
      'and ignored otherwise.',
    role: 'writer',
    kind: 'write',
    body: turnsInputSchema,
    output: turnsAnswerSchema,
    problems: ['RuleException', 'LlmProviderException', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { turns: ['parent(carol, emil).', 'Who is the grandparent of emil?'], maxFacts: 1 },
      answer: {
        facts: [
          { predicate: 'parent', args: ['bob', 'carol'], negated: false, salience: 0.9981, provenance: null },
        ],
        totalFactsInKB: 12,
        factsReturned: 1,
        contradictions: 0,
        newFactsExtracted: 1,
        extraction: 'llm',
        generation: 19,
      },
    },
  },
  ingest: {
    ...shared,
    isJudged: true,
    path: '/context/ingest',
    summary: 'Store what a text states, and return a context window',
    description:
      'Text that is wholly statements needs no provider; natural language without one is 503, and ' +
      'nothing is stored. With `sessionId`, the window becomes that of the session.',
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
      'QuotaExceeded',
    ],
    example: {
      body: {
        text: 'parent(carol, emil).',
        goals: [{ predicate: 'parent', args: ['?who', 'emil'] }],
        maxFacts: 1,
      },
      answer: {
        extracted: [{ predicate: 'parent', args: ['carol', 'emil'], negated: false, confidence: 1 }],
        extractionProvider: 'statements',
        discarded: [],
        context: {
          ...window,
          windowId: '002f007d-8638-4b18-b5e9-982993f6d81b',
          entries: [
            {
              ...entryExample,
              id: 'f19-0',
              args: ['carol', 'emil'],
              salience: 0.9983,
              category: 'goal_relevant',
              charCount: 19,
              createdAt: 1782900003300,
              metadata: { source: 'statements' },
            },
          ],
          goals: [
            {
              ...window.goals[0],
              goal: 'parent(?who, emil)',
              atoms: ['parent(carol, emil)'],
              needs: { facts: 1, chars: 19, tokens: 7 },
            },
          ],
          relevantRules: [],
          totalFactsAvailable: 12,
          totalFactsIncluded: 1,
          totalCharCount: 19,
          totalTokenCount: 7,
          knowledgeGeneration: 19,
          generatedAt: 1782900003400,
        },
        generation: 19,
      },
    },
  },
  extract: {
    ...shared,
    isJudged: true,
    path: '/extract',
    summary: 'Extract facts and rules from a text',
    description:
      'A fact counts only if the text contains its source. Nothing is stored without `assert`. Without a ' +
      'provider: 503.',
    role: 'writer',
    kind: 'write',
    body: extractInputSchema,
    output: extractedSchema,
    problems: [
      'RuleException',
      'LlmProviderException',
      'LlmUnavailable',
      'StorageUnavailable',
      'QuotaExceeded',
    ],
    example: {
      body: { text: 'Carol is the mother of Emil.', assert: true },
      answer: {
        facts: [
          {
            predicate: 'parent',
            args: ['Carol', 'Emil'],
            negated: false,
            confidence: 0.9,
            source: { start: 0, end: 28 },
          },
        ],
        discarded: [],
        provider: 'anthropic',
        model: 'claude-sonnet',
        asserted: true,
        assertedCount: 1,
        generation: 20,
      },
    },
  },
  synthesize: {
    ...shared,
    path: '/synthesize',
    summary: 'Answer a question in words, using proved facts only',
    description:
      'The model plans questions, the engine answers and proves them, and the model words what was ' +
      'proved. If nothing follows, the answer says so, with confidence 0. Without a provider: 503.',
    role: 'reader',
    kind: 'read',
    body: synthesizeInputSchema,
    output: synthesizedSchema,
    counts: 'question',
    problems: ['InferenceLimitExceeded', 'LlmProviderException', 'LlmUnavailable'],
    example: {
      body: { question: 'Who is a grandparent of Carol?' },
      answer: {
        answer: 'Alice is a grandparent of Carol.',
        derivation: [
          { fact: 'parent(alice, bob)', type: 'fact' },
          { fact: 'parent(bob, carol)', type: 'fact' },
          { fact: 'grandparent(alice, carol)', type: 'rule' },
        ],
        confidence: 1,
        queriesExecuted: ['grandparent(?who, carol)'],
        provider: 'anthropic',
        model: 'claude-sonnet',
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
