/**
 * Problems in the description: those that an operation can answer with, and an example of each.
 *
 * An operation has its own problems from the table, and those that follow from its kind: whether it needs a credential,
 * a body, a database, whether it writes. Each status is one response, with an example for each of its codes.
 */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type Problem, type ProblemCode, problems } from '../../engine/contract/problems.ts';
import { EngineError, present } from '../../engine/index.ts';
import { isAnsweredAlways } from './admission.ts';
import { headersOf } from './openapi-headers.ts';
import { type Components, type Described, refersTo } from './openapi-schemas.ts';
import { problemOf, problemType } from './answers.ts';
import { takesKey } from './idempotency.ts';

/** The codes that an operation can answer with, by status: its own and those that follow from its kind. */
export function problemCodesOf(spec: OperationSpec): ProblemCode[] {
  const codes = new Set<ProblemCode>(['ValidationException', 'Forbidden', 'Internal', ...spec.problems]);
  if (spec.role !== 'public') codes.add('Unauthenticated').add('RateLimited');
  if (!isAnsweredAlways(spec.path)) codes.add('NotReady');
  if (spec.database || spec.pathNames !== undefined) codes.add('DatabaseNotFound');
  if (spec.method !== 'GET') codes.add('UnsupportedMediaType');
  if (spec.method !== 'GET' && spec.takes === undefined) codes.add('PayloadTooLarge');
  if (spec.kind === 'write') codes.add('NotLeader');
  if (takesKey(spec)) codes.add('Conflict').add('IdempotencyMismatch');
  if (spec.transaction !== undefined) codes.add('TransactionNotFound').add('Conflict');
  return [...codes].toSorted((left, right) => problems[left].status - problems[right].status);
}

/** The responses with these problems, by status. */
export function problemResponses(
  codes: readonly ProblemCode[],
  components: Components,
): Record<string, Described> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, alike]) => [String(status), problemResponse(alike, components)]),
  );
}

/** A reference to the response for these codes, all of one status. */
function problemResponse(codes: readonly ProblemCode[], components: Components): Described {
  const name = codes.join('Or');
  const [first] = codes;
  const { status } = problems[present(first, 'a response has a code')];
  components.responses[name] ??= {
    description: codes.map((code) => `\`${code}\`: ${problems[code].when}.`).join('\n\n'),
    headers: headersOf(
      ...(status === 401 ? (['WwwAuthenticate'] as const) : []),
      ...(status === 429 ? (['RetryAfter'] as const) : []),
    ),
    content: {
      [problemType]: {
        schema: {
          allOf: [refersTo('Problem')],
          type: 'object',
          properties: {
            status: { type: 'integer', const: status },
            code: { type: 'string', enum: codes },
          },
          ...membersOf(codes),
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: problems[code].title, value: exampleOf(code) }]),
        ),
      },
    },
  };
  return { $ref: `#/components/responses/${name}` };
}

/** Members that problems of a code always have. */
const ownMembers: Readonly<Partial<Record<ProblemCode, readonly string[]>>> = {
  NotLeader: ['leader'],
  InferenceLimitExceeded: ['limit', 'elapsedMs'],
  RateLimited: ['retryAfterSeconds'],
  LlmProviderException: ['provider'],
};

/** A schema part that requires the members of each code; empty if none has any. */
function membersOf(codes: readonly ProblemCode[]): JsonSchema {
  if (codes.every((code) => ownMembers[code] === undefined)) return {};
  const anyOf = codes.map((code) => {
    const members = ownMembers[code] ?? [];
    const properties = Object.fromEntries(members.map((member) => [member, {}]));
    return {
      type: 'object',
      properties: { code: { type: 'string', const: code }, ...properties },
      required: ['code', ...members],
    };
  });
  return { anyOf };
}

