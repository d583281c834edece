/**
 * What HTTP adds to every operation of the description: headers of requests and answers, and problems.
 *
 * Besides its own problems, an operation has those that follow from its kind: whether it needs a credential, a body or a
 * database, and whether it writes. Each status is one response, with an example for each of its codes.
 */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type Problem, type ProblemCode, problems, statusOf } from '../../engine/contract/problems.ts';
import { quotaNames } from '../../engine/contract/quotas.ts';
import { EngineError } from '../../engine/index.ts';
import { isAnsweredAlways } from './admission.ts';
import { takesKey } from './idempotency.ts';
import { type Components, type Described, refersTo } from './openapi-schemas.ts';
import { problemOf, problemType } from './answers.ts';

/** Headers of requests, as components. */
export const headerParameters = {
  Tenant: {
    name: 'X-Tenant-ID',
    in: 'header',
    required: true,
    description: 'The tenant. Its first write creates it.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,256}$' },
    example: 'default',
  },
  OptionalTenant: {
    name: 'X-Tenant-ID',
    in: 'header',
    description: 'The tenant; `default` if it is missing.',
    schema: { type: 'string', default: 'default', pattern: '^[\\x21-\\x7e]{1,256}$' },
    example: 'default',
  },
  Database: {
    name: 'X-Database',
    in: 'header',
    description: 'The database. An unknown one is 404.',
    schema: { type: 'string', default: 'default', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
    example: 'default',
  },
  AtLeast: {
    name: 'X-At-Least',
    in: 'header',
    description:
      'The `X-Token` of an earlier answer: this one shows no older state. Without `STORE_URL` that is always so.',
    schema: { type: 'string', pattern: '^[0-9a-f]{8}\\.[0-9]{1,16}\\.[0-9]{1,16}$' },
    example: '8f14e45f.12.1767225600000',
  },
  Consistency: {
    name: 'X-Consistency',
    in: 'header',
    description:
      '`strong`: the answer shows every write that was answered anywhere before the request came. Without `STORE_URL` that is always so.',
    schema: { type: 'string', enum: ['default', 'strong'] },
  },
  Route: {
    name: 'X-Route',
    in: 'header',
    description:
      'With `STORE_URL`: `direct` asks a node that would pass the request on to answer 421 with the address of the node that has the log.',
    schema: { type: 'string', enum: ['direct'] },
  },
  Transaction: {
    name: 'X-Transaction-ID',
    in: 'header',
    description:
      'The id of an open transaction (`POST /tx/begin`): a write joins it and is answered as pending, a read sees its writes.',
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'For 24 hours, the same request with the same key gets the first answer again, with `Idempotent-Replayed: true`. ' +
      'The key with another request is 422; while the first request is still running, 409.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    example: 'order-4711',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags, or `*`. If the rule has none of them now: 412.',
    schema: { type: 'string' },
    example: '"r7-12"',
  },
  Client: {
    name: 'X-Client',
    in: 'header',
    description: 'Name and version of the client program, for the record of a write. Proves nothing.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]{0,198}[\\x21-\\x7e])?$' },
    example: 'importer/1.4',
  },
  Reason: {
    name: 'X-Reason',
    in: 'header',
    description:
      'Why, for the record of a write: percent-encoded UTF-8, at most 500 characters before it is encoded.',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]*$' },
    example: 'corrected%20after%20the%20audit',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Resumes after this event if that is still possible; else the first event is a `reset`.',
    schema: { type: 'string' },
    example: '12.0',
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description:
      'Echoed in the answer and in every log line of the request. Ignored if it does not match the pattern.',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' },
    example: 'import-2026-07-01',
  },
} as const;

