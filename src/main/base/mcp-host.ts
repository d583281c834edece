/**
 * What the MCP surface needs of the service that hosts it, and nothing more.
 *
 * The composition root provides it, so that `mcp` knows neither the HTTP layer nor authentication: tools run
 * through `perform`, which is the very path a route takes (role, validation, handler), and hence refuse and
 * answer alike. Everything here is read at the time of a request: routes are mounted before the engine is open.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Caller, Change } from '../../engine/index.ts';
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { OperationName } from '../../engine/contract/operations.ts';

/** The database and tenant that a connection was opened for. */
export interface Binding {
  readonly database: string;
  readonly tenant: string;
}

/** One finished tool call, for metrics, the service's log and the log of calls. */
export interface ToolCall {
  /** Who called, where, as which client, by which request. */
  readonly caller: Caller;
  /** As it was called, cut where it is long. */
  readonly tool: string;
  /** False: there is no tool of this name. */
  readonly isKnown: boolean;
  /** As they came, of any size. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: 'ok' | 'error';
  readonly elapsedMs: number;
  /** What the agent was given to read. */
  readonly text: string;
  /** UTF-16 code units of that and of the structured content, as JSON. */
  readonly resultChars: number;
}

/** Names in the path, query and body of an operation as they came; what it does not take is left out. */
export interface OperationParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface McpHost {
  /** Version of the service, as MCP clients are told it. */
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** The built page that shows a proof in a chat; may be missing in a checkout that was not built. */
  readonly proofAppFile: string;
  /** Where whoever sits at the caller's machine reaches the workbench, `http://127.0.0.1:9300`; null: not known. */
  workbenchOf(caller: Caller): string | null;
  /**
   * Who makes this request: credential, role, database and tenant, both `default` where the headers are
   * missing. With `bound`, database and tenant are those, and headers that name others are refused. Refuses with an
   * EngineError what the credential does not cover and a database that does not exist.
   */
  callerOf(request: FastifyRequest, bound?: Binding): Caller;
  /** Refuses with an EngineError a caller whose role or restrictions do not allow the operation with this input. */
  requireAllowed(name: OperationName, caller: Caller, input: OperationParts): void;
  /**
   * Runs one operation: the caller's role is checked, the input validated as the route does, the handler called.
   * Refuses with an EngineError; an answer is of the operation's output schema.
   */
  perform(name: OperationName, caller: Caller, input: OperationParts): Promise<unknown>;
  /** Calls the listener with every change of any space, until the function that it returns is called. */
  onChange(listener: (change: Change) => void): () => void;
  /** False once the credential was revoked, has expired, or does not cover what the connection was opened for. */
  holds(credential: string | null, binding: Binding): boolean;
  onToolCall(call: ToolCall): void;
  /** Called once, with what gives the clients that are connected at the time. */
  listClients(connected: () => readonly AgentClient[]): void;
  /** Called with +1 and -1 as SSE streams open and close. */
  onSubscribers(change: 1 | -1): void;
}
