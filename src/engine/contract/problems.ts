/**
 * The problem table: every error a client can receive, with status, title and, in `when`, its cause.
 *
 * The HTTP layer, the MCP tools, the OpenAPI document and the documentation are generated from it; no other code is
 * ever returned. `retryStatus` is the status of a refusal that says when to try again.
 */
export const problems = {
  ValidationException: {
    status: 400,
    title: 'The request is not valid',
    when: 'malformed body, missing or bad field, missing tenant header, non-ground fact, wrong arity for a built-in',
  },
  Unauthenticated: {
    status: 401,
    title: 'Authentication is required',
    when: 'authentication is on and there is no valid credential',
  },
  Forbidden: {
    status: 403,
    title: 'Not allowed',
    when: 'the role, databases or tenants of the credential do not cover the call, or the Origin or Host is foreign',
  },
  NotFound: { status: 404, title: 'Not found', when: 'the path does not exist' },
  DatabaseNotFound: {
    status: 404,
    title: 'Database not found',
    when: 'X-Database or the path names an unknown database',
  },
  TenantNotFound: {
    status: 404,
    title: 'Tenant not found',
    when: 'an administration call names an unknown tenant',
  },
  ScopeNotFound: { status: 404, title: 'Scope not found', when: 'a scope call names an unknown scope' },
  SessionNotFound: { status: 404, title: 'Session not found', when: 'a context or MCP session is unknown' },
  TransactionNotFound: {
    status: 404,
    title: 'Transaction not found',
    when: 'the transaction is unknown here',
  },
  RuleNotFound: { status: 404, title: 'Rule not found', when: 'no rule has this id' },
  FactNotFound: { status: 404, title: 'Fact not found', when: 'this tenant has no fact with this id' },
  MethodNotAllowed: {
    status: 405,
    title: 'Method not allowed',
    when: 'a known path with an unsupported method',
  },
  Conflict: {
    status: 409,
    title: 'Conflict',
    when: 'the stored state conflicts with the write, or a write with the same Idempotency-Key is still running, or its answer is no longer remembered',
  },
  KeyConflict: {
    status: 409,
    title: 'Key conflict',
    when: 'a fact with the same value of a declared key is valid at the same time; `inTheWay` names it, or `conflicts` lists the pairs of a merge of entities',
  },
  HistoryGone: {
    status: 410,
    title: 'The history does not reach back so far',
    when: 'the moment is before the retained history; `earliest` is the first that can be asked about',
  },
  HistoryChanged: {
    status: 409,
    title: 'The history has changed',
    when: 'with STORE_URL: PostgreSQL has lost the state that the token in X-At-Least was given for, or the token is of another database',
  },
  TransactionLost: {
    status: 409,
    title: 'The transaction is lost',
    when: 'with STORE_URL: another node has taken the log since the transaction began; nothing of it was stored',
  },
  PreconditionFailed: {
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match does not match the current rule',
  },
  PayloadTooLarge: {
    status: 413,
    title: 'Payload too large',
    when: 'the body exceeds MAX_REQUEST_BODY_BYTES',
  },
  UnsupportedMediaType: {
    status: 415,
    title: 'Unsupported media type',
    when: 'the endpoint does not accept the media type of the body',
  },
  NotLeader: {
    status: 421,
    title: 'Not the leader',
    when: 'a write sent to a follower, or, with STORE_URL, to a node that does not have the log and may not forward it',
  },
  RuleException: {
    status: 422,
    title: 'The rule cannot be accepted',
    when: 'an unsafe rule, or rules that cannot be stratified',
  },
  ShapeViolation: {
    status: 422,
    title: 'Shape violation',
    when: 'an argument is not of its declared type',
  },
  ConstraintViolated: {
    status: 422,
    title: 'A constraint would be violated',
    when: 'a write would violate a constraint whose mode is reject; `violations` has the first 100 with their proofs, `violationCount` their number',
  },
  InferenceLimitExceeded: {
    status: 422,
    title: 'Inference limit exceeded',
    when: 'a question, or the check of constraints before a write, reached its time, derivation or memory limit',
  },
  TestsFailed: {
    status: 422,
    title: 'Tests fail',
    when: 'a write with runTests would make stored tests fail; `tests` has how many passed and failed, and the first 100 that failed',
  },
  IdempotencyMismatch: {
    status: 422,
    title: 'Idempotency key reused',
    when: 'the Idempotency-Key was used for a different request: another body, path, method, database or tenant',
  },
  QuotaExceeded: {
    status: 507,
    retryStatus: 429,
    title: 'A quota is exceeded',
    when:
      '507: the write would store more than a quota of the tenant or the database allows, or than the memory of the process ' +
      'holds; 429: more questions or open transactions than a quota allows',
  },
  RateLimited: { status: 429, title: 'Too many requests', when: 'the rate limit is exceeded' },
  Internal: { status: 500, title: 'Internal error', when: 'a bug; the log has details under the request id' },
  LlmProviderException: {
    status: 502,
    title: 'The LLM provider failed',
    when: 'the provider returned an error or an unusable answer',
  },
  LlmUnavailable: {
    status: 503,
    title: 'No LLM provider',
    when: 'the call needs a provider, but none is configured or enabled',
  },
  NotReady: {
    status: 503,
    title: 'Not ready',
    when: 'the service is starting or shutting down, or too many questions of the tenant wait already',
  },
  NoOwner: {
    status: 503,
    title: 'The store cannot be used now',
    when: 'with STORE_URL: PostgreSQL cannot be reached, or no node has the log; nothing of the write was stored, or no recent state can be shown',
  },
  OutcomeUnknown: {
    status: 504,
    title: 'Outcome unknown',
    when: 'with STORE_URL: the connection to PostgreSQL broke while the write was committed, and it is not known yet whether it was stored',
  },
  StorageUnavailable: {
    status: 507,
    title: 'Storage unavailable',
    when: 'the log could not be written; the write is not applied',
  },
} as const satisfies Record<string, { status: number; retryStatus?: number; title: string; when: string }>;

/** A code of the problem table. */
export type ProblemCode = keyof typeof problems;

/** The status of a problem; `isTemporary`: the refusal says after how many seconds to try again. */
export function statusOf(code: ProblemCode, isTemporary: boolean): number {
  const problem: { readonly status: number; readonly retryStatus?: number } = problems[code];
  return isTemporary ? (problem.retryStatus ?? problem.status) : problem.status;
}

/** One error in a request: `path` is a dotted path into the body, the query or the headers. */
export interface ProblemDetail {
  path: string;
  message: string;
}

/** The body of every error response, `application/problem+json` (RFC 9457) with extension members. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  requestId: string;
  errors?: ProblemDetail[];
  [member: string]: unknown;
}
