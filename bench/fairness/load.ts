/** Requests of the client that loads the service: counted, whatever their answers, and read as they come. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import type { LoadFigures } from './figures.ts';

const agent = new Agent({ keepAlive: true });

/** The tenant of the load. */
export const loadTenant = 'load';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON, or lines of facts if it is generated. */
  readonly body?: object | Iterable<Buffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a call and returns its answer as soon as the head is there; the caller reads the rest. */
export function open(address: string, call: Call): Promise<IncomingMessage> {
  const { method = 'POST', path, body, headers = {} } = call;
  const isStream = body !== undefined && Symbol.iterator in body;
  const type = isStream ? 'application/x-ndjson' : 'application/json';
  return new Promise((resolve, reject) => {
    const all = {
      'x-tenant-id': loadTenant,
      ...(body === undefined ? {} : { 'content-type': type }),
      ...headers,
    };
    const sent = request(`${address}${path}`, { method, agent, headers: all }, resolve);
    sent.once('error', reject);
    if (isStream) Readable.from(body).pipe(sent);
    else sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Sends a call, reads its answer, and rejects one that is not 2xx. */
export async function must(address: string, call: Call): Promise<string> {
  const response = await open(address, call);
  const answer = await text(response);
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299)
    throw new Error(`${call.path} was answered with ${statusCode}: ${answer.slice(0, 300)}`);
  return answer;
}

/** Counts what the load got. */
export class Counts {
  readonly #what: string;
  #served = 0;
  #refused = 0;

  constructor(what: string) {
    this.#what = what;
  }

  get figures(): LoadFigures {
    return { what: this.#what, served: this.#served, refused: this.#refused };
  }

  /** Counts as served so many things, or a refused one. */
  add(served: number, refused = 0): void {
    this.#served += served;
    this.#refused += refused;
  }

  /** Sends a call, reads its answer, and counts it. A limit that ends a question (422) counts as refused. */
  async call(address: string, call: Call): Promise<void> {
    const response = await open(address, call);
    response.resume();
    await finished(response);
    const { statusCode = 0 } = response;
    if (statusCode >= 500 && statusCode !== 503 && statusCode !== 507)
      throw new Error(`${call.path} was answered with ${statusCode}`);
    if (statusCode < 300) this.add(1);
    else this.add(0, 1);
  }
}

/** Runs the task again and again, by so many at a time, until the time on `performance`'s clock. */
export async function repeat(until: number, atOnce: number, task: () => Promise<void>): Promise<void> {
  const one = async (): Promise<void> => {
    do await task();
    while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
