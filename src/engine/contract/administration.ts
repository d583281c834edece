/** Wire schemas of databases, health, storage and the change stream. */
import { z } from 'zod';
import {
  databaseNameSchema,
  generationSchema,
  namedSchema,
  optional,
  tenantNameSchema,
  timeSchema,
} from './fields.ts';

export const createDatabaseSchema = z.strictObject({ name: databaseNameSchema });
export const createdDatabaseSchema = z.object({ name: z.string(), createdAt: timeSchema });
export type CreatedDatabase = z.output<typeof createdDatabaseSchema>;

export const databaseListSchema = z.object({
  databases: z.array(
    z.object({ name: z.string(), createdAt: timeSchema, tenants: z.int(), facts: z.int(), rules: z.int() }),
  ),
});
export type DatabaseList = z.output<typeof databaseListSchema>;

/** `DELETE /databases/:name`. */
export const databaseParams = z.strictObject({ name: databaseNameSchema });
export const deletedDatabaseSchema = z.object({
  name: z.string(),
  status: z.literal('deleted'),
  facts: z.int(),
  rules: z.int(),
});
export type DeletedDatabase = z.output<typeof deletedDatabaseSchema>;

export const tenantParams = z.strictObject({ name: databaseNameSchema, id: tenantNameSchema });
export const createTenantSchema = z.strictObject({ name: tenantNameSchema });
export const createdTenantSchema = z.object({ name: z.string(), createdAt: timeSchema });
export type CreatedTenant = z.output<typeof createdTenantSchema>;
export const tenantListSchema = z.object({
  tenants: z.array(z.object({ name: z.string(), createdAt: timeSchema, facts: z.int() })),
});
export type TenantList = z.output<typeof tenantListSchema>;

/** What a deletion or a nuke removed. */
export const clearedSchema = z.object({
  status: z.enum(['deleted', 'nuked']),
  facts: z.int(),
  rules: z.int(),
  generation: generationSchema,
});
export type Cleared = z.output<typeof clearedSchema>;

export const snapshotTakenSchema = z.object({
  position: z.int().describe('Sequence number of the last record it covers'),
  bytes: z.int(),
  elapsedMs: z.number(),
});
export type SnapshotTaken = z.output<typeof snapshotTakenSchema>;

/** A node of a store that several share, as it sees itself. */
export const nodeStatusSchema = z.object({
  id: z.string(),
  role: z
    .enum(['owner', 'copy'])
    .describe(
      'The owner stores writes; a copy applies what the owner stores. Of the catalogue, where no database is named',
    ),
  owned: z.int().describe('Databases whose writes this node stores'),
  copies: z.int().describe('Databases of which it has a copy'),
  owner: z.string().nullable().describe('The id of the owner, as last seen; null: there is none'),
  ownerAddress: z
    .string()
    .nullable()
    .describe('Where the owner is reached; null: there is none, or this is it'),
  lagRecords: z.int().describe('Records that are stored and not yet applied here, as last seen'),
  staleMs: z.int().describe('This node shows everything that was stored so many milliseconds ago'),
  takes: z.int().describe('How often this node has taken the log since its start'),
  clockSkewMs: z
    .int()
    .describe(
      'By how much the clock of this node is ahead of that of PostgreSQL; by more than 2,000 it stores nothing',
    ),
  problem: z.string().nullable().describe('Why the log cannot be followed; null: it can'),
});
export type NodeStatus = z.output<typeof nodeStatusSchema>;

/** A node of a store, as it told with its last sign of life, twice a second. */
const listedNodeSchema = z.object({
  id: z.string(),
  address: z.string().describe('Where other nodes reach it: `NODE_ADDRESS`'),
  self: z.boolean().describe('True of the node that answers'),
  role: z.enum(['owner', 'copy']),
  alive: z.boolean().describe('False: its lease has run out. It is forgotten within an hour'),
  position: z.int().describe('How many records it has applied, of all logs that it has'),
  lagRecords: z.int().describe('Records of those logs that are stored and that it has not applied'),
  staleMs: z.int().describe('It shows everything that was stored so many milliseconds ago'),
  takes: z.int().describe('How often it has taken the log since its start'),
  owned: z.int().describe('Databases whose writes it stores'),
  copies: z.int().describe('Databases of which it has a copy'),
  usedBytes: z.int().nullable().describe('Resident memory of its process; null: not known yet'),
  memoryBytes: z.int().nullable().describe('At which it stores no more knowledge; null: not known yet'),
  problem: z.string().nullable().describe('Why it cannot follow or take a log; null: it can'),
});

export const nodeListSchema = z.object({
  log: z
    .object({
      position: z.int().describe('Sequence number of the last record that is stored'),
      historyId: z.string(),
      epoch: z.int().describe('Counts how often the log was taken'),
      owner: z.string().nullable().describe('The id of the node that stores writes; null: none'),
      ownedSince: timeSchema.nullable().describe('When it took the log; null: not known'),
    })
    .nullable()
    .describe(
      'The log of the catalogue, which has the keys; `position` counts the records of all logs; null: without `STORE_URL`',
    ),
  databases: z
    .array(
      z.object({
        name: z.string(),
        owner: z.string().nullable().describe('The id of the node that stores its writes; null: none'),
        epoch: z.int().describe('Counts how often its log was taken'),
        position: z.int().describe('Sequence number of the last record that is stored'),
        bytes: z.int().describe('About how much memory it takes; 0: not known yet'),
        placed: z
          .array(z.string())
          .describe('The ids of the nodes that are to have it; none: it was not placed yet'),
        copies: z
          .array(z.string())
          .describe('The ids of the living nodes that have a copy, without the owner'),
      }),
    )
    .describe('The logs of the databases, by name; without `STORE_URL` none'),
  nodes: z.array(listedNodeSchema).describe('By address; without `STORE_URL` none'),
});
export type NodeList = z.output<typeof nodeListSchema>;

