/**
 * MCP over Streamable HTTP: POST for messages, GET for the stream of notifications, DELETE to end a session.
 *
 * A session begins with `initialize` and is named by Mcp-Session-Id from then on. An answer goes out on the
 * response of the POST it came with; where that connection is gone, nobody can take the answer, so the call is
 * cancelled.
 */
import { randomUUID } from 'node:crypto';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, type Cancellation, invalid } from '../../engine/index.ts';
import { callerInSession, handOver, messageOf, sessionErrors, unknownSession } from './connection.ts';
import { createSessionServer, type SessionSurroundings } from './session-server.ts';
import { Session, type Sessions } from './sessions.ts';
import { StatelessEndpoint } from './stateless.ts';
import { webRequestOf, writeResponse } from './web-exchange.ts';

export interface StreamableEndpoint extends SessionSurroundings {
  readonly sessions: Sessions<WebStandardStreamableHTTPServerTransport>;
  readonly stateless: StatelessEndpoint;
}

type StreamableSession = Session<WebStandardStreamableHTTPServerTransport>;

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
  await handOver(host, request, reply, (gone) =>
    contexts.run({ caller, gone }, () => exchange(session, request, reply, gone)),
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
  session.occupy(1, Date.now());
  host.onSubscribers(1);
  reply.raw.once('close', () => {
    session.occupy(-1, Date.now());
    host.onSubscribers(-1);
  });
  await handOver(host, request, reply, (gone) =>
    contexts.run({ caller, gone }, () => exchange(session, request, reply, gone)),
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
    endpoint.contexts.run({ caller, gone }, () => exchange(session, request, reply, gone)),
  );
}

/** Has the session's transport answer the request, whose body is the message. */
async function exchange(
  { transport }: StreamableSession,
  { raw, body }: FastifyRequest,
  reply: FastifyReply,
  gone: Cancellation,
): Promise<void> {
  const response = await transport.handleRequest(webRequestOf(raw, gone), { parsedBody: body });
  await writeResponse(response, reply.raw);
}

async function openSession(endpoint: StreamableEndpoint, caller: Caller): Promise<StreamableSession> {
  const { host, contexts, sessions } = endpoint;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.add(id, session),
  });
  const { server, end } = createSessionServer(endpoint, caller, (change) =>
    session.occupy(change, Date.now()),
  );
  const session = new Session({ opener: caller, transport, server, now: Date.now() });
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
