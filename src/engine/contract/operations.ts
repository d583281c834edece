/**
 * The operations table: the one list of what the service can do.
 *
 * The HTTP routes, the MCP tools, the OpenAPI document, the permission check and the workbench's client are
 * loops over it, so an operation exists on every surface or on none. `path` parameters are written `:name` and
 * described by `params`; a GET takes `query`, the others `body`. Handlers are given the parsed parts.
 */
import { z } from 'zod';
import {
  changeSchema,
  clearedSchema,
  createDatabaseSchema,
  createdDatabaseSchema,
  createdTenantSchema,
  createTenantSchema,
  databaseListSchema,
  databaseParams,
  deletedDatabaseSchema,
  healthSchema,
  readinessSchema,
  snapshotTakenSchema,
  tenantListSchema,
  tenantParams,
} from './administration.ts';
import { aggregateInputSchema, aggregateResultSchema } from './aggregation.ts';
import {
  explainInputSchema,
  explanationSchema,
  traceInputSchema,
  traceSchema,
  whatIfInputSchema,
  whatIfResultSchema,
} from './explanation.ts';
import {
  factDetailSchema,
  factInputSchema,
  factListSchema,
  factOutcomeSchema,
  factsInputSchema,
  factsList,
  factsOutcomeSchema,
  listFactsQuerySchema,
  predicateListSchema,
  queryInputSchema,
  queryResultSchema,
  retractInputSchema,
  retractOutcomeSchema,
  retractPatternInputSchema,
  retractPatternOutcomeSchema,
} from './facts.ts';
import { answerSchema, askInputSchema } from './inference.ts';
import type { ProblemCode } from './problems.ts';
import {
  ruleInputSchema,
  ruleListSchema,
  ruleOutcomeSchema,
  ruleRetractedSchema,
  ruleUpdateSchema,
  storedRuleSchema,
  validateInputSchema,
  validateResultSchema,
} from './rules.ts';
import {
  diffInputSchema,
  forkedSchema,
  forkInputSchema,
  mergedSchema,
  mergeInputSchema,
  resolutionsList,
  scopeDeletedSchema,
  scopeDiffSchema,
  scopeListSchema,
  scopeParams,
} from './scopes.ts';
import {
  commitInputSchema,
  committedSchema,
  rolledBackSchema,
  transactionBegunSchema,
  transactionParams,
} from './transactions.ts';
import type { LongList } from './validation.ts';

/** What a credential must at least be. `public` needs none. */
export type Role = 'public' | 'reader' | 'writer' | 'admin';

/** How an operation appears as an MCP tool; `description` says when to use which, with an example. */
export interface ToolSpec {
  name: string;
  title: string;
  description: string;
  destructive: boolean;
  idempotent: boolean;
}

export interface OperationSpec {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Further paths that do the same. */
  aliases?: readonly string[];
  summary: string;
  tag: 'facts' | 'rules' | 'inference' | 'transactions' | 'scopes' | 'databases' | 'service';
  /** True: needs X-Tenant-ID. */
  tenant: boolean;
  /** False: X-Database is not looked at. */
  database: boolean;
  role: Role;
  /** A write answers after it is durable, and only on the leader. */
  kind: 'read' | 'write';
  /**
   * It takes X-Transaction-ID: a `write` becomes part of the transaction and answers `pendingSchema`, a `read` sees its
   * writes. Absent: the header is refused.
   */
  transaction?: 'read' | 'write';
  /** The path names a database, as `name`, or a tenant of one, as `id`: they are checked as those of the headers are. */
  pathNames?: 'database' | 'tenant';
  /** The answer has an entity tag of what it is about, in the header ETag too. */
  etag?: true;
  /** It takes If-Match. */
  ifMatch?: true;
  /** True: it changes rules, which a credential restricted to tenants may not. */
  changesRules?: boolean;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  /** The list in the body that can be very long: it is checked in slices. */
  longList?: LongList;
  output: z.ZodType;
  /** Status of success; 200 unless given. */
  status?: number;
  /** `events`: the handler returns a stream of `output`, sent as server-sent events. */
  stream?: 'events';
  /** Problems of its own, beside those that every operation can have. */
  problems: readonly ProblemCode[];
  tool?: ToolSpec;
}

const idParams = z.strictObject({ id: z.string().min(1).max(256) });

