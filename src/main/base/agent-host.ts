/**
 * What the surfaces for agents, MCP and A2A, need from the service, and nothing more.
 *
 * The composition root provides it, so they know neither the HTTP layer nor authentication: tools run through
 * `perform`, the same path as a route (role, validation, handler), and therefore refuse and answer alike. Everything is
 * read at the time of a request, because routes are mounted before the engine is open.
 */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { ArgumentNames, Caller, Change } from '../../engine/index.ts';
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { OperationName } from '../../engine/contract/operations.ts';

/** The database and tenant that a connection was opened for. */
export interface ConnectionBinding {
  readonly database: string;
  readonly tenant: string;
}

/** One finished tool call, for metrics, the service's log and the log of calls. */
export interface ToolCall {
  /** The caller, its database, tenant, client and request. */
  readonly caller: Caller;
  /** The name in the call, truncated if long. */
  readonly tool: string;
  /** False: no tool has this name. */
  readonly isKnown: boolean;
  /** As received, of any size. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: 'ok' | 'error';
  readonly elapsedMs: number;
  /** The text that the agent received. */
  readonly text: string;
  /** UTF-16 code units of the text and of the structured content as JSON. */
  readonly resultChars: number;
}

/** Path parameters, query and body of an operation as received; parts that the operation does not take are left out. */
export interface OperationParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface McpHost {
  /** Version of the service, for MCP clients. */
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** The built page that shows a proof in a chat; missing in a checkout that was not built. */
  readonly proofAppFile: string;
  /**
   * The address at which a user of the caller's machine reaches the workbench, such as `http://127.0.0.1:9300`; null:
   * not known.
   */
  workbenchOf(caller: Caller): string | null;
  /**
   * The caller of a request: credential, role, database and tenant, the last two `default` if the headers are missing.
   * `bound` sets database and tenant, and headers that name others are refused. Refuses with an EngineError what the
   * credential does not cover and a database that does not exist.
   */
  callerOf(request: FastifyRequest, bound?: ConnectionBinding): Caller;
  /** Refuses with an EngineError a caller whose role or restrictions do not allow the operation with this input. */
  requireAllowed(name: OperationName, caller: Caller, input: OperationParts): void;
  /**
   * Runs one operation: checks the caller's role, validates the input as the route does, and calls the handler. Refuses
   * with an EngineError; the answer satisfies the operation's output schema.
   */
  perform(name: OperationName, caller: Caller, input: OperationParts): Promise<unknown>;
  /** The names of arguments that are declared where the caller is. */
  argumentNames(caller: Caller): ArgumentNames;
  /** Calls the listener with every change of any space; the returned function ends that. */
  onChange(listener: (change: Change) => void): () => void;
  /** False once the credential has been revoked, has expired, or no longer covers the binding. */
  holds(credential: string | null, binding: ConnectionBinding): boolean;
  onToolCall(call: ToolCall): void;
  /** Called once, with a function that returns the clients connected at the time. */
  listClients(connected: () => readonly AgentClient[]): void;
  /** Called with +1 and -1 as SSE streams open and close. */
  onSubscribers(change: 1 | -1): void;
}

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
  /** Like `McpHost.argumentNames`. */
  argumentNames(caller: Caller): ArgumentNames;
}

/**
 * What a message of a surface does, by which a node with a copy decides whether it answers: an operation, reads knowledge,
 * or needs none. null: anything else, or several messages.
 */
export type MessageNeed = OperationName | 'reads' | 'nothing' | null;

/** Bodies of requests and answers, as the HTTP layer reads and writes them. */
export interface JsonBodies {
  /** Reads the whole body, within its limit; the returned function parses it. Both refuse with an EngineError. */
  read(request: FastifyRequest): Promise<() => unknown>;
  /** Sends the value as JSON, large values in slices. */
  send(reply: FastifyReply, value: unknown): FastifyReply;
}
