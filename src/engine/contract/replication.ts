/** Wire schemas of replication status. docs/replication.md describes the replication protocol. */
import { z } from 'zod';
import { defaulted, optional, queryInteger, timeSchema } from './fields.ts';

/** The media type of the replication stream. */
export const replicationType = 'application/vnd.corollary.replication';

/** `GET /replication/snapshot`. */
export const replicationQuerySchema = z.strictObject({
  follower: optional(z.string().min(1).max(256)).describe('Name of the follower in listings'),
});

/** `GET /replication/wal`. */
export const walQuerySchema = replicationQuerySchema.extend({
  after: defaulted(queryInteger(0, 999_999_999_999_999), 0).describe(
    'Sequence number of the last record that the follower has; 0: none',
  ),
});

export const replicationStates = [
  'leader',
  'connecting',
  'snapshot',
  'streaming',
  'stale',
  'refused',
] as const;

export const replicationStatusSchema = z.object({
  mode: z.enum(['LEADER', 'FOLLOWER']),
  state: z.enum(replicationStates),
  leader: z.string().nullable().describe('Address of the leader; null: this is the leader'),
  position: z.int().describe('Sequence number of the last record here'),
  leaderPosition: z
    .int()
    .nullable()
    .describe('The same on the leader, as of its last answer; null: no answer yet'),
  lagRecords: z.int().nullable(),
  lagMs: z
    .number()
    .nullable()
    .describe('Time since this follower was last up to date with the leader; 0: up to date'),
  lastContactAt: timeSchema.nullable().describe('When the leader last answered'),
  lastError: z.string().nullable().describe('What prevents replication; null: nothing'),
  historyId: z.string().nullable().describe('Id of the history of the records; null: no records yet'),
  epoch: z.int().describe('Number of leaders in the history of the records'),
  followers: z
    .array(
      z.object({
        id: z.string().nullable().describe('The name it gave'),
        address: z.string().nullable(),
        position: z.int(),
        lagRecords: z.int(),
        lagMs: z.number(),
        lastContactAt: timeSchema,
      }),
    )
    .describe('Followers of the last ten minutes, the latest first; at most 100'),
});
export type ReplicationStatus = z.output<typeof replicationStatusSchema>;
