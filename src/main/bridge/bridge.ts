/**
 * The bridge: passes messages from the client to the service and from the service to the client, one by one.
 *
 * It outlives the service. While the service is away, calls wait for it, up to a limit. When it is back, the bridge
 * opens a new session with the client's own `initialize`, renews the subscriptions, and tells the client that what it
 * knows may be stale. It resends a call that was in flight if that does no harm: the service never received it, it only
 * reads, or it is idempotent. If the outcome is unknown, the bridge tells the client so. It answers every request
 * exactly once, except those that the client cancels. Finding and starting the service is left to `keep-connected.ts`.
 */
import {
  type InitializeResult,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type ListToolsResult,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type ToolAnnotations,
} from '@modelcontextprotocol/client';
import { Broken, Cancelled, codes, NotTaken, RefusedRequest } from './failures.ts';
import type { Connection } from './keep-connected.ts';
import { isStateless, type Link } from './link.ts';
import { changesSince, listChanged, withListChanged } from './stale.ts';

interface BridgeParts {
  readonly connection: Connection;
  /** Milliseconds that a call waits for an absent service. */
  readonly waitMs: number;
  readonly now: () => number;
  /** Sends to the client. */
  send(message: JSONRPCMessage): void;
  say(line: string): void;
  nextId(): string;
}

/** A request of the client without an answer so far. */
interface Pending {
  readonly message: JSONRPCRequest;
  readonly bytes: number;
  readonly cancelling: AbortController;
  /** The service may have carried it out. */
  isDoubtful: boolean;
  /** For a request to be notified of changes: the client has received its acknowledgement. */
  isAcknowledged: boolean;
}

const maxPending = 1000;
const maxPendingBytes = 128 * 1024 * 1024;
/** How often a call is sent if the connection breaks each time. */
const maxTries = 3;
const listen = 'subscriptions/listen';
/** Milliseconds before a stream of changes that the service ended is requested again. */
const relistenMs = 500;

/** Connects one client to the service, across restarts of the service. */
export class Bridge {
  readonly #parts: BridgeParts;
  readonly #pending = new Map<RequestId, Pending>();
  #pendingBytes = 0;
  /** The `initialize` request that the service accepted, and its result. */
  #opened: { readonly request: JSONRPCRequest; readonly result: InitializeResult } | null = null;
  #isInitialized = false;
  readonly #subscriptions = new Set<string>();
  #logLevel: JSONRPCRequest | null = null;
  /** Serializes messages of the session until the session is open. */
  #opening: Promise<void> = Promise.resolve();
  #idle: (() => void) | null = null;

  constructor(parts: BridgeParts) {
    this.#parts = parts;
  }

  /** Takes a message of the client; `bytes` is its length. */
  take(message: JSONRPCMessage, bytes: number): void {
    if (isJSONRPCRequest(message)) this.#takeRequest(message, bytes);
    else if (isJSONRPCResponse(message)) void this.#passOn(message);
    else if (message.method === 'notifications/cancelled') this.#cancel(message);
    else this.#takeNotification(message);
  }

  /** Takes a request or a notification from the service. */
  tell(message: JSONRPCMessage): void {
    if (!isJSONRPCRequest(message) && !isJSONRPCResponse(message)) {
      const renewed = this.#renewed(message);
      if (renewed !== null) {
        for (const change of renewed) this.#parts.send(change);
        return;
      }
    }
    this.#parts.send(message);
  }

