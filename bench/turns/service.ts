/** A service whose turns are watched, and a client that calls it without keeping what it answers. */
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { builtService, type Program, type Server, startServer } from '../http/server.ts';
import type { Turns } from './monitor.ts';

/** The body of a call: a JSON value, text, or pieces of text that are produced while they are sent. */
type Body = object | string | Iterable<string> | null;

/** What a call is, beside its method and path. */
export interface CallOptions {
  readonly tenant?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a call: its status, length, and its first 100,000 characters. */
export interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly begins: string;
}

const warmingMs = 2000;

/** The program with the monitor in its process, which listens at `socket`. `bundles` is the folder of this bundle. */
export function withMonitor(program: Program, bundles: string, socket: string, isProfiled = false): Program {
  const monitor = pathToFileURL(join(bundles, 'turns-monitor.js')).href;
  const environment = {
    ...program.environment,
    TURNS_SOCKET: socket,
    TURNS_PROFILE: isProfiled ? '1' : '0',
  };
  return { ...program, args: ['--import', monitor, ...program.args], environment };
}

/** The turns since the monitor was last asked. */
export function turnsAt(socket: string): Promise<Turns> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, path: '/' }, (response) => {
      text(response).then((told) => resolve(JSON.parse(told) as Turns), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The service and the monitor in it. */
export class WatchedService {
  readonly #server: Server;
  readonly #socket: string;

  private constructor(server: Server, socket: string) {
    this.#server = server;
    this.#socket = socket;
  }

  /** Starts the built service with the monitor. `bundles` is the folder of this bundle, `folder` an empty one. */
  static async start(bundles: string, folder: string, isProfiled: boolean): Promise<WatchedService> {
    const socket = join(folder, 'turns');
    const bare = builtService('service', bundles, folder, 'never');
    const program = withMonitor(bare, bundles, socket, isProfiled);
    const environment = {
      ...program.environment,
      MAX_REQUEST_BODY_BYTES: String(32 * 1024 * 1024),
      RATE_LIMIT_PER_MINUTE: '1000000',
    };
    const server = await startServer({ ...program, environment }, folder);
    const service = new WatchedService(server, socket);
    // The start, and the warming up after it, count for nothing.
    while ((await service.call('GET', '/health/ready')).status !== 200) await sleep(50);
    await sleep(warmingMs);
    return service;
  }

  /** Sends a call and reads its answer to the end. */
  call(method: string, path: string, body: Body = null, options: CallOptions = {}): Promise<Answered> {
    const { tenant = 'turns', type = 'application/json', headers = {} } = options;
    const address = new URL(path, this.#server.address);
    const all = { 'x-tenant-id': tenant, ...(body === null ? {} : { 'content-type': type }), ...headers };
    return new Promise((resolve, reject) => {
      const sent = request(address, { method, headers: all }, (response) => {
        let [bytes, begins] = [0, ''];
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (begins.length < 100_000) begins += chunk.toString('latin1');
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, begins }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      if (body === null) sent.end();
      else if (typeof body === 'string') sent.end(body);
      else if (Symbol.iterator in body && !Array.isArray(body))
        Readable.from(body as Iterable<string>).pipe(sent);
      else sent.end(JSON.stringify(body));
    });
  }

  /** The turns since this was last asked. */
  turns(): Promise<Turns> {
    return turnsAt(this.#socket);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}
