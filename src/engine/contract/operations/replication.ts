/** What followers ask of their leader, and how it stands with both. */
import { z } from 'zod';
import type { OperationSpec } from '../operation-spec.ts';
import {
  replicationQuerySchema,
  replicationStatusSchema,
  replicationType,
  walQuerySchema,
} from '../replication.ts';

export const replicationOperations = {
  replicationSnapshot: {
    method: 'GET',
    path: '/replication/snapshot',
    summary: 'The logged state as of some record, for a follower to begin with',
    tag: 'replication',
    tenant: false,
    database: false,
    role: 'replica',
    kind: 'read',
    query: replicationQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: [replicationType],
    problems: ['StorageUnavailable'],
  },
  replicationWal: {
    method: 'GET',
    path: '/replication/wal',
    summary: 'The records of the log after one, as many as an answer holds',
    tag: 'replication',
    tenant: false,
    database: false,
    role: 'replica',
    kind: 'read',
    query: walQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: [replicationType],
    problems: [],
  },
  replicationStatus: {
    method: 'GET',
    path: '/replication/status',
    summary: 'How far this service follows its leader, or who follows it',
    tag: 'replication',
    tenant: false,
    database: false,
    role: 'replica',
    kind: 'read',
    output: replicationStatusSchema,
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;
