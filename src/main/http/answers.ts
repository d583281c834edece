/**
 * Answers: the headers of every one, JSON, and errors as `application/problem+json`.
 *
 * Serializing a million results at once would block every other request. Long answers are therefore written in pieces
 * (`json-slices.ts`), and other work runs between two of them. The bytes are those of JSON.stringify.
 *
 * Small answers are sent together at the end of the turn of the event loop that made them, before the next slice of long
 * work. Sending each one separately wakes its client, which on a machine with few processors costs more than making the answer.
 *
 * Every thrown error becomes a problem with one code of the problem table. An EngineError is sent as it is; an error of
 * the HTTP framework becomes the code of its status; anything else is a bug: the client gets the request id, the log
 * gets the stack.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problems } from '../../engine/contract/problems.ts';
import { EngineError, type JsonText, type Owner, serving } from '../../engine/index.ts';
import { isLarge, jsonSlices } from '../base/json-slices.ts';
import { ClientGone } from './body.ts';
import { acceptedCoding, compress, MIN_COMPRESSED_BYTES } from './compression.ts';
import { holdAnswer } from './unread-answers.ts';

/** The client's id if it is 1 to 128 printable ASCII characters, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\x20-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

/** Headers with the same value in every answer; static files have their own cache and content policy. */
const sameHeaders: readonly (readonly [string, string])[] = [
  ['x-api-version', '1'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
  ['vary', 'Origin, Accept-Encoding'],
];

const samePairs: readonly string[] = sameHeaders.flat();

/** Headers of every answer. */
export function standingHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, ...Object.fromEntries(sameHeaders) };
}

/** Sets the headers on the raw response, including those that let a page of another origin read it. */
export function setStandingHeaders(request: FastifyRequest, { raw }: FastifyReply): void {
  const headers = standingPairs(request);
  for (let at = 0; at < headers.length; at += 2)
    raw.setHeader(headers[at] as string, headers[at + 1] as string);
}

/**
 * The same headers as alternating names and values, for `writeHead` on a response without headers: that costs a
 * fraction.
 */
function standingPairs(request: FastifyRequest): string[] {
  const pairs = ['x-request-id', request.id, ...samePairs];
  const token = request.showToken?.() ?? null;
  if (token !== null) pairs.push('x-token', token);
  const { knownGeneration } = request;
  if (knownGeneration !== null && knownGeneration !== undefined)
    pairs.push('x-knowledge-generation', String(knownGeneration));
  // Null or, on a request with a malformed address, absent.
  if (typeof request.staleMs === 'number') pairs.push('x-stale-ms', String(request.staleMs));
  // A request with a malformed address has passed no hook and may lack what they add.
  const crossOrigin: FastifyRequest['crossOrigin'] | undefined = request.crossOrigin;
  if (crossOrigin === null || crossOrigin === undefined) return pairs;
  for (const [name, value] of Object.entries(crossOrigin)) pairs.push(name, value);
  return pairs;
}

export const jsonType = 'application/json; charset=utf-8';

/** Sends the value, at the end of this turn of the event loop, or in slices of `owner` if it is long. */
export function sendJson(reply: FastifyReply, value: unknown, owner: Owner = null): FastifyReply {
  reply.type(jsonType);
  // A piece is made when the connection has taken the one before it.
  if (isLarge(value)) {
    holdAnswer(reply.raw, value);
    const pieces = jsonSlices(value, serving.resumeOf(owner, 'write an answer'));
    return reply.send(Readable.from(pieces, { highWaterMark: 1 }));
  }
  const text = JSON.stringify(value);
  atEnd(reply, () => {
    void reply.send(text);
  });
  return reply;
}

/** Sends an answer that was written elsewhere, piece by piece. */
export function sendWritten(reply: FastifyReply, { parts, bytes }: JsonText): FastifyReply {
  holdAnswer(reply.raw, parts, bytes);
  const pieces = parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength));
  return reply.type(jsonType).send(Readable.from(pieces, { highWaterMark: 1 }));
}

/**
 * The same past the framework, compressed if the client accepts that and it is worth it. Only the status of the reply may be
 * set yet, and its request must not be a HEAD.
 */
