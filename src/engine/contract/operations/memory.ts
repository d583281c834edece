/** Memory: what is most present, and how it fades, is consolidated and restored. */
import {
  consolidatedSchema,
  consolidateInputSchema,
  decayedSchema,
  decayInputSchema,
  memoryStatsQuerySchema,
  memoryStatsSchema,
  recalledSchema,
  recallInputSchema,
  recallQuerySchema,
  restoredSchema,
  restoreInputSchema,
} from '../memory.ts';
import type { OperationSpec } from '../operation-spec.ts';

const shared = { tag: 'memory', tenant: true, database: true } as const;

export const memoryOperations = {
  browseMemory: {
    ...shared,
    method: 'GET',
    path: '/memory/context',
    summary: 'The facts of highest salience',
    role: 'reader',
    kind: 'read',
    query: recallQuerySchema,
    lists: ['predicates'],
    output: recalledSchema,
    problems: ['InferenceLimitExceeded'],
  },
  recall: {
    ...shared,
    method: 'POST',
    path: '/memory/context',
    summary: 'The facts of highest salience',
    role: 'reader',
    kind: 'read',
    body: recallInputSchema,
    output: recalledSchema,
    problems: ['InferenceLimitExceeded'],
    tool: {
      name: 'recall',
      title: 'Recall what is most present',
      description:
        'The stored facts of highest salience: used often or lately. Use it at the start of a session, or to see what is known about some predicates; ' +
        'for a certain question use ask, for facts chosen for a goal use context. There is no search by words.',
      example: { maxFacts: 20, predicates: ['prefers', 'works_on'] },
      destructive: false,
      idempotent: true,
    },
  },
  memoryStats: {
    ...shared,
    method: 'GET',
    path: '/memory/stats',
    summary: 'How salient the facts are, which expire and which fade',
    role: 'reader',
    kind: 'read',
    query: memoryStatsQuerySchema,
    output: memoryStatsSchema,
    problems: ['InferenceLimitExceeded'],
  },
  consolidate: {
    ...shared,
    method: 'POST',
    path: '/memory/consolidate',
    summary: 'Put a summary in the place of many alike episodes',
    role: 'writer',
    kind: 'write',
    dryRun: 'body',
    body: consolidateInputSchema,
    output: consolidatedSchema,
    problems: ['StorageUnavailable'],
    tool: {
      name: 'compress',
      title: 'Consolidate episodes',
      description:
        'Put one summary with a count in the place of many facts that differ in one argument only, such as visits on many days. ' +
        'Nothing is lost: a summary can be restored. Use it when memory is to be tidied up, with dryRun: true first, and show what would go.',
      example: { predicates: ['visited'], minOccurrences: 5, dryRun: true },
      destructive: true,
      idempotent: true,
    },
  },
  restore: {
    ...shared,
    method: 'POST',
    path: '/memory/restore',
    summary: 'Bring back the facts that a summary stands for',
    role: 'writer',
    kind: 'write',
    body: restoreInputSchema,
    output: restoredSchema,
    problems: ['FactNotFound', 'StorageUnavailable'],
  },
  decay: {
    ...shared,
    method: 'POST',
    path: '/memory/decay',
    summary: 'Evict what has expired or faded',
    role: 'writer',
    kind: 'write',
    dryRun: 'body',
    body: decayInputSchema,
    output: decayedSchema,
    problems: ['StorageUnavailable'],
    tool: {
      name: 'cleanup',
      title: 'Evict faded facts',
      description:
        'Retract the facts whose validity has ended and those of a salience below the threshold, but for pinned ones. It cannot be undone: ' +
        'use it when asked to, with dryRun: true first, which lists what would go. For single facts use forget.',
      example: { threshold: 0.05, dryRun: true },
      destructive: true,
      idempotent: false,
    },
  },
} as const satisfies Record<string, OperationSpec>;
