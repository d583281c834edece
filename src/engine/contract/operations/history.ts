/** The history: who changed what and when, and taking it back. */
import {
  factHistorySchema,
  historyQuerySchema,
  historySchema,
  revertedSchema,
  revertInputSchema,
} from '../history.ts';
import { idParams, type OperationSpec } from '../operation-spec.ts';

const read = { tag: 'history', tenant: true, database: true, role: 'reader', kind: 'read' } as const;

const local = { id: 'local', name: null };
const none = { count: 0, facts: [] };

export const historyOperations = {
  history: {
    ...read,
    method: 'GET',
    path: '/history',
    summary: 'Who changed what, and when',
    description:
      'The generations that changed facts of this tenant, or rules, declarations or constraints of its database, ' +
      'newest first. With `entity`, `predicate` or `args` only matching facts are listed and counted. Validities that ' +
      'begin or end are no generations. It goes back for `HISTORY_DAYS`.',
    query: historyQuerySchema,
    output: historySchema,
    problems: ['HistoryGone', 'InferenceLimitExceeded'],
    example: {
      query: { predicate: 'parent' },
      answer: {
        generations: [
          {
            generation: 1,
            time: 1782900000300,
            actor: local,
            surface: 'http',
            client: null,
            session: null,
            reason: 'from the register',
            operation: 'assert',
            added: { count: 1, facts: ['parent(alice, bob)'] },
            removed: none,
            changed: none,
            rules: [],
            declarations: [],
            redacted: 0,
          },
        ],
        nextCursor: null,
        since: null,
        gaps: [],
      },
    },
  },
  factHistory: {
    ...read,
    method: 'GET',
    path: '/facts/:id/history',
    summary: 'The lives of a fact',
    description:
      'Every version of the fact with this predicate, arguments, truth value and scope, under every id that it had, ' +
      'and who wrote it. `id` may be that of a retracted fact, as far back as the history goes.',
    params: idParams,
    output: factHistorySchema,
    problems: ['FactNotFound', 'HistoryGone', 'InferenceLimitExceeded'],
    example: {
      params: { id: 'f1-0' },
      answer: {
        atom: 'parent(alice, bob)',
        scope: null,
        lives: [
          {
            id: 'f1-0',
            from: { generation: 1, time: 1782900000300, actor: local, surface: 'http' },
            to: null,
            validFrom: null,
            validUntil: null,
            metadata: { source: 'the register' },
          },
        ],
      },
    },
  },
  revert: {
    tag: 'history',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    isJudged: true,
    method: 'POST',
    path: '/history/revert',
    summary: 'Take changes back',
    description:
      'One new transaction takes back what generations changed: `generation` alone, or those after `from` up to `to`. ' +
      "It concerns this tenant's facts and aliases; with `rules: true`, which needs a credential that may change rules, " +
      'also rules, declarations and constraints. If a later generation touched any of them, it is 409 with all of them in ' +
      '`touched`, and nothing changes. Facts return with their validity and metadata, under new ids. Keys and ' +
      'constraints judge it like a transaction. A revert can be reverted.',
    dryRun: 'body',
    body: revertInputSchema,
    output: revertedSchema,
    problems: [
      'HistoryGone',
      'InferenceLimitExceeded',
      'Conflict',
      'KeyConflict',
      'ShapeViolation',
      'RuleException',
      'StorageUnavailable',
      'QuotaExceeded',
    ],
    example: {
      body: { generation: 24, dryRun: true },
      answer: {
        status: 'reverted',
        from: 23,
        to: 24,
        added: { count: 1, facts: ['parent(alice, bob)'] },
        removed: none,
        changed: none,
        rules: [],
        declarations: [],
        left: { rules: 0, declarations: 0 },
        generation: 24,
        dryRun: true,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
