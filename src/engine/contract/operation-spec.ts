/** The fields of an entry in the operations table: everything that is said of an operation anywhere. */
import { z } from 'zod';
import type { ProblemCode } from './problems.ts';
import type { LongList } from './validation.ts';

/** Subjects of operations and what each is about, in documentation order. */
export const operationTags = {
  facts: 'What is true, and what is explicitly false: stored, retracted and looked up without inference.',
  entities: 'What is known about one thing: a page for each constant.',
  shape: 'What predicates mean: names and types of arguments, keys, and what violates them.',
  history: 'Who changed what and when, and taking it back.',
  rules: 'What follows from what. Rules belong to the database and serve all its tenants.',
  constraints: 'What must not be true: listed where it is, or refused before it is stored.',
  tests:
    'What must come out of the knowledge: expectations that run over it, and over what a change would make of it.',
  inference: 'Questions and their proofs, explanations, suppositions and traces.',
  transactions: 'Writes that others see together or not at all.',
  scopes: 'Variants of the knowledge side by side: forked, compared and merged.',
  memory: 'What is most salient, what fades, and what is consolidated or evicted.',
  context: 'Windows of facts for an agent to read, chosen for goals and within a budget.',
  language: 'From text to facts, and from facts to words. Natural language needs an LLM provider.',
  transfer: 'Knowledge as files.',
  databases: 'Databases and their tenants.',
  authentication: 'Keys, and the identity of the caller. Off by default.',
  agents: 'Agents connected over MCP, their calls, and the setup of further ones.',
  replication: 'What followers fetch from their leader, and how far each has come.',
  service: 'Health, snapshots, the change stream, metrics and this description.',
} as const;

/**
 * The minimum role of a caller. `public` needs no credential; admin includes writer, writer includes reader. `replica`
 * admits keys of that role and unrestricted admin keys only.
 */
export type Role = 'public' | 'reader' | 'writer' | 'admin' | 'replica';

/** How an operation appears as an MCP tool. */
export interface ToolSpec {
  name: string;
  title: string;
  /** What it does and when to use which tool; the example is appended. */
  description: string;
  /** What it takes; absent: the body of the operation. */
  input?: z.ZodType;
  /** Its structured content: the answer of the operation in short. */
  output: z.ZodType;
  /** Arguments of an example call. */
  example: Readonly<Record<string, unknown>>;
  destructive: boolean;
  idempotent: boolean;
}

/** A call that the operation accepts, as far as it takes each part, and its answer. Tests check both against the schemas. */
interface OperationExample {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  /** Of an upload: a text for each media type. */
  body?: unknown;
  /** Of `lines`: all lines. Of `events`: the data of one. Of a `file`: a text for each media type. */
  answer?: unknown;
}

export interface OperationSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Further paths for the same operation. */
  aliases?: readonly string[];
  summary: string;
  /** What the schemas do not say; Markdown. */
  description: string;
  tag: keyof typeof operationTags;
  /** True: needs X-Tenant-ID. */
  tenant: boolean;
  /** Without X-Tenant-ID it is for the tenant `default`. */
  tenantDefaults?: true;
  /** False: X-Database is ignored. */
  database: boolean;
  role: Role;
  /** A write answers once it is durable, and only on the leader. */
  kind: 'read' | 'write';
  /**
   * Accepts X-Transaction-ID: a `write` becomes part of the transaction and answers `pendingSchema`, a `read` sees its
   * writes. Absent: the header is refused.
   */
  transaction?: 'read' | 'write';
  /** The path names a database (`name`) or one of its tenants (`id`); both are checked like the names in headers. */
  pathNames?: 'database' | 'tenant';
  /** The answer carries the entity tag of its subject, also in the ETag header. */
  etag?: true;
  /** Accepts If-Match. */
  ifMatch?: true;
  /** True: changes rules; refused to a credential restricted to tenants. */
  changesRules?: boolean;
  /** True: takes `runTests`, by which stored tests can refuse the write. */
  runsTests?: true;
  /** True: a constraint can refuse the write. */
  isJudged?: true;
  /** Reads or writes everything; refused to a credential restricted to databases or tenants. */
  isOfEverything?: true;
  /** Concerns every tenant of the database in the path; refused to a credential restricted to tenants. */
  isOfAllTenants?: true;
  /** What quotas count it as: over the quota, it is answered 429 `QuotaExceeded`. */
  counts?: 'question' | 'transaction';
  /** Where `dryRun` is passed. A dry run needs only the role reader. */
  dryRun?: 'body' | 'query';
  /**
   * True: the body contains a guessable secret. Attempts are counted by address, and an Idempotency-Key is ignored
   * because a digest of the body must not be stored.
   */
  guessable?: true;
  params?: z.ZodType;
  query?: z.ZodType;
  /** Query parameters that are lists and may be repeated. */
  lists?: readonly string[];
  body?: z.ZodType;
  /** Body flags that the query string can set to true: parameter name to field. */
  queryFlags?: Readonly<Record<string, string>>;
  /** Fast path of `body`: the same output for usual bodies, null for all others. */
  quick?: (body: unknown) => unknown;
  /** The list in the body that can be very long: validated in slices. */
  longList?: LongList;
  output: z.ZodType;
  /** Status on success; default 200. */
  status?: number;
  /** `text`: `output` is sent as text/plain; absent: JSON. */
  answer?: 'text';
  /** The body is a stream of any length, in one of these media types. */
  takes?: readonly string[];
  /** Media types of a `file`. */
  gives?: readonly string[];
  /**
   * The handler returns a stream. `events`: of `output`, sent as server-sent events; `lines`: of `output`, sent as
   * NDJSON; `file`: of texts or bytes, sent unchanged.
   */
  stream?: 'events' | 'lines' | 'file';
  /** Problems specific to the operation, besides those that every operation can have. */
  problems: readonly ProblemCode[];
  tool?: ToolSpec;
  example: OperationExample;
}

/** Path parameters of a resource named by its id. */
export const idParams = z.strictObject({ id: z.string().min(1).max(256) });