export const moveLogSchema = z.strictObject({
  to: z.string().min(1).max(64).describe('The id of the node that is to store the writes'),
  database: optional(databaseNameSchema).describe(
    'Whose writes; null: of everything that the owner of the catalogue has',
  ),
});
export const logMovedSchema = z.object({
  from: z.string(),
  to: z.string(),
  address: z.string().describe('Of the node that stores the writes now'),
  heldMs: z.number().describe('For how long writes waited'),
});
export type LogMoved = z.output<typeof logMovedSchema>;

export const storageStateSchema = z.object({
  place: z
    .string()
    .nullable()
    .describe(
      'Where the log is: the folder, or server and database of PostgreSQL; null: in memory, and it ends with the service',
    ),
  status: z.enum(['ready', 'failed']).describe('failed: writes are refused'),
  encrypted: z.boolean().describe('Whether the log and the snapshots are encrypted'),
  fsync: z.enum(['always', 'interval', 'never']),
  historyId: z.string().describe('Unique id of this history; no other service has the same'),
  parent: z
    .object({ historyId: z.string(), position: z.int() })
    .nullable()
    .describe('The history this one branched from, and the last record they share; null: not branched'),
  position: z.int().describe('Sequence number of the last record'),
  log: z.object({
    bytes: z.int(),
    segments: z.int(),
    waitingBytes: z.int().describe('Not yet durable'),
  }),
  snapshot: z
    .object({ position: z.int(), bytes: z.int(), createdAt: z.int() })
    .nullable()
    .describe('The newest snapshot; null: none'),
  history: z
    .object({
      days: z.int().describe('`HISTORY_DAYS`'),
      bytes: z.int().describe('On disk, beside the log and its snapshot'),
      segments: z.int(),
      snapshots: z.int(),
      since: z
        .int()
        .nullable()
        .describe('The stamp of the oldest state that is retained; null: from the first record on'),
    })
    .describe('What is retained of the past'),
  backup: z
    .object({ position: z.int(), bytes: z.int(), takenAt: z.int() })
    .nullable()
    .describe('The last complete backup since the start'),
  node: nodeStatusSchema.nullable().describe('With `STORE_URL`, this node; null: without'),
});
export type StorageState = z.output<typeof storageStateSchema>;
/** What the engine knows of it. */
export type EngineStorage = Omit<StorageState, 'place'>;

export const healthSchema = z.object({ status: z.literal('ok'), version: z.string(), uptimeMs: z.number() });

export const subsystemStates = ['ready', 'off', 'stale', 'failed'] as const;
export const subsystemStateSchema = z.enum(subsystemStates);

export const readinessSchema = z.object({
  status: z.enum(['ready', 'not_ready']),
  subsystems: z.object({
    engine: subsystemStateSchema,
    storage: subsystemStateSchema,
    replication: subsystemStateSchema,
    mcp: subsystemStateSchema,
    llm: subsystemStateSchema,
    embeddings: subsystemStateSchema
      .optional()
      .describe(
        'Absent: none are configured; stale: some facts are not embedded yet; failed: the last call failed',
      ),
    store: subsystemStateSchema
      .optional()
      .describe(
        'With `STORE_URL`; stale: PostgreSQL cannot be reached, and reads go on; failed: they do not, or the clock of this ' +
          'node is off by more than 2 s',
      ),
  }),
  clock: z
    .object({ offsetMs: z.int() })
    .optional()
    .describe('By how far the wall clock was set while the service runs; absent while it is right'),
  node: nodeStatusSchema
    .pick({ role: true, lagRecords: true, staleMs: true })
    .optional()
    .describe('With `STORE_URL`, this node'),
});
export type Readiness = z.output<typeof readinessSchema>;

export const changeKinds = [
  'fact.asserted',
  'fact.retracted',
  'fact.superseded',
  'conclusion.withdrawn',
  'rule.changed',
  'constraint.changed',
  'constraint.violated',
  'constraint.satisfied',
  'declaration.changed',
  'test.changed',
  'alias.changed',
  'scope.changed',
  'memory.evicted',
  'mcp.call',
  'reset',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The data of one server-sent event of GET /events; its SSE id is `generation.index`. */
export const changeSchema = z.object({
  generation: generationSchema,
  time: timeSchema,
  requestId: z.string().nullable(),
  atom: z.string().optional(),
  named: namedSchema.optional(),
  id: z.string().optional(),
  scope: z.string().nullable().optional(),
  rule: z.string().optional(),
  constraint: z
    .string()
    .optional()
    .describe('constraint.changed: its text; constraint.violated and .satisfied: the id of the constraint'),
  bindings: z
    .record(z.string(), z.string())
    .optional()
    .describe('constraint.violated and .satisfied: the values that identify the violation'),
  predicate: z.string().optional().describe('name/arity of a declaration'),
  test: z.string().optional().describe('test.changed: the name of the test'),
  entity: z.string().optional().describe('alias.changed: the entity'),
  alias: z.string().optional().describe('alias.changed: the name that it got or lost'),
});
export type ChangeData = z.output<typeof changeSchema>;
