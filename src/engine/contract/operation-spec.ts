/** What is said of an operation in the operations table. */
import { z } from 'zod';
import type { ProblemCode } from './problems.ts';
import type { LongList } from './validation.ts';

/** What operations are about, in the order in which they are described. */
export const operationTags = [
  'facts',
  'rules',
  'inference',
  'transactions',
  'scopes',
  'memory',
  'context',
  'language',
  'transfer',
  'databases',
  'authentication',
  'agents',
  'replication',
  'service',
] as const;

/**
 * What a credential must at least be. `public` needs none; an admin may what a writer may, and a writer what a reader
 * may; `replica` is for keys of that role and for admins, and for none that is restricted.
 */
export type Role = 'public' | 'reader' | 'writer' | 'admin' | 'replica';

/** How an operation appears as an MCP tool. */
export interface ToolSpec {
  name: string;
  title: string;
  /** What it does, and when to use which; the example stands behind it. */
  description: string;
  /** Arguments of a call. */
  example: Readonly<Record<string, unknown>>;
  destructive: boolean;
  idempotent: boolean;
}

export interface OperationSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Further paths that do the same. */
  aliases?: readonly string[];
  summary: string;
  tag: (typeof operationTags)[number];
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
  /** It gives or takes everything there is, which a credential restricted to databases or tenants may not. */
  isOfEverything?: true;
  /** Where `dryRun` is said: a reader may call the operation so, whatever its role. */
  dryRun?: 'body' | 'query';
  /**
   * True: the body holds a secret that could be guessed at. Tries are counted by address, and an Idempotency-Key is
   * ignored, since a digest of the body must be kept nowhere.
   */
  guessable?: true;
  params?: z.ZodType;
  query?: z.ZodType;
  /** Parameters of the query string that are lists: they may be repeated. */
  lists?: readonly string[];
  body?: z.ZodType;
  /** Fields of the body that can be set to true in the query string, by another name. */
  queryFlags?: Readonly<Record<string, string>>;
  /** What `body` makes of the usual ones, sooner; null of all others. */
  quick?: (body: unknown) => unknown;
  /** The list in the body that can be very long: it is checked in slices. */
  longList?: LongList;
  output: z.ZodType;
  /** Status of success; 200 unless given. */
  status?: number;
  /** `text`: `output` is a text, sent as text/plain; absent: JSON. */
  answer?: 'text';
  /** The body is a stream of any length, of one of these media types. */
  takes?: readonly string[];
  /** Media types of a `file`. */
  gives?: readonly string[];
  /**
   * The handler returns a stream: `events`, of `output`, sent as server-sent events; `lines`, of `output`, sent as a line
   * of JSON each; `file`, of texts or bytes, sent as they are.
   */
  stream?: 'events' | 'lines' | 'file';
  /** Problems of its own, beside those that every operation can have. */
  problems: readonly ProblemCode[];
  tool?: ToolSpec;
}

/** Path parameters of what is named by its id. */
export const idParams = z.strictObject({ id: z.string().min(1).max(256) });
