/**
 * The workbench's calls: those of the client package, with the workbench's words for what goes wrong.
 *
 * A request has the parts that the operations table declares: `params`, `query`, `body`. Every call carries a request id
 * of its own, so that a failure can be found in the service's log and a change in the event stream can be told from one
 * made elsewhere.
 */
import type { Operation } from '../../../client/src/operation.ts';
import { operations } from '../../../client/src/operations.ts';
import {
  addressOf as addressOfOperation,
  type Connection,
  newRequestId as newRequestIdOf,
  type Parts,
  perform,
} from '../../../client/src/request.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { apiErrorOf } from './problem.ts';

export { headersOf } from '../../../client/src/request.ts';

/** Whom to call and as whom. `origin` without a slash at the end; `key` where the service wants one. */
export type ServiceEndpoint = Connection;

export interface CallOptions {
  signal?: AbortSignal;
  requestId?: string;
  /** The transaction that the call is part of. */
  transaction?: string;
  /** The entity tag of what is to be changed: PreconditionFailed where it is another by now. */
  ifMatch?: string;
}

/** A name for one request that no other window uses. */
export function newRequestId(): string {
  return newRequestIdOf('workbench');
}

/** Where an operation is called. Absent and null query parameters are left out. */
export function addressOf<Name extends OperationName>(
  endpoint: ServiceEndpoint,
  name: Name,
  request: Omit<OperationRequest<Name>, 'body'>,
): string {
  return addressOfOperation(endpoint.origin, operations[name], request);
}

async function answerOf(
  endpoint: ServiceEndpoint,
  operation: Operation,
  parts: Parts,
  options: CallOptions,
): Promise<unknown> {
  const requestId = options.requestId ?? newRequestId();
  try {
    return await perform(endpoint, operation, parts, { ...options, requestId });
  } catch (error) {
    throw apiErrorOf(error);
  }
}

const file = { method: 'GET', tenant: false, database: false, role: 'public', kind: 'read' } as const;

/** A file of JSON that the service offers beside its operations. Errors as those of `call`. */
export function fetchJson(path: string, options: CallOptions = {}): Promise<unknown> {
  const endpoint = { origin: '', database: 'default', tenant: 'default', key: null };
  return answerOf(endpoint, { ...file, path }, {}, options);
}

/** Fetches text from the service, for what is no operation of the table. Errors as those of `call`. */
export async function fetchText(
  endpoint: ServiceEndpoint,
  path: string,
  options: CallOptions = {},
): Promise<string> {
  return String(await answerOf(endpoint, { ...file, path, answer: 'text' }, {}, options));
}

/** Performs an operation. Errors: ApiError; AbortError where `signal` ended it. */
export async function call<Name extends OperationName>(
  endpoint: ServiceEndpoint,
  name: Name,
  request: OperationRequest<Name>,
  options: CallOptions = {},
): Promise<OperationOutput<Name>> {
  return (await answerOf(endpoint, operations[name], request as Parts, options)) as OperationOutput<Name>;
}
