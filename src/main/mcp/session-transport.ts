/**
 * The transport of a session over Streamable HTTP: the SDK's, except that plain requests are answered directly on their
 * responses.
 *
 * The SDK converts each request to a web request and its answer to a stream that is read piece by piece, which was most
 * of the cost of a short call. A request is plain if the transport has no reason to refuse it and only its answer is to
 * follow: one message, with the headers that every client sends. All others go the SDK's way, which alone refuses,
 * opens and ends. A client cannot tell the difference: events, headers and keep-alives are the same.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
  type WebStandardStreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/server';
import { assert, invalid } from '../../engine/index.ts';
import { writeResponse } from './connection.ts';

const anywhere = 'http://localhost/';

/** Milliseconds after which the head of an answer is sent alone, so that its client knows that an answer will come. */
const headMs = 100;
/** The SDK's value. */
const keepAliveMs = 15_000;

/** The server's side of one session. */
export class SessionTransport implements Transport {
  readonly #sdk: WebStandardStreamableHTTPServerTransport;
  /** Plain requests without an answer so far, by their client's id. */
  readonly #open = new Map<RequestId, EventAnswer>();
  /** Ids of all requests without an answer so far, with the response of each. */
  readonly #underWay = new Map<RequestId, ServerResponse>();
  #versions: readonly string[] = [];

  constructor(options: WebStandardStreamableHTTPServerTransportOptions) {
    this.#sdk = new WebStandardStreamableHTTPServerTransport(options);
  }

  get sessionId(): string | undefined {
    return this.#sdk.sessionId;
  }

  get onclose(): (() => void) | undefined {
    return this.#sdk.onclose;
  }

  set onclose(listener: (() => void) | undefined) {
    if (listener === undefined) delete this.#sdk.onclose;
    else this.#sdk.onclose = () => this.#closed(listener);
  }

  get onerror(): ((error: Error) => void) | undefined {
    return this.#sdk.onerror;
  }

  set onerror(listener: ((error: Error) => void) | undefined) {
    if (listener === undefined) delete this.#sdk.onerror;
    else this.#sdk.onerror = listener;
  }

  get onmessage(): Transport['onmessage'] {
    return this.#sdk.onmessage;
  }

  set onmessage(listener: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined) {
    if (listener === undefined) delete this.#sdk.onmessage;
    else this.#sdk.onmessage = listener;
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#versions = versions;
    this.#sdk.setSupportedProtocolVersions(versions);
  }

  start(): Promise<void> {
    return this.#sdk.start();
  }

  close(): Promise<void> {
    return this.#sdk.close();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = !('method' in message);
    const id = isAnswer ? message.id : options?.relatedRequestId;
    const answer = id === undefined ? undefined : this.#open.get(id);
    if (isAnswer && id !== undefined) this.#underWay.delete(id);
    if (id === undefined) await this.#sdk.send(message);
    else if (answer === undefined) await this.#sdk.send(message, { relatedRequestId: id });
    else if (isAnswer) {
      this.#open.delete(id);
      answer.end(message);
    } else answer.write(message);
  }

  /** Also called if the client has ended the session. */
  #closed(listener: () => void): void {
    for (const answer of this.#open.values()) answer.end();
    this.#open.clear();
    this.#underWay.clear();
    listener();
  }

