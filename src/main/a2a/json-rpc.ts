/**
 * JSON-RPC at `/a2a`: finds the revision of A2A that a request uses, and answers with the SDK's handler of that
 * revision.
 *
 * The header A2A-Version names the revision. Without it the method name decides, since the names differ: clients of
 * both revisions get an answer, even a 1.0 client that omits the header. The envelope is checked here because the SDK's
 * handlers report a malformed one as malformed parameters. `readParams` passes on only the parameters that are read.
 */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { internalDetail } from './carry-out.ts';
import { maxItems } from './lines.ts';

/** The methods of each revision, including those that are refused with their own error. */
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

/** The answer to a body. `version` is the header's value, null if it is missing. `agent` throws only A2A errors. */
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

/** The request in a body, or a text that says what is wrong with it. */
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

/** The id to answer with; null if none can be read. */
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

/** Patch versions are compatible, so they are ignored. */
function namedRevision(version: string): Revision | null {
  return (/^(0\.3|1\.0)(?:\.\d+)?$/.exec(version)?.[1] as Revision | undefined) ?? null;
}

/**
 * The agent has one internal error, with a fixed text. Any other internal error means that the parameters did not have
 * the shape that the SDK reads; its text comes from the SDK's internals and is replaced.
 */
function withoutInside(response: RpcResponse): RpcResponse {
  const { code, message } = (response.error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (code !== codes.internalError || message === internalDetail) return response;
  return errorResponse(response.id, codes.invalidParams, 'the parameters do not fit the method');
}

function errorResponse(id: RpcId, code: number, message: string): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the parameters to hand on, or a text that says what is wrong with them. `userRole` is the revision's name for
 * the user.
 *
 * The SDK never sees the other fields. It would turn any value into a text where it expects one, copy unused metadata
 * of any length, and repeat what a client sent in warnings on the process's own output. Names and shapes are those of
 * either revision; the SDK and the agent report what else is wrong.
 */
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
  if (parts.length > maxItems) return `message.parts may have at most ${maxItems} parts`;
  const index = parts.findIndex((part: unknown) => isFields(part) && !isText(part['text']));
  return index < 0 ? null : `message.parts.${index}.text must be a text`;
}

function messageOf(message: Fields, userRole: string): Fields {
  const { parts, role } = message;
  return {
    ...only(message, ['messageId', 'contextId', 'taskId']),
    // A client that uses the other revision's word still means the user.
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

/** Keeps only the fact that notifications are wanted. */
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