/** Headers of answers, as components. */
export const answerHeaders = {
  RequestId: {
    description: 'The id of the request: its own, or a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' },
  },
  ApiVersion: {
    description: 'The version of the API.',
    required: true,
    schema: { type: 'string', const: '1' },
  },
  Token: {
    description:
      'Of answers about a database: what this one shows, for `X-At-Least`. History, generation and time; compare nothing in it.',
    schema: { type: 'string', pattern: '^[0-9a-f]{8}\\.[0-9]{1,16}\\.[0-9]{1,16}$' },
  },
  KnowledgeGeneration: {
    description: 'Of answers about a moment (`asOf`, `asKnown`): the generation whose knowledge was used.',
    schema: { type: 'integer', minimum: 0 },
  },
  StaleMs: {
    description:
      'With `STORE_URL`, of answers of a node that has not reached PostgreSQL for a second: the age of what it shows, in milliseconds.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  ETag: {
    description: 'The entity tag of the current rule, for `If-Match`. Absent if the write is pending.',
    schema: { type: 'string', pattern: '^"[\\x21\\x23-\\x7e]+"$' },
  },
  Replayed: {
    description: 'The request repeats an Idempotency-Key: this is the answer to the first one.',
    schema: { type: 'string', const: 'true' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  WwwAuthenticate: {
    description: 'How to authenticate; a key in `X-API-Key` works as well.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
  ContentDisposition: {
    description: 'A name for the file.',
    required: true,
    schema: { type: 'string', pattern: '^attachment; filename="[^"]+"$' },
  },
  Trailer: {
    description:
      'Announces the trailer `X-Omitted` after the body: the number of facts and rules that the format cannot express.',
    required: true,
    schema: { type: 'string', const: 'X-Omitted' },
  },
} as const;

type AnswerHeader = keyof typeof answerHeaders;

const headerNames: Readonly<Record<AnswerHeader, string>> = {
  RequestId: 'X-Request-ID',
  ApiVersion: 'X-API-Version',
  Token: 'X-Token',
  KnowledgeGeneration: 'X-Knowledge-Generation',
  StaleMs: 'X-Stale-Ms',
  ETag: 'ETag',
  Replayed: 'Idempotent-Replayed',
  RetryAfter: 'Retry-After',
  WwwAuthenticate: 'WWW-Authenticate',
  ContentDisposition: 'Content-Disposition',
  Trailer: 'Trailer',
};

/** The headers of every answer, plus these. */
export function headersOf(...more: readonly AnswerHeader[]): Described {
  const all: AnswerHeader[] = ['RequestId', 'ApiVersion', 'Token', 'StaleMs', ...more];
  return Object.fromEntries(
    all.map((header) => [headerNames[header], { $ref: `#/components/headers/${header}` }]),
  );
}

/** References to the headers that a request for this operation can have. */
export function headerParametersOf(spec: OperationSpec): Described[] {
  const names: (keyof typeof headerParameters)[] = [
    ...(!spec.tenant
      ? []
      : spec.tenantDefaults === true
        ? (['OptionalTenant'] as const)
        : (['Tenant'] as const)),
    ...(spec.database ? (['Database'] as const) : []),
    ...(spec.database ? (['AtLeast', 'Consistency'] as const) : []),
    ...(spec.kind === 'write' ? (['Route'] as const) : []),
    ...(spec.transaction === undefined ? [] : (['Transaction'] as const)),
    ...(takesKey(spec) ? (['IdempotencyKey'] as const) : []),
    ...(spec.kind === 'write' && spec.database ? (['Client', 'Reason'] as const) : []),
    ...(spec.ifMatch === true ? (['IfMatch'] as const) : []),
    ...(spec.stream === 'events' ? (['LastEventId'] as const) : []),
    'RequestId',
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** A code with the status of one of its refusals. */
interface PossibleProblem {
  readonly status: number;
  readonly code: ProblemCode;
}

/** The problems that an operation can answer with, by status: its own and those that follow from its kind. */
export function problemsOf(spec: OperationSpec): PossibleProblem[] {
  const found = problemCodesOf(spec).map((code) => ({ code, status: statusOf(code, false) }));
  if (spec.counts !== undefined)
    found.push({ code: 'QuotaExceeded', status: statusOf('QuotaExceeded', true) });
  return found.toSorted((left, right) => left.status - right.status);
}

function problemCodesOf(spec: OperationSpec): ProblemCode[] {
  const codes = new Set<ProblemCode>(['ValidationException', 'Forbidden', 'Internal', ...spec.problems]);
  if (spec.role !== 'public') codes.add('Unauthenticated').add('RateLimited');
  if (!isAnsweredAlways(spec.path)) codes.add('NotReady');
  if (spec.database || spec.pathNames !== undefined) codes.add('DatabaseNotFound');
  if (spec.database) codes.add('NoOwner').add('HistoryChanged');
  if (spec.method !== 'GET') codes.add('UnsupportedMediaType');
  if (spec.method !== 'GET' && spec.takes === undefined) codes.add('PayloadTooLarge');
  if (spec.kind === 'write') codes.add('NotLeader');
  if (spec.problems.includes('StorageUnavailable')) codes.add('NoOwner').add('OutcomeUnknown');
  if (takesKey(spec)) codes.add('Conflict').add('IdempotencyMismatch');
  if (spec.transaction !== undefined) codes.add('TransactionNotFound').add('TransactionLost').add('Conflict');
  if (spec.isJudged === true) codes.add('ConstraintViolated').add('InferenceLimitExceeded');
  if (spec.runsTests === true) codes.add('TestsFailed');
  return [...codes];
}

/** The responses with these problems, by status. */
export function problemResponses(
  possible: readonly PossibleProblem[],
  components: Components,
): Record<string, Described> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const { code, status } of possible) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, alike]) => [String(status), problemResponse(status, alike, components)]),
  );
}

