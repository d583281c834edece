/**
 * The first refusals of every request, in the order of the contract: NotReady, Origin and Host, the route.
 *
 * They run before a credential or a body is looked at, for unknown addresses and malformed ones too. Here are also the
 * headers that every answer carries: the framework's answers get them in a hook, and who writes to the raw response, such
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

/** True for a route that is never refused with NotReady. */
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
  /** Refuses what comes first, and notes which standing headers the answer has. */
  admit(request: FastifyRequest): void;
  /** Installs the hooks; call before any route is added. */
  install(app: FastifyInstance): void;
}

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

/** Headers that every answer has alike; the cache and content policy of static files differ. */
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

/** Sets them on the raw response, and those that let a page of another origin read it. */
export function setStandingHeaders(request: FastifyRequest, { raw }: FastifyReply): void {
  const headers = standingPairs(request);
  for (let at = 0; at < headers.length; at += 2)
    raw.setHeader(headers[at] as string, headers[at + 1] as string);
}

/** The same as names and values in turn, for `writeHead` of a response on which none was set: that costs a fraction. */
export function standingPairs(request: FastifyRequest): string[] {
  const pairs = ['x-request-id', request.id, ...samePairs];
  // A request whose address cannot be read has met no hook, and may have nothing of what they add.
  const crossOrigin: FastifyRequest['crossOrigin'] | undefined = request.crossOrigin;
  if (crossOrigin === null || crossOrigin === undefined) return pairs;
  for (const [name, value] of Object.entries(crossOrigin)) pairs.push(name, value);
  return pairs;
}

/** An address without a route for its method: a preflight, 405 with the methods there are, or 404. */
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
 * Which methods an address has.
 *
 * The router only knows whether method and address match together; to tell 405 from 404 the patterns are kept
 * here as well. Looked at only when the router found nothing.
 */
class RouteMap {
  readonly #fixed = new Map<string, Set<string>>();
  readonly #patterns = new Map<string, { matches: RegExp; methods: Set<string> }>();

  /** `pattern` is a path whose parameters are written `:name`. */
  add(methods: readonly string[], pattern: string): void {
    const known = pattern.includes(':') ? this.#methodsOfPattern(pattern) : this.#methodsOfFixed(pattern);
    for (const method of methods) known.add(method);
  }

  /** Methods of the address, sorted; empty where nothing is there. `target` may carry a query string. */
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

/** As the router reads it; a broken escape never gets here. */
function decoded(path: string): string {
  return path.includes('%') ? decodeURI(path) : path;
}
