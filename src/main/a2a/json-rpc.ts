/**
 * JSON-RPC at `/a2a`: which revision of A2A a request speaks, and its answer by the SDK's handler of that revision.
 *
 * The header A2A-Version names the revision. Without it the method does: their names differ, so a client of either is
 * answered, also one of 1.0 that forgot the header. The envelope is checked here, since the SDK's handlers call a
 * malformed one malformed parameters.
 */
import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';

type RpcId = string | number | null;

export interface RpcResponse {
  readonly jsonrpc: string;
  readonly id: RpcId;
  readonly result?: unknown;
  readonly error?: unknown;
}

const codes = { parseError: -32700, invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602 };

/** The answer to a body that is not JSON. */
export function parseError(message: string): RpcResponse {
  return errorResponse(null, codes.parseError, message);
}

/** The answer to a body. `version` is that of the header, null where it is missing. `agent` throws errors of A2A alone. */
export async function answerRpc(
  body: unknown,
  version: string | null,
  agent: A2ARequestHandler,
): Promise<RpcResponse> {
  const request = requestOf(body);
  if (typeof request === 'string') return errorResponse(idOf(body), codes.invalidRequest, request);
  const { id, method } = request;
  const revision = version === null ? revisionOf(method) : namedRevision(version);
  if (revision === null) {
    const error = new VersionNotSupportedError('this agent speaks the A2A versions 1.0 and 0.3');
    return { jsonrpc: '2.0', id, error: JsonRpcTransportHandler.mapToJSONRPCError(error) };
  }
  const isKnown = revision === '0.3' ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method);
  if (!isKnown) return errorResponse(id, codes.methodNotFound, `A2A ${revision} has no such method`);
  const Handler = revision === '0.3' ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler;
  const context = new ServerCallContext({ requestedVersion: revision });
  const response = await new Handler(agent).handle(request.whole, context);
  if (Symbol.asyncIterator in response) throw new Error('an agent without streams has begun one');
  return withoutInside(response);
}

interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly whole: Record<string, unknown>;
}

/** The request in a body, or what is wrong with it. */
function requestOf(body: unknown): RpcRequest | string {
  if (Array.isArray(body)) return 'A2A has no batches: send one request';
  if (typeof body !== 'object' || body === null) return 'a JSON-RPC request is an object';
  const whole = body as Record<string, unknown>;
  if (whole['jsonrpc'] !== '2.0') return 'jsonrpc must be "2.0"';
  const { id = null, method } = whole;
  if (!isId(id)) return 'id must be a string, an integer or null';
  if (typeof method !== 'string' || method === '') return 'method must be a text';
  return { id, method, whole };
}

/** The id to answer with; null where there is none that can be read. */
function idOf(body: unknown): RpcId {
  const id = typeof body === 'object' && body !== null ? (body as { readonly id?: unknown }).id : null;
  return isId(id) ? id : null;
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id));
}

type Revision = '0.3' | '1.0';

function revisionOf(method: string): Revision {
  return isLegacyJsonRpcMethod(method) ? '0.3' : '1.0';
}

/** A patch version makes no difference between two who speak. */
function namedRevision(version: string): Revision | null {
  return (/^(0\.3|1\.0)(?:\.\d+)?$/.exec(version)?.[1] as Revision | undefined) ?? null;
}

/**
 * Our agent has no errors without a name. Where there is one, parameters did not have the shape that the SDK reads, and its
 * words are of its inside.
 */
function withoutInside(response: RpcResponse): RpcResponse {
  const { error, id } = response;
  if ((error as { readonly code?: number } | undefined)?.code !== -32603) return response;
  return errorResponse(id, codes.invalidParams, 'the parameters are not of the shape that the method takes');
}

function errorResponse(id: RpcId, code: number, message: string): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
