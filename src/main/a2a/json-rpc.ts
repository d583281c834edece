/**
 * JSON-RPC at `/a2a`: which revision of A2A a request speaks, and its answer by the SDK's handler of that revision.
 *
 * The header A2A-Version names the revision. Without it the method does: their names differ, so a client of either is
 * answered, also one of 1.0 that forgot the header. The envelope is checked here, since the SDK's handlers call a
 * malformed one malformed parameters, and of the parameters they are given what is read (`params.ts`).
 */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { internalDetail } from './carry-out.ts';
import { maxItems } from './lines.ts';

/** The methods of each revision, those included that are refused with an error of their own. */
const methods = {
  '0.3': new Set([
    'message/send',
    'message/stream',
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'tasks/pushNotificationConfig/set',
    'tasks/pushNotificationConfig/get',
    'tasks/pushNotificationConfig/list',
    'tasks/pushNotificationConfig/delete',
    'agent/getAuthenticatedExtendedCard',
  ]),
  '1.0': new Set([
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ]),
} as const satisfies Record<string, ReadonlySet<string>>;

type Revision = keyof typeof methods;

type RpcId = string | number | null;

interface RpcResponse {
  readonly jsonrpc: string;
  readonly id: RpcId;
  readonly result?: unknown;
  readonly error?: unknown;
}

const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
};

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
  if (!(methods[revision] as ReadonlySet<string>).has(method))
    return errorResponse(id, codes.methodNotFound, `A2A ${revision} has no such method`);
  const read = readParams(request.params, revision === '0.3' ? 'user' : 'ROLE_USER');
  if ('wrong' in read) return errorResponse(id, codes.invalidParams, read.wrong);
  const Handler = revision === '0.3' ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler;
  const context = new ServerCallContext({ requestedVersion: revision });
  const response = await new Handler(agent).handle({ jsonrpc: '2.0', id, method, ...read }, context);
  if (Symbol.asyncIterator in response) throw new Error('an agent without streams has begun one');
  return withoutInside(response);
}

interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

/** The request in a body, or what is wrong with it. */
function requestOf(body: unknown): RpcRequest | string {
  if (Array.isArray(body)) return 'A2A has no batches: send one request';
  if (typeof body !== 'object' || body === null) return 'a JSON-RPC request is an object';
  const whole = body as Record<string, unknown>;
  if (whole['jsonrpc'] !== '2.0') return 'jsonrpc must be "2.0"';
  const { id = null, method, params } = whole;
  if (!isId(id)) return 'id must be a string, an integer or null';
  if (typeof method !== 'string' || method === '') return 'method must be a text';
  return { id, method, params };
}

/** The id to answer with; null where there is none that can be read. */
function idOf(body: unknown): RpcId {
  const id = typeof body === 'object' && body !== null ? (body as { readonly id?: unknown }).id : null;
  return isId(id) ? id : null;
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id));
}

function revisionOf(method: string): Revision {
  return (methods['0.3'] as ReadonlySet<string>).has(method) ? '0.3' : '1.0';
}

/** A patch version makes no difference between two who speak. */
function namedRevision(version: string): Revision | null {
  return (/^(0\.3|1\.0)(?:\.\d+)?$/.exec(version)?.[1] as Revision | undefined) ?? null;
}

/**
 * The agent has one internal error, in words of ours. Any other says that parameters were not of the shape that the SDK
 * reads, in words of its inside.
 */
function withoutInside(response: RpcResponse): RpcResponse {
  const { code, message } = (response.error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (code !== codes.internalError || message === internalDetail) return response;
  return errorResponse(
    response.id,
    codes.invalidParams,
    'the parameters are not of the shape that the method takes',
  );
}

function errorResponse(id: RpcId, code: number, message: string): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * What of a request's parameters the agent reads, taken out before the SDK sees them.
 *
 * Where a field ought to be a text the SDK makes one of whatever it finds; it copies metadata that nobody reads, however long;
 * and in some words of warning about what it does not know, it repeats what a client sent on the process's own output.
 * Names and shapes are those of either revision, and what is wrong beyond them is for the SDK and the agent to say.
 */

type Fields = Readonly<Record<string, unknown>>;

/** The parameters to hand on, or what is wrong with them. `userRole`: what the revision calls the user. */
function readParams(
  params: unknown,
  userRole: 'user' | 'ROLE_USER',
): { readonly params: unknown } | { readonly wrong: string } {
  if (!isFields(params)) return { params };
  const { message, configuration } = params;
  const wrong = isFields(message) ? wrongIn(message) : null;
  if (wrong !== null) return { wrong };
  return {
    params: {
      ...only(params, ['id', 'taskId', 'tenant', 'pageSize']),
      ...(message === undefined
        ? {}
        : { message: isFields(message) ? messageOf(message, userRole) : message }),
      ...(isFields(configuration) ? { configuration: onlyWhether(configuration) } : {}),
      ...onlyWhether(params),
    },
  };
}

function wrongIn(message: Fields): string | null {
  for (const name of ['messageId', 'contextId', 'taskId'])
    if (!isText(message[name])) return `message.${name} must be a text`;
  const { parts } = message;
  if (!Array.isArray(parts)) return null;
  if (parts.length > maxItems) return `message.parts has at most ${maxItems} parts`;
  const index = parts.findIndex((part: unknown) => isFields(part) && !isText(part['text']));
  return index < 0 ? null : `message.parts.${index}.text must be a text`;
}

function messageOf(message: Fields, userRole: string): Fields {
  const { parts, role } = message;
  return {
    ...only(message, ['messageId', 'contextId', 'taskId']),
    // Who knows the other revision better still means the user.
    role: role === 'user' || role === 'ROLE_USER' ? userRole : role,
    parts: Array.isArray(parts)
      ? parts.map((part: unknown) => (isFields(part) ? contentOf(part) : part))
      : parts,
  };
}

/** The part without its metadata. */
function contentOf(part: Fields): Fields {
  return only(part, ['kind', 'text', 'raw', 'url', 'data', 'file']);
}

/** Of a wish for notifications, that there is one. */
function onlyWhether(fields: Fields): Fields {
  const wishes = ['pushNotificationConfig', 'taskPushNotificationConfig'].filter((name) =>
    isFields(fields[name]),
  );
  return Object.fromEntries(wishes.map((name) => [name, {}]));
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
