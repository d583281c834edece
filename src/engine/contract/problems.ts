/**
 * The problem table: every error a client can meet, with its status and title.
 *
 * It is the one list that the HTTP layer, the MCP tools, the OpenAPI document and the documentation are
 * generated from. A code that is not here cannot be answered. What a code means in words stands in `when`.
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
    when: 'the role, databases or tenants of the credential do not cover the call, or a foreign Origin or Host',
  },
  NotFound: { status: 404, title: 'Not found', when: 'the address names nothing' },
  DatabaseNotFound: {
    status: 404,
    title: 'Database not found',
    when: 'X-Database or the path names no database',
  },
  TenantNotFound: { status: 404, title: 'Tenant not found', when: 'an administration call names no tenant' },
  ScopeNotFound: { status: 404, title: 'Scope not found', when: 'a scope call names no scope' },
  SessionNotFound: { status: 404, title: 'Session not found', when: 'a context or MCP session is unknown' },
  TransactionNotFound: {
    status: 404,
    title: 'Transaction not found',
    when: 'the transaction is unknown here',
  },
  RuleNotFound: { status: 404, title: 'Rule not found', when: 'the id names no rule' },
  FactNotFound: { status: 404, title: 'Fact not found', when: 'the id names no fact of this tenant' },
  MethodNotAllowed: { status: 405, title: 'Method not allowed', when: 'a known path with another method' },
  Conflict: {
    status: 409,
    title: 'Conflict',
    when: 'what is stored stands against the write, or a write with its Idempotency-Key is still running',
  },
  PreconditionFailed: {
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match does not name the rule as it is',
  },
  PayloadTooLarge: {
    status: 413,
    title: 'Payload too large',
    when: 'the body is over MAX_REQUEST_BODY_BYTES',
  },
  UnsupportedMediaType: {
    status: 415,
    title: 'Unsupported media type',
    when: 'the body is not of a type that this endpoint reads',
  },
  NotLeader: { status: 421, title: 'Not the leader', when: 'a write to a follower' },
  RuleException: {
    status: 422,
    title: 'The rule cannot be accepted',
    when: 'an unsafe rule, or rules that cannot be stratified',
  },
  InferenceLimitExceeded: {
    status: 422,
    title: 'Inference limit exceeded',
    when: 'a question hit its time, derivation or memory limit',
  },
  IdempotencyMismatch: {
    status: 422,
    title: 'Idempotency key reused',
    when: 'an Idempotency-Key that was used for another request: another body, path, method, database or tenant',
  },
  RateLimited: { status: 429, title: 'Too many requests', when: 'the rate limit is used up' },
  Internal: { status: 500, title: 'Internal error', when: 'a bug; the log has more under the request id' },
  LlmProviderException: {
    status: 502,
    title: 'The LLM provider failed',
    when: 'the provider answered with an error or rubbish',
  },
  LlmUnavailable: {
    status: 503,
    title: 'No LLM provider',
    when: 'a call that needs a provider, and none is configured or enabled',
  },
  NotReady: { status: 503, title: 'Not ready', when: 'before ready, or shutting down' },
  StorageUnavailable: {
    status: 507,
    title: 'Storage unavailable',
    when: 'the log could not be written; the write is not applied',
  },
} as const satisfies Record<string, { status: number; title: string; when: string }>;

/** A code of the problem table. */
export type ProblemCode = keyof typeof problems;

/** One complaint about a request: `path` is a dotted path into the body, the query or the headers. */
export interface ProblemDetail {
  path: string;
  message: string;
}

/** The body of every error answer, `application/problem+json` (RFC 9457), with members of our own. */
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
