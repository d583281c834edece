/**
 * The first refusals of every request, in the order of the contract: NotReady, Origin and Host, the route.
 *
 * They run before a credential or a body is looked at, for unknown addresses and malformed ones too. The headers
 * that every answer carries are set here, on the raw response, so that streams and surfaces that write their own
 * answers carry them as well.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import type { HttpHost } from './host.ts';
import { createOriginPolicy, sameOrigin } from './origin.ts';
import { sendProblem } from './problem.ts';
import { RouteMap } from './route-map.ts';

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
  /** Sets the standing headers and refuses what comes first. */
  admit(request: FastifyRequest, reply: FastifyReply): void;
  /** Installs the hooks; call before any route is added. */
  install(app: FastifyInstance): void;
}

export function createAdmission(host: HttpHost): Admission {
  const policy = createOriginPolicy(host.settings.corsAllowedOrigins, host.settings.allowedHosts);
  const routes = new RouteMap();
  const admit = (request: FastifyRequest, reply: FastifyReply): void => {
    request.startedAt = performance.now();
    reply.raw.setHeader('x-request-id', request.id);
    for (const [name, value] of sameHeaders) reply.raw.setHeader(name, value);
    const phase = host.phase();
    if (phase !== 'ready' && !isAnsweredAlways(request.routeOptions.url ?? ''))
      throw new EngineError(
        'NotReady',
        phase === 'starting' ? 'the service is starting: try again soon' : 'the service is shutting down',
      );
    const crossOrigin = policy.admit(request.raw);
    if (crossOrigin === sameOrigin) return;
    for (const [name, value] of Object.entries(crossOrigin)) reply.raw.setHeader(name, value);
  };
  return {
    admit,
    install(app) {
      app.decorateRequest('identity', null);
      app.decorateRequest('onlyDryRun', false);
      app.decorateRequest('startedAt', 0);
      app.decorateRequest('route', null);
      app.addHook('onRoute', ({ method, url }) => {
        routes.add(typeof method === 'string' ? [method] : method, url);
      });
      app.addHook('onRequest', (request, reply, done) => {
        admit(request, reply);
        if (request.is404) answerUnrouted(routes, request, reply);
        else done();
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

/** Headers of every answer. */
export function standingHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, ...Object.fromEntries(sameHeaders) };
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
