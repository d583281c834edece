/**
 * Every failure of a call as one error: a refusal of the service, or no answer at all.
 *
 * A call that its caller aborted rejects with the reason of the caller's signal instead.
 */
import type { ProblemCode } from './types.ts';

/**
 * `Unreachable`: no answer came, or it broke off. `TimedOut`: none came within the caller's time limit. `Unreadable`:
 * the answer is not from this service, but from a proxy for instance.
 */
export type FailureCode = ProblemCode | 'Unreachable' | 'TimedOut' | 'Unreadable';

/** One error in a request: `path` is a dotted path into its body, query or headers. */
export interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** The body of an error answer (RFC 9457), with members of the service's own, such as `leader` or `limit`. */
export type Problem = Readonly<Record<string, unknown>>;

/** A failed call. */
export class CorollaryError extends Error {
  /** Switch on this code. A service newer than this package may return one that is not in the list. */
  readonly code: FailureCode;
  /** The HTTP status; null: no answer came. */
  readonly status: number | null;
  /** For people: what is wrong, and what to do. */
  readonly detail: string;
  /** Identifies the call in the service's log. */
  readonly requestId: string;
  readonly errors: readonly Complaint[];
  /** Seconds after which to try again; null: the service did not say. */
  readonly retryAfterSeconds: number | null;
  /** The whole answer; null if it was not one of the service. */
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
    // The service never sends a date, the header's other form.
    this.retryAfterSeconds = /^\d{1,9}$/.test(failure.retryAfter ?? '') ? Number(failure.retryAfter) : null;
  }
}

function isComplaint(value: unknown): value is Complaint {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string';
}

/** Whether the value is an object, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The error for an unsuccessful answer. `body` is its parsed JSON, or null if it was not JSON. */
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
      detail: `The answer ${status} does not come from Corollary: is the address right, and is there a proxy in front of it?`,
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
