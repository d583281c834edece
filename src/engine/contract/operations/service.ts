/** The service itself: health, storage and the change stream. */
import { z } from 'zod';
import {
  changeSchema,
  healthSchema,
  logMovedSchema,
  moveLogSchema,
  nodeListSchema,
  readinessSchema,
  snapshotTakenSchema,
  storageStateSchema,
} from '../administration.ts';
import { type OperationSpec } from '../operation-spec.ts';

const shared = { tag: 'service', tenant: false, database: false, kind: 'read' } as const;

export const serviceOperations = {
  takeSnapshot: {
    ...shared,
    method: 'POST',
    path: '/admin/snapshot',
    summary: 'Write a snapshot now and delete the log segments it covers',
    description: 'The service also writes snapshots on a schedule and at a clean shutdown.',
    role: 'admin',
    output: snapshotTakenSchema,
    problems: ['StorageUnavailable'],
    example: { answer: { position: 38, bytes: 6124, elapsedMs: 4.3 } },
  },
  takeBackup: {
    ...shared,
    method: 'POST',
    path: '/admin/backup',
    summary: 'A backup of everything in one file, for --restore',
    description:
      'Writes a snapshot and sends its file: consistent, and encrypted with the same key if the storage ' +
      'is. Restore it with `corollary --restore FILE`. A client that reads nothing for a minute is ' +
      'disconnected; a backup that fails midway closes the connection before `Content-Length` is reached.',
    role: 'admin',
    isOfEverything: true,
    output: z.string(),
    stream: 'file',
    gives: ['application/octet-stream'],
    problems: ['StorageUnavailable'],
    example: { answer: { 'application/octet-stream': 'CORSNP\r\n…' } },
  },
  storageState: {
    ...shared,
    method: 'GET',
    path: '/admin/storage',
    summary: 'The state of the storage: log, snapshot, history and encryption',
    description: 'Reads nothing from disk.',
    role: 'admin',
    output: storageStateSchema,
    problems: [],
    example: {
      answer: {
        place: '/var/lib/corollary',
        status: 'ready',
        encrypted: true,
        fsync: 'always',
        historyId: '5d0c7f1e9a3b48d6b1f2e4a7c9d80b36',
        parent: null,
        position: 41,
        log: { bytes: 10484, segments: 2, waitingBytes: 0 },
        snapshot: { position: 38, bytes: 6124, createdAt: 1782900000000 },
        history: { days: 30, bytes: 21350, segments: 3, snapshots: 1, since: null },
        backup: { position: 38, bytes: 6124, takenAt: 1782900000000 },
        node: null,
      },
    },
  },
  listNodes: {
    ...shared,
    method: 'GET',
    path: '/admin/nodes',
    summary:
      'The nodes of the store, which of them has each database and stores its writes, and how far each is behind',
    description:
      'With `STORE_URL`, as each node told PostgreSQL with its last sign of life, twice a second. Any node answers it, also ' +
      'while no node has the log. 503 `NoOwner` while PostgreSQL cannot be asked.',
    role: 'admin',
    output: nodeListSchema,
    problems: ['NoOwner'],
    example: {
      answer: {
        log: {
          position: 41,
          historyId: '5d0c7f1e9a3b48d6b1f2e4a7c9d80b36',
          epoch: 3,
          owner: 'b1f2e4a7-5d0c-4f1e-9a3b-c9d80b3648d6',
          ownedSince: 1782900000000,
        },
        databases: [
          {
            name: 'default',
            owner: 'b1f2e4a7-5d0c-4f1e-9a3b-c9d80b3648d6',
            epoch: 3,
            position: 40,
            bytes: 91324,
            placed: ['b1f2e4a7-5d0c-4f1e-9a3b-c9d80b3648d6'],
            copies: [],
          },
        ],
        nodes: [
          {
            id: 'b1f2e4a7-5d0c-4f1e-9a3b-c9d80b3648d6',
            address: 'http://10.0.0.7:9300',
            self: true,
            role: 'owner',
            alive: true,
            position: 41,
            lagRecords: 0,
            staleMs: 120,
            takes: 1,
            owned: 1,
            copies: 0,
            usedBytes: 210763776,
            memoryBytes: 6871947673,
            problem: null,
          },
        ],
      },
    },
  },
  moveLog: {
    ...shared,
    method: 'POST',
    path: '/admin/nodes/move',
    summary: 'Let another node store the writes, or those to one database',
    description:
      'The owner ends the writes that are under way, keeps later ones waiting, gives the log to the node, and answers once ' +
      'that node has it. Without `database` the owner of the catalogue gives everything that it has, which may stop midway: ' +
      'repeat it then. Nobody gets an error for it; open transactions are lost (409 `TransactionLost`). 409 `Conflict`, and ' +
      'nothing changed, if the node is not up to date, if a write takes more than a second, or without `STORE_URL`. A node ' +
      'that does not have the database makes a copy first, within a minute; 409 if it has no room for it.',
    kind: 'write',
    role: 'admin',
    isOfEverything: true,
    body: moveLogSchema,
    output: logMovedSchema,
    problems: ['NotFound', 'DatabaseNotFound', 'Conflict', 'NoOwner'],
    example: {
      body: { to: '4f1e9a3b-48d6-4c9d-80b3-65d0c7f1e9a3' },
      answer: {
        from: 'b1f2e4a7-5d0c-4f1e-9a3b-c9d80b3648d6',
        to: '4f1e9a3b-48d6-4c9d-80b3-65d0c7f1e9a3',
        address: 'http://10.0.0.8:9300',
        heldMs: 42.7,
      },
    },
  },
  health: {
    ...shared,
    method: 'GET',
    path: '/health',
    summary: 'Whether the process is alive',
    description: 'Answers in every phase of the service.',
    role: 'public',
    output: healthSchema,
    problems: [],
    example: { answer: { status: 'ok', version: '0.1.0', uptimeMs: 4755 } },
  },
  ready: {
    ...shared,
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether the service is ready; if not, 503 with the same body',
    description:
      'Answers in every phase of the service, with the state of each of its parts, and `clock` while the wall clock ' +
      'is off its course.',
    role: 'public',
    output: readinessSchema,
    problems: [],
    example: {
      answer: {
        status: 'ready',
        subsystems: { engine: 'ready', storage: 'ready', replication: 'off', mcp: 'ready', llm: 'ready' },
      },
    },
  },
  events: {
    ...shared,
    method: 'GET',
    path: '/events',
    summary: 'The change stream, as server-sent events',
    description:
      'Each event has an `id` (`generation.index`), a kind and, as JSON, its data. Kinds: ' +
      '`fact.asserted`, `fact.retracted`, `fact.superseded`, `conclusion.withdrawn`, `rule.changed`, `scope.changed`, ' +
      '`declaration.changed`, `alias.changed`, ' +
      '`memory.evicted`, `mcp.call`, and `reset`, after which the client reads everything again. The ' +
      'stream ends when its credential does.',
    tenant: true,
    database: true,
    role: 'reader',
    output: changeSchema,
    stream: 'events',
    problems: [],
    example: {
      answer: {
        generation: 2,
        time: 1782900000000,
        requestId: 'db712e00-5b7b-4f41-afe2-61380afc8b09',
        atom: 'parent(bob, carol)',
        id: 'f2-0',
        scope: null,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
