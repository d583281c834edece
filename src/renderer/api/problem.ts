/**
 * Every failure of a call as one error: an entry of the problem table, or no response.
 *
 * `detail` tells people what to do; `requestId` identifies the call in the service's log.
 */
import type { TestsOfWrite } from '../../engine/contract/stored-tests.ts';
import { CorollaryError } from '../../../client/src/failure.ts';
import { problems, type ProblemCode, type ProblemDetail } from '../../engine/contract/problems.ts';

/**
 * `Unreachable`: no response. `Unreadable`: a response that is not this service's. `ReadOnlyPast`, `PresentOnly`: not sent,
 * since the workbench shows the past.
 */
type FailureCode = ProblemCode | 'Unreachable' | 'Unreadable' | 'ReadOnlyPast' | 'PresentOnly';

/** A failed call. */
export interface ApiFailure {
  readonly code: FailureCode;
  readonly status: number | null;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly ProblemDetail[];
  /** True if the refusal ended the transaction of the call. */
  readonly endedTransaction?: boolean;
  /** Seconds until the service accepts a retry; null if not given. */
  readonly retryAfterSeconds?: number | null;
  /** The limit that the question exceeded; null if none. */
  readonly limit?: QuestionLimit | null;
  /** Address of the leader, if a follower refused a write; else null. */
  readonly leader?: string | null;
  /** The tests that a refused write would make fail; null if it was refused for something else. */
  readonly tests?: TestsOfWrite | null;
}

/** Limits of a question, as InferenceLimitExceeded names them. */
export type QuestionLimit = 'timeoutMs' | 'maxDerivations' | 'memory';

/** The error that failed calls throw. */
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
  readonly tests: TestsOfWrite | null;

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
    this.tests = failure.tests ?? null;
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

/** A valid http(s) address; else null. */
function addressOf(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}

/** The seconds of a Retry-After header; null if absent or a date. */
function secondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}

/** Returns the error of an unsuccessful response. `body` is the parsed JSON, or null; `retryAfter` is that header. */
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
    // The service that refused made it.
    tests: code === 'TestsFailed' ? (problem['tests'] as TestsOfWrite) : null,
  });
}

/** Returns the error of a call without a response. */
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

/** Converts errors of the client package to the workbench's; returns others unchanged. */
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

/** Returns any thrown value as a failure to show. Anything but an ApiError is a fault of the workbench. */
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

/** Returns true if a retry shortly afterwards may succeed. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'Unreachable' || error.code === 'NotReady');
}

/** How often a call that failed with a passing error is tried again, and after how many milliseconds. */
export const passingRetries = { most: 2, afterMs: 400 } as const;

/** Returns true if the caller cancelled the call. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
