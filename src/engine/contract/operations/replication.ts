/** Replication: what followers fetch from their leader, and the status of both. */
import { z } from 'zod';
import type { OperationSpec } from '../operation-spec.ts';
import {
  replicationQuerySchema,
  replicationStatusSchema,
  replicationType,
  walQuerySchema,
} from '../replication.ts';

const shared = {
  tag: 'replication',
  tenant: false,
  database: false,
  method: 'GET',
  role: 'replica',
  kind: 'read',
} as const;

export const replicationOperations = {
  replicationSnapshot: {
    ...shared,
    path: '/replication/snapshot',
    summary: 'The logged state at some record, for a follower to start from',
    description:
      'A binary format with version and checksums, for followers of the same version. The log has all ' +
      'later records.',
    query: replicationQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: [replicationType],
    problems: ['StorageUnavailable'],
    example: { query: { follower: 'second:9300' } },
  },
  replicationWal: {
    ...shared,
    path: '/replication/wal',
    summary: 'The log records after a given one, as many as fit one response',
    description:
      'In the same format. A follower asks again from its last record: at once if there are more, else ' +
      'after its interval. The answer begins with the range of records that the leader has; earlier ones ' +
      'are in its snapshot.',
    query: walQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: [replicationType],
    problems: [],
    example: { query: { after: '37', follower: 'second:9300' } },
  },
  replicationStatus: {
    ...shared,
    path: '/replication/status',
    summary: 'How far this follower is behind its leader, or which followers this leader has',
    description:
      'Answers in every phase of the service. The `state` of a follower is `connecting` before the first ' +
      'answer of its leader, `snapshot` while it fetches one, `streaming`, `stale` while the leader ' +
      'cannot be reached, or `refused`.',
    output: replicationStatusSchema,
    problems: [],
    example: {
      answer: {
        mode: 'LEADER',
        state: 'leader',
        leader: null,
        position: 38,
        leaderPosition: 38,
        lagRecords: 0,
        lagMs: 0,
        lastContactAt: null,
        lastError: null,
        historyId: '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5',
        epoch: 1,
        followers: [
          {
            id: 'second:9300',
            address: '192.0.2.7',
            position: 38,
            lagRecords: 0,
            lagMs: 0,
            lastContactAt: 1782900001000,
          },
        ],
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
