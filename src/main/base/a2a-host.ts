/**
 * What the A2A surface needs of the service that hosts it, and nothing more: as `McpHost`, it knows neither the HTTP
 * layer nor authentication, and runs operations by the very path that a route takes.
 */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationName } from '../../engine/contract/operations.ts';
import type { Caller } from '../../engine/index.ts';
import type { OperationParts } from './mcp-host.ts';

export interface A2aHost {
  /** Version of the service, as the cards tell it. */
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** True where a caller has to show a credential. */
  needsCredential(): boolean;
  /** As `McpHost.callerOf`, without a binding. */
  callerOf(request: FastifyRequest): Caller;
  /** As `McpHost.perform`. */
  perform(name: OperationName, caller: Caller, input: OperationParts): Promise<unknown>;
}

/** Bodies of requests and answers, as the HTTP layer reads and writes them. */
export interface JsonBodies {
  /** Reads the body to its end, within its limit; what it answers parses it. Each refuses with an EngineError. */
  read(request: FastifyRequest): Promise<() => unknown>;
  /** Answers with the value as JSON, a large one in slices. */
  send(reply: FastifyReply, value: unknown): FastifyReply;
}
