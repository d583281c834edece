/**
 * The log of one request: every line of it has the request's id.
 *
 * Most requests write one line, which names the id itself (`logRequests`). A logger bound to the id is created only for
 * further lines, since creating one costs more than the line.
 */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { discardRest } from './body.ts';
import type { HttpHost } from './host.ts';

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type Options = Parameters<FastifyBaseLogger['child']>[1];
type Method = Exclude<keyof FastifyBaseLogger, 'level' | 'child'>;

/** A logger that binds the request's id on its first line. */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: Options;
  #bound: FastifyBaseLogger | null = null;

  constructor(parent: FastifyBaseLogger, bindings: Bindings, options: Options) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  get level(): string {
    return this.#made.level;
  }

  set level(level: string) {
    this.#made.level = level;
  }

  // Methods, not accessors: the framework reads each of them with every request, and that must not create the logger.
  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  silent(...line: unknown[]): void {
    this.#write('silent', line);
  }

  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.#made.child(bindings, options);
  }

  get #made(): FastifyBaseLogger {
    this.#bound ??= this.#parent.child(this.#bindings, this.#options);
    return this.#bound;
  }

  #write(method: Method, line: readonly unknown[]): void {
    Reflect.apply(this.#made[method], this.#made, line);
  }
}

/** Routes that are requested all the time and are not worth a log line. */
const quiet: ReadonlySet<string> = new Set(['/health', '/health/ready', '/metrics', 'static']);

/**
 * Logs and counts every answered request: method, route, status and time. The route is the pattern, never the address
 * itself, which could contain an argument's value.
 */
export function logRequests(app: FastifyInstance, host: HttpHost): void {
  app.addHook('onRequest', (request, reply, done) => {
    noteRequest(host, request, reply);
    done();
  });
}

/** Counts the request from now on, and logs it when it has been answered. Also for requests that pass no hook. */
export function noteRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  host.metrics.requestsInFlight(1);
  // `close` comes after the last byte of an answer, and also if the client does not wait for it.
  reply.raw.on('close', () => {
    host.metrics.requestsInFlight(-1);
    logRequest(host, request, reply);
    // Answered before it was read to the end: the rest must not keep the connection busy for ever.
    if (!request.raw.complete && !request.raw.socket.destroyed) discardRest(request.raw);
  });
}

function logRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  const route = routeOf(request);
  const elapsedMs = performance.now() - request.startedAt;
  const { method } = request;
  const { statusCode: status, writableFinished } = reply.raw;
  host.metrics.requestDone(method, route, status, elapsedMs);
  const line = { requestId: request.id, method, route, status, elapsedMs: Math.round(elapsedMs * 10) / 10 };
  const message = writableFinished ? 'answered' : 'the client went away';
  if (quiet.has(route)) host.log.debug(line, message);
  else host.log.info(line, message);
}

function routeOf(request: FastifyRequest): string {
  // A request with a malformed address has passed no hook, and lacks what they add.
  const known: string | null | undefined = request.route;
  if (typeof known === 'string') return known;
  if (request.is404) return 'none';
  const { url, config } = request.routeOptions;
  if ((config as { isStatic?: boolean }).isStatic === true) return 'static';
  return url ?? 'none';
}
