/**
 * MCP's routes: Streamable HTTP at /mcp, the older SSE transport at /mcp/sse with /mcp/messages.
 *
 * Some clients probe the SSE address with Streamable HTTP, so /mcp/sse supports that too; a GET that such a client
 * sends there for its notifications gets 405, which says that there are none. The hooks of the app check Origin, Host
 * and credentials.
 */
import { createHash } from 'node:crypto';
import { SSEServerTransport } from '@modelcontextprotocol/server-legacy/sse';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, EngineError, invalid } from '../../engine/index.ts';
import type { McpHost, MessageNeed } from '../base/agent-host.ts';
import { clientIds, ConnectedClient } from './client.ts';
import { createContexts, createSessionServer, sessionErrors, type SessionSurroundings } from './server.ts';
import type { SessionStore } from './session-store.ts';
import { knowledgeSurface, type McpSurface } from './surface.ts';
import { Notices } from './resources.ts';
import { isPlainRequest, type SessionTransport } from './session-transport.ts';
import { defaultSessionLimits, McpSession, type SessionLimits, Sessions } from './sessions.ts';
import { StatelessEndpoint } from './stateless.ts';
import { tools } from './tools.ts';
import { endSession, openStream, postMessage, type StreamableEndpoint } from './streamable.ts';
import { handOver, messageOf, requireTurn, takeOver, unknownSession } from './connection.ts';

/** Milliseconds between two checks of the credentials of open sessions. */
const lookMs = 250;

interface MountOptions {
  /** What outlasts the process about sessions; opened before the first request is answered. */
  readonly store: SessionStore;
  readonly limits?: SessionLimits;
  /** The surface, if not the knowledge base. For tests. */
  readonly surface?: McpSurface;
}

/**
 * Mounts the routes. Sessions and their streams end when the app begins to close, or when their credential is no longer
 * valid.
 */
export function mountMcp(
  app: FastifyInstance,
  outer: McpHost,
  { store, limits = defaultSessionLimits, surface = knowledgeSurface }: MountOptions,
): void {
  const contexts = createContexts();
  const host: McpHost = {
    ...outer,
    onToolCall: (call) => {
      contexts.getStore()?.agent.called();
      outer.onToolCall(call);
    },
  };
  const surroundings = { host, contexts, surface, notices: new Notices(host), nextClientId: clientIds() };
  const stateless = new StatelessEndpoint(surroundings);
  const streamable: StreamableEndpoint = {
    ...surroundings,
    stateless,
    sessions: new Sessions<SessionTransport>(limits),
    store,
    reviving: new Map(),
  };
  const sse: SseEndpoint = { ...surroundings, sessions: new Sessions<SSEServerTransport>(limits) };
  host.listClients(() => [
    ...streamable.sessions.clients(),
    ...sse.sessions.clients(),
    ...stateless.clients(),
  ]);

  for (const path of [streamablePath, ssePath]) {
    app.post(path, { config: { needOf, databaseOf } }, answering(postMessage, streamable));
    app.delete(path, { config: { databaseOf } }, answering(endSession, streamable));
  }
  app.get(
    streamablePath,
    { exposeHeadRoute: false, config: { databaseOf } },
    answering(openStream, streamable),
  );
  app.get(ssePath, { exposeHeadRoute: false }, answering(openSseStream, sse));
  app.post(messagesPath, answering(postSseMessage, sse));

  const sweepEveryMs = Math.max(10, Math.min(60_000, limits.idleMs / 2));
  const sweeper = setInterval(() => {
    streamable.sessions.sweep(Date.now()).catch((error: unknown) => {
      host.logger.error({ err: error }, 'ending idle MCP sessions failed');
    });
  }, sweepEveryMs).unref();
  const isOver = ({ credential, binding }: McpSession): boolean => !host.holds(credential, binding);
  const watch = setInterval(() => {
    stateless.endRefused();
    const isOverOrStuck = (session: McpSession): boolean =>
      isOver(session) || session.unreadBytes() > maxUnreadBytes;
    Promise.all([
      streamable.sessions.endWhere(isOver),
      sse.sessions.endWhere(isOverOrStuck),
      sse.sessions.endUnread(maxUnreadOfAll),
    ]).catch((error: unknown) => {
      host.logger.error({ err: error }, 'ending MCP sessions of revoked keys failed');
    });
  }, lookMs).unref();
  app.addHook('preClose', async () => {
    clearInterval(sweeper);
    clearInterval(watch);
    await Promise.all([streamable.sessions.closeAll(), sse.sessions.closeAll(), stateless.close()]);
  });
}

/** Methods whose answer is the same for any knowledge. A session that one of them opens goes on at any node. */
const needsNothing: ReadonlySet<unknown> = new Set([
  'initialize',
  'ping',
  'prompts/list',
  'resources/templates/list',
  'tools/list',
]);
const reads: ReadonlySet<unknown> = new Set([
  'completion/complete',
  'prompts/get',
  'resources/list',
  'resources/read',
]);

/** What a message needs: a tool call its operation. */
export function needOf(message: unknown): MessageNeed {
  if (typeof message !== 'object' || message === null) return null;
  const { method, params } = message as { readonly method?: unknown; readonly params?: unknown };
  if (needsNothing.has(method)) return 'nothing';
  if (reads.has(method)) return 'reads';
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return null;
  const { name } = params as { readonly name?: unknown };
  return typeof name === 'string' ? (tools.get(name)?.operation ?? null) : null;
}

