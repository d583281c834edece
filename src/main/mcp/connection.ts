/**
 * Shared by the transports: when a session may be used, what a message may be, and raw responses that the SDK writes.
 *
 * A request that names another database or tenant than its session's is refused rather than carried out in the wrong
 * one.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cancellation, CancellationSource, EngineError, invalid, serving } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';
import type { McpSession } from './sessions.ts';
import { once } from 'node:events';

/** Maximum number of requests of one session that are running or whose answers the client has not read. */
const maxRunningCalls = 1000;

/** Refuses with RateLimited a session that has the maximum number of requests. */
export function requireTurn(session: McpSession): void {
  if (session.busy < maxRunningCalls) return;
  throw new EngineError(
    'RateLimited',
    `${maxRunningCalls} calls of this session are running: wait for their answers`,
  );
}

/** The refusal of an unknown session id. */
export function unknownSession(): EngineError {
  return new EngineError(
    'SessionNotFound',
    'there is no MCP session with this id: it has ended, open a new one',
  );
}

/**
 * The JSON-RPC message of a POST: one object, or an array of them. Checks only its size, and refuses with
 * PayloadTooLarge and ValidationException; the SDK checks the rest.
 */
export function messageOf(request: FastifyRequest): object {
  const { body } = request;
  if (typeof body !== 'object' || body === null) throw invalid('', 'the body must be a JSON-RPC message');
  if (!Array.isArray(body)) {
    requireModest(body);
    return body;
  }
  // Newer revisions have no batches; later code scans every message several times.
  if (body.length > maxInBatch) throw invalid('', `a batch may have at most ${maxInBatch} messages`);
  for (const message of body as unknown[]) requireModest(message);
  return body;
}

const maxInBatch = 100;

/** Maximum UTF-16 code units of parameters that the SDK keeps for the life of a session or a stream. */
const maxOfLasting: ReadonlyMap<unknown, number> = new Map([
  ['initialize', 64 * 1024],
  ['subscriptions/listen', 128 * 1024],
]);

/** Maximum number of fields in a message; each is visited a dozen times, by the SDK and by this service. */
const maxFields = 1000;

function requireModest(message: unknown): void {
  const { method, params } = fieldsOf(message, '');
  const { arguments: given, _meta: meta } = fieldsOf(params, 'params');
  fieldsOf(given, 'params.arguments');
  fieldsOf(meta, 'params._meta');
  const most = maxOfLasting.get(method);
  if (most === undefined || (JSON.stringify(params) ?? '').length <= most) return;
  throw new EngineError(
    'PayloadTooLarge',
    `${String(method)} takes at most ${most} characters of parameters`,
  );
}

function fieldsOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  if (Object.keys(value).length > maxFields)
    throw invalid(path, `an object may have at most ${maxFields} fields`);
  return value as Readonly<Record<string, unknown>>;
}

/**
 * Detaches the response from the framework, including the headers set so far, and lets `write` answer. `write` gets a
 * cancellation that fires if the client disconnects before the response is complete.
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

/** The same for an answer written in one piece, with the headers set on the raw response. */
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
 * Sends the first parts of an answer with its head, in one piece at the end of the turn: the SDK writes head, event and
 * end separately, and each would be a packet and a system call.
 */
function gatherFirstParts(raw: ServerResponse): void {
  const writeHead = raw.writeHead.bind(raw) as (...given: unknown[]) => ServerResponse;
  raw.writeHead = (...given: unknown[]) => {
    raw.cork();
    serving.atEndOfTurn(() => raw.uncork());
    return writeHead(...given);
  };
}

/**
 * Writes the whole response, as fast as the client reads; nothing has been written before. If the client disconnects,
 * cancels the body at once, so that its producer notices.
 */
export async function writeResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  if (reader === undefined || response.destroyed) {
    await reader?.cancel();
    response.end();
    return;
  }
  response.flushHeaders();
  const gone = new AbortController();
  const giveUp = (): void => {
    gone.abort();
    reader.cancel().catch(() => {
      // The producer of the body has failed: there is nobody left to report to.
    });
  };
  response.once('close', giveUp);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || gone.signal.aborted) break;
    if (!response.write(value)) await drained(response, gone.signal);
  }
  response.off('close', giveUp);
  response.end();
}

async function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  await once(response, 'drain', { signal: gone }).catch((error: unknown) => {
    if (!gone.aborted) throw error;
  });
}
