/**
 * The typed client: one function over the operations table.
 *
 * A request has the parts that the table declares: `params`, `query`, `body`. Every call carries a request id of its
 * own, so that a failure can be found in the service's log and a change in the event stream can be told from one made
 * elsewhere.
 */
import {
  type OperationName,
  type OperationOutput,
  type OperationRequest,
  operations,
} from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { ApiError, errorOfAnswer, errorOfSilence, isCancelled } from './problem.ts';

/** Whom to call and as whom. `origin` without a slash at the end; `key` where the service wants one. */
export interface Endpoint {
  readonly origin: string;
  readonly database: string;
  readonly tenant: string;
  readonly key: string | null;
}

export interface CallOptions {
  signal?: AbortSignal;
  requestId?: string;
  /** The transaction that the call is part of. */
  transaction?: string;
}

/** A name for one request that no other window uses. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `workbench-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The headers that every call carries. */
export function headersOf(endpoint: Endpoint, requestId: string): Record<string, string> {
  return {
    'X-Database': endpoint.database,
    'X-Tenant-ID': endpoint.tenant,
    'X-Request-ID': requestId,
    ...(endpoint.key === null ? {} : { Authorization: `Bearer ${endpoint.key}` }),
  };
}

interface HttpCall {
  url: string;
  method: OperationSpec['method'];
  body: string | undefined;
}

interface RequestParts {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | null | undefined>>;
  body?: unknown;
}

/** The HTTP form of a request. Absent and null query parameters are left out. */
export function httpCallOf(origin: string, spec: OperationSpec, request: RequestParts): HttpCall {
  const path = spec.path.replace(/:([a-z]+)/gi, (_, name: string) =>
    encodeURIComponent(request.params?.[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {}))
    if (value !== null && value !== undefined) query.set(name, value);
  return {
    url: `${origin}${path}${query.size === 0 ? '' : `?${query}`}`,
    method: spec.method,
    body: spec.body === undefined ? undefined : JSON.stringify(request.body),
  };
}

function silenceOrCancel(requestId: string): (cause: unknown) => never {
  return (cause) => {
    throw isCancelled(cause) ? cause : errorOfSilence(cause, requestId);
  };
}

async function readJson(response: Response, requestId: string): Promise<unknown> {
  const text = await response.text().catch(silenceOrCancel(requestId));
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (!response.ok) return null;
    throw new ApiError(
      {
        code: 'Unreadable',
        status: response.status,
        title: 'Unexpected answer',
        detail: 'The service answered with something that is not JSON.',
        requestId,
        errors: [],
      },
      cause,
    );
  }
}

function refusalOf(response: Response, body: unknown, requestId: string): ApiError {
  return errorOfAnswer(response.status, body, requestId, response.headers.get('Retry-After'));
}

/** Fetches JSON from the service; refusals and silence become an ApiError, an abort stays an AbortError. */
export async function fetchJson(url: string, init: RequestInit, requestId: string): Promise<unknown> {
  const response = await fetch(url, init).catch(silenceOrCancel(requestId));
  const body = await readJson(response, requestId);
  if (!response.ok) throw refusalOf(response, body, requestId);
  return body;
}

async function textOf(url: string, init: RequestInit, requestId: string): Promise<string> {
  const response = await fetch(url, init).catch(silenceOrCancel(requestId));
  if (!response.ok) throw refusalOf(response, await readJson(response, requestId), requestId);
  return response.text().catch(silenceOrCancel(requestId));
}

/** Fetches text from the service, for what is no operation of the table. Errors as those of `call`. */
export async function fetchText(
  endpoint: Endpoint,
  path: string,
  options: CallOptions = {},
): Promise<string> {
  const requestId = options.requestId ?? newRequestId();
  const init: RequestInit = {
    headers: headersOf(endpoint, requestId),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  return textOf(endpoint.origin + path, init, requestId);
}

/** Performs an operation. Errors: ApiError; AbortError where `signal` ended it. */
export async function call<Name extends OperationName>(
  endpoint: Endpoint,
  name: Name,
  request: OperationRequest<Name>,
  options: CallOptions = {},
): Promise<OperationOutput<Name>> {
  const requestId = options.requestId ?? newRequestId();
  const spec: OperationSpec = operations[name];
  const { url, method, body } = httpCallOf(endpoint.origin, spec, request as RequestParts);
  const init: RequestInit = {
    method,
    headers: {
      ...headersOf(endpoint, requestId),
      ...(options.transaction === undefined ? {} : { 'X-Transaction-ID': options.transaction }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const fetched = spec.answer === 'text' ? textOf(url, init, requestId) : fetchJson(url, init, requestId);
  return (await fetched) as OperationOutput<Name>;
}
