/** Replication: what followers fetch from their leader, and the status of both. */
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
    summary: 'The logged state at some record, for a follower to start from',
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
    summary: 'The log records after a given one, as many as fit one response',
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
    summary: 'How far this follower is behind its leader, or which followers this leader has',
    tag: 'replication',
    tenant: false,
    database: false,
    role: 'replica',
    kind: 'read',
    output: replicationStatusSchema,
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;
