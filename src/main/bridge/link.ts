/**
 * One connection to one running service, by the official transport: a session for revisions that have sessions, and
 * stateless requests beside it.
 *
 * A link is lost for good when the service no longer answers at its address or does not know the session; its owner
 * then creates another one. A link classifies failures (`failures.ts`) but never resends.
 */
import {
  type InitializeResult,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Broken, Cancelled, sendFailureOf, NotTaken } from './failures.ts';
import { createFetch, type HttpFetch } from './http-fetch.ts';

export interface LinkParts {
  /** Address of the service without a trailing slash. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Takes requests and notifications of the service. */
  onMessage(message: JSONRPCMessage): void;
  /** The stream of notifications was interrupted: changes in the meantime were not reported. */
  onGap(): void;
  /** Returns an id that no client uses. */
  nextId(): string;
}

interface Waiting {
  resolve(response: JSONRPCResponse): void;
  reject(error: Error): void;
}

/** Milliseconds before a stream of notifications is opened again. */
const reopenMs = 250;
/** Milliseconds to wait for the service when ending a session. */
const goodbyeMs = 1000;
const checkMs = 3000;

/** One connection to one running service. */
export class Link {
  readonly #parts: LinkParts;
  readonly #http: HttpFetch;
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #stateless: StreamableHTTPClientTransport;
  #session: StreamableHTTPClientTransport | null = null;
  #reopening: NodeJS.Timeout | null = null;
  #checking: Promise<boolean> | null = null;
  #announceLoss: () => void = () => {};
  /** Resolves when the link is lost. */
  readonly lost = new Promise<void>((resolve) => (this.#announceLoss = resolve));
  isLost = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#http = createFetch(() => this.#streamClosed());
    this.#stateless = this.#transport();
  }

  get url(): string {
    return this.#parts.url;
  }

  /** Opens a session, replacing the current one. Rejects as `request` does. */
  async open(initialize: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse> {
    const before = this.#session;
    const session = this.#transport();
    this.#session = session;
    await startOnce(session);
    if (before !== null) await goodbye(before);
    const response = await this.#exchange(session, initialize, signal);
    if ('result' in response)
      session.setProtocolVersion((response.result as InitializeResult).protocolVersion);
    return response;
  }

  /**
   * Sends a request and resolves with its answer. Rejects with NotTaken, Broken, Refused, or Cancelled when the signal
   * aborts, which ends the request at the service too.
   */
  async request(message: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse> {
    return this.#exchange(await this.#transportFor(message), message, signal);
  }

  /** Sends a message without an answer. Rejects as `request` does. */
  async notify(message: JSONRPCMessage): Promise<void> {
    if (this.isLost) throw new NotTaken('the connection is lost');
    try {
      await (await this.#sessionOrNew()).send(message);
    } catch (error) {
      throw sendFailureOf(error);
    }
  }

  /** Whether the service still answers here and knows the session; if not, the link is lost. */
  check(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    if (this.#reopening !== null) clearTimeout(this.#reopening);
    for (const { reject } of this.#waiting.values()) reject(new Broken('the connection to Corollary broke'));
    this.#waiting.clear();
    this.#announceLoss();
    // They notify nobody, and abort whatever is running.
    void this.#session?.close();
    void this.#stateless.close();
    this.#http.close();
  }

  /** Ends the session at the service, then the link. */
  async close(): Promise<void> {
    if (!this.isLost && this.#session !== null) await goodbye(this.#session);
    this.lose();
  }

  #transport(): StreamableHTTPClientTransport {
    const { url, headers } = this.#parts;
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      fetch: this.#http.fetch,
      requestInit: { headers },
      // The link itself decides what to do when a stream ends.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
    });
    transport.onmessage = (message) => this.#received(message);
    return transport;
  }

  /** A message of the stateless revision names its revision. */
  async #transportFor({ params }: JSONRPCRequest): Promise<StreamableHTTPClientTransport> {
    if (!isStateless(params)) return this.#sessionOrNew();
    await startOnce(this.#stateless);
    return this.#stateless;
  }

  /** If the client never opened a session, the service says so. */
  async #sessionOrNew(): Promise<StreamableHTTPClientTransport> {
    this.#session ??= this.#transport();
    await startOnce(this.#session);
    return this.#session;
  }

  async #exchange(
    transport: StreamableHTTPClientTransport,
    message: JSONRPCRequest,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    if (this.isLost) throw new NotTaken('the connection is lost');
    const { id } = message;
    let onAbort: (() => void) | null = null;
    try {
      return await new Promise<JSONRPCResponse>((resolve, reject) => {
        onAbort = () => reject(new Cancelled('cancelled by the client'));
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        this.#waiting.set(id, { resolve, reject });
        transport
          .send(message, {
            requestSignal: signal,
            onRequestStreamEnd: () => reject(new Broken('the answer broke off')),
          })
          .catch((error: unknown) => reject(signal.aborted ? new Cancelled() : sendFailureOf(error)));
      });
    } finally {
      this.#waiting.delete(id);
      if (onAbort !== null) signal.removeEventListener('abort', onAbort);
    }
  }

  #received(message: JSONRPCMessage): void {
    if (!isJSONRPCResponse(message)) {
      if (!this.isLost) this.#parts.onMessage(message);
      return;
    }
    const { id } = message;
    if (id !== undefined && id !== null) this.#waiting.get(id)?.resolve(message);
  }

  async #check(): Promise<boolean> {
    const { url, nextId } = this.#parts;
    const signal = AbortSignal.timeout(checkMs);
    try {
      if (this.#session?.sessionId === undefined) await this.#http.fetch(`${url}/health`, { signal });
      else await this.request({ jsonrpc: '2.0', id: nextId(), method: 'ping' }, signal);
      return !this.isLost;
    } catch {
      // Whatever the reason, the link is no longer usable.
      this.lose();
      return false;
    }
  }

  /** The stream of notifications has ended; a running service does not end it. */
  #streamClosed(): void {
    const session = this.#session;
    if (this.isLost || session === null || this.#reopening !== null) return;
    this.#reopening = setTimeout(() => {
      this.#reopening = null;
      if (this.isLost || session !== this.#session) return;
      session.resumeStream('').then(
        () => this.#parts.onGap(),
        () => this.lose(),
      );
    }, reopenMs);
  }
}

/** True for the parameters of a message that names its own revision. */
export function isStateless(params: JSONRPCRequest['params'] | JSONRPCNotification['params']): boolean {
  return typeof params?._meta?.[PROTOCOL_VERSION_META_KEY] === 'string';
}

const started = new WeakSet<StreamableHTTPClientTransport>();

async function startOnce(transport: StreamableHTTPClientTransport): Promise<void> {
  if (started.has(transport)) return;
  started.add(transport);
  await transport.start();
}

async function goodbye(session: StreamableHTTPClientTransport): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, goodbyeMs);
  });
  // There is no need to wait for a service that is gone.
  const told = session.terminateSession().catch(() => {});
  await Promise.race([told, late]);
  clearTimeout(timer);
  await session.close();
}
