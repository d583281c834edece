/**
 * The first refusals of every request, in the order of the contract: NotReady, Origin and Host, the route.
 *
 * They run before a credential or a body is read, also for unknown and malformed addresses. This module also sets the
 * headers of every answer: a hook sets them on the framework's answers, and code that writes to the raw response, such
 * as a stream, sets them first.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import type { HttpHost } from './host.ts';
import { createOriginPolicy, sameOrigin } from './origin.ts';
import { sendProblem } from './problem.ts';

/** Routes that answer in every phase. */
const alwaysAnswered: ReadonlySet<string> = new Set([
  '/health',
  '/health/ready',
  '/metrics',
  '/replication/status',
]);

/** Whether a route is never refused with NotReady. */
export function isAnsweredAlways(route: string): boolean {
  return alwaysAnswered.has(route);
}

/** Headers of the contract that a page of another origin may send. */
const requestHeaders = [
  'A2A-Version',
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'X-API-Key',
  'X-Database',
  'X-Request-ID',
  'X-Tenant-ID',
  'X-Transaction-ID',
].join(', ');

export interface Admission {
  /** Applies the first refusals, and notes the standing headers of the answer. */
  admit(request: FastifyRequest): void;
  /** Installs the hooks; call it before adding any route. */
  install(app: FastifyInstance): void;
}

/** Creates the first refusals for the settings of the host. */
export function createAdmission(host: HttpHost): Admission {
  const policy = createOriginPolicy(host.settings.corsAllowedOrigins, host.settings.allowedHosts);
  const routes = new RouteMap();
  const admit = (request: FastifyRequest): void => {
    request.startedAt = performance.now();
    const phase = host.phase();
    if (phase !== 'ready' && !isAnsweredAlways(request.routeOptions.url ?? ''))
      throw new EngineError(
        'NotReady',
        phase === 'starting' ? 'the service is starting: try again soon' : 'the service is shutting down',
      );
    const crossOrigin = policy.admit(request.raw);
    if (crossOrigin !== sameOrigin) request.crossOrigin = crossOrigin;
  };
  return {
    admit,
    install(app) {
      app.decorateRequest('identity', null);
      app.decorateRequest('onlyDryRun', false);
      app.decorateRequest('startedAt', 0);
      app.decorateRequest('route', null);
      app.decorateRequest('crossOrigin', null);
      app.addHook('onRoute', ({ method, url }) => {
        routes.add(typeof method === 'string' ? [method] : method, url);
      });
      app.addHook('onRequest', (request, reply, done) => {
        admit(request);
        if (request.is404) answerUnrouted(routes, request, reply);
        else done();
      });
      app.addHook('onSend', (request, reply, _payload, done) => {
        setStandingHeaders(request, reply);
        done();
      });
    },
  };
}

/** Headers with the same value in every answer; static files have their own cache and content policy. */
const sameHeaders: readonly (readonly [string, string])[] = [
  ['x-api-version', '1'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
  ['vary', 'Origin'],
];

const samePairs: readonly string[] = sameHeaders.flat();

/** Headers of every answer. */
export function standingHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, ...Object.fromEntries(sameHeaders) };
}

/** Sets the headers on the raw response, including those that let a page of another origin read it. */
export function setStandingHeaders(request: FastifyRequest, { raw }: FastifyReply): void {
  const headers = standingPairs(request);
  for (let at = 0; at < headers.length; at += 2)
    raw.setHeader(headers[at] as string, headers[at + 1] as string);
}

/**
 * The same headers as alternating names and values, for `writeHead` on a response without headers: that costs a
 * fraction.
 */
export function standingPairs(request: FastifyRequest): string[] {
  const pairs = ['x-request-id', request.id, ...samePairs];
  // A request with a malformed address has passed no hook and may lack what they add.
  const crossOrigin: FastifyRequest['crossOrigin'] | undefined = request.crossOrigin;
  if (crossOrigin === null || crossOrigin === undefined) return pairs;
  for (const [name, value] of Object.entries(crossOrigin)) pairs.push(name, value);
  return pairs;
}

/** Answers an address without a route for its method: a preflight, 405 with the allowed methods, or 404. */
function answerUnrouted(routes: RouteMap, request: FastifyRequest, reply: FastifyReply): void {
  const methods = routes.methodsOf(request.url);
  if (methods.length === 0) {
    sendProblem(new EngineError('NotFound', 'there is nothing at this address'), request, reply);
    return;
  }
  reply.header('allow', [...methods, 'OPTIONS'].join(', '));
  if (request.method !== 'OPTIONS') {
    const detail = `this address has ${methods.join(', ')}, not ${request.method}`;
    sendProblem(new EngineError('MethodNotAllowed', detail), request, reply);
    return;
  }
  if (request.headers['access-control-request-method'] !== undefined) {
    reply.header('access-control-allow-methods', methods.join(', '));
    reply.header('access-control-allow-headers', requestHeaders);
    reply.header('access-control-max-age', '600');
  }
  reply.code(204).send();
}

/**
 * The methods of each address.
 *
 * The router only knows whether method and address match together. To tell 405 from 404 this map has the patterns too.
 * It is used only when the router finds nothing.
 */
class RouteMap {
  readonly #fixed = new Map<string, Set<string>>();
  readonly #patterns = new Map<string, { matches: RegExp; methods: Set<string> }>();

  /** `pattern` is a path whose parameters are written `:name`. */
  add(methods: readonly string[], pattern: string): void {
    const known = pattern.includes(':') ? this.#methodsOfPattern(pattern) : this.#methodsOfFixed(pattern);
    for (const method of methods) known.add(method);
  }

  /** The methods of the address, sorted; empty if it has none. `target` may have a query string. */
  methodsOf(target: string): string[] {
    const path = decoded(target.split('?', 1)[0] ?? '');
    const found = new Set(this.#fixed.get(path));
    for (const { matches, methods } of this.#patterns.values())
      if (matches.test(path)) for (const method of methods) found.add(method);
    return [...found].toSorted();
  }

  #methodsOfFixed(path: string): Set<string> {
    const known = this.#fixed.get(path) ?? new Set();
    this.#fixed.set(path, known);
    return known;
  }

  #methodsOfPattern(pattern: string): Set<string> {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known.methods;
    const segments = pattern.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : escaped(part)));
    const methods = new Set<string>();
    this.#patterns.set(pattern, { matches: new RegExp(`^${segments.join('/')}$`), methods });
    return methods;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Decoded like the router does; malformed escapes are refused before. */
function decoded(path: string): string {
  return path.includes('%') ? decodeURI(path) : path;
}
