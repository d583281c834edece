/**
 * Calls to the running service from the command line.
 *
 * --url or the endpoint file gives its address. A refusal of the service becomes a Refused with the text of its
 * problem; an absent service becomes an Unreachable that says how to start one.
 */
import { type IncomingMessage, request as requestPlainly } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Problem } from '../../engine/contract/problems.ts';
import { readEndpoint } from '../base/endpoint-file.ts';
import { findInstallation } from '../base/installation.ts';
import { UsageError } from './arguments.ts';

/** The service answered with a problem. */
export class RefusedCall extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.detail} (${problem.code}, request ${problem.requestId})`);
    this.problem = problem;
  }
}

/** No service answered. */
export class Unreachable extends Error {}

export interface ClientOptions {
  readonly url: string | null;
  readonly endpointFile: string;
  readonly database: string;
  readonly tenant: string;
  readonly apiKey: string | null;
}

export interface Client {
  readonly url: string;
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  put(path: string, body: unknown): Promise<unknown>;
  delete(path: string, body?: unknown): Promise<unknown>;
  /** Sends such a body and returns the answer as a stream. Rejects as the others do. */
  open(path: string, upload?: ClientUpload): Promise<IncomingMessage>;
}

/** A body that is sent by POST while it is read. */
export interface ClientUpload {
  readonly type: string;
  readonly chunks: Readable;
}

/** Finds the service without calling it. Rejects with Unreachable if nothing gives its address. */
export async function connect(options: ClientOptions): Promise<Client> {
  const url = options.url ?? (await readEndpoint(options.endpointFile))?.url;
  if (url === undefined)
    throw new Unreachable(
      'no service is running for this user: start one with "corollary serve", or give --url',
    );
  if (!URL.canParse(url)) throw new Unreachable(`--url: ${url} is not an address`);
  const headers = {
    'x-database': options.database,
    'x-tenant-id': options.tenant,
    'x-client': `cli/${findInstallation().version}`,
    ...(options.apiKey === null ? {} : { 'x-api-key': options.apiKey }),
  };
  const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body: unknown) =>
    call(new URL(path, url), {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    url: url.replace(/\/+$/, ''),
    get: (path) => call(new URL(path, url), { headers }),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    delete: (path, body) =>
      body === undefined
        ? call(new URL(path, url), { method: 'DELETE', headers })
        : send('DELETE', path, body),
    open: (path, upload) => open(new URL(path, url), headers, upload),
  };
}

/** Node's own client, not fetch: it exposes trailers, and reads the answer while the body is still being sent. */
async function open(
  url: URL,
  headers: Readonly<Record<string, string>>,
  upload?: ClientUpload,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestSecurely : requestPlainly;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const type = upload === undefined ? {} : { 'content-type': upload.type };
    const method = upload === undefined ? 'GET' : 'POST';
    const sent = request(url, { method, headers: { ...headers, ...type } }, (response) => {
      // The answer says what became of the rest of the body.
      response.on('close', () => {
        upload?.chunks.destroy();
        if (!sent.writableFinished) sent.destroy();
      });
      resolve(response);
    });
    sent.on('error', (error) => {
      upload?.chunks.destroy();
      reject(new Unreachable(`no service answers at ${url.origin} (${reasonOf(error)})`, { cause: error }));
    });
    if (upload === undefined) sent.end();
    else {
      upload.chunks.on('error', (error) => {
        reject(new UsageError(`the data to send cannot be read: ${error.message}`, { cause: error }));
        sent.destroy();
      });
      upload.chunks.pipe(sent);
    }
  });
  const { statusCode = 0, headers: given } = answer;
  if (given['content-type']?.startsWith('application/problem+json') === true)
    throw new RefusedCall(JSON.parse(await text(answer)) as Problem);
  if (statusCode === 200) return answer;
  answer.destroy();
  throw new Unreachable(`what answers at ${url.origin} is not this service (${statusCode})`);
}

/** Replaces the error of an answer that broke off. */
export function brokenOff(error: unknown): Unreachable {
  return new Unreachable(`the connection broke (${reasonOf(error)})`, { cause: error });
}

async function call(url: URL, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Unreachable(`no service answers at ${url.origin} (${reasonOf(error)})`, { cause: error });
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) throw new RefusedCall(JSON.parse(text) as Problem);
  if (!type.startsWith('application/json'))
    throw new Unreachable(`what answers at ${url.origin} is not this service (${response.status}, ${type})`);
  return JSON.parse(text);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause);
}
