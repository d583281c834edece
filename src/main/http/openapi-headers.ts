/** Headers in the description: those of requests and those of answers. */
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { Described } from './openapi-schemas.ts';
import { takesKey } from './idempotency.ts';

/** Headers of requests, as components. */
export const headerParameters = {
  Tenant: {
    name: 'X-Tenant-ID',
    in: 'header',
    required: true,
    description: 'The tenant, whose facts are concerned. It comes into being with its first write.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,256}$' },
    example: 'default',
  },
  Database: {
    name: 'X-Database',
    in: 'header',
    description: 'The database; an unknown one is 404.',
    schema: { type: 'string', default: 'default', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
    example: 'default',
  },
  Transaction: {
    name: 'X-Transaction-ID',
    in: 'header',
    description:
      'The transaction of `POST /tx/begin` that the call is part of: a write is answered as pending, a question sees its writes.',
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'For 24 hours the same request with the same key gets the first answer again, with `Idempotent-Replayed: true`. ' +
      'With another request the key is 422, and 409 while the first one is still running.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    example: 'order-4711',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags of which the rule must have one now, or `*`; else 412.',
    schema: { type: 'string' },
    example: '"r7-12"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Resumes after this event where that is still possible; else the first event is a `reset`.',
    schema: { type: 'string' },
    example: '12.0',
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description:
      'Echoed in the answer, and in every log line of the request. One that is not of this form is ignored.',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' },
    example: 'import-2026-07-01',
  },
} as const;

/** Headers of answers, as components. */
export const answerHeaders = {
  RequestId: {
    description: 'The id of the request: the one it came with, or a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' },
  },
  ApiVersion: {
    description: 'The version of the API.',
    required: true,
    schema: { type: 'string', const: '1' },
  },
  ETag: {
    description:
      'The entity tag of the rule as it is now, for `If-Match`. Absent where the write is pending.',
    schema: { type: 'string', pattern: '^"[\\x21\\x23-\\x7e]+"$' },
  },
  Replayed: {
    description: 'The request came again with its Idempotency-Key: this is what the first one was answered.',
    schema: { type: 'string', const: 'true' },
  },
  RetryAfter: {
    description: 'So many seconds to wait before the next try.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  WwwAuthenticate: {
    description: 'How to authenticate; a key in `X-API-Key` does as well.',
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
      'Announces the trailer `X-Omitted`, which follows the body: how many facts and rules this format cannot hold and were left out.',
    required: true,
    schema: { type: 'string', const: 'X-Omitted' },
  },
} as const;

type AnswerHeader = keyof typeof answerHeaders;

const headerNames: Readonly<Record<AnswerHeader, string>> = {
  RequestId: 'X-Request-ID',
  ApiVersion: 'X-API-Version',
  ETag: 'ETag',
  Replayed: 'Idempotent-Replayed',
  RetryAfter: 'Retry-After',
  WwwAuthenticate: 'WWW-Authenticate',
  ContentDisposition: 'Content-Disposition',
  Trailer: 'Trailer',
};

/** The headers of every answer, plus these. */
export function headersOf(...more: readonly AnswerHeader[]): Described {
  const all: AnswerHeader[] = ['RequestId', 'ApiVersion', ...more];
  return Object.fromEntries(
    all.map((header) => [headerNames[header], { $ref: `#/components/headers/${header}` }]),
  );
}

/** References to the headers that a request for this operation can have. */
export function headerParametersOf(spec: OperationSpec): Described[] {
  const names: (keyof typeof headerParameters)[] = [
    ...(spec.tenant ? (['Tenant'] as const) : []),
    ...(spec.database ? (['Database'] as const) : []),
    ...(spec.transaction === undefined ? [] : (['Transaction'] as const)),
    ...(takesKey(spec) ? (['IdempotencyKey'] as const) : []),
    ...(spec.ifMatch === true ? (['IfMatch'] as const) : []),
    ...(spec.stream === 'events' ? (['LastEventId'] as const) : []),
    'RequestId',
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
