/**
 * The log of one request: every line of it carries the request's id.
 *
 * Most requests write one line, which names the id itself (`logRequests`). A logger with the id bound to it is made only
 * when something else is to be said: making one costs more than the line.
 */
import type { FastifyBaseLogger } from 'fastify';

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type Options = Parameters<FastifyBaseLogger['child']>[1];
type Method = Exclude<keyof FastifyBaseLogger, 'level' | 'child'>;

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

  // Methods, not accessors: the framework looks at each of them with every request, and none may make the logger.
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
