/**
 * MCP over the older SSE transport: a GET opens the stream and the session, whose first event names the address for
 * messages; answers come on the stream.
 *
 * The session lives exactly as long as its stream. A client that sends without reading is told to read first, so that
 * answers do not pile up in memory.
 */
import { SSEServerTransport } from '@modelcontextprotocol/server-legacy/sse';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EngineError, invalid } from '../../engine/index.ts';
import { ConnectedClient } from './client.ts';
import { handOver, messageOf, requireTurn, takeOver, unknownSession } from './connection.ts';
import { createSessionServer, sessionErrors, type SessionSurroundings } from './server.ts';
import { isPlainRequest } from './session-transport.ts';
import { McpSession, type Sessions } from './sessions.ts';

/** Where a client posts its messages; the endpoint event adds the session's id. */
export const messagesPath = '/mcp/messages';

const keepAliveMs = 15_000;
/** Bytes of unread answers after which the client's next message is refused ... */
const maxUnreadAtSend = 16 * 1024 * 1024;
/** ... and after which it is cut off, since earlier calls are still being answered. */
export const maxUnreadBytes = 64 * 1024 * 1024;

export interface SseEndpoint extends SessionSurroundings {
  readonly sessions: Sessions<SSEServerTransport>;
}

/** GET: opens a session and its stream. */
export async function openSseSession(
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
export async function postSseMessage(
  endpoint: SseEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts, sessions } = endpoint;
  const message = messageOf(request);
  const session = sessions.get(sessionIdOf(request));
  if (session === undefined) throw unknownSession();
  const caller = host.callerOf(request, session.binding);
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

const neverGone = new AbortController().signal;

function sessionIdOf(request: FastifyRequest): string {
  const id = new URL(request.url, 'http://localhost').searchParams.get('sessionId');
  if (id === null) throw invalid('sessionId', 'is required in the query: the endpoint event has it');
  return id;
}
