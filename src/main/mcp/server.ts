/**
 * The protocol side of one MCP session: a surface behind the SDK's server.
 *
 * Each session has its own server, so the answers of several clients cannot be mixed up. The caller is known per
 * message, not per session: it travels beside the message (`CallContext`), and the transport layer overrides its
 * database and tenant with the session's.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { assert, type Caller, eitherOf, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';
import { type Agent, clientName, clientVersion } from './client.ts';
import type { McpSurface, SurfaceCall } from './surface.ts';
import type { Notices } from './resources.ts';
import type { McpSession } from './sessions.ts';

/** The HTTP request of a message. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when nobody can take the answer any more. */
  readonly gone: Caller['signal'];
  readonly agent: Agent;
}

export type CallContexts = AsyncLocalStorage<CallContext>;

/** Creates the storage that carries the context of each call. */
export function createContexts(): CallContexts {
  return new AsyncLocalStorage<CallContext>();
}

/** What a session does besides answering. */
interface SessionHooks {
  /** Called with +1 and -1 around every request that does work. */
  onCall(change: 1 | -1): void;
  /** The client subscribes to a document, or unsubscribes; answered when the promise resolves. */
  onSubscription(uri: string, isWanted: boolean): Promise<void>;
}

const noHooks: SessionHooks = { onCall() {}, async onSubscription() {} };

/** Shared by the servers of all connections. */
interface ServerParts {
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
    const info = server.getClientVersion();
    const client = clientName(info?.name);
    const version = clientVersion(info?.version);
    const named = client === null || version === null ? client : `${client}/${version}`;
    const origin = { ...context.caller.origin, client: named ?? context.caller.origin.client };
    const signal = eitherOf(serverContext.mcpReq.signal, context.gone);
    hooks.onCall(1);
    try {
      return await work({
        host,
        caller: { ...context.caller, client, origin, signal },
        context: serverContext,
      });
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

/**
 * Handles the SDK's error for a refused message. The client gets its text; the log gets only its kind, because the text
 * quotes the message.
 */
export function sessionErrors(host: McpHost, contexts: CallContexts): (error: Error) => void {
  return ({ name }) => {
    const requestId = contexts.getStore()?.caller.requestId;
    host.logger.debug(
      { ...(requestId === undefined ? {} : { requestId }), error: name },
      'MCP message refused',
    );
  };
}

/** Maximum number of subscriptions of one session; the oldest ones are dropped. */
const maxSubscriptions = 1000;

/** Longer than any address of a document: a predicate has 256 characters, at most nine each when encoded. */
const maxUriLength = 4096;

/** Shared by the servers of all sessions. */
export interface SessionSurroundings extends ServerParts {
  readonly notices: Notices;
  /** The next id in the list of connected clients. */
  readonly nextClientId: () => string;
}

/** Subscriptions that outlast the process; a session that ends with its stream stores none. */
interface StoredSubscriptions {
  /** Earlier subscriptions. */
  readonly uris: readonly string[];
  keep(uri: string, isWanted: boolean): Promise<void>;
}

const noWishes: StoredSubscriptions = { uris: [], async keep() {} };

/**
 * Creates the server of one session. It notifies its client of changes in the opener's space: of the subscribed
 * documents, and of the list of them. While the client reads nothing, notifications are collected, one for each
 * document. Call `end` when the session has closed.
 */
export function createSessionServer(
  surroundings: SessionSurroundings,
  opener: Caller,
  session: () => McpSession,
  kept: StoredSubscriptions = noWishes,
): { server: Server; end: () => void } {
  const { host, contexts, notices } = surroundings;
  const wanted = new Set(kept.uris);
  const server = createServer(surroundings, {
    onCall: (change) => session().occupy(change, Date.now()),
    async onSubscription(uri, isWanted) {
      const hadIt = wanted.delete(uri);
      if (isWanted && uri.length <= maxUriLength) wanted.add(uri);
      const changed = wanted.has(uri) === hadIt ? [] : [uri];
      for (const oldest of wanted)
        if (wanted.size > maxSubscriptions && wanted.delete(oldest)) changed.push(oldest);
        else break;
      await Promise.all(changed.map((each) => kept.keep(each, wanted.has(each))));
    },
  });
  // A client that has disconnected gets no notifications.
  const undelivered = sessionErrors(host, contexts);
  const changed = new Set<string>();
  let hasOthers = false;
  const tell = (): void => {
    for (const uri of changed) server.sendResourceUpdated({ uri }).catch(undelivered);
    changed.clear();
    if (hasOthers) server.sendResourceListChanged().catch(undelivered);
    hasOthers = false;
  };
  let isHeld = false;
  const tellWhenRead = (): void => {
    const stuck = session().stuckStream;
    if (stuck === null) tell();
    else if (!isHeld) {
      isHeld = true;
      const release = (): void => {
        isHeld = false;
        stuck.off('drain', release).off('close', release);
        tellWhenRead();
      };
      stuck.on('drain', release).on('close', release);
    }
  };
  const end = notices.watch(opener, (notice) => {
    for (const uri of wanted) if (notice.uris === null || notice.uris.has(uri)) changed.add(uri);
    hasOthers ||= notice.hasOthers;
    tellWhenRead();
  });
  return { server, end };
}