  /** Tells the client that everything it knows may be stale. */
  tellStale(): void {
    if (this.#opened === null || !this.#isInitialized) return;
    for (const change of listChanged(this.#opened.result, this.#subscriptions)) this.#parts.send(change);
  }

  /**
   * Restores on a new link what the client had on the last one. Rejects with Refused if the service does not admit it,
   * and with NotTaken or Broken.
   */
  async resume(link: Link, signal: AbortSignal): Promise<void> {
    if (this.#opened === null) return;
    const { request, result } = this.#opened;
    const { nextId, say } = this.#parts;
    const answer = await link.open({ ...request, id: nextId() }, signal);
    const { protocolVersion } = resultOf<InitializeResult>(answer);
    if (protocolVersion !== result.protocolVersion)
      throw new RefusedRequest({
        code: codes.refused,
        message: `Corollary now speaks revision ${protocolVersion} of MCP instead of ${result.protocolVersion}: reconnect`,
      });
    if (this.#isInitialized) await link.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const again: JSONRPCRequest[] = [...this.#subscriptions].map((uri) => ({
      jsonrpc: '2.0',
      id: nextId(),
      method: 'resources/subscribe',
      params: { uri },
    }));
    if (this.#logLevel !== null) again.push({ ...this.#logLevel, id: nextId() });
    for (const message of again) {
      const response = await link.request(message, signal);
      if ('error' in response) say(`${message.method} could not be renewed: ${response.error.message}`);
    }
  }

  /** Resolves when only long-lived calls are pending. */
  async drained(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #isIdle(): boolean {
    return [...this.#pending.values()].every(({ message }) => message.method === listen);
  }

  #takeRequest(message: JSONRPCRequest, bytes: number): void {
    const { id, method } = message;
    if (this.#pending.has(id))
      return this.#refuse(id, codes.invalidRequest, 'a request with this id is already in progress');
    if (this.#pending.size >= maxPending || this.#pendingBytes + bytes > maxPendingBytes)
      return this.#refuse(
        id,
        codes.unavailable,
        `${this.#pending.size} requests wait for their answers: read them first`,
      );
    const cancelling = new AbortController();
    const pending = { message, bytes, cancelling, isDoubtful: false, isAcknowledged: false };
    this.#pending.set(id, pending);
    this.#pendingBytes += bytes;
    const before = isStateless(message.params) ? Promise.resolve() : this.#opening;
    const answered = before.then(() => this.#answer(pending));
    if (method === 'initialize') this.#opening = answered;
  }

  /** Answers a request of the client unless the client cancels it. Never rejects. */
  async #answer(pending: Pending): Promise<void> {
    const { message, bytes, cancelling } = pending;
    const { id } = message;
    let response: JSONRPCResponse | null = null;
    try {
      response = await this.#deliver(pending, cancelling.signal);
      this.#note(message, response);
    } catch (error) {
      if (error instanceof RefusedRequest) response = { jsonrpc: '2.0', id, error: error.error };
      else if (!(error instanceof Cancelled)) {
        this.#parts.say(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        response = {
          jsonrpc: '2.0',
          id,
          error: { code: codes.internal, message: 'corollary-mcp failed internally' },
        };
      }
    }
    this.#pending.delete(id);
    this.#pendingBytes -= bytes;
    if (response !== null) this.#parts.send(this.#shown(message, response));
    if (this.#isIdle()) this.#idle?.();
  }

  async #deliver(pending: Pending, signal: AbortSignal): Promise<JSONRPCResponse> {
    const { connection, waitMs, now, nextId } = this.#parts;
    const { message } = pending;
    let until = now() + waitMs;
    for (let tries = 1; ; ) {
      const link = await connection.link(until, signal);
      try {
        if (pending.isDoubtful && !(await isRepeatable(message, link, nextId, signal)))
          throw unknownOutcome();
        const response = await this.#send(link, message, signal);
        if (message.method !== listen || !('result' in response)) return response;
        await pause(relistenMs, signal);
      } catch (error) {
        if (!(error instanceof NotTaken || error instanceof Broken)) throw error;
        if (error instanceof NotTaken) link.lose();
        else {
          pending.isDoubtful = true;
          until = now() + waitMs;
          await link.check();
          if (tries++ >= maxTries) throw unknownOutcome();
        }
      }
    }
  }

  #send(link: Link, message: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse> {
    return message.method === 'initialize' && !isStateless(message.params)
      ? link.open(message, signal)
      : link.request(message, signal);
  }

  /** Notes what has to be said again to a restarted service. */
  #note(message: JSONRPCRequest, response: JSONRPCResponse): void {
    const { method, params } = message;
    if (!('result' in response) || isStateless(params)) return;
    const uri = params?.['uri'];
    if (method === 'initialize') {
      this.#opened = { request: message, result: resultOf<InitializeResult>(response) };
      this.#subscriptions.clear();
    } else if (method === 'resources/subscribe' && typeof uri === 'string') this.#subscriptions.add(uri);
    else if (method === 'resources/unsubscribe' && typeof uri === 'string') this.#subscriptions.delete(uri);
    else if (method === 'logging/setLevel') this.#logLevel = message;
  }

  /** The bridge itself notifies the client of changed lists, so it adds that capability to the answer. */
  #shown({ method, params }: JSONRPCRequest, response: JSONRPCResponse): JSONRPCResponse {
    return method === 'initialize' && !isStateless(params) ? withListChanged(response) : response;
  }

