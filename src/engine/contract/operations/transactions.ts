/** Transactions. */
import {
  commitInputSchema,
  committedSchema,
  rolledBackSchema,
  transactionBegunSchema,
  transactionParams,
} from '../transactions.ts';
import { type OperationSpec } from '../operation-spec.ts';

const shared = { tag: 'transactions', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

export const transactionOperations = {
  beginTransaction: {
    ...shared,
    method: 'POST',
    path: '/tx/begin',
    summary: 'Begin a transaction',
    description:
      'Send its `id` as `X-Transaction-ID`. A transaction is rolled back when it is unused for five ' +
      'minutes or the process ends.',
    output: transactionBegunSchema,
    counts: 'transaction',
    problems: [],
    example: {
      answer: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f', status: 'open', expiresAt: 1782900302400 },
    },
  },
  commitTransaction: {
    ...shared,
    isJudged: true,
    runsTests: true,
    method: 'POST',
    path: '/tx/commit/:id',
    summary: 'Commit a transaction: all of it or nothing',
    description:
      'One record and one generation: others see all of it or nothing, even after a crash. The first ' +
      'committer wins: if anything that it writes has changed since it began, it is 409 and rolled back.',
    dryRun: 'body',
    params: transactionParams,
    body: commitInputSchema,
    output: committedSchema,
    problems: [
      'TransactionNotFound',
      'Conflict',
      'KeyConflict',
      'ShapeViolation',
      'RuleException',
      'StorageUnavailable',
      'QuotaExceeded',
    ],
    example: {
      params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' },
      body: { dryRun: false },
      answer: {
        id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f',
        status: 'committed',
        operations: 1,
        generation: 6,
      },
    },
  },
  rollbackTransaction: {
    ...shared,
    method: 'POST',
    path: '/tx/rollback/:id',
    summary: 'Roll a transaction back',
    description: 'Discards its writes. `generation` is that of the database.',
    params: transactionParams,
    output: rolledBackSchema,
    problems: ['TransactionNotFound', 'Conflict'],
    example: {
      params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' },
      answer: {
        id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f',
        status: 'rolled_back',
        operations: 0,
        generation: 6,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
