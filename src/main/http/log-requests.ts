import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpHost } from './host.ts';

/** Routes that are asked for all the time and say nothing new. */
const quiet: ReadonlySet<string> = new Set(['/health', '/health/ready', '/metrics']);

/**
 * Logs and counts every answered request: method, route, status and time. The route is the pattern, never the
 * address itself, which could carry an argument's value.
 */
export function logRequests(app: FastifyInstance, host: HttpHost): void {
  app.addHook('onRequest', (_request, _reply, done) => {
    host.metrics.requestsInFlight(1);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    host.metrics.requestsInFlight(-1);
    const route = routeOf(request);
    const elapsedMs = performance.now() - request.startedAt;
    const status = reply.raw.statusCode;
    host.metrics.requestDone(request.method, route, status, elapsedMs);
    const line = { method: request.method, route, status, elapsedMs: Math.round(elapsedMs * 10) / 10 };
    const message = reply.raw.writableFinished ? 'answered' : 'the client went away';
    if (quiet.has(route) || route === 'static') request.log.debug(line, message);
    else request.log.info(line, message);
    done();
  });
}

function routeOf(request: FastifyRequest): string {
  if (request.is404) return 'none';
  const { url, config } = request.routeOptions;
  if ((config as { isStatic?: boolean }).isStatic === true) return 'static';
  return url ?? 'none';
}