  #takeNotification(message: JSONRPCNotification): void {
    const isInitialized = message.method === 'notifications/initialized';
    if (isInitialized) this.#isInitialized = true;
    const passed = this.#opening.then(() => this.#passOn(message));
    if (isInitialized) this.#opening = passed;
  }

  /** Passes on a message without an answer. If no service is there, drops it: a new session starts afresh. */
  async #passOn(message: JSONRPCMessage): Promise<void> {
    const link = this.#parts.connection.current;
    if (link === null) return;
    try {
      await link.notify(message);
    } catch (error) {
      this.#parts.say(`a notification was not delivered: ${(error as Error).message}`);
      if (!(error instanceof RefusedRequest)) await link.check();
    }
  }

  /** Cancels the request: with a notification in a session, and by closing its stream. */
  #cancel(message: JSONRPCNotification): void {
    const id = message.params?.['requestId'];
    const pending = typeof id === 'string' || typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined || pending.message.method === 'initialize') return;
    const told = isStateless(pending.message.params) ? Promise.resolve() : this.#passOn(message);
    void told.then(() => pending.cancelling.abort());
  }

  /** What to send instead of an acknowledgement that the client has already received; null: send it as it is. */
  #renewed(message: JSONRPCNotification): JSONRPCNotification[] | null {
    if (message.method !== 'notifications/subscriptions/acknowledged') return null;
    const id = message.params?._meta?.[SUBSCRIPTION_ID_META_KEY];
    const pending = typeof id === 'string' || typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined) return null;
    if (pending.isAcknowledged) return changesSince(message);
    pending.isAcknowledged = true;
    return null;
  }

  #refuse(id: RequestId, code: number, message: string): void {
    this.#parts.send({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

function unknownOutcome(): RefusedRequest {
  return new RefusedRequest({
    code: codes.unknownOutcome,
    message:
      'The connection to Corollary broke during this call, which may or may not have been carried out: check ' +
      'before you repeat it.',
  });
}

/** The result of an answer. Rejects with Refused if it is an error. */
function resultOf<Result>(response: JSONRPCResponse): Result {
  if ('error' in response) throw new RefusedRequest(response.error);
  // It has the shape of the request's method, since the service is ours.
  return response.result as unknown as Result;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(new Cancelled());
      },
      { once: true },
    );
  });
}

/** Methods that change nothing, or only what the client is notified of. */
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

/**
 * Whether a request that may have been carried out can be repeated: it only reads, or it is idempotent. The service's
 * annotations say so for tools, and are fetched if needed. Rejects as `Link.request` does.
 */
async function isRepeatable(
  message: JSONRPCRequest,
  link: Link,
  nextId: () => string,
  signal: AbortSignal,
): Promise<boolean> {
  if (message.method !== 'tools/call') return harmless.has(message.method);
  const given = message.params?.['arguments'];
  const args = typeof given === 'object' && given !== null ? given : {};
  if ('dryRun' in args && args.dryRun === true) return true;
  // The condition refers to the state before the call, so a second call would be refused.
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
