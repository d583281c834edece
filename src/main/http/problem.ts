/**
 * Errors on the wire: `application/problem+json`, each with one code of the problem table.
 *
 * Every thrown error ends here. An EngineError is sent as it is; an error of the HTTP framework becomes the code of its
 * status; anything else is a bug: the client gets the request id, the log gets the stack.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problems } from '../../engine/contract/problems.ts';
import { EngineError } from '../../engine/index.ts';

export const problemType = 'application/problem+json';

/** The body of an error answer. */
export function problemOf(error: EngineError, requestId: string): Problem {
  const { status, title } = problems[error.code];
  const { errors, ...members } = error.members;
  return {
    ...members,
    ...(errors === undefined ? {} : { errors: [...errors] }),
    type: `urn:corollary:problem:${error.code}`,
    title,
    status,
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

/** The error as the client sees it; logs a bug. */
export function told(error: unknown, request: FastifyRequest): EngineError {
  const known = asEngineError(error);
  if (known.code === 'Internal') request.log.error({ err: error }, 'a bug: the request failed inside');
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

const internalDetail = 'something went wrong inside; the log has more under the request id';

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
