/**
 * The protocol side of one MCP session: a surface behind the SDK's server.
 *
 * One server belongs to one session and is never shared, so that answers of several clients cannot be mixed up.
 * Who calls is known per message, not per session: it travels beside the message (`CallContext`), and the
 * session's database and tenant are laid over it by the transport layer.
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

/** What is known about the HTTP request that a message came with. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when nobody is left to take the answer. */
  readonly gone: Caller['signal'];
  readonly agent: Agent;
}

export type CallContexts = AsyncLocalStorage<CallContext>;

/** What a session does beside answering. */
export interface SessionHooks {
  /** Brackets every request that does work: +1, then -1. */
  onCall(change: 1 | -1): void;
  /** A document of which the client wants to be told when it changes, or not any more; answered when that resolves. */
  onSubscription(uri: string, isWanted: boolean): Promise<void>;
}

const noHooks: SessionHooks = { onCall() {}, async onSubscription() {} };

/** What the servers of all connections share. */
export interface ServerParts {
  readonly host: McpHost;
  readonly contexts: CallContexts;
  /** What they offer. */
  readonly surface: McpSurface;
}

/** A server that offers the surface. */
export function createServer(
  { host, contexts, surface }: ServerParts,
  hooks: SessionHooks = noHooks,
): Server {
  const server = new Server(
    { name: 'corollary', title: 'Corollary', version: host.version },
    surface.options,
  );

  /** Runs `work` as the client of this session; the SDK's signal tells of cancelling and of a closed session. */
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

/** A request that is refused for its content is the client's fault, and told so. */
async function refusedAsParams<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'ValidationException')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    throw error;
  }
}
