/**
 * MCP clients that make tool calls and little else: over Streamable HTTP with a session and without one, over SSE, and
 * over the standard streams of a process.
 *
 * The SDK's own clients check and convert so much that the measurement would be of them, not of the server. A call
 * sends the same bytes; its answer is only checked for its id and for errors.
 */
import type { Readable, Writable } from 'node:stream';
import { type Answer, Connection } from './connection.ts';
import { Lines } from './lines.ts';

export interface ToolCall {
  readonly tool: string;
  /** As JSON. */
  readonly args: string;
}

/** A client with one call in progress at a time. */
export interface Client {
  /** Resolves with the JSON-RPC answer as text. Rejects if it is none, or reports a failed call. */
  call(call: ToolCall): Promise<string>;
  close(): void;
}

const clientInfo = '{"name":"bench","version":"1"}';
const accept = 'application/json, text/event-stream';

export interface Place {
  /** As `http://host:port`. */
  readonly address: string;
  readonly path: string;
}

/** The POST of a message. */
export function post(
  { address, path }: Place,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries({
    host: new URL(address).host,
    'content-type': 'application/json',
    accept,
    'x-tenant-id': 'bench',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

function initialize(protocolVersion: string): string {
  return (
    `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"${protocolVersion}",` +
    `"capabilities":{},"clientInfo":${clientInfo}}}`
  );
}

const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

function callMessage(id: number, { tool, args }: ToolCall, meta = ''): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}","arguments":${args}${meta}}}`;
}

/** The text, if it answers the call and is no error. */
function checked(text: string, id: number): string {
  if (!text.includes(`"id":${id}`) || !text.includes('"result":') || text.includes('"isError":true'))
    throw new Error(`a call was answered with ${text.slice(0, 1000)}`);
  return text;
}

function messageIn({ status, body }: Answer, id: number): string {
  const text = body.toString('utf8');
  if (status !== 200) throw new Error(`a call was answered with ${status}: ${text.slice(0, 1000)}`);
  return checked(text, id);
}

export interface OpenSession {
  readonly connection: Connection;
  /** The headers of every request of the session. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens a session of 2025-11-25. */
export async function openSession(place: Place): Promise<OpenSession> {
  const connection = await Connection.open(place.address);
  const version = '2025-11-25';
  const opened = await connection.request(post(place, {}, initialize(version)));
  const session = /\r\nmcp-session-id: *(\S+)/i.exec(opened.head)?.[1];
  if (session === undefined) throw new Error(`no session: ${opened.head}${opened.body.toString('utf8')}`);
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': version };
  const { status } = await connection.request(post(place, headers, initialized));
  if (status !== 202) throw new Error(`a notification was answered with ${status}`);
  return { connection, headers };
}

/** A client with a session of 2025-11-25. */
export async function sessionClient(place: Place): Promise<Client> {
  const { connection, headers } = await openSession(place);
  let id = 0;
  return {
    call: async (call) => {
      id++;
      return messageIn(await connection.request(post(place, headers, callMessage(id, call))), id);
    },
    close: () => connection.close(),
  };
}

/** The client information in a request of 2026-07-28: in its parameters, and in the headers. */
export const envelope =
  ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
  `"io.modelcontextprotocol/clientInfo":${clientInfo},"io.modelcontextprotocol/clientCapabilities":{}}`;
export const stateless = { 'mcp-protocol-version': '2026-07-28' };

/** Speaks 2026-07-28, in which every message contains the client information. */
export async function statelessClient(place: Place): Promise<Client> {
  const connection = await Connection.open(place.address);
  let id = 0;
  return {
    call: async (call) => {
      id++;
      const headers = { ...stateless, 'mcp-method': 'tools/call', 'mcp-name': call.tool };
      const message = callMessage(id, call, envelope);
      return messageIn(await connection.request(post(place, headers, message)), id);
    },
    close: () => connection.close(),
  };
}

/** The data of an event, if the line is part of it. */
export function eventData(line: string): string | null {
  return line.startsWith('data: ') ? line.slice('data: '.length) : null;
}

/** The request that opens a stream. */
export function streamRequest(place: Place, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    host: new URL(place.address).host,
    accept: 'text/event-stream',
    'x-tenant-id': 'bench',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${place.path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Opens an SSE session. `notices` receives what arrives on its stream and is no answer. */
export async function sseClient(place: Place, notices?: (data: string) => void): Promise<SseClient> {
  const stream = await Connection.open(place.address);
  const events = new Lines((line) => {
    const data = eventData(line);
    if (data === null || !data.includes('"method":')) return data;
    notices?.(data);
    return null;
  });
  const endpoint = events.next();
  stream.stream(streamRequest(place), (chunk) => events.take(chunk));
  const messages: Place = { address: place.address, path: await endpoint };
  const connection = await Connection.open(place.address);
  const send = async (message: string): Promise<string> => {
    const answer = message === initialized ? Promise.resolve('') : events.next();
    const { status, body } = await connection.request(post(messages, {}, message));
    if (status !== 202) throw new Error(`a message was answered with ${status}: ${body.toString('utf8')}`);
    return answer;
  };
  await send(initialize('2025-11-25'));
  await send(initialized);
  let id = 0;
  return {
    send,
    call: async (call) => {
      id++;
      return checked(await send(callMessage(id, call)), id);
    },
    close: () => {
      connection.close();
      stream.close();
    },
  };
}

export interface SseClient extends Client {
  /** Sends a message and resolves with the next message on the stream. */
  send(message: string): Promise<string>;
}

/** Speaks 2025-11-25 over the standard streams of a process; closing it ends the process. */
export async function stdioClient(input: Writable, output: Readable): Promise<Client> {
  const lines = new Lines((line) => (line.startsWith('{') ? line : null));
  output.on('data', (chunk: Buffer) => lines.take(chunk));
  const send = (message: string): Promise<string> => {
    const answer = lines.next();
    input.write(`${message}\n`);
    return answer;
  };
  await send(initialize('2025-11-25'));
  input.write(`${initialized}\n`);
  let id = 0;
  return {
    call: async (call) => {
      id++;
      return checked(await send(callMessage(id, call)), id);
    },
    close: () => input.end(),
  };
}