  /**
   * Notes the requests in what a client sent, a message or a list of them, as under way until they are answered or
   * `response` is closed.
   * @throws invalid if one has the id of another that is under way: answers are told apart by it alone.
   */
  begin(message: object, response: ServerResponse): void {
    const ids: RequestId[] = [];
    for (const one of [message].flat()) {
      if (!isObject(one) || typeof one['method'] !== 'string') continue;
      const { id } = one;
      if (typeof id !== 'string' && typeof id !== 'number') continue;
      if (this.#underWay.has(id) || ids.includes(id))
        throw invalid(
          'id',
          `a request with the id ${JSON.stringify(id)} is under way in this session: use each id once`,
        );
      ids.push(id);
    }
    for (const id of ids) this.#underWay.set(id, response);
    response.once('close', () => {
      for (const id of ids) if (this.#underWay.get(id) === response) this.#underWay.delete(id);
    });
  }

  /** Answers all other requests, and refuses input that is not a message of the session. */
  async handleRequest(request: IncomingMessage, response: ServerResponse, message?: unknown): Promise<void> {
    // A received request has a method; the SDK does not need its address.
    const { method = 'GET' } = request;
    const asked = new Request(anywhere, { method, headers: headersOf(request) });
    const options = message === undefined ? {} : { parsedBody: message };
    await writeResponse(await this.#sdk.handleRequest(asked, options), response);
  }

  /**
   * Restores a session opened earlier: replays to its server what the client said at the opening, and sends the client
   * nothing. Call it before any of its requests.
   */
  async revive(opening: JSONRPCRequest): Promise<void> {
    const accept = 'application/json, text/event-stream';
    const headers = { accept, 'content-type': 'application/json' };
    const request = new Request(anywhere, { method: 'POST', headers });
    const response = await this.#sdk.handleRequest(request, { parsedBody: opening });
    assert(response.ok, `a session that was opened is opened again: ${response.status}`);
    await response.text();
  }

  /** The message if it is a plain request of this session, for `take`; null: it is for `handleRequest`. */
  usual({ headers }: IncomingMessage, message: object): JSONRPCRequest | null {
    const { accept, 'content-type': type, 'mcp-protocol-version': version } = headers;
    if (this.sessionId === undefined || headers['mcp-session-id'] !== this.sessionId) return null;
    if (type !== 'application/json') return null;
    if (accept?.includes('application/json') !== true || !accept.includes('text/event-stream')) return null;
    if (version !== undefined && !(typeof version === 'string' && this.#versions.includes(version)))
      return null;
    return isPlainRequest(message) ? message : null;
  }

  /** Answers a plain request. Nothing has been written to the response yet. */
  take(request: JSONRPCRequest, response: ServerResponse): void {
    const { id } = request;
    const answer = new EventAnswer(response, this.sessionId ?? '');
    this.#open.set(id, answer);
    response.once('close', () => {
      answer.forget();
      if (this.#open.get(id) === answer) this.#open.delete(id);
    });
    this.onmessage?.(request, {});
  }
}

/** The answer to one request: an event for each message, the last of which ends it. */
class EventAnswer {
  readonly #response: ServerResponse;
  readonly #sessionId: string;
  #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, sessionId: string) {
    this.#response = response;
    this.#sessionId = sessionId;
    this.#timer = setTimeout(() => this.#begin(), headMs).unref();
  }

  write(message: JSONRPCMessage): void {
    this.#begin();
    this.#response.write(eventOf(message));
  }

  /** Without a message if the session ends first. */
  end(last?: JSONRPCMessage): void {
    this.forget();
    const text = last === undefined ? '' : eventOf(last);
    if (!this.#response.headersSent) this.#writeHead({ 'content-length': Buffer.byteLength(text) });
    this.#response.end(text);
  }

  /** Writes nothing more. */
  forget(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    if (this.#response.headersSent) return;
    this.forget();
    this.#writeHead({});
    this.#response.flushHeaders();
    this.#timer = setInterval(() => this.#response.write(': keepalive\n\n'), keepAliveMs).unref();
  }

  #writeHead(length: OutgoingHttpHeaders): void {
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      'mcp-session-id': this.#sessionId,
      ...length,
    });
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const given = new Headers();
  for (const [name, values = []] of Object.entries(headers))
    for (const value of [values].flat()) given.append(name, value);
  return given;
}

function eventOf(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

const requestFields: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const relatedTask = 'io.modelcontextprotocol/related-task';

/** True for a request that the SDK's schema of messages accepts, except `initialize`. May be false for valid ones. */
export function isPlainRequest(message: object): message is JSONRPCRequest {
  for (const field in message) if (!requestFields.has(field)) return false;
  const { jsonrpc, id, method, params } = message as Readonly<Record<string, unknown>>;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || method === 'initialize') return false;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  if (params === undefined) return true;
  if (!isObject(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  if (!isObject(meta) || relatedTask in meta) return false;
  const { progressToken: token } = meta;
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
