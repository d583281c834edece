/**
 * Everything that can go wrong with a call, as one error: an answer of the problem table, or no answer.
 *
 * `detail` is written for people and says what to do; `requestId` finds the call in the service's log.
 */
import { CorollaryError } from '../../../client/src/failure.ts';
import { problems, type ProblemCode, type ProblemDetail } from '../../engine/contract/problems.ts';

/** `Unreachable`: no answer came. `Unreadable`: an answer that is not of this service. */
export type FailureCode = ProblemCode | 'Unreachable' | 'Unreadable';

export interface ApiFailure {
  readonly code: FailureCode;
  readonly status: number | null;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly ProblemDetail[];
  /** True where the refusal has ended the transaction that the call was part of. */
  readonly endedTransaction?: boolean;
  /** Seconds after which the service takes another try; null where it did not say. */
  readonly retryAfterSeconds?: number | null;
  /** The limit that a question was over; null where it was none. */
  readonly limit?: QuestionLimit | null;
  /** Address of the leader, which takes what a follower refused; null where it was not about that. */
  readonly leader?: string | null;
}

/** What a question can have too much of, as InferenceLimitExceeded names it. */
export type QuestionLimit = 'timeoutMs' | 'maxDerivations' | 'memory';

export class ApiError extends Error implements ApiFailure {
  readonly code: FailureCode;
  readonly status: number | null;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly ProblemDetail[];
  readonly endedTransaction: boolean;
  readonly retryAfterSeconds: number | null;
  readonly limit: QuestionLimit | null;
  readonly leader: string | null;

  constructor(failure: ApiFailure, cause?: unknown) {
    super(failure.detail, cause === undefined ? {} : { cause });
    this.name = 'ApiError';
    this.code = failure.code;
    this.status = failure.status;
    this.title = failure.title;
    this.detail = failure.detail;
    this.requestId = failure.requestId;
    this.errors = failure.errors;
    this.endedTransaction = failure.endedTransaction ?? false;
    this.retryAfterSeconds = failure.retryAfterSeconds ?? null;
    this.limit = failure.limit ?? null;
    this.leader = failure.leader ?? null;
  }
}

function isProblemCode(value: unknown): value is ProblemCode {
  return typeof value === 'string' && Object.hasOwn(problems, value);
}

function isProblemDetail(value: unknown): value is ProblemDetail {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}

function limitOf(value: unknown): QuestionLimit | null {
  return value === 'timeoutMs' || value === 'maxDerivations' || value === 'memory' ? value : null;
}

/** An address that a link can lead to; null for none. */
function addressOf(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}

/** The seconds of a Retry-After header; null for none, or one that is a date. */
function secondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}

/**
 * The error for an answer that is not a success. `body` is the parsed JSON, or null where it was none; `retryAfter` the
 * header of that name.
 */
export function errorOfAnswer(
  status: number,
  body: unknown,
  requestId: string,
  retryAfter: string | null = null,
): ApiError {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const code = problem['code'];
  if (!isProblemCode(code))
    return new ApiError({
      code: 'Unreadable',
      status,
      title: 'Unexpected answer',
      detail: `The service answered ${status} in a form that this workbench does not know.`,
      requestId,
      errors: [],
    });
  const errors = problem['errors'];
  return new ApiError({
    code,
    status,
    title: problems[code].title,
    detail: typeof problem['detail'] === 'string' ? problem['detail'] : problems[code].when,
    requestId: typeof problem['requestId'] === 'string' ? problem['requestId'] : requestId,
    errors: Array.isArray(errors) ? errors.filter(isProblemDetail) : [],
    endedTransaction: problem['transaction'] === 'rolled_back',
    retryAfterSeconds: secondsOf(retryAfter),
    limit: code === 'InferenceLimitExceeded' ? limitOf(problem['limit']) : null,
    leader: code === 'NotLeader' ? addressOf(problem['leader']) : null,
  });
}

/** The error for a call that got no answer. */
export function errorOfSilence(cause: unknown, requestId: string): ApiError {
  return new ApiError(
    {
      code: 'Unreachable',
      status: null,
      title: 'The service cannot be reached',
      detail: 'The service does not answer. The workbench goes on trying; what you typed is kept.',
      requestId,
      errors: [],
    },
    cause,
  );
}

/** What the client package throws, in the workbench's words; anything else as it is. */
export function apiErrorOf(error: unknown): unknown {
  if (!(error instanceof CorollaryError)) return error;
  const { status, problem, requestId, retryAfterSeconds } = error;
  if (status === null) return errorOfSilence(error, requestId);
  return errorOfAnswer(
    status,
    problem,
    requestId,
    retryAfterSeconds === null ? null : String(retryAfterSeconds),
  );
}

/** Any thrown value as a failure that can be shown. Something that is no ApiError is a fault of ours. */
export function apiFailureOf(error: unknown): ApiFailure {
  if (error instanceof ApiError) return error;
  return {
    code: 'Unreadable',
    status: null,
    title: 'The workbench failed',
    detail: error instanceof Error ? error.message : String(error),
    requestId: '',
    errors: [],
  };
}

/** True where the same call may well succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'Unreachable' || error.code === 'NotReady');
}

/** True for a call that its caller gave up. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