export function writeJson(request: FastifyRequest, reply: FastifyReply, value: unknown): void {
  const text = JSON.stringify(value);
  const head = [...standingPairs(request), 'content-type', jsonType];
  const coding = text.length < MIN_COMPRESSED_BYTES ? null : acceptedCoding(request.headers);
  const isCompressed =
    coding !== null &&
    compress(text, coding, (error, bytes) => {
      if (error === null) writeWhole(reply, [...head, 'content-encoding', coding], bytes);
      else {
        reply.log.error({ err: error }, 'an answer could not be compressed: it was sent as it is');
        writeWhole(reply, head, text);
      }
    });
  if (!isCompressed) writeWhole(reply, head, text);
}

function writeWhole(reply: FastifyReply, head: readonly string[], body: string | Buffer): void {
  const { raw } = reply;
  const length = String(Buffer.byteLength(body));
  atEnd(reply, () => {
    raw.writeHead(raw.statusCode, [...head, 'content-length', length]).end(body);
  });
}

/** Sends an answer at the end of this turn. */
function atEnd(reply: FastifyReply, send: () => void): void {
  made.push({ reply, send });
  if (made.length === 1) serving.atEndOfTurn(sendMade);
}

/** Answers of this turn that have not been sent. */
let made: { readonly reply: FastifyReply; readonly send: () => void }[] = [];

function sendMade(): void {
  const all = made;
  made = [];
  for (const { reply, send } of all)
    try {
      send();
    } catch (error) {
      reply.log.error({ err: error }, 'a bug: an answer could not be sent');
      reply.raw.destroy();
    }
}

export const problemType = 'application/problem+json';

/** The body of an error answer. */
export function problemOf(error: EngineError, requestId: string): Problem {
  const { title } = problems[error.code];
  const { errors, ...members } = error.members;
  return {
    ...members,
    ...(errors === undefined ? {} : { errors: [...errors] }),
    type: `urn:corollary:problem:${error.code}`,
    title,
    status: error.status,
    detail: error.message,
    code: error.code,
    requestId,
  };
}

/** The body as sent. Bytes, because the media type has no charset and the framework would add one to text. */
export function problemBytes(error: EngineError, requestId: string): Buffer {
  return Buffer.from(JSON.stringify(problemOf(error, requestId)));
}

/** Answers with the problem of `error`; headers set before stay. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = told(error, request);
  if (known.code === 'Unauthenticated') reply.header('www-authenticate', 'Bearer');
  const retryAfter = known.members['retryAfterSeconds'];
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter));
  return reply.code(known.status).type(problemType).send(problemBytes(known, request.id));
}

/** Answers a request that failed; closes the connection if its client went away, maybe before a long answer began to be sent. */
export function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isGone = error instanceof ClientGone || (reply.raw.destroyed && isBrokenOff(error));
  if (!isGone) return sendProblem(error, request, reply);
  reply.hijack();
  reply.raw.destroy();
  return reply;
}

/** What a stream ends with whose reader was closed. */
function isBrokenOff(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** The error as the client sees it; logs a bug. */
export function told(error: unknown, request: FastifyRequest): EngineError {
  const known = asEngineError(error);
  if (known.code === 'Internal') request.log.error({ err: error }, 'a bug: the request failed');
  return known;
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (!isFrameworkError(error)) return new EngineError('Internal', internalDetail);
  switch (error.statusCode) {
    case 413:
      return new EngineError('PayloadTooLarge', 'the body is too large');
    case 415:
      return new EngineError('UnsupportedMediaType', 'send the body as application/json');
    default:
      return new EngineError('ValidationException', 'the request is malformed');
  }
}

const internalDetail = 'internal error: the log has more under the request id';

/** A refusal of the framework itself, such as a Content-Length that does not match the body. */
function isFrameworkError(error: unknown): error is FastifyError & { statusCode: number } {
  if (!(error instanceof Error)) return false;
  const { statusCode, code } = error as FastifyError;
  return (
    typeof code === 'string' &&
    code.startsWith('FST_ERR_') &&
    statusCode !== undefined &&
    statusCode >= 400 &&
    statusCode < 500
  );
}
