/** Followers and their leader on the wire: what each says of itself. What they send each other is docs/replication.md. */
import { z } from 'zod';
import { defaulted, optional, queryInteger, timeSchema } from './fields.ts';

/** The media type of what a leader sends its followers. */
export const replicationType = 'application/vnd.corollary.replication';

/** `GET /replication/snapshot`. */
export const replicationQuerySchema = z.strictObject({
  follower: optional(z.string().min(1).max(256)).describe('How the follower calls itself in lists'),
});

/** `GET /replication/wal`. */
export const walQuerySchema = replicationQuerySchema.extend({
  after: defaulted(queryInteger(0, 999_999_999_999_999), 0).describe(
    'Sequence of the last record that the follower has; 0: it has none',
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
  leader: z.string().nullable().describe('Address of the leader; null: this is one'),
  position: z.int().describe('Sequence of the last record here'),
  leaderPosition: z.int().nullable().describe('That of the leader when it last answered; null: it has not'),
  lagRecords: z.int().nullable(),
  lagMs: z.number().nullable().describe('Time since everything was here that the leader had; 0: it is'),
  lastContactAt: timeSchema.nullable().describe('When the leader last answered'),
  lastError: z.string().nullable().describe('What is in the way; null: nothing'),
  historyId: z.string().nullable().describe('The history of the records; null: there are none yet'),
  epoch: z.int().describe('Counts the leaders that the records had'),
  followers: z
    .array(
      z.object({
        id: z.string().nullable().describe('As it calls itself'),
        address: z.string().nullable(),
        position: z.int(),
        lagRecords: z.int(),
        lagMs: z.number(),
        lastContactAt: timeSchema,
      }),
    )
    .describe('Those who asked in the last ten minutes, the last one first; 100 at most'),
});
export type ReplicationStatus = z.output<typeof replicationStatusSchema>;