/** The database that the id of a session names, verified or not: where to answer, not what is allowed. */
function databaseOf({ headers }: FastifyRequest): string | null {
  const { 'mcp-session-id': session } = headers;
  return typeof session === 'string' ? (/^[\w-]+~([^~]+)~/.exec(session)?.[1] ?? null) : null;
}

type Answer<Endpoint> = (endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Seconds after which a client told to slow down may try again. */
const retryAfterSeconds = 5;

function answering<Endpoint>(answer: Answer<Endpoint>, endpoint: Endpoint) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      await answer(endpoint, request, reply);
    } catch (error) {
      if (error instanceof EngineError && error.code === 'RateLimited')
        reply.header('Retry-After', String(retryAfterSeconds));
      throw error;
    }
  };
}

async function openSseStream(
  endpoint: SseEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { headers } = request;
  // Only the session decides: some clients of the older transport name a revision on its stream too.
  if (headers['mcp-session-id'] !== undefined) {
    reply.header('Allow', 'POST, DELETE');
    throw new EngineError(
      'MethodNotAllowed',
      `${ssePath} has no stream for Streamable HTTP: use ${streamablePath}`,
    );
  }
  await openSseSession(endpoint, request, reply);
}

/** The paths of MCP, and its revision without sessions. */
export const streamablePath = '/mcp';
export const ssePath = '/mcp/sse';

export const statelessRevision = '2026-07-28';

/** Where a client posts its messages; the endpoint event adds the session's id. */
const messagesPath = '/mcp/messages';

const keepAliveMs = 15_000;
/** Bytes of unread answers after which the client's next message is refused ... */
const maxUnreadAtSend = 16 * 1024 * 1024;
/** ... and after which it is cut off, since earlier calls are still being answered. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** Bytes of unread answers of all clients, beyond which those with the most are cut off. */
const maxUnreadOfAll = 256 * 1024 * 1024;

interface SseEndpoint extends SessionSurroundings {
  readonly sessions: Sessions<SSEServerTransport>;
}

/**
 * GET of the older SSE transport: opens the stream and the session, whose first event names the address for messages;
 * answers come on the stream.
 *
 * The session lives exactly as long as its stream. A client that sends without reading is told to read first, so that
 * answers do not pile up in memory.
 */
async function openSseSession(
  endpoint: SseEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts, sessions, nextClientId } = endpoint;
  const caller = host.callerOf(request);
  await sessions.makeRoom(caller, Date.now());
  const transport = new SSEServerTransport(messagesPath, reply.raw);
  const { server, end } = createSessionServer(endpoint, caller, () => session);
  const session = new McpSession({
    opener: caller,
    transport,
    server,
    client: new ConnectedClient({
      id: nextClientId(),
      transport: 'sse',
      binding: caller,
      connectedAt: Date.now(),
      info: () => server.getClientVersion(),
    }),
    now: Date.now(),
    unreadBytes: () => reply.raw.writableLength,
  });
  // Not for a client that does not read: it would never be silent long enough to be cut off.
  const keepAlive = setInterval(() => {
    if (reply.raw.writableLength === 0) reply.raw.write(': keepalive\n\n');
  }, keepAliveMs).unref();
  session.opened(reply.raw);
  host.onSubscribers(1);
  sessions.add(transport.sessionId, session);
  reply.raw.once('close', () => {
    clearInterval(keepAlive);
    sessions.remove(transport.sessionId);
    end();
    host.onSubscribers(-1);
  });
  server.onerror = sessionErrors(host, contexts);
  await handOver(host, request, reply, () => server.connect(transport));
}

/** POST: a message of the session that the query names. Answers 202; the answer proper comes on the stream. */
async function postSseMessage(
  endpoint: SseEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts, sessions } = endpoint;
  const message = messageOf(request);
  const id = sessionIdOf(request);
  const session = sessions.get(id);
  if (session === undefined) throw unknownSession();
  const unnamed = host.callerOf(request, session.binding);
  const caller: Caller = { ...unnamed, origin: { ...unnamed.origin, session: publicIdOf(id) } };
  // The session belongs to the credential of its stream; for others it does not exist.
  if (caller.credential !== session.credential) throw unknownSession();
  requireTurn(session);
  if (session.unreadBytes() > maxUnreadAtSend)
    throw new EngineError('RateLimited', 'answers are waiting on the stream: read them first');
  // The answer does not depend on this connection: the SDK's own signal ends a call with the stream.
  const context = { caller, gone: neverGone, agent: session.client };
  if (request.headers['content-type'] === 'application/json' && isPlainRequest(message)) {
    // Calls the SDK with the parsed message, without the web request that it would otherwise create first.
    await takeOver(host, request, reply, async () => {
      await contexts.run(context, () => session.transport.handleMessage(message));
      reply.raw.writeHead(202).end('Accepted');
    });
    return;
  }
  await handOver(host, request, reply, () =>
    contexts.run(context, () => session.transport.handlePostMessage(request.raw, reply.raw, message)),
  );
}

/** Identifies a session in records; its id is known to its client alone. */
function publicIdOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

const neverGone = new AbortController().signal;

function sessionIdOf(request: FastifyRequest): string {
  const id = new URL(request.url, 'http://localhost').searchParams.get('sessionId');
  if (id === null)
    throw invalid('sessionId', 'is required in the query string: the endpoint event contains it');
  return id;
}
