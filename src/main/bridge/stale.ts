/** What to tell a client after the service was away: that what it has read may have changed. Pure. */
import {
  type InitializeResult,
  type JSONRPCNotification,
  type JSONRPCResponse,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/client';

const lists = ['tools', 'prompts', 'resources'] as const;

/** In a session: notifications for the lists that the server has, then for the subscribed documents. */
export function listChanged(
  { capabilities }: InitializeResult,
  subscriptions: ReadonlySet<string>,
): JSONRPCNotification[] {
  const changed = lists.filter((list) => capabilities[list] !== undefined);
  return [
    ...changed.map((list) => notification(`notifications/${list}/list_changed`)),
    ...[...subscriptions].map((uri) => notification('notifications/resources/updated', { uri })),
  ];
}

/** The answer to `initialize`, with the capabilities for the notifications above. */
export function withListChanged(response: JSONRPCResponse): JSONRPCResponse {
  if (!('result' in response)) return response;
  const result = response.result as unknown as InitializeResult;
  const capabilities: Record<string, unknown> = { ...result.capabilities };
  for (const list of lists)
    if (result.capabilities[list] !== undefined)
      capabilities[list] = { ...result.capabilities[list], listChanged: true };
  return { ...response, result: { ...result, capabilities } };
}

/** Without a session: the notifications of a stream that was acknowledged again, according to its acknowledgement. */
export function changesSince({ params }: JSONRPCNotification): JSONRPCNotification[] {
  const id = params?._meta?.[SUBSCRIPTION_ID_META_KEY];
  const granted = params?.['notifications'];
  if (typeof granted !== 'object' || granted === null) return [];
  const {
    toolsListChanged: tools,
    promptsListChanged: prompts,
    resourcesListChanged: resources,
    resourceSubscriptions: uris,
  } = granted as Record<string, unknown>;
  const _meta = { [SUBSCRIPTION_ID_META_KEY]: id };
  const wanted = { tools, prompts, resources };
  return [
    ...lists
      .filter((list) => wanted[list] === true)
      .map((list) => notification(`notifications/${list}/list_changed`, { _meta })),
    ...(Array.isArray(uris) ? uris : []).map((uri: unknown) =>
      notification('notifications/resources/updated', { uri, _meta }),
    ),
  ];
}

function notification(method: string, params?: Record<string, unknown>): JSONRPCNotification {
  return { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) };
}
