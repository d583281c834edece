/** For tests: the whole service over real HTTP on a free port, its engine in memory, every answer validated. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Problem } from '../../engine/contract/problems.ts';
import { type Environment, parseConfig } from '../base/config.ts';
import { type Service, type ServiceOptions, startService } from '../service/service.ts';
import { createLogger } from '../telemetry/logger.ts';

export interface ServiceUnderTest extends Service {
  /** The log, line by line, as JSON. */
  readonly logged: Record<string, unknown>[];
  /** A request with the tenant header and, if there is a body, its type; `init.headers` override both. */
  call<Body = Problem>(
    method: string,
    path: string,
    body?: unknown,
    init?: RequestInit,
  ): Promise<Answered<Body>>;
  /** Writes the bytes to a connection of its own and returns everything received until it is closed. */
  raw(bytes: string | Uint8Array): Promise<string>;
}

type OptionsUnderTest = Pick<
  ServiceOptions,
  | 'clock'
  | 'endLimits'
  | 'keystorePollMs'
  | 'mcpSurface'
  | 'reasoningAfterMs'
  | 'reasoningFile'
  | 'warmUpAfterMs'
>;

export interface Answered<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON if the answer is JSON, else its text. */
  readonly body: Body;
}

/**
 * `EVERY_QUESTION_MOVES=1`: each question of each test is answered on a reasoning thread, of the built program, which is to
 * make no difference.
 */
const everyQuestionMoves = process.env['EVERY_QUESTION_MOVES'] === '1';
const builtThread = fileURLToPath(new URL('../../../out/main/reasoning-thread.js', import.meta.url));

export async function startServiceUnderTest(
  given: Environment = {},
  options: OptionsUnderTest = {},
): Promise<ServiceUnderTest> {
  const logged: Record<string, unknown>[] = [];
  const log = createLogger({
    level: 'DEBUG',
    format: 'json',
    write: (line) => {
      logged.push(JSON.parse(line) as Record<string, unknown>);
    },
  });
  const moves = everyQuestionMoves && given['REASONING_THREADS'] === undefined;
  const moving = moves ? { reasoningFile: builtThread, reasoningAfterMs: 0 } : {};
  const environment = moves ? { ...given, REASONING_THREADS: '1' } : given;
  const config = parseConfig(environment, { host: '127.0.0.1', port: 0 });
  const isInMemory = environment['STORAGE_DIR'] === undefined;
  const service = await startService(
    { ...config, endpointFile: null, ...(isInMemory ? { storageDir: null } : {}) },
    { log, checkOutputs: true, ...moving, ...options },
  );
  return {
    address: service.address,
    secureAddress: service.secureAddress,
    port: service.port,
    engine: service.engine,
    warmedUp: service.warmedUp,
    close: () => service.close(),
    get connectedAgents() {
      return service.connectedAgents;
    },
    get isDiskStuck() {
      return service.isDiskStuck;
    },
    logged,
    async call<Body>(method: string, path: string, body?: unknown, init: RequestInit = {}) {
      const headers = new Headers({ 'x-tenant-id': 'default' });
      if (body !== undefined) headers.set('content-type', 'application/json');
      for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      const sent = isRaw ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body);
      const response = await fetch(`${service.address}${path}`, {
        method,
        ...(body === undefined ? {} : { body: sent }),
        ...init,
        headers,
      });
      const content = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '') && content !== '';
      return {
        status: response.status,
        headers: response.headers,
        body: (isJson ? JSON.parse(content) : content) as Body,
      };
    },
    raw(bytes) {
      const socket = connect(service.port, '127.0.0.1');
      socket.end(bytes);
      return text(socket);
    },
  };
}
