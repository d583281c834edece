/**
 * MCP's routes: Streamable HTTP at /mcp, the older SSE transport at /mcp/sse with /mcp/messages.
 *
 * Some clients probe the SSE address with Streamable HTTP, so /mcp/sse supports that too; a GET that such a client
 * sends there for its notifications gets 405, which says that there are none. The hooks of the app check Origin, Host
 * and credentials.
 */
import type { SSEServerTransport } from '@modelcontextprotocol/server-legacy/sse';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';
import { clientIds } from './client.ts';
import { createContexts } from './server.ts';
import type { SessionStore } from './session-store.ts';
import { knowledgeSurface, type McpSurface } from './surface.ts';
import { Notices } from './resources.ts';
import type { SessionTransport } from './session-transport.ts';
import { defaultSessionLimits, type McpSession, type SessionLimits, Sessions } from './sessions.ts';
import { maxUnreadBytes, messagesPath, openSseSession, postSseMessage, type SseEndpoint } from './sse.ts';
import { StatelessEndpoint } from './stateless.ts';
import { endSession, openStream, postMessage, type StreamableEndpoint } from './streamable.ts';

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
    app.post(path, answering(postMessage, streamable));
    app.delete(path, answering(endSession, streamable));
  }
  app.get(streamablePath, { exposeHeadRoute: false }, answering(openStream, streamable));
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
    Promise.all([streamable.sessions.endWhere(isOver), sse.sessions.endWhere(isOverOrStuck)]).catch(
      (error: unknown) => {
        host.logger.error({ err: error }, 'ending MCP sessions of revoked keys failed');
      },
    );
  }, lookMs).unref();
  app.addHook('preClose', async () => {
    clearInterval(sweeper);
    clearInterval(watch);
    await Promise.all([streamable.sessions.closeAll(), sse.sessions.closeAll(), stateless.close()]);
  });
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
