/** Transactions. */
import {
  commitInputSchema,
  committedSchema,
  rolledBackSchema,
  transactionBegunSchema,
  transactionParams,
} from '../transactions.ts';
import { type OperationSpec } from '../operation-spec.ts';

export const transactionOperations = {
  beginTransaction: {
    method: 'POST',
    path: '/tx/begin',
    summary: 'Begin a transaction',
    tag: 'transactions',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    output: transactionBegunSchema,
    problems: [],
  },
  commitTransaction: {
    method: 'POST',
    path: '/tx/commit/:id',
    summary: 'Commit a transaction: all of it or nothing',
    tag: 'transactions',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    dryRun: 'body',
    params: transactionParams,
    body: commitInputSchema,
    output: committedSchema,
    problems: ['TransactionNotFound', 'Conflict', 'RuleException', 'StorageUnavailable'],
  },
  rollbackTransaction: {
    method: 'POST',
    path: '/tx/rollback/:id',
    summary: 'Roll a transaction back',
    tag: 'transactions',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    params: transactionParams,
    output: rolledBackSchema,
    problems: ['TransactionNotFound', 'Conflict'],
  },
} as const satisfies Record<string, OperationSpec>;
