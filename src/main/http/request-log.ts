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

/** The log for the framework: it makes a log of its own of it once, and of that one a child with each request. */
export function logForFramework(log: FastifyBaseLogger): FastifyBaseLogger {
  return withChild(log, (bindings, options) => {
    const own = log.child(bindings, options);
    return withChild(own, (ofRequest, optionsOfRequest) => new RequestLog(own, ofRequest, optionsOfRequest));
  });
}

function withChild(log: FastifyBaseLogger, child: FastifyBaseLogger['child']): FastifyBaseLogger {
  return Object.assign(Object.create(log) as FastifyBaseLogger, { child });
}

class RequestLog implements FastifyBaseLogger {
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

  get trace() {
    return this.#method('trace');
  }

  get debug() {
    return this.#method('debug');
  }

  get info() {
    return this.#method('info');
  }

  get warn() {
    return this.#method('warn');
  }

  get error() {
    return this.#method('error');
  }

  get fatal() {
    return this.#method('fatal');
  }

  get silent() {
    return this.#method('silent');
  }

  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.#made.child(bindings, options);
  }

  get #made(): FastifyBaseLogger {
    this.#bound ??= this.#parent.child(this.#bindings, this.#options);
    return this.#bound;
  }

  #method<Name extends Method>(name: Name): FastifyBaseLogger[Name] {
    return this.#made[name].bind(this.#made);
  }
}
