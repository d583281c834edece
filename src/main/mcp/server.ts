/**
 * The protocol side of one MCP session: tools and resources behind the SDK's server.
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
import { assert, type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../mcp-host.ts';
import { callTool } from './call-tool.ts';
import { type Agent, clientName } from './client.ts';
import { complete } from './completion.ts';
import { getPrompt, promptListing } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import { tools } from './tools.ts';

/** What is known about the HTTP request that a message came with. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when nobody is left to take the answer. */
  readonly gone: AbortSignal;
  readonly agent: Agent;
}

export type CallContexts = AsyncLocalStorage<CallContext>;

const instructions =
  'A knowledge base that reasons: facts are told, rules are taught, questions are answered with what follows ' +
  'and a proof of it. Call predicates first to learn the vocabulary, then ask. Tell what you learn as ground ' +
  'facts, teach what holds in general as rules. Arguments that start with ? are variables. An empty answer ' +
  'means that it does not follow; a false fact is told with truthVal: false and asked with negated: true.';

/** What a session does beside answering. */
export interface SessionHooks {
  /** Brackets every request that does work: +1, then -1. */
  onCall(change: 1 | -1): void;
  /** A document of which the client wants to be told when it changes, or not any more. */
  onSubscription(uri: string, isWanted: boolean): void;
}

const noHooks: SessionHooks = { onCall() {}, onSubscription() {} };

/** A server with all tools, resources and prompts. */
export function createServer(host: McpHost, contexts: CallContexts, hooks: SessionHooks = noHooks): Server {
  const server = new Server(
    { name: 'corollary', title: 'Corollary', version: host.version },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
      },
      instructions,
    },
  );

  /** Runs `work` as the client of this session; the SDK's signal tells of cancelling and of a closed session. */
  async function asCaller<Result>(
    { mcpReq }: ServerContext,
    work: (caller: Caller) => Promise<Result>,
  ): Promise<Result> {
    const context = contexts.getStore();
    assert(context !== undefined, 'a message arrives with the context of its request');
    const client = clientName(server.getClientVersion()?.name);
    hooks.onCall(1);
    try {
      return await work({
        ...context.caller,
        client,
        signal: AbortSignal.any([mcpReq.signal, context.gone]),
      });
    } finally {
      hooks.onCall(-1);
    }
  }

  addTools(server, host, asCaller);
  addResources(server, host, hooks, asCaller);
  addPrompts(server, host, asCaller);
  return server;
}

type AsCaller = <Result>(
  context: ServerContext,
  work: (caller: Caller) => Promise<Result>,
) => Promise<Result>;

function addTools(server: Server, host: McpHost, asCaller: AsCaller): void {
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map((tool) => tool.listing) }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asCaller(context, (caller) => callTool(host, caller, params.name, params.arguments ?? {})),
  );
}

function addResources(server: Server, host: McpHost, hooks: SessionHooks, asCaller: AsCaller): void {
  server.setRequestHandler('resources/list', ({ params }, context) =>
    asCaller(context, async (caller) => {
      const page = await listResources(host, caller, params?.cursor);
      if (page === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor');
      return page;
    }),
  );
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    asCaller(context, async (caller) => {
      const contents = await readResource(host, caller, uri);
      if (contents === null) throw new ResourceNotFoundError(uri, `Resource not found: ${uri.slice(0, 200)}`);
      return { contents: [contents] };
    }),
  );
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    hooks.onSubscription(uri, true);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    hooks.onSubscription(uri, false);
    return {};
  });
}

function addPrompts(server: Server, host: McpHost, asCaller: AsCaller): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: promptListing }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }, context) =>
    asCaller(context, async (caller) => {
      const prompt = await refusedAsParams(() => getPrompt(host, caller, name, given));
      if (prompt !== null) return prompt;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no prompt ${JSON.stringify(name.slice(0, 100))}`,
      );
    }),
  );
  server.setRequestHandler('completion/complete', ({ params }, context) =>
    asCaller(context, (caller) => complete(host, caller, params)),
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
