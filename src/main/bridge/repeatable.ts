/**
 * Whether a request that may have been carried out can be made again: it only reads, or making it twice is the same as
 * once. Of tools the service says so itself, by their annotations.
 */
import type { JSONRPCRequest, ListToolsResult, ToolAnnotations } from '@modelcontextprotocol/client';
import { isStateless, type Link } from './link.ts';

/** Methods that change nothing, or only what the client is told. */
const harmless: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
]);

/** Asks the service for its tools where that matters. Rejects as `Link.request` does. */
export async function isRepeatable(
  message: JSONRPCRequest,
  link: Link,
  nextId: () => string,
  signal: AbortSignal,
): Promise<boolean> {
  if (message.method !== 'tools/call') return harmless.has(message.method);
  const given = message.params?.['arguments'];
  const args = typeof given === 'object' && given !== null ? given : {};
  if ('dryRun' in args && args.dryRun === true) return true;
  // It was written for the state before it, so the second time it would be refused.
  if ('ifGeneration' in args && args.ifGeneration !== null) return false;
  const annotations = await annotationsOf(message, link, nextId, signal);
  return annotations.readOnlyHint === true || annotations.idempotentHint === true;
}

async function annotationsOf(
  call: JSONRPCRequest,
  link: Link,
  nextId: () => string,
  signal: AbortSignal,
): Promise<ToolAnnotations> {
  const { progressToken: _token, ...meta } = call.params?._meta ?? {};
  const envelope = isStateless(call.params) ? { _meta: meta } : {};
  let cursor: string | undefined;
  do {
    const params = { ...envelope, ...(cursor === undefined ? {} : { cursor }) };
    const response = await link.request(
      { jsonrpc: '2.0', id: nextId(), method: 'tools/list', params },
      signal,
    );
    if ('error' in response) return {};
    const { tools, nextCursor } = response.result as unknown as ListToolsResult;
    const tool = tools.find(({ name }) => name === call.params?.['name']);
    if (tool !== undefined) return tool.annotations ?? {};
    cursor = nextCursor;
  } while (cursor !== undefined);
  return {};
}
