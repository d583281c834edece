/**
 * What the HTTP layer needs of the service that it stands in front of.
 *
 * The composition root provides it; nothing here knows the engine's inside, how credentials are kept or where
 * numbers are counted. All of it is read at the time of a request: the server listens before the engine is open.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, StoredImport } from '../../engine/index.ts';
import type { Dispatcher } from '../base/dispatch.ts';
import type { Identity } from '../base/identity.ts';

/** Only `ready` takes work; health and metrics answer in every state. */
export type ServicePhase = 'starting' | 'ready' | 'closing';

export interface HttpSettings {
  readonly maxRequestBodyBytes: number;
  /** Origins beside the service's own; `*` for all. */
  readonly corsAllowedOrigins: readonly string[];
  /** Host names beside the loopback ones that a loopback connection may name. */
  readonly allowedHosts: readonly string[];
  readonly rateLimitPerMinute: number | null;
}

/** Counts of the HTTP layer; `route` is a pattern of the table, or a word for what has none. */
export interface HttpObserver {
  readonly contentType: string;
  text(): Promise<string>;
  requestDone(method: string, route: string, status: number, elapsedMs: number): void;
  requestsInFlight(change: 1 | -1): void;
  eventSubscribers(change: 1 | -1): void;
}

export interface HttpHost {
  readonly version: string;
  readonly log: FastifyBaseLogger;
  readonly settings: HttpSettings;
  readonly dispatcher: Dispatcher;
  readonly metrics: HttpObserver;
  /** Metrics of the last day, each sample with its time, in Prometheus' text format. */
  metricsHistory(): string;
  /** The built workbench and the samples; a folder that is missing is said so, not an error. */
  readonly workbenchFolder: string;
  readonly samplesFolder: string;
  /** The bundle of the MCP bridge; null: not built. */
  readonly bundleFile: string | null;
  phase(): ServicePhase;
  hasDatabase(name: string): boolean;
  /** As `Engine.remembers`. */
  remembers(caller: Caller): boolean;
  /** As `Engine.keptImport`. */
  keptImport(caller: Caller, key: string): StoredImport | null;
  /** Rolls back the transaction that the caller names; false where there is none to roll back. */
  abandon(caller: Caller): boolean;
  /** Refuses with Unauthenticated. */
  authenticate(headers: IncomingHttpHeaders): Identity;
  /** False once the caller's credential was revoked, has expired, or does not cover the caller's place any more. */
  holds(caller: Caller): boolean;
  /** Refuses with RateLimited an address that has used up its tries of a secret. */
  admitTry(address: string): void;
}