/** The schema of every problem, with all possible members. */
export function problemSchema(): JsonSchema {
  const text = (description: string): JsonSchema => ({ type: 'string', description });
  return {
    type: 'object',
    description: 'RFC 9457, with members of our own',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { ...text('A name for the kind of problem'), pattern: '^urn:corollary:problem:[A-Za-z]+$' },
      title: text('The same for every problem of the code'),
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: text('What is wrong, where, and what to do about it'),
      code: { type: 'string', enum: Object.keys(problems), description: 'To switch on' },
      requestId: text('As in X-Request-ID'),
      errors: {
        type: 'array',
        description: 'What is wrong with the request, place by place, the first 100',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: {
            path: text('A dotted path into the body, or the name of a parameter or header'),
            message: { type: 'string' },
          },
          additionalProperties: false,
        },
      },
      transaction: {
        type: 'string',
        const: 'rolled_back',
        description: 'The refused write took its whole transaction with it',
      },
      conflicts: {
        type: 'array',
        description: 'Of a merge with REJECT: what no resolution settles, as in the answer of a merge',
        items: { type: 'object' },
      },
      variables: {
        type: 'array',
        description: 'Of RuleException: the unsafe variables',
        items: { type: 'string' },
      },
      cycle: {
        type: 'array',
        description: 'Of RuleException: the relations of the cycle through negation or an aggregate',
        items: { type: 'string' },
      },
      limit: {
        type: 'string',
        enum: ['timeoutMs', 'maxDerivations', 'memory'],
        description: 'Of InferenceLimitExceeded: which limit',
      },
      elapsedMs: { type: 'number', description: 'Of InferenceLimitExceeded' },
      leader: text('Of NotLeader: where writes go'),
      provider: text('Of LlmProviderException: the provider that failed'),
      retryAfterSeconds: { type: 'integer', minimum: 1, description: 'Of RateLimited, as in Retry-After' },
    },
  };
}

/** An example problem with this code. */
function exampleOf(code: ProblemCode): Problem {
  const [detail, members = {}] = examples[code];
  return problemOf(new EngineError(code, detail, members), '7b1f8e9c-52d0-4c1c-9d5e-3f0a6f1f2c11');
}

const examples: Readonly<Record<ProblemCode, readonly [detail: string, members?: EngineError['members']]>> = {
  ValidationException: [
    'argss: unknown field (and 1 more)',
    {
      errors: [
        { path: 'argss', message: 'unknown field' },
        { path: 'args', message: 'is required (array)' },
      ],
    },
  ],
  Unauthenticated: ['the key has expired'],
  Forbidden: ['this needs the role writer; the credential is a reader'],
  NotFound: ['there is nothing at this address'],
  DatabaseNotFound: ['there is no database familly'],
  TenantNotFound: ['there is no tenant acme in the database family'],
  ScopeNotFound: ['there is no scope plan-c'],
  SessionNotFound: ['there is no session chat-9: begin one with POST /context/optimize'],
  TransactionNotFound: ['there is no transaction 3f1c'],
  RuleNotFound: ['there is no rule r99 in the database default'],
  FactNotFound: ['there is no fact f99-0'],
  MethodNotAllowed: ['this address has GET, HEAD, not POST'],
  Conflict: ['the database family exists already'],
  PreconditionFailed: [
    'rule r7 was changed in generation 14 and is "r7-14" now: read it again and repeat the write',
  ],
  PayloadTooLarge: ['the body is over 10485760 bytes (MAX_REQUEST_BODY_BYTES)'],
  UnsupportedMediaType: ['send the body as Content-Type: application/json in UTF-8'],
  NotLeader: ['this is a follower: send writes to the leader', { leader: 'http://leader.example:9300' }],
  RuleException: [
    'the rule is unsafe: ?z of the head is bound by nothing in the body',
    { errors: [{ path: 'text', message: '?z is bound by nothing in the body' }], variables: ['?z'] },
  ],
  InferenceLimitExceeded: [
    'the question needs more than 10000 ms: ask for less, or give it more time (timeoutMs)',
    { limit: 'timeoutMs', elapsedMs: 10_000 },
  ],
  IdempotencyMismatch: ['this Idempotency-Key was used for another request'],
  RateLimited: ['more than 600 requests a minute: try again in 1 s', { retryAfterSeconds: 1 }],
  Internal: ['internal error: the log has more under the request id'],
  LlmProviderException: ['anthropic: refused the key (HTTP 401)', { provider: 'anthropic' }],
  LlmUnavailable: ['LLM provider not configured'],
  NotReady: ['the service is starting: try again soon'],
  StorageUnavailable: ['The disk is full; the write was not applied.'],
};