/** A reference to the response with this status and one of these codes. */
function problemResponse(status: number, codes: readonly ProblemCode[], components: Components): Described {
  const name = codes.join('Or');
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
          codes.map((code) => [code, { summary: problems[code].title, value: exampleOf(code, status) }]),
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
  NoOwner: ['retryAfterSeconds'],
  QuotaExceeded: ['quota', 'of', 'allowed', 'used'],
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

/** Members of QuotaExceeded. */
const quotaMembers: Readonly<Record<string, JsonSchema>> = {
  quota: {
    type: 'string',
    enum: [...quotaNames, 'memory', 'tests', 'testCharacters'],
    description:
      'Of QuotaExceeded: the quota; memory: the limit of the process, MEMORY_LIMIT_BYTES; tests and testCharacters: what a ' +
      'database keeps at most',
  },
  of: {
    type: 'string',
    enum: ['tenant', 'database', 'process'],
    description: 'Of QuotaExceeded: whose quota it is',
  },
  allowed: { type: 'integer', description: 'Of QuotaExceeded: the quota' },
  used: { type: 'integer', description: 'Of QuotaExceeded: what is in use' },
};

/** The schema of every problem, with all possible members. */
export function problemSchema(): JsonSchema {
  const text = (description: string): JsonSchema => ({ type: 'string', description });
  return {
    type: 'object',
    description: 'RFC 9457, with members of our own',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { ...text('Identifies the kind of problem'), pattern: '^urn:corollary:problem:[A-Za-z]+$' },
      title: text('The same for every problem with this code'),
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: text('What is wrong, where, and what to do about it'),
      code: { type: 'string', enum: Object.keys(problems), description: 'For programs to switch on' },
      requestId: text('As in X-Request-ID'),
      errors: {
        type: 'array',
        description: 'What is wrong with the request, one entry for each field, the first 100',
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
        description: 'The refused write rolled back its whole transaction',
      },
      conflicts: {
        type: 'array',
        description:
          'Of a merge with REJECT: the unresolved conflicts, as in the answer of a merge; of a merge of entities: the pairs that would have one key',
        items: { type: 'object' },
      },
      ...historyMembers,
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
        description: 'Of InferenceLimitExceeded: the limit',
      },
      elapsedMs: { type: 'number', description: 'Of InferenceLimitExceeded' },
      leader: text('Of NotLeader: the address for writes'),
      provider: text('Of LlmProviderException: the provider that failed'),
      ...shapeMembers,
      ...quotaMembers,
      ...violationMembers,
      ...testMembers,
      retryAfterSeconds: { type: 'integer', minimum: 1, description: 'As in Retry-After' },
    },
  };
}

/** The members of problems about constraints. */
const violationMembers = {
  violations: {
    type: 'array',
    items: { type: 'object' },
    description:
      'Of ConstraintViolated: what would be violated and was not before, the first 100, as in GET /violations',
  },
  violationCount: {
    type: 'integer',
    description: 'Of ConstraintViolated: how many violations there would be',
  },
};

/** The members of problems about tests. */
const testMembers = {
  tests: {
    type: 'object',
    description:
      'Of TestsFailed: how many of the stored tests passed and failed, and in `failures` the first 100 that failed, as in ' +
      'POST /tests/run',
  },
};

/** The members of problems about the history. */
const historyMembers = {
  touched: {
    type: 'array',
    description: 'Of a revert: what later generations touched',
    items: {
      type: 'object',
      required: ['what', 'generation'],
      properties: { what: { type: 'string' }, generation: { type: ['integer', 'null'] } },
      additionalProperties: false,
    },
  },
  earliest: {
    type: 'object',
    description: 'Of HistoryGone: the first generation that can be asked for, and its time',
    required: ['generation', 'time'],
    properties: { generation: { type: 'integer' }, time: { type: ['integer', 'null'] } },
  },
};

/** The members of problems about declarations. */
const shapeMembers = {
  conflictCount: {
    type: 'integer',
    description: 'Of KeyConflict: how many pairs a merge of entities would have',
  },
  inTheWay: {
    type: 'object',
    description: 'Of KeyConflict: the fact with the same key, and its validity',
    required: ['atom', 'scope', 'validFrom', 'validUntil'],
    properties: {
      atom: { type: 'string' },
      scope: { type: ['string', 'null'] },
      validFrom: { type: ['integer', 'null'] },
      validUntil: { type: ['integer', 'null'] },
    },
  },
  path: { type: 'string', description: 'Of ShapeViolation: the argument in the request' },
  value: { type: 'string', description: 'Of ShapeViolation: the constant' },
};

