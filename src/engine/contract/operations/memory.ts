/** Memory: salience, decay, consolidation and restoring. */
import {
  consolidatedSchema,
  consolidateInputSchema,
  decayedSchema,
  decayInputSchema,
  memoryStatsQuerySchema,
  memoryStatsSchema,
  recallAnswerSchema,
  recallInputSchema,
  recallQuerySchema,
  restoredSchema,
  restoreInputSchema,
} from '../memory.ts';
import type { OperationSpec } from '../operation-spec.ts';
import { recallToolInputSchema } from '../tool-inputs.ts';
import { slimConsolidatedSchema, slimDecayedSchema, slimRecalledSchema } from '../tool-contents.ts';

const read = { tag: 'memory', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'memory', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

/** An entry of the example answers about salient facts and windows. */
export const entryExample = {
  id: 'f2-0',
  predicate: 'parent',
  args: ['bob', 'carol'],
  negated: false,
  scope: null,
  salience: 0.9987,
  category: 'recent',
  charCount: 18,
  provenance: null,
  createdAt: 1782900000400,
  validFrom: null,
  validUntil: null,
  metadata: {},
};

/** The facts that the example of a summary replaces. */
const visits = ['06-01', '06-08', '06-15'].map((day) => `visited(alice, library, 2026-${day})`);

export const memoryOperations = {
  browseMemory: {
    ...read,
    method: 'GET',
    path: '/memory/context',
    summary: 'The facts with the highest salience',
    description:
      'Stored facts by salience, highest first; with `includeInferred`, conclusions too. With `query`, instead: the ' +
      'answers to what the words mention with their whole proofs, then the facts that match, in the order in which ' +
      'to read them.',
    query: recallQuerySchema,
    lists: ['predicates'],
    output: recallAnswerSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      query: { maxFacts: '1', minSalience: '0.1', predicates: 'parent,grandparent' },
      answer: { facts: [entryExample], totalFacts: 3, returned: 1, generatedAt: 1782900002000 },
    },
  },
  recall: {
    ...read,
    method: 'POST',
    path: '/memory/context',
    summary: 'The facts with the highest salience',
    description: 'Like the GET, with the fields in the body.',
    body: recallInputSchema,
    output: recallAnswerSchema,
    counts: 'question',
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    tool: {
      name: 'recall',
      title: 'Recall what is most present',
      description:
        'What is known about a query in plain words, with proofs; without a query, the facts used most. For a question with known predicates use ask.',
      input: recallToolInputSchema,
      output: slimRecalledSchema,
      example: { maxFacts: 20, predicates: ['prefers', 'works_on'] },
      destructive: false,
      idempotent: true,
    },
    example: {
      body: { maxFacts: 1, minSalience: 0.1 },
      answer: {
        facts: [{ ...entryExample, salience: 0.9986 }],
        totalFacts: 3,
        returned: 1,
        generatedAt: 1782900002100,
      },
    },
  },
  memoryStats: {
    ...read,
    method: 'GET',
    path: '/memory/stats',
    summary: 'The distribution of salience, and the facts that expire or fade next',
    description: 'A histogram of salience, the number of facts that expire soon, and the facts that fade.',
    query: memoryStatsQuerySchema,
    output: memoryStatsSchema,
    problems: ['InferenceLimitExceeded'],
    example: {
      query: { unscoped: 'true' },
      answer: {
        facts: 1,
        derived: 0,
        derivedComplete: true,
        histogram: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        expiring: { within1h: 0, within24h: 0, within7d: 0 },
        fading: [{ ...entryExample, id: 'f2-1', args: ['bob', 'dora'], salience: 0.9979, charCount: 17 }],
      },
    },
  },
  consolidate: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/memory/consolidate',
    summary: 'Replace many similar episodes by a summary',
    description:
      'A pattern is a group of facts that differ in one argument only. Nothing is lost: a summary can be ' +
      'restored.',
    dryRun: 'body',
    body: consolidateInputSchema,
    output: consolidatedSchema,
    problems: ['StorageUnavailable', 'QuotaExceeded'],
    tool: {
      name: 'compress',
      title: 'Consolidate episodes',
      description:
        'Replace many facts that differ in one argument, such as visits on many days, by a summary that can be ' +
        'restored. Use it when asked to tidy up, with dryRun: true first.',
      output: slimConsolidatedSchema,
      example: { predicates: ['visited'], minOccurrences: 5, dryRun: true },
      destructive: true,
      idempotent: true,
    },
    example: {
      body: { predicates: ['visited'], minOccurrences: 3 },
      answer: {
        patternsFound: 1,
        summariesCreated: 1,
        factsConsolidated: 3,
        summaries: [
          {
            atom: 'visited_summary(alice, library, 3)',
            scope: null,
            support: 3,
            replaced: visits,
            metadata: {
              consolidated: {
                from: 'visited',
                position: 2,
                values: [
                  { value: '2026-06-01', createdAt: 1782900002800 },
                  { value: '2026-06-08', createdAt: 1782900002800 },
                  { value: '2026-06-15', createdAt: 1782900002800 },
                ],
                count: 3,
                first: 1782900002800,
                last: 1782900002800,
              },
            },
          },
        ],
        skipped: [],
        generation: 17,
      },
    },
  },
  restore: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/memory/restore',
    summary: 'Restore the facts that a summary replaced',
    description: 'The facts return with their validity and metadata, under new ids; the summary goes.',
    body: restoreInputSchema,
    output: restoredSchema,
    problems: ['FactNotFound', 'StorageUnavailable', 'QuotaExceeded'],
    example: {
      body: { id: 'f17-0' },
      answer: { restored: 3, atoms: visits, generation: 18 },
    },
  },
  decay: {
    ...write,
    method: 'POST',
    path: '/memory/decay',
    summary: 'Evict expired and faded facts',
    description:
      'Retracts facts that have expired, and facts with a salience below the threshold that are not ' +
      'pinned. It cannot be undone.',
    dryRun: 'body',
    body: decayInputSchema,
    output: decayedSchema,
    problems: ['StorageUnavailable'],
    tool: {
      name: 'cleanup',
      title: 'Evict faded facts',
      description:
        'Permanently retract expired facts and those of low salience. Use it when asked to, with dryRun: true first; for single facts use forget.',
      output: slimDecayedSchema,
      example: { threshold: 0.05, dryRun: true },
      destructive: true,
      idempotent: false,
    },
    example: {
      body: { threshold: 0.05, dryRun: true },
      answer: {
        evicted: 0,
        expired: 0,
        lowSalience: 0,
        remaining: 11,
        atoms: [],
        generation: 18,
        dryRun: true,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
