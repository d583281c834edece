/**
 * MCP over Streamable HTTP: POST for messages, GET for the stream of notifications, DELETE to end a session.
 *
 * A session begins with `initialize`; from then on Mcp-Session-Id names it. Its id contains everything needed to resume
 * it (`SessionTokens`): if it is not in memory, because the service was restarted or it was idle for long, it is
 * restored and its client notices nothing. An answer is sent on the response of its POST; if that connection is closed,
 * nobody can take the answer, so the call is cancelled.
 */
import { isInitializeRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, EngineError, invalid, present } from '../../engine/index.ts';
import { clientName, clientVersion, ConnectedClient } from './client.ts';
import { handOver, messageOf, requireTurn, takeOver, unknownSession } from './connection.ts';
import { createSessionServer, sessionErrors, type SessionSurroundings } from './server.ts';
import type { SessionStore, SessionToken } from './session-store.ts';
import { SessionTransport } from './session-transport.ts';
import { McpSession, type Sessions } from './sessions.ts';
import { StatelessEndpoint } from './stateless.ts';

export interface StreamableEndpoint extends SessionSurroundings {
  readonly sessions: Sessions<SessionTransport>;
  readonly stateless: StatelessEndpoint;
  readonly store: SessionStore;
  /** Sessions that are being restored, by their id. */
  readonly reviving: Map<string, Promise<StreamableSession>>;
}

type StreamableSession = McpSession<SessionTransport>;

/** POST: a message of an open session, or the `initialize` that opens one. */
export async function postMessage(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts, stateless } = endpoint;
  const message = messageOf(request);
  if (StatelessEndpoint.speaks(request)) return stateless.answer(request, reply);
  if (StatelessEndpoint.isPlain(request)) return stateless.answerPlainly(request, reply);
  const id = sessionIdOf(request);
  let caller: Caller;
  let session: StreamableSession;
  if (id !== null) {
    [session, caller] = await sessionOf(endpoint, id, request);
  } else if (isOpening(message)) {
    caller = host.callerOf(request);
    session = await openNew(endpoint, message, caller);
  } else {
    throw invalid(
      'Mcp-Session-Id',
      'the header is required on every message except initialize, whose answer contains it',
    );
  }
  session.touch(Date.now());
  session.transport.begin(message, reply.raw);
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
  // If the SDK refused to initialize, the session never got its id.
  if (session.transport.sessionId === undefined) await session.server.close();
}

/** GET: the stream of notifications of an open session, until either side closes it. */
export async function openStream(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { host, contexts } = endpoint;
  const [session, caller] = await requireSession(endpoint, request);
  session.opened(reply.raw);
  host.onSubscribers(1);
  reply.raw.once('close', () => host.onSubscribers(-1));
  await handOver(host, request, reply, (gone) =>
    contexts.run({ caller, gone, agent: session.client }, () =>
      session.transport.handleRequest(request.raw, reply.raw),
    ),
  );
}

/** DELETE: ends the session and cancels its calls. */
export async function endSession(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const [session, caller] = await requireSession(endpoint, request);
  await handOver(endpoint.host, request, reply, (gone) =>
    endpoint.contexts.run({ caller, gone, agent: session.client }, () =>
      session.transport.handleRequest(request.raw, reply.raw),
    ),
  );
}

/**
 * The session of a request, restored if necessary, and the caller in it. Refuses callers for whom it was not opened.
 */
async function sessionOf(
  endpoint: StreamableEndpoint,
  id: string,
  request: FastifyRequest,
): Promise<[StreamableSession, Caller]> {
  const { host, sessions, store } = endpoint;
  const token = store.tokens?.read(id, Date.now() / 1000) ?? null;
  if (token === null || store.hasEnded(token.session)) throw unknownSession();
  if (!token.isOf(present(request.identity, 'the credential was looked at').credential))
    throw new EngineError(
      'Forbidden',
      'this session was opened with another credential: open one of your own',
    );
  const unnamed = host.callerOf(request, token.binding);
  const caller: Caller = { ...unnamed, origin: { ...unnamed.origin, session: token.session } };
  const session = sessions.get(id) ?? (await revive(endpoint, id, token, caller));
  requireTurn(session);
  return [session, caller];
}

