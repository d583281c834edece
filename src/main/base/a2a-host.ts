/**
 * What the A2A surface needs from the service, and nothing more: like `McpHost`, it knows neither the HTTP layer nor
 * authentication, and runs operations by the same path as a route.
 */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { OperationName } from '../../engine/contract/operations.ts';
import type { Caller } from '../../engine/index.ts';
import type { OperationParts } from './mcp-host.ts';

export interface A2aHost {
  /** Version of the service, for the cards. */
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** Whether callers must present a credential. */
  needsCredential(): boolean;
  /** Like `McpHost.callerOf`, without a binding. */
  callerOf(request: FastifyRequest): Caller;
  /** Like `McpHost.perform`. */
  perform(name: OperationName, caller: Caller, input: OperationParts): Promise<unknown>;
}

/** Bodies of requests and answers, as the HTTP layer reads and writes them. */
export interface JsonBodies {
  /** Reads the whole body, within its limit; the returned function parses it. Both refuse with an EngineError. */
  read(request: FastifyRequest): Promise<() => unknown>;
  /** Sends the value as JSON, large values in slices. */
  send(reply: FastifyReply, value: unknown): FastifyReply;
}
