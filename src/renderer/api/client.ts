/**
 * The workbench's calls: those of the client package, with the workbench's error messages.
 *
 * A request has the parts that the operations table declares: `params`, `query`, `body`. Every call has its own
 * request id, which identifies it in the service's log and in the event stream.
 */
import type { Operation } from '../../../client/src/operation.ts';
import { operations } from '../../../client/src/operations.ts';
import {
  addressOf as addressOfOperation,
  type Connection,
  headersOf as headersOfConnection,
  newRequestId as newRequestIdOf,
  type Parts,
  perform,
} from '../../../client/src/request.ts';
import { bytesOf } from '../../../client/src/streams.ts';
import { VERSION } from '../../../client/src/version.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { type PastMoment, requestAt } from './moment.ts';
import { apiErrorOf } from './problem.ts';

/**
 * Service and credentials, and the moment that calls are about. `origin` has no trailing slash; `key` is present if the
 * service requires one.
 */
export interface ApiEndpoint extends Connection {
  /** null or absent: the present. */
  readonly moment?: PastMoment | null;
}

/** Options of a call. */
export interface CallOptions {
  signal?: AbortSignal;
  requestId?: string;
  /** The transaction of the call. */
  transaction?: string;
  /** Expected entity tag: PreconditionFailed if the entity has changed. */
  ifMatch?: string;
}

/** The endpoint of a workbench: the service records of each write that it came from one. */
function asWorkbench(endpoint: ApiEndpoint): ApiEndpoint {
  return { ...endpoint, client: `workbench/${VERSION}` };
}

/** The headers of every call. */
export function callHeaders(endpoint: ApiEndpoint, requestId: string): Record<string, string> {
  return headersOfConnection(asWorkbench(endpoint), requestId);
}

/** Returns a request id that is unique among all windows. */
export function newRequestId(): string {
  return newRequestIdOf('workbench');
}

/** Returns the URL of an operation; absent and null query parameters are omitted. Throws as `call` in the past. */
export function addressOf<Name extends OperationName>(
  endpoint: ApiEndpoint,
  name: Name,
  request: Omit<OperationRequest<Name>, 'body'>,
): string {
  const parts = requestAt(endpoint.moment ?? null, name, request);
  return addressOfOperation(endpoint.origin, operations[name], parts);
}

async function answerOf(
  endpoint: ApiEndpoint,
  operation: Operation,
  parts: Parts,
  options: CallOptions,
): Promise<unknown> {
  const requestId = options.requestId ?? newRequestId();
  try {
    return await perform(asWorkbench(endpoint), operation, parts, { ...options, requestId });
  } catch (error) {
    throw apiErrorOf(error);
  }
}

const file = { method: 'GET', tenant: false, database: false, role: 'public', kind: 'read' } as const;

/** Fetches a JSON file that the service serves beside its operations. Errors as those of `call`. */
export function fetchJson(path: string, options: CallOptions = {}): Promise<unknown> {
  const endpoint = { origin: '', database: 'default', tenant: 'default', key: null };
  return answerOf(endpoint, { ...file, path }, {}, options);
}

/** Fetches text outside of the operations table. Errors as those of `call`. */
export async function fetchText(
  endpoint: ApiEndpoint,
  path: string,
  options: CallOptions = {},
): Promise<string> {
  return String(await answerOf(endpoint, { ...file, path, answer: 'text' }, {}, options));
}

/**
 * Performs an operation, at the moment of the endpoint. Errors: ApiError, without a request if the operation cannot be
 * performed in the past; AbortError if `signal` aborted.
 */
export async function call<Name extends OperationName>(
  endpoint: ApiEndpoint,
  name: Name,
  request: OperationRequest<Name>,
  options: CallOptions = {},
): Promise<OperationOutput<Name>> {
  const parts = requestAt(endpoint.moment ?? null, name, request as Parts);
  return (await answerOf(endpoint, operations[name], parts, options)) as OperationOutput<Name>;
}

/** Performs an operation and yields its answer in pieces, as it arrives. Errors as those of `call`. */
export async function* callInPieces<Name extends OperationName>(
  endpoint: ApiEndpoint,
  name: Name,
  request: OperationRequest<Name>,
  options: CallOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const parts = requestAt(endpoint.moment ?? null, name, request as Parts);
  const requestId = options.requestId ?? newRequestId();
  try {
    yield* bytesOf(asWorkbench(endpoint), operations[name], parts, { ...options, requestId });
  } catch (error) {
    throw apiErrorOf(error);
  }
}