/** An example problem with this code and status. */
function exampleOf(code: ProblemCode, status: number): Problem {
  const isTemporary = status !== statusOf(code, false);
  const [detail, members = {}] = isTemporary ? temporaryQuotaExample : examples[code];
  return problemOf(new EngineError(code, detail, members), '7b1f8e9c-52d0-4c1c-9d5e-3f0a6f1f2c11');
}

/** QuotaExceeded has two statuses. */
const temporaryQuotaExample: readonly [detail: string, members: EngineError['members']] = [
  'the tenant acme runs 4 questions at once, and its quota is 4: try again in 1 s',
  { quota: 'runningQuestions', of: 'tenant', allowed: 4, used: 4, retryAfterSeconds: 1 },
];

/** A violation without its proof. */
const violationExample = {
  kind: 'constraint',
  constraint: 'c5',
  name: 'of age',
  mode: 'reject',
  scope: null,
  bindings: { x: 'ann', a: '12' },
  instance: 'adult(ann), age(ann, 12), 12 < 18',
  proof: null,
};

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
  KeyConflict: [
    'lives_in(ann, york) has the key person ann of lives_in/2 at the same time: retract it, or end its validity, before you store another',
    { inTheWay: { atom: 'lives_in(ann, york)', scope: null, validFrom: null, validUntil: null } },
  ],
  ShapeViolation: [
    'args.1: years is old: it must be an integer, such as 42, as age/2 is declared',
    {
      errors: [{ path: 'args.1', message: 'years is old: it must be an integer, such as 42' }],
      path: 'args.1',
      value: 'old',
    },
  ],
  HistoryGone: [
    'the history does not reach back so far: the earliest moment is generation 120 (2026-06-01T00:00:00.000Z)',
    { earliest: { generation: 120, time: 1780272000000 } },
  ],
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
  ConstraintViolated: [
    'the write would violate the constraint "of age" (c5): adult(ann), age(ann, 12), 12 < 18. Nothing was stored: change the write, or set the constraint\'s mode to warn',
    { violations: [violationExample], violationCount: 1 },
  ],
  TestsFailed: [
    'the test "a grandparent" would fail: 1 of the expected answers missing. Nothing was stored: change the write or the test',
    {
      tests: {
        passed: 3,
        failed: 1,
        failures: [
          {
            name: 'a grandparent',
            line: 1,
            passed: false,
            elapsedMs: 0.4,
            failures: [
              {
                expectation: 'grandparent(zoe, ?z) = xia',
                line: 3,
                column: 3,
                message: '1 of the expected answers missing',
                expected: ['xia'],
                found: [],
                missing: ['xia'],
              },
            ],
          },
        ],
      },
    },
  ],
  InferenceLimitExceeded: [
    'the question needs more than 10000 ms: ask for less, or give it more time (timeoutMs)',
    { limit: 'timeoutMs', elapsedMs: 10_000 },
  ],
  TransactionLost: [
    'another node has taken the log since this transaction began: nothing of it was stored. Begin again',
  ],
  HistoryChanged: [
    'This token is of another database, or PostgreSQL has lost what it was given for. Drop it, and read again what you rely on.',
  ],
  IdempotencyMismatch: ['this Idempotency-Key was used for another request'],
  QuotaExceeded: [
    'this write adds 1 fact to the 1000 of the tenant acme, whose quota is 1000: retract facts, or ask an administrator for a higher quota',
    { quota: 'facts', of: 'tenant', allowed: 1000, used: 1000 },
  ],
  RateLimited: ['more than 600 requests a minute: try again in 1 s', { retryAfterSeconds: 1 }],
  Internal: ['internal error: the log has more under the request id'],
  LlmProviderException: ['anthropic: refused the key (HTTP 401)', { provider: 'anthropic' }],
  LlmUnavailable: ['LLM provider not configured'],
  NotReady: ['the service is starting: try again soon'],
  NoOwner: [
    'PostgreSQL cannot be reached. Nothing of this write was stored; try again. Reads continue.',
    { retryAfterSeconds: 1 },
  ],
  OutcomeUnknown: [
    'The connection to the store broke while this write was committed, and the store could not be asked since. It is stored whole or not at all: read it back, or repeat the request with the same Idempotency-Key.',
  ],
  StorageUnavailable: ['The disk is full; the write was not applied.'],
};
