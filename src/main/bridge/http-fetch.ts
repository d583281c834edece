/**
 * `fetch` for the transport to the service, over Node's own HTTP client.
 *
 * Unlike the built-in one it has no timeout for slow answers or quiet streams. It also tells a request that cannot have
 * been received (`NotSent`) from one without an answer: the former may always be sent again.
 */
import { Agent as PlainAgent, type IncomingMessage, request as requestPlainly } from 'node:http';
import { Agent as SecureAgent, request as requestSecurely } from 'node:https';
import { Readable } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';

/** No connection was established, so the request was not received. */
export class NotSent extends Error {}

export interface HttpFetch {
  readonly fetch: FetchLike;
  /** Closes the idle connections. */
  close(): void;
}

/** Requests beyond this number wait for a connection. */
const maxConnections = 256;

/**
 * Creates a fetch with its own connections. Calls `onStreamClosed` when a stream requested by GET has ended or could
 * not be opened, for whatever reason.
 */
export function createFetch(onStreamClosed: () => void = () => {}): HttpFetch {
  const settings = { keepAlive: true, maxSockets: maxConnections };
  const agents = { plain: new PlainAgent(settings), secure: new SecureAgent(settings) };
  return {
    fetch: (input, init = {}) => exchange(new URL(input), init, agents, onStreamClosed),
    close: () => {
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
}

interface Agents {
  readonly plain: PlainAgent;
  readonly secure: SecureAgent;
}

function exchange(
  url: URL,
  init: RequestInit,
  agents: Agents,
  onStreamClosed: () => void,
): Promise<Response> {
  const isSecure = url.protocol === 'https:';
  const { method = 'GET', signal, body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  const isStream = method === 'GET' && headers['accept']?.includes('text/event-stream') === true;
  const bytes = typeof body === 'string' ? Buffer.from(body) : null;
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: bytes === null ? headers : { ...headers, 'content-length': String(bytes.length) },
      agent: isSecure ? agents.secure : agents.plain,
      ...(signal ? { signal } : {}),
    };
    let isReached = false;
    const sent = (isSecure ? requestSecurely : requestPlainly)(url, options, (answer) => {
      if (isStream) answer.once('close', onStreamClosed);
      resolve(responseOf(answer));
    });
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', () => (isReached = true));
      else isReached = true;
    });
    sent.on('error', (error) => {
      if (isStream) onStreamClosed();
      const isOurs = isReached || signal?.aborted === true;
      reject(isOurs ? error : new NotSent(reasonOf(error), { cause: error }));
    });
    sent.end(bytes ?? undefined);
  });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode = 500 } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  if (statusCode === 204 || statusCode === 205 || statusCode === 304) {
    answer.resume();
    return new Response(null, { status: statusCode, headers });
  }
  // The two declarations of a web stream, Node's and the browser's, describe the same type.
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status: statusCode, headers });
}

function reasonOf(error: Error): string {
  return error.message || String(Reflect.get(error, 'code'));
}
