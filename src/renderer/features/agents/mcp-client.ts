/**
 * An MCP client for the browser, based on the official SDK: it does the handshake of the configured programs,
 * lists the tools and calls them. Loaded on first use.
 *
 * Each connection serves one purpose and ends with it, which leaves no session behind and makes a restarted
 * service no problem. Errors are ApiErrors, with the detail and request id of the service's refusal if there
 * is one; an abort is an AbortError.
 */
import {
  type CallToolResult,
  Client,
  type FetchLike,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { workbenchClientName } from '../../../engine/contract/agents.ts';
import { newRequestId } from '../../api/client.ts';
import { ApiError, errorOfAnswer, errorOfSilence } from '../../api/problem.ts';

/** The server's URL and the headers to send, unchanged. */
export interface McpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The outcome of a handshake. */
export interface Handshake {
  /** `corollary 0.1.0`. */
  readonly server: string;
  readonly revision: string;
  readonly tools: number;
  readonly elapsedMs: number;
}

/** The protocol revision without sessions. */
const statelessRevision = '2026-07-28';
/** Longer than any tool may take; users cancel earlier. */
const callTimeoutMs = 660_000;

/** Opens a session as programs do (`initialize`), lists the tools, and ends the session. */
export function shakeHands(target: McpTarget, signal: AbortSignal): Promise<Handshake> {
  const began = performance.now();
  return connected(target, 'legacy', signal, async (client) => {
    const { tools } = await client.listTools(undefined, { signal });
    const elapsedMs = performance.now() - began;
    const { name = '', version = '' } = client.getServerVersion() ?? {};
    const revision = client.getNegotiatedProtocolVersion() ?? '';
    return { server: `${name} ${version}`.trim(), revision, tools: tools.length, elapsedMs };
  });
}

/** The tools of the server. */
export function listMcpTools(target: McpTarget, signal: AbortSignal): Promise<Tool[]> {
  return connected(target, { pin: statelessRevision }, signal, async (client) => {
    const { tools } = await client.listTools(undefined, { signal });
    return tools;
  });
}

/** The result of a tool call, with its duration. */
export interface FinishedToolCall {
  readonly result: CallToolResult;
  readonly elapsedMs: number;
}

/** Calls a tool. A tool error is a result, not an exception. */
export function callMcpTool(
  target: McpTarget,
  name: string,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<FinishedToolCall> {
  return connected(target, { pin: statelessRevision }, signal, async (client) => {
    const began = performance.now();
    const result = await client.callTool(
      { name, arguments: { ...given } },
      { signal, timeout: callTimeoutMs },
    );
    return { result, elapsedMs: performance.now() - began };
  });
}

type Negotiation = 'legacy' | { pin: string };

async function connected<Result>(
  { url, headers }: McpTarget,
  mode: Negotiation,
  signal: AbortSignal,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const watch = watchedFetch();
  const client = new Client({ name: workbenchClientName, version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: watch.fetch,
    requestInit: { headers: { ...headers }, cache: 'no-store' },
    // Streams are not resumed: each serves one purpose.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  try {
    await client.connect(transport, { signal });
    return await work(client);
  } catch (error) {
    if (signal.aborted) throw new DOMException('given up', 'AbortError');
    throw watch.refusal() ?? errorOfProtocol(error);
  } finally {
    // Not awaited: nothing depends on it.
    void leave(client, transport);
  }
}

async function leave(client: Client, transport: StreamableHTTPClientTransport): Promise<void> {
  try {
    await transport.terminateSession();
  } catch {
    // The service is unreachable or no longer accepts the key; it ends the session itself.
  }
  await client.close();
}

/** A fetch that remembers the last refusal in the service's own words, which the SDK does not pass on. */
function watchedFetch(): { readonly fetch: FetchLike; readonly refusal: () => ApiError | null } {
  let refusal: ApiError | null = null;
  async function watched(url: string | URL, init?: RequestInit): Promise<Response> {
    const requestId = newRequestId();
    const headers = new Headers(init?.headers);
    headers.set('X-Request-ID', requestId);
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers });
    } catch (cause) {
      refusal = errorOfSilence(cause, requestId);
      throw cause;
    }
    if (response.headers.get('Content-Type')?.startsWith('application/problem+json') !== true)
      return response;
    const text = await response.text();
    const retryAfter = response.headers.get('Retry-After');
    refusal = errorOfAnswer(response.status, problemIn(text), requestId, retryAfter);
    return new Response(text, { status: response.status, headers: response.headers });
  }
  return { fetch: watched, refusal: () => refusal };
}

function problemIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON, so not a problem document: only the status is reported.
    return null;
  }
}

function errorOfProtocol(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(
    {
      code: 'Unreadable',
      status: null,
      title: 'The MCP exchange failed',
      detail: cause instanceof Error ? cause.message : String(cause),
      requestId: '',
      errors: [],
    },
    cause,
  );
}