export const operations = {
  assertFact: {
    method: 'POST',
    path: '/assert/fact',
    aliases: ['/tell'],
    summary: 'Assert a fact',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    body: factInputSchema,
    output: factOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    tool: {
      name: 'tell',
      title: 'Tell a fact',
      description:
        'Store one ground fact. Use it for what you have learnt and want to keep; telling the same fact twice changes nothing. ' +
        'For a rule use teach. Example: {"predicate": "parent", "args": ["alice", "bob"]}; truthVal false says that it is explicitly not so; ' +
        'ttl, validFrom and validUntil bound when it holds.',
      destructive: false,
      idempotent: true,
    },
  },
  assertFacts: {
    method: 'POST',
    path: '/assert/facts',
    summary: 'Assert many facts, all or none',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    body: factsInputSchema,
    longList: factsList,
    output: factsOutcomeSchema,
    problems: ['StorageUnavailable'],
  },
  retract: {
    method: 'POST',
    path: '/retract',
    aliases: ['/forget'],
    summary: 'Retract a fact; what depended on it no longer holds',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    body: retractInputSchema,
    output: retractOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
  },
  retractPattern: {
    method: 'POST',
    path: '/retract/pattern',
    summary: 'Retract every fact that matches a pattern',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    body: retractPatternInputSchema,
    output: retractPatternOutcomeSchema,
    problems: ['Conflict', 'StorageUnavailable'],
    tool: {
      name: 'forget',
      title: 'Forget facts',
      description:
        'Retract the stored facts that match a pattern; conclusions that depended on them no longer hold and are listed as dependents. ' +
        'Constants match themselves, arguments that start with ? match anything. ' +
        'Example: {"predicate": "parent", "args": ["alice", "?child"]}. Use dryRun: true to see what would go.',
      destructive: true,
      idempotent: true,
    },
  },
  query: {
    method: 'POST',
    path: '/query',
    summary: 'Stored facts that match a pattern, without inference',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    transaction: 'read',
    body: queryInputSchema,
    output: queryResultSchema,
    problems: [],
  },
  listFacts: {
    method: 'GET',
    path: '/facts',
    summary: 'Browse facts, page by page',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    query: listFactsQuerySchema,
    output: factListSchema,
    problems: ['InferenceLimitExceeded'],
  },
  getFact: {
    method: 'GET',
    path: '/facts/:id',
    summary: 'One fact with its dependents, salience and history',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    params: idParams,
    output: factDetailSchema,
    problems: ['FactNotFound'],
  },
  deleteFact: {
    method: 'DELETE',
    path: '/facts/:id',
    summary: 'Retract one fact by its id',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    params: idParams,
    output: retractOutcomeSchema,
    problems: ['FactNotFound', 'StorageUnavailable'],
  },
  listPredicates: {
    method: 'GET',
    path: '/predicates',
    summary: 'The vocabulary: every predicate with its arity and counts',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    output: predicateListSchema,
    problems: [],
    tool: {
      name: 'predicates',
      title: 'List predicates',
      description:
        'The vocabulary in use: every predicate with its arity, how many facts and rules it has, and an example. ' +
        'Look here first, so that you tell and ask in words that are already there.',
      destructive: false,
      idempotent: true,
    },
  },
  aggregate: {
    method: 'POST',
    path: '/aggregate',
    summary: 'Count, sum, least, greatest or mean over facts, with inference where wanted',
    tag: 'facts',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: aggregateInputSchema,
    output: aggregateResultSchema,
    problems: ['InferenceLimitExceeded'],
  },
  assertRule: {
    method: 'POST',
    path: '/assert/rule',
    aliases: ['/teach'],
    summary: 'Teach a rule',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    changesRules: true,
    etag: true,
    body: ruleInputSchema,
    output: ruleOutcomeSchema,
    problems: ['RuleException', 'StorageUnavailable'],
    tool: {
      name: 'teach',
      title: 'Teach a rule',
      description:
        'Store a rule from which conclusions are drawn. Use it for what holds in general; for single facts use tell. ' +
        'Example: {"text": "grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)"}. Variables start with ?; recursion is fine; ' +
        '-p(?x) is explicit negation; every variable of the head must be bound in the body.',
      destructive: false,
      idempotent: true,
    },
  },
  validateRules: {
    method: 'POST',
    path: '/rules/validate',
    summary: 'Check statements without storing them',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: validateInputSchema,
    output: validateResultSchema,
    problems: [],
  },
  listRules: {
    method: 'GET',
    path: '/rules',
    summary: 'All rules of the database',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    output: ruleListSchema,
    problems: [],
  },
  getRule: {
    method: 'GET',
    path: '/rules/:id',
    summary: 'One rule',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    etag: true,
    params: idParams,
    output: storedRuleSchema,
    problems: ['RuleNotFound'],
  },
  updateRule: {
    method: 'PUT',
    path: '/rules/:id',
    summary: 'Change a rule, or only whether it is enabled, its name or its description',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    changesRules: true,
    etag: true,
    ifMatch: true,
    params: idParams,
    body: ruleUpdateSchema,
    output: ruleOutcomeSchema,
    problems: ['RuleNotFound', 'Conflict', 'PreconditionFailed', 'RuleException', 'StorageUnavailable'],
  },
  deleteRule: {
    method: 'DELETE',
    path: '/rules/:id',
    summary: 'Retract a rule',
    tag: 'rules',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    transaction: 'write',
    changesRules: true,
    ifMatch: true,
    params: idParams,
    output: ruleRetractedSchema,
    problems: ['RuleNotFound', 'PreconditionFailed', 'StorageUnavailable'],
  },
  ask: {
    method: 'POST',
    path: '/ask',
    aliases: ['/infer'],
    summary: 'Ask a question, answered by inference, with its proof where wanted',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    transaction: 'read',
    body: askInputSchema,
    output: answerSchema,
    problems: ['InferenceLimitExceeded', 'RuleException'],
    tool: {
      name: 'ask',
      title: 'Ask a question',
      description:
        'Ask what follows from the facts and rules; the answer is complete and comes with its proof. Arguments that start with ? are what you want to know. ' +
        'Example: {"predicate": "grandparent", "args": ["alice", "?who"]}, or a conjunction as text: {"text": "parent(?x, ?y), employed(?y)"}. ' +
        'An empty result means that it does not follow.',
      destructive: false,
      idempotent: true,
    },
  },
  explain: {
    method: 'POST',
    path: '/explain',
    summary: 'Why something holds, or why it does not',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: explainInputSchema,
    output: explanationSchema,
    problems: ['InferenceLimitExceeded'],
  },
  whatIf: {
    method: 'POST',
    path: '/whatIf',
    summary: 'What would follow from other facts and rules; changes nothing',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: whatIfInputSchema,
    output: whatIfResultSchema,
    problems: ['InferenceLimitExceeded', 'RuleException', 'RuleNotFound'],
  },
  trace: {
    method: 'POST',
    path: '/trace',
    summary: 'What inference does for a question, and where its time goes',
    tag: 'inference',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: traceInputSchema,
    output: traceSchema,
    problems: ['InferenceLimitExceeded', 'RuleException'],
  },
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
  listScopes: {
    method: 'GET',
    path: '/scopes',
    summary: 'The scopes there are',
    tag: 'scopes',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    output: scopeListSchema,
    problems: [],
  },
  forkScope: {
    method: 'POST',
    path: '/scope/fork',
    summary: 'Copy a scope with its facts and rules',
    tag: 'scopes',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    body: forkInputSchema,
    output: forkedSchema,
    problems: ['ScopeNotFound', 'Conflict', 'RuleException', 'StorageUnavailable'],
  },
  diffScopes: {
    method: 'POST',
    path: '/scope/diff',
    summary: 'What differs between two scopes',
    tag: 'scopes',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    body: diffInputSchema,
    output: scopeDiffSchema,
    problems: ['ScopeNotFound'],
  },
  mergeScopes: {
    method: 'POST',
    path: '/scope/merge',
    summary: 'Bring the facts of one scope into another',
    tag: 'scopes',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    body: mergeInputSchema,
    longList: resolutionsList,
    output: mergedSchema,
    problems: ['ScopeNotFound', 'Conflict', 'StorageUnavailable'],
  },
  deleteScope: {
    method: 'DELETE',
    path: '/scope/:name',
    summary: 'Delete a scope with its facts and rules',
    tag: 'scopes',
    tenant: true,
    database: true,
    role: 'writer',
    kind: 'write',
    params: scopeParams,
    output: scopeDeletedSchema,
    problems: ['ScopeNotFound', 'StorageUnavailable'],
  },
  listDatabases: {
    method: 'GET',
    path: '/databases',
    summary: 'The databases this caller can reach',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'reader',
    kind: 'read',
    output: databaseListSchema,
    problems: [],
  },
  createDatabase: {
    method: 'POST',
    path: '/databases',
    summary: 'Create a database',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    body: createDatabaseSchema,
    output: createdDatabaseSchema,
    status: 201,
    problems: ['Conflict', 'StorageUnavailable'],
  },
  deleteDatabase: {
    method: 'DELETE',
    path: '/databases/:name',
    summary: 'Delete a database with all its tenants',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    changesRules: true,
    pathNames: 'database',
    params: databaseParams,
    output: deletedDatabaseSchema,
    problems: ['DatabaseNotFound', 'Conflict', 'StorageUnavailable'],
  },
  nukeDatabase: {
    method: 'POST',
    path: '/admin/databases/:name/nuke',
    summary: 'Delete the facts and rules of all tenants; the database remains',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    changesRules: true,
    pathNames: 'database',
    params: databaseParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'StorageUnavailable'],
  },
  listTenants: {
    method: 'GET',
    path: '/admin/databases/:name/tenants',
    summary: 'The tenants of a database',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'reader',
    kind: 'read',
    pathNames: 'database',
    params: databaseParams,
    output: tenantListSchema,
    problems: ['DatabaseNotFound'],
  },
  createTenant: {
    method: 'POST',
    path: '/admin/databases/:name/tenants',
    summary: 'Create a tenant',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    pathNames: 'database',
    params: databaseParams,
    body: createTenantSchema,
    output: createdTenantSchema,
    status: 201,
    problems: ['DatabaseNotFound', 'Conflict', 'StorageUnavailable'],
  },
  deleteTenant: {
    method: 'DELETE',
    path: '/admin/databases/:name/tenants/:id',
    summary: 'Delete a tenant with its facts',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    pathNames: 'tenant',
    params: tenantParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'TenantNotFound', 'StorageUnavailable'],
  },
  nukeTenant: {
    method: 'POST',
    path: '/admin/databases/:name/tenants/:id/nuke',
    summary: 'Delete the facts of a tenant; it remains',
    tag: 'databases',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'write',
    pathNames: 'tenant',
    params: tenantParams,
    output: clearedSchema,
    problems: ['DatabaseNotFound', 'TenantNotFound', 'StorageUnavailable'],
  },
  takeSnapshot: {
    method: 'POST',
    path: '/admin/snapshot',
    summary: 'Write a snapshot now, and let go of the log that it covers',
    tag: 'service',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'read',
    output: snapshotTakenSchema,
    problems: ['StorageUnavailable'],
  },
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Whether the process lives',
    tag: 'service',
    tenant: false,
    database: false,
    role: 'public',
    kind: 'read',
    output: healthSchema,
    problems: [],
  },
  ready: {
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether it can take work; 503 with the same body where not',
    tag: 'service',
    tenant: false,
    database: false,
    role: 'public',
    kind: 'read',
    output: readinessSchema,
    problems: [],
  },
  events: {
    method: 'GET',
    path: '/events',
    summary: 'The stream of changes, as server-sent events',
    tag: 'service',
    tenant: true,
    database: true,
    role: 'reader',
    kind: 'read',
    output: changeSchema,
    stream: 'events',
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;

type Part<Spec, Name extends string> =
  Spec extends Record<Name, infer Schema extends z.ZodType> ? { [Key in Name]: z.output<Schema> } : unknown;
type RawPart<Spec, Name extends string> =
  Spec extends Record<Name, infer Schema extends z.ZodType> ? { [Key in Name]: z.input<Schema> } : unknown;

/** What the handler of an operation is given: the parsed `params`, `query` and `body` that it declares. */
export type OperationInput<Name extends OperationName> = Part<Operations[Name], 'params'> &
  Part<Operations[Name], 'query'> &
  Part<Operations[Name], 'body'>;

/** What a client sends for it, before defaults are filled in. */
export type OperationRequest<Name extends OperationName> = RawPart<Operations[Name], 'params'> &
  RawPart<Operations[Name], 'query'> &
  RawPart<Operations[Name], 'body'>;

export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;
