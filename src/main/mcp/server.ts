/**
 * The protocol side of one MCP session: tools and resources behind the SDK's server.
 *
 * One server belongs to one session and is never shared, so that answers of several clients cannot be mixed up.
 * Who calls is known per message, not per session: it travels beside the message (`CallContext`), and the
 * session's database and tenant are laid over it by the transport layer.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { ResourceNotFoundError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { assert, type Caller } from '../../engine/index.ts';
import type { McpHost } from '../mcp-host.ts';
import { callTool } from './call-tool.ts';
import { readResource, resourceListing } from './resources.ts';
import { tools } from './tools.ts';

/** What is known about the HTTP request that a message came with. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when nobody is left to take the answer. */
  readonly gone: AbortSignal;
}

export type CallContexts = AsyncLocalStorage<CallContext>;

const instructions =
  'A knowledge base that reasons: facts are told, rules are taught, questions are answered with what follows ' +
  'and a proof of it. Call predicates first to learn the vocabulary, then ask. Tell what you learn as ground ' +
  'facts, teach what holds in general as rules. Arguments that start with ? are variables. An empty answer ' +
  'means that it does not follow; a false fact is told with truthVal: false and asked with negated: true.';

/** Longest client name that is kept: it goes into metadata and logs. */
const maxClientName = 256;

/** A server with all tools and resources. `onCall` brackets every request that does work: +1, then -1. */
export function createServer(
  host: McpHost,
  contexts: CallContexts,
  onCall: (change: 1 | -1) => void,
): Server {
  const server = new Server(
    { name: 'corollary', title: 'Corollary', version: host.version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );

  /** Runs `work` as the client of this session; the SDK's signal tells of cancelling and of a closed session. */
  async function asCaller<Result>(
    { mcpReq }: ServerContext,
    work: (caller: Caller) => Promise<Result>,
  ): Promise<Result> {
    const context = contexts.getStore();
    assert(context !== undefined, 'a message arrives with the context of its request');
    const client = server.getClientVersion()?.name.slice(0, maxClientName) ?? null;
    onCall(1);
    try {
      return await work({
        ...context.caller,
        client,
        signal: AbortSignal.any([mcpReq.signal, context.gone]),
      });
    } finally {
      onCall(-1);
    }
  }

  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].map((tool) => tool.listing),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asCaller(context, (caller) => callTool(host, caller, params.name, params.arguments ?? {})),
  );
  server.setRequestHandler('resources/list', () => ({ resources: resourceListing }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    asCaller(context, async (caller) => {
      const contents = await readResource(host, caller, uri);
      if (contents === null)
        throw new ResourceNotFoundError(uri, `Resource not found: ${uri.slice(0, 200)}`);
      return { contents: [contents] };
    }),
  );
  return server;
}
