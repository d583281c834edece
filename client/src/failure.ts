/**
 * Everything that can go wrong with a call, as one error: what the service answered, or that there was no answer.
 *
 * A call that its caller gave up is no such error: it rejects with the reason of the caller's signal.
 */
import type { ProblemCode } from './types.ts';

/**
 * `Unreachable`: no answer came, or it broke off. `TimedOut`: none came in the time that the caller gave it.
 * `Unreadable`: an answer that is not of this service, a proxy's for instance.
 */
export type FailureCode = ProblemCode | 'Unreachable' | 'TimedOut' | 'Unreadable';

/** One complaint about a request: `path` is a dotted path into its body, query or headers. */
export interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** The body of an error answer (RFC 9457), with members of the service's own, such as `leader` or `limit`. */
export type Problem = Readonly<Record<string, unknown>>;

export class CorollaryError extends Error {
  /** To switch on. A service that is newer than this package may answer one that is not in the list. */
  readonly code: FailureCode;
  /** Of HTTP; null: there was no answer. */
  readonly status: number | null;
  /** For people: what is wrong, and what to do. */
  readonly detail: string;
  /** Finds the call in the service's log. */
  readonly requestId: string;
  readonly errors: readonly Complaint[];
  /** After how many seconds to try again; null: the service did not say. */
  readonly retryAfterSeconds: number | null;
  /** The whole answer; null where it was none of the service's. */
  readonly problem: Problem | null;

  constructor(
    failure: {
      readonly code: FailureCode;
      readonly status: number | null;
      readonly detail: string;
      readonly requestId: string;
      readonly problem?: Problem;
      readonly retryAfter?: string | null;
    },
    cause?: unknown,
  ) {
    super(failure.detail, cause === undefined ? {} : { cause });
    this.name = 'CorollaryError';
    this.code = failure.code;
    this.status = failure.status;
    this.detail = failure.detail;
    this.requestId = failure.requestId;
    this.problem = failure.problem ?? null;
    const errors = this.problem?.['errors'];
    this.errors = Array.isArray(errors) ? errors.filter(isComplaint) : [];
    // A date, the header's other form, is not what the service sends.
    this.retryAfterSeconds = /^\d{1,9}$/.test(failure.retryAfter ?? '') ? Number(failure.retryAfter) : null;
  }
}

function isComplaint(value: unknown): value is Complaint {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The error for an answer that is no success. `body` is its parsed JSON, or null where it was none. */
export function errorOfAnswer(
  status: number,
  body: unknown,
  requestId: string,
  retryAfter: string | null = null,
): CorollaryError {
  if (!isObject(body) || typeof body['code'] !== 'string')
    return new CorollaryError({
      code: 'Unreadable',
      status,
      detail: `The answer ${status} is not one of Corollary's: is the address right, and is there a proxy before it?`,
      requestId,
    });
  const { detail, title } = body;
  return new CorollaryError({
    code: body['code'] as ProblemCode,
    status,
    detail: typeof detail === 'string' ? detail : typeof title === 'string' ? title : body['code'],
    requestId: typeof body['requestId'] === 'string' ? body['requestId'] : requestId,
    problem: body,
    retryAfter,
  });
}
