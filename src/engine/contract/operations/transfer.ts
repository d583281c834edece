/** Import, undo of an import, and export. */
import { idParams, type OperationSpec } from '../operation-spec.ts';
import {
  exportQuerySchema,
  importLineSchema,
  importQuerySchema,
  importTypes,
  importUndoneSchema,
} from '../transfer.ts';
import { z } from 'zod';

export const transferOperations = {
  importKnowledge: {
    method: 'POST',
    path: '/import',
    summary: 'Import facts and rules from a stream; bad lines are reported and skipped',
    tag: 'transfer',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    takes: importTypes,
    dryRun: 'query',
    query: importQuerySchema,
    output: importLineSchema,
    stream: 'lines',
    problems: ['StorageUnavailable'],
  },
  undoImport: {
    method: 'POST',
    path: '/import/:id/undo',
    summary: 'Retract what an import asserted, except facts that have changed since',
    tag: 'transfer',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    params: idParams,
    output: importUndoneSchema,
    problems: ['NotFound', 'StorageUnavailable'],
  },
  exportKnowledge: {
    method: 'GET',
    path: '/export',
    summary: 'Export facts and rules as a stream',
    tag: 'transfer',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    query: exportQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: ['application/x-ndjson', 'text/x-datalog', 'text/csv', 'application/n-triples'],
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;
