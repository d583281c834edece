/**
 * What the HTTP layer needs from the service.
 *
 * The composition root provides it; the HTTP layer knows nothing of the engine's internals, the storage of credentials
 * or the metrics. Everything is read at the time of a request, because the server listens before the engine is open.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { NodeStatus } from '../../engine/contract/administration.ts';
import type { ToolCallRecord } from '../../engine/contract/agents.ts';
import type { Caller, ErasingRecord, StoredImport, ToldUses } from '../../engine/index.ts';
import type { Dispatcher, Identity } from '../base/dispatch.ts';

/** Only `ready` takes work; health and metrics answer in every state. */
export type ServicePhase = 'starting' | 'ready' | 'closing';

export interface HttpSettings {
  readonly maxRequestBodyBytes: number;
  /** Origins besides the service's own; `*` for all. */
  readonly corsAllowedOrigins: readonly string[];
  /** Names besides the loopback ones that the Host header may have where it is checked. */
  readonly allowedHosts: readonly string[];
  readonly rateLimitPerMinute: number | null;
}

/** Counters of the HTTP layer; `route` is a pattern of the table, or a word for anything else. */
export interface HttpObserver {
  readonly contentType: string;
  text(): Promise<string>;
  requestDone(method: string, route: string, status: number, elapsedMs: number): void;
  requestsInFlight(change: 1 | -1): void;
  eventSubscribers(change: 1 | -1): void;
}

/** What one node tells another. */
export type NodeMessage =
  | { readonly kind: 'stored' }
  /** These are not the sender's any more; empty: the catalogue's. */
  | { readonly kind: 'moved'; readonly databases: readonly string[] }
  | { readonly kind: 'uses'; readonly uses: readonly ToldUses[] }
  | { readonly kind: 'calls'; readonly calls: readonly ToolCallRecord[] }
  | { readonly kind: 'ended'; readonly sessions: readonly string[] }
  /** Everything of the tenant, or of all if it is null, that is kept beside the knowledge. */
  | { readonly kind: 'erased'; readonly database: string; readonly tenant: string | null }
  /** Asks who has the log of the database, or the catalogue's if it is null; answered with a KnownOwner. */
  | { readonly kind: 'owner'; readonly database: string | null }
  /** Asks for these databases, as far as the caller can reach them; answered with a DatabaseList. */
  | { readonly kind: 'databases'; readonly names: readonly string[]; readonly tenants: readonly string[] };

/** What a node knows of the owner of a log; null: it knows of none. */
export interface KnownOwner {
  readonly owner: { readonly owner: string; readonly address: string } | null;
  /** It can ask the store. */
  readonly isFresh: boolean;
}

/** This node of a store that several share. */
export interface NodeHost {
  /** Of the log of this database, or of the catalogue if null; null: the engine is not open. */
  status(database: string | null): NodeStatus | null;
  /** Where the nodes reach this one. */
  address(): string;
  /** Where the nodes are reached that have the database, if this one does not; null: it does, or there is none. */
  copies(database: string): readonly string[] | null;
  /** Looks now which node has the log, and whether there is one; resolves with the milliseconds until its lease runs out. */
  look(database: string | null): Promise<number>;
  /**
   * Asks the other nodes who has the log, when this one cannot ask the store; `status` shows it then. Resolves with whether one
   * of them can ask the store. One question at a time serves all.
   */
  hear(database: string | null): Promise<boolean>;
  /** What all nodes share; null: requests are not passed on. */
  readonly secret: string | null;
  readonly staleReadsMs: number;
  /**
   * Takes what another node tells, and resolves with what it is answered; undefined: nothing. Rejects with NotLeader, or
   * NoOwner if the store cannot be asked.
   */
  receive(message: NodeMessage): Promise<unknown>;
}

export interface HttpHost {
  /** null: this process alone has its log. */
  readonly nodes: NodeHost | null;
  readonly version: string;
  readonly log: FastifyBaseLogger;
  readonly settings: HttpSettings;
  /** False: authentication is off. */
  readonly needsCredential: boolean;
  readonly dispatcher: Dispatcher;
  readonly metrics: HttpObserver;
  /** Metrics of the last day, each sample with its time, in Prometheus' text format. */
  metricsHistory(): string;
  /** The built workbench and the samples; a missing folder is reported, and is not an error. */
  readonly workbenchFolder: string;
  readonly samplesFolder: string;
  /** The bundle of the MCP bridge; null: not built. */
  readonly bundleFile: string | null;
  phase(): ServicePhase;
  hasDatabase(name: string): boolean;
  /** Same as `Engine.token`, `Engine.atLeast` and `Engine.confirm`. */
  token(database: string): string | null;
  atLeast(database: string, token: string): Promise<void>;
  confirm(database: string): Promise<void>;
  /** Same as `Engine.remembers`. */
  remembers(caller: Caller): boolean;
  /** Same as `Engine.keptImport`. */
  keptImport(caller: Caller, key: string): StoredImport | null;
  /** Same as `Engine.whenErased`, from the engine's opening on. */
  whenErased(erase: (erasure: ErasingRecord) => Promise<void>): void;
  /** Rolls back the caller's transaction; false if there is none. */
  abandon(caller: Caller): boolean;
  /** Refuses with Unauthenticated. */
  authenticate(headers: IncomingHttpHeaders): Identity;
  /** False once the caller's credential has been revoked, has expired, or no longer covers database and tenant. */
  holds(caller: Caller): boolean;
  /** Refuses with RateLimited an address that has used up its attempts at a secret. */
  admitTry(address: string): void;
}
