/**
 * What the two transports share: when a session may be spoken in, and handing a raw response over to the SDK.
 *
 * A request that names another database or tenant than the session's is refused rather than carried out in the wrong
 * place.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cancellation, CancellationSource, EngineError, invalid } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import type { CallContext, CallContexts } from './server.ts';
import type { Session } from './sessions.ts';

/** Requests of one session that may be running or waiting to be read by its client at once. */
const maxRunningCalls = 1000;

export function createContexts(): CallContexts {
  return new AsyncLocalStorage<CallContext>();
}

/** Refuses with RateLimited a session that has as many requests as one may have. */
export function requireTurn(session: Session): void {
  if (session.busy < maxRunningCalls) return;
  throw new EngineError(
    'RateLimited',
    `${maxRunningCalls} calls of this session are running: wait for their answers`,
  );
}

/**
 * Takes what the SDK says of a message that it refuses. The client is told; the log gets the kind of it alone, since
 * its words quote the message.
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

export function unknownSession(): EngineError {
  return new EngineError(
    'SessionNotFound',
    'there is no MCP session of this id: it has ended, open a new one',
  );
}

/**
 * The JSON-RPC message of a POST: one object, or an array of them. What is in it is checked by the SDK, but for its
 * size: refused with PayloadTooLarge and ValidationException.
 */
export function messageOf(request: FastifyRequest): object {
  const { body } = request;
  if (typeof body !== 'object' || body === null)
    throw invalid('', 'a JSON-RPC message is needed as the body');
  if (!Array.isArray(body)) {
    requireModest(body);
    return body;
  }
  // Newer revisions have none; what looks at one later looks at every message several times.
  if (body.length > mostInBatch) throw invalid('', `a batch has ${mostInBatch} messages at most`);
  for (const message of body as unknown[]) requireModest(message);
  return body;
}

const mostInBatch = 100;

/** UTF-16 code units of the parameters of what lasts as long as a session or a stream: the SDK keeps them with it. */
const mostOfLasting: ReadonlyMap<unknown, number> = new Map([
  ['initialize', 64 * 1024],
  ['subscriptions/listen', 128 * 1024],
]);

/** Fields of an object that messages have; each is looked at a dozen times, by the SDK and by us. */
const mostFields = 1000;

function requireModest(message: unknown): void {
  const { method, params } = fieldsOf(message, '');
  const { arguments: given, _meta: meta } = fieldsOf(params, 'params');
  fieldsOf(given, 'params.arguments');
  fieldsOf(meta, 'params._meta');
  const most = mostOfLasting.get(method);
  if (most === undefined || (JSON.stringify(params) ?? '').length <= most) return;
  throw new EngineError(
    'PayloadTooLarge',
    `${String(method)} takes ${most} characters of parameters at most`,
  );
}

function fieldsOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  if (Object.keys(value).length > mostFields)
    throw invalid(path, `an object has ${mostFields} fields at most`);
  return value as Readonly<Record<string, unknown>>;
}

/**
 * Takes the response out of the framework's hands, headers set so far included, and lets `write` answer.
 * `write` is given what is cancelled when the client goes away before the response is complete.
 */
export async function handOver(
  host: McpHost,
  request: FastifyRequest,
  reply: FastifyReply,
  write: (gone: Cancellation) => Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  gatherFirstParts(reply.raw);
  await takeOver(host, request, reply, write);
}

/** The same for who writes an answer in one piece, with the headers that are set on the raw response. */
export async function takeOver(
  host: McpHost,
  request: FastifyRequest,
  reply: FastifyReply,
  write: (gone: Cancellation) => Promise<void>,
): Promise<void> {
  reply.hijack();
  const gone = new CancellationSource();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.cancel();
  });
  try {
    await write(gone);
  } catch (error) {
    host.logger.error({ err: error, requestId: request.id }, 'answering an MCP request failed');
    reply.raw.destroy();
  }
}

/**
 * Has what is at hand when the head of the answer is written go out with it, in one piece at the end of the turn: the SDK
 * writes head, event and end apart, and each would be a packet and a call of the system.
 */
function gatherFirstParts(raw: ServerResponse): void {
  const writeHead = raw.writeHead.bind(raw) as (...given: unknown[]) => ServerResponse;
  raw.writeHead = (...given: unknown[]) => {
    raw.cork();
    setImmediate(() => raw.uncork());
    return writeHead(...given);
  };
}
