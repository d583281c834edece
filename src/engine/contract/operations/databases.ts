/** Databases and their tenants. */
import {
  clearedSchema,
  createDatabaseSchema,
  createdDatabaseSchema,
  createdTenantSchema,
  createTenantSchema,
  databaseListSchema,
  databaseParams,
  deletedDatabaseSchema,
  tenantListSchema,
  tenantParams,
} from '../administration.ts';
import { forgetEntitySchema, forgottenEntitySchema } from '../history.ts';
import { type OperationSpec } from '../operation-spec.ts';
import { quotaInputSchema, quotaStateSchema } from '../quotas.ts';

const read = { tag: 'databases', tenant: false, database: false, role: 'reader', kind: 'read' } as const;
const write = { tag: 'databases', tenant: false, database: false, role: 'admin', kind: 'write' } as const;
const inspect = { ...write, kind: 'read' } as const;

export const databaseOperations = {
  listDatabases: {
    ...read,
    method: 'GET',
    path: '/databases',
    summary: 'The databases this caller can reach',
    description: 'By name, with counts of their contents.',
    output: databaseListSchema,
    problems: [],
    example: {
      answer: {
        databases: [
          { name: 'default', createdAt: 1782900000000, tenants: 1, facts: 13, rules: 2 },
          { name: 'family', createdAt: 1782900003700, tenants: 1, facts: 0, rules: 0 },
        ],
      },
    },
  },
  createDatabase: {
    ...write,
    method: 'POST',
    path: '/databases',
    summary: 'Create a database',
    description: 'An existing one is 409.',
    body: createDatabaseSchema,
    output: createdDatabaseSchema,
    status: 201,
    problems: ['Conflict', 'StorageUnavailable'],
    example: { body: { name: 'family' }, answer: { name: 'family', createdAt: 1782900003700 } },
  },
  deleteDatabase: {
    ...write,
    method: 'DELETE',
    path: '/databases/:name',
    summary: 'Delete a database with all its tenants',
    description: 'With everything in it. `default` cannot be deleted: 409.',
    changesRules: true,
    pathNames: 'database',
    params: databaseParams,
    output: deletedDatabaseSchema,
    problems: ['DatabaseNotFound', 'Conflict', 'StorageUnavailable'],
    example: {
      params: { name: 'family' },
      answer: { name: 'family', status: 'deleted', facts: 0, rules: 0 },
    },
  },
  nukeDatabase: {
    ...write,
    method: 'POST',
    path: '/admin/databases/:name/nuke',
    summary: 'Delete the facts and rules of all tenants; the database remains',
    description: 'The tenants remain, empty.',
    changesRules: true,
    pathNames: 'database',
    params: databaseParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'StorageUnavailable'],
    example: { params: { name: 'family' }, answer: { status: 'nuked', facts: 0, rules: 0, generation: 2 } },
  },
  listTenants: {
    ...read,
    method: 'GET',
    path: '/admin/databases/:name/tenants',
    summary: 'The tenants of a database',
    description: 'By name, with the number of their facts.',
    pathNames: 'database',
    params: databaseParams,
    output: tenantListSchema,
    problems: ['DatabaseNotFound'],
    example: {
      params: { name: 'family' },
      answer: { tenants: [{ name: 'acme', createdAt: 1782900003700, facts: 0 }] },
    },
  },
  createTenant: {
    ...write,
    method: 'POST',
    path: '/admin/databases/:name/tenants',
    summary: 'Create a tenant',
    description: 'Optional: the first write creates a tenant too. An existing one is 409.',
    pathNames: 'database',
    params: databaseParams,
    body: createTenantSchema,
    output: createdTenantSchema,
    status: 201,
    problems: ['DatabaseNotFound', 'Conflict', 'StorageUnavailable'],
    example: {
      params: { name: 'family' },
      body: { name: 'acme' },
      answer: { name: 'acme', createdAt: 1782900003700 },
    },
  },
  deleteTenant: {
    ...write,
    method: 'DELETE',
    path: '/admin/databases/:name/tenants/:id',
    summary: 'Delete a tenant with its facts',
    description: 'Rules belong to the database and remain.',
    pathNames: 'tenant',
    params: tenantParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'TenantNotFound', 'StorageUnavailable'],
    example: {
      params: { name: 'family', id: 'acme' },
      answer: { status: 'deleted', facts: 0, rules: 0, generation: 2 },
    },
  },
  nukeTenant: {
    ...write,
    method: 'POST',
    path: '/admin/databases/:name/tenants/:id/nuke',
    summary: 'Delete the facts of a tenant; it remains',
    description: 'The tenant keeps its time of creation.',
    pathNames: 'tenant',
    params: tenantParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'TenantNotFound', 'StorageUnavailable'],
    example: {
      params: { name: 'family', id: 'acme' },
      answer: { status: 'nuked', facts: 1, rules: 0, generation: 2 },
    },
  },
  forgetEntity: {
    ...write,
    method: 'POST',
    path: '/admin/forget',
    dryRun: 'body',
    summary: 'Erase all facts about an entity, present and past',
    description:
      'Erases every fact with the entity, or one of its aliases, as an argument: what is stored, and what the retained ' +
      'history, idempotency keys, context sessions, vectors and the log of calls have of it. A summary of a consolidation ' +
      'that lists the entity goes whole. The answer comes once nothing of it is in the folder. Generations keep their ' +
      'numbers; `/history` counts in `redacted` what they lost. It cannot be taken back, and may be repeated. Followers ' +
      'erase it from their folders too. Rules, texts in metadata, reasons and earlier backups are not changed.',
    body: forgetEntitySchema,
    output: forgottenEntitySchema,
    problems: ['DatabaseNotFound', 'TenantNotFound', 'Conflict', 'HistoryGone', 'StorageUnavailable'],
    example: {
      body: { tenant: 'acme', entity: 'alice' },
      answer: {
        status: 'forgotten',
        facts: 2,
        pastFacts: 5,
        generationsRewritten: 6,
        rulesMentioning: [],
        notChanged: ['rules', 'metadata', 'reasons', 'backups'],
        generation: 24,
      },
    },
  },
  databaseQuota: {
    ...inspect,
    method: 'GET',
    path: '/admin/databases/:name/quota',
    summary: 'The quota of a database, and its use',
    description: 'Sums over all tenants. A tenant can have a quota of its own; both apply.',
    pathNames: 'database',
    isOfAllTenants: true,
    params: databaseParams,
    output: quotaStateSchema,
    problems: ['DatabaseNotFound'],
    example: {
      params: { name: 'family' },
      answer: {
        quota: {
          facts: null,
          bytes: 1000000000,
          runningQuestions: null,
          questionsPerMinute: null,
          openTransactions: null,
        },
        use: { facts: 0, bytes: 0, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 },
      },
    },
  },
  setDatabaseQuota: {
    ...write,
    method: 'PUT',
    path: '/admin/databases/:name/quota',
    summary: 'Set the quota of a database',
    description:
      'Replaces the quota: what is absent or null is not limited. A quota below what is in use refuses growth only.',
    pathNames: 'database',
    isOfAllTenants: true,
    params: databaseParams,
    body: quotaInputSchema,
    output: quotaStateSchema,
    problems: ['DatabaseNotFound', 'StorageUnavailable'],
    example: {
      params: { name: 'family' },
      body: { bytes: 1000000000 },
      answer: {
        quota: {
          facts: null,
          bytes: 1000000000,
          runningQuestions: null,
          questionsPerMinute: null,
          openTransactions: null,
        },
        use: { facts: 0, bytes: 0, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 },
      },
    },
  },
  tenantQuota: {
    ...inspect,
    method: 'GET',
    path: '/admin/databases/:name/tenants/:id/quota',
    summary: 'The quota of a tenant, and its use',
    description: 'An unknown tenant is 404.',
    pathNames: 'tenant',
    params: tenantParams,
    output: quotaStateSchema,
    problems: ['DatabaseNotFound', 'TenantNotFound'],
    example: {
      params: { name: 'family', id: 'acme' },
      answer: {
        quota: {
          facts: 100000,
          bytes: null,
          runningQuestions: 4,
          questionsPerMinute: null,
          openTransactions: null,
        },
        use: { facts: 0, bytes: 0, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 },
      },
    },
  },
  setTenantQuota: {
    ...write,
    method: 'PUT',
    path: '/admin/databases/:name/tenants/:id/quota',
    summary: 'Set the quota of a tenant',
    description:
      'Replaces the quota: what is absent or null is not limited. It creates the tenant if there is none, so that a tenant can be ' +
      'limited before its first write.',
    pathNames: 'tenant',
    params: tenantParams,
    body: quotaInputSchema,
    output: quotaStateSchema,
    problems: ['DatabaseNotFound', 'StorageUnavailable'],
    example: {
      params: { name: 'family', id: 'acme' },
      body: { facts: 100000, runningQuestions: 4 },
      answer: {
        quota: {
          facts: 100000,
          bytes: null,
          runningQuestions: 4,
          questionsPerMinute: null,
          openTransactions: null,
        },
        use: { facts: 0, bytes: 0, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 },
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
