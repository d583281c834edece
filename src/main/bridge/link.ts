/**
 * One connection to one running service: a session of the revisions that have them, and requests of the stateless one
 * beside it, by the official transport.
 *
 * A link is lost once and for all: when the service does not answer at its address any more, or does not know the
 * session. Whoever holds it makes another one. It decides what became of a message (`failures.ts`), never whether to
 * send it again.
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
import { Broken, Cancelled, failureOf, NotTaken } from './failures.ts';
import { createFetch, type HttpFetch } from './http-fetch.ts';

export interface LinkParts {
  /** Of the service, without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Requests and notifications of the service. */
  onMessage(message: JSONRPCMessage): void;
  /** The stream of notifications was gone for a moment: what changed meanwhile was not told. */
  onGap(): void;
  /** An id that no client has. */
  nextId(): string;
}

interface Waiting {
  resolve(response: JSONRPCResponse): void;
  reject(error: Error): void;
}

/** Before a stream of notifications is opened again. */
const reopenMs = 250;
/** How long a lost service is waited for when it is only told goodbye. */
const goodbyeMs = 1000;
const checkMs = 3000;

export class Link {
  readonly #parts: LinkParts;
  readonly #http: HttpFetch;
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #stateless: StreamableHTTPClientTransport;
  #session: StreamableHTTPClientTransport | null = null;
  #reopening: NodeJS.Timeout | null = null;
  #checking: Promise<boolean> | null = null;
  #announceLoss: () => void = () => {};
  /** Resolves when it is lost. */
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

  /** Opens a session, in place of the one that there may be. Rejects as `request` does. */
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

  /** Sends what wants no answer. Rejects as `request` does. */
  async notify(message: JSONRPCMessage): Promise<void> {
    if (this.isLost) throw new NotTaken('the connection is lost');
    try {
      await (await this.#sessionOrNew()).send(message);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Whether the service still answers here and knows the session; where not, the link is lost. */
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
    // They have no one to tell, and abort what is still under way.
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
      // What is to be done when a stream ends is decided here.
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

  /** A message of the stateless revision says so itself. */
  async #transportFor({ params }: JSONRPCRequest): Promise<StreamableHTTPClientTransport> {
    if (!isStateless(params)) return this.#sessionOrNew();
    await startOnce(this.#stateless);
    return this.#stateless;
  }

  /** Where the client never opened a session, the service says so. */
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
          .catch((error: unknown) => reject(signal.aborted ? new Cancelled() : failureOf(error)));
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
      // Whatever the reason, what was here is not here any more.
      this.lose();
      return false;
    }
  }

  /** The stream of notifications ended, which a service that is there does not do by itself. */
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

/** True for the parameters of a message that names its revision by itself. */
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
  // A service that has gone needs no goodbye.
  const told = session.terminateSession().catch(() => {});
  await Promise.race([told, late]);
  clearTimeout(timer);
  await session.close();
}
