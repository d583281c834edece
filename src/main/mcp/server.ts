/**
 * The protocol side of one MCP session: a surface behind the SDK's server.
 *
 * Each session has its own server, so the answers of several clients cannot be mixed up. The caller is known per
 * message, not per session: it travels beside the message (`CallContext`), and the transport layer overrides its
 * database and tenant with the session's.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { assert, type Caller, eitherOf, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { type Agent, clientName } from './client.ts';
import type { McpSurface, SurfaceCall } from './surface.ts';

/** The HTTP request of a message. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when nobody can take the answer any more. */
  readonly gone: Caller['signal'];
  readonly agent: Agent;
}

export type CallContexts = AsyncLocalStorage<CallContext>;

/** What a session does besides answering. */
export interface SessionHooks {
  /** Called with +1 and -1 around every request that does work. */
  onCall(change: 1 | -1): void;
  /** The client subscribes to a document, or unsubscribes; answered when the promise resolves. */
  onSubscription(uri: string, isWanted: boolean): Promise<void>;
}

const noHooks: SessionHooks = { onCall() {}, async onSubscription() {} };

/** Shared by the servers of all connections. */
export interface ServerParts {
  readonly host: McpHost;
  readonly contexts: CallContexts;
  /** The surface that they offer. */
  readonly surface: McpSurface;
}

/** Creates a server for the surface. */
export function createServer(
  { host, contexts, surface }: ServerParts,
  hooks: SessionHooks = noHooks,
): Server {
  const server = new Server(
    { name: 'corollary', title: 'Corollary', version: host.version },
    surface.options,
  );

  /** Runs `work` as the client of this session; the SDK's signal reports cancellation and a closed session. */
  async function asCaller<Result>(
    serverContext: ServerContext,
    work: (call: SurfaceCall) => Promise<Result>,
  ): Promise<Result> {
    const context = contexts.getStore();
    assert(context !== undefined, 'a message arrives with the context of its request');
    const client = clientName(server.getClientVersion()?.name);
    const signal = eitherOf(serverContext.mcpReq.signal, context.gone);
    hooks.onCall(1);
    try {
      return await work({ host, caller: { ...context.caller, client, signal }, context: serverContext });
    } finally {
      hooks.onCall(-1);
    }
  }

  addTools(server, surface, asCaller);
  addResources(server, surface, hooks, asCaller);
  addPrompts(server, surface, asCaller);
  return server;
}

type AsCaller = <Result>(
  context: ServerContext,
  work: (call: SurfaceCall) => Promise<Result>,
) => Promise<Result>;

function addTools(server: Server, surface: McpSurface, asCaller: AsCaller): void {
  server.setRequestHandler('tools/list', () => ({ tools: surface.listTools() }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asCaller(context, (call) => surface.callTool(call, params.name, params.arguments ?? {})),
  );
}

function addResources(server: Server, surface: McpSurface, hooks: SessionHooks, asCaller: AsCaller): void {
  server.setRequestHandler('resources/list', ({ params }, context) =>
    asCaller(context, async (call) => {
      const page = await surface.listResources(call, params?.cursor);
      if (page === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor');
      return { ...page };
    }),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: surface.listResourceTemplates(),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    asCaller(context, async (call) => {
      const read = await surface.readResource(call, uri);
      if (read === null) throw new ResourceNotFoundError(uri, `Resource not found: ${uri.slice(0, 200)}`);
      return read;
    }),
  );
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    await hooks.onSubscription(uri, true);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    await hooks.onSubscription(uri, false);
    return {};
  });
}

function addPrompts(server: Server, surface: McpSurface, asCaller: AsCaller): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: surface.listPrompts() }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }, context) =>
    asCaller(context, async (call) => {
      const prompt = await refusedAsParams(() => surface.getPrompt(call, name, given));
      if (prompt !== null) return prompt;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no prompt ${JSON.stringify(name.slice(0, 100))}`,
      );
    }),
  );
  server.setRequestHandler('completion/complete', ({ params }, context) =>
    asCaller(context, (call) => surface.complete(call, params)),
  );
}

/** A request refused for its content is reported as the client's error. */
async function refusedAsParams<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'ValidationException')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    throw error;
  }
}