/** Restores a session opened by an earlier process, or evicted while idle. */
function revive(
  endpoint: StreamableEndpoint,
  id: string,
  token: SessionToken,
  caller: Caller,
): Promise<StreamableSession> {
  const { reviving } = endpoint;
  const underWay = reviving.get(id);
  if (underWay !== undefined) return underWay;
  const revived = openAgain(endpoint, id, token, caller).finally(() => reviving.delete(id));
  reviving.set(id, revived);
  return revived;
}

async function openAgain(
  endpoint: StreamableEndpoint,
  id: string,
  token: SessionToken,
  caller: Caller,
): Promise<StreamableSession> {
  const { sessions, store } = endpoint;
  // A new version of the program may support other revisions.
  if (!SUPPORTED_PROTOCOL_VERSIONS.includes(token.revision)) throw unknownSession();
  await sessions.makeRoom(caller, Date.now());
  const session = await openSession(endpoint, caller, token.session, () => id);
  const { revision: protocolVersion, clientName: name, clientVersion: version } = token;
  const params = { protocolVersion, capabilities: {}, clientInfo: { name, version } };
  await session.transport.revive({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  if (!store.hasEnded(token.session)) return session;
  await session.end();
  throw unknownSession();
}

/** Opens the session of an `initialize`. */
async function openNew(
  endpoint: StreamableEndpoint,
  message: object,
  caller: Caller,
): Promise<StreamableSession> {
  const { sessions, store } = endpoint;
  const now = Date.now();
  await sessions.makeRoom(caller, now);
  const opening = [message].flat().find((each) => isInitializeRequest(each));
  const { protocolVersion = '', clientInfo } = opening?.params ?? {};
  const [newest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
  const tokens = present(store.tokens, 'a service that answers has opened its folder');
  const id = tokens.issue(
    {
      openedAt: Math.floor(now / 1000),
      revision: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : newest,
      binding: caller,
      clientName: clientName(clientInfo?.name) ?? '',
      clientVersion: clientVersion(clientInfo?.version) ?? '',
    },
    caller.credential,
  );
  const { session } = present(tokens.read(id, now / 1000), 'it was issued now');
  return openSession(endpoint, caller, session, () => id);
}

/** Creates a session that begins, or resumes, with the next `initialize`; `name` identifies it among ended ones. */
async function openSession(
  endpoint: StreamableEndpoint,
  caller: Caller,
  name: string,
  idOf: () => string,
): Promise<StreamableSession> {
  const { host, contexts, sessions, store, nextClientId } = endpoint;
  const transport = new SessionTransport({
    sessionIdGenerator: idOf,
    onsessioninitialized: (id) => sessions.add(id, session),
    onsessionclosed: () => store.end(name),
  });
  const { server, end } = createSessionServer(endpoint, caller, () => session, {
    uris: store.wanted(name),
    keep: (uri, isWanted) => (isWanted ? store.want(name, uri) : store.unwant(name, uri)),
  });
  const now = Date.now();
  const client = new ConnectedClient({
    id: nextClientId(),
    transport: 'streamable-http',
    binding: caller,
    connectedAt: now,
    info: () => server.getClientVersion(),
  });
  const session = new McpSession({ opener: caller, transport, server, client, now });
  server.onclose = () => {
    end();
    if (transport.sessionId !== undefined) sessions.remove(transport.sessionId);
  };
  server.onerror = sessionErrors(host, contexts);
  await server.connect(transport);
  return session;
}

function requireSession(
  endpoint: StreamableEndpoint,
  request: FastifyRequest,
): Promise<[StreamableSession, Caller]> {
  const id = sessionIdOf(request);
  if (id === null)
    throw invalid('Mcp-Session-Id', 'the header is required: the answer to initialize contains it');
  return sessionOf(endpoint, id, request);
}

function sessionIdOf(request: FastifyRequest): string | null {
  const id = request.headers['mcp-session-id'];
  return typeof id === 'string' ? id : null;
}

function isOpening(message: object): boolean {
  return Array.isArray(message) ? message.some(isInitializeRequest) : isInitializeRequest(message);
}
