/**
 * MCP over Streamable HTTP: POST for messages, GET for the stream of notifications, DELETE to end a session.
 *
 * A session begins with `initialize` and is named by Mcp-Session-Id from then on. An answer goes out on the
 * response of the POST it came with; where that connection is gone, nobody can take the answer, so the call is
 * cancelled.
 */
import { randomUUID } from 'node:crypto';
import { isInitializeRequest } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, invalid } from '../../engine/index.ts';
import { ConnectedClient } from './client.ts';
import {
  callerInSession,
  handOver,
  messageOf,
  sessionErrors,
  takeOver,
  unknownSession,
} from './connection.ts';
import { createSessionServer, type SessionSurroundings } from './session-server.ts';
import { SessionTransport } from './session-transport.ts';
import { Session, type Sessions } from './sessions.ts';
import { StatelessEndpoint } from './stateless.ts';

export interface StreamableEndpoint extends SessionSurroundings {
  readonly sessions: Sessions<SessionTransport>;
  readonly stateless: StatelessEndpoint;
}

type StreamableSession = Session<SessionTransport>;

/** POST: a message of an open session, or the `initialize` that opens one. */
export async function postMessage(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts, sessions, stateless } = endpoint;
  const message = messageOf(request);
  if (StatelessEndpoint.speaks(request)) return stateless.answer(request, reply);
  const id = sessionIdOf(request);
  let caller: Caller;
  let session: StreamableSession;
  if (id !== null) {
    session = sessions.get(id) ?? missing();
    caller = callerInSession(host, session, request);
  } else if (isOpening(message)) {
    caller = host.callerOf(request);
    await sessions.makeRoom(caller, Date.now());
    session = await openSession(endpoint, caller);
  } else {
    throw invalid('Mcp-Session-Id', 'the header is needed on every message but initialize, which answers it');
  }
  session.touch(Date.now());
  const usual = session.transport.usual(request.raw, message);
  if (usual !== null) {
    await takeOver(host, request, reply, async (gone) =>
      contexts.run({ caller, gone, agent: session.client }, () => session.transport.take(usual, reply.raw)),
    );
    return;
  }
  await handOver(host, request, reply, (gone) =>
    contexts.run({ caller, gone, agent: session.client }, () =>
      session.transport.handleRequest(request.raw, reply.raw, message),
    ),
  );
  // Where the SDK refused to initialize, the session never got its name.
  if (session.transport.sessionId === undefined) await session.server.close();
}

/** GET: the stream of notifications of an open session, until either side closes it. */
export async function openStream(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts } = endpoint;
  const [session, caller] = requireSession(endpoint, request);
  session.opened(reply.raw);
  host.onSubscribers(1);
  reply.raw.once('close', () => host.onSubscribers(-1));
  await handOver(host, request, reply, (gone) =>
    contexts.run({ caller, gone, agent: session.client }, () =>
      session.transport.handleRequest(request.raw, reply.raw),
    ),
  );
}

/** DELETE: ends the session; what runs in it is cancelled. */
export async function endSession(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const [session, caller] = requireSession(endpoint, request);
  await handOver(endpoint.host, request, reply, (gone) =>
    endpoint.contexts.run({ caller, gone, agent: session.client }, () =>
      session.transport.handleRequest(request.raw, reply.raw),
    ),
  );
}

async function openSession(endpoint: StreamableEndpoint, caller: Caller): Promise<StreamableSession> {
  const { host, contexts, sessions, nextClientId } = endpoint;
  const transport = new SessionTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.add(id, session),
  });
  const { server, end } = createSessionServer(endpoint, caller, () => session);
  const now = Date.now();
  const client = new ConnectedClient({
    id: nextClientId(),
    transport: 'streamable-http',
    binding: caller,
    connectedAt: now,
    info: () => server.getClientVersion(),
  });
  const session = new Session({ opener: caller, transport, server, client, now });
  server.onclose = () => {
    end();
    if (transport.sessionId !== undefined) sessions.remove(transport.sessionId);
  };
  server.onerror = sessionErrors(host, contexts);
  await server.connect(transport);
  return session;
}

function requireSession(endpoint: StreamableEndpoint, request: FastifyRequest): [StreamableSession, Caller] {
  const id = sessionIdOf(request);
  if (id === null) throw invalid('Mcp-Session-Id', 'the header is needed: initialize answers it');
  const session = endpoint.sessions.get(id) ?? missing();
  return [session, callerInSession(endpoint.host, session, request)];
}

function sessionIdOf(request: FastifyRequest): string | null {
  const id = request.headers['mcp-session-id'];
  return typeof id === 'string' ? id : null;
}

function isOpening(message: object): boolean {
  return Array.isArray(message) ? message.some(isInitializeRequest) : isInitializeRequest(message);
}

function missing(): never {
  throw unknownSession();
}
