import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpHost } from './host.ts';

/** Routes that are asked for all the time and say nothing new. */
const quiet: ReadonlySet<string> = new Set(['/health', '/health/ready', '/metrics', 'static']);

/**
 * Logs and counts every answered request: method, route, status and time. The route is the pattern, never the
 * address itself, which could carry an argument's value.
 */
export function logRequests(app: FastifyInstance, host: HttpHost): void {
  app.addHook('onRequest', (request, reply, done) => {
    noteRequest(host, request, reply);
    done();
  });
}

/** Counts the request from now on, and logs it when it has been answered. For those that no hook sees, too. */
export function noteRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  host.metrics.requestsInFlight(1);
  // `close` comes after the last byte of an answer, and also where the client does not wait for it.
  reply.raw.once('close', () => {
    host.metrics.requestsInFlight(-1);
    logRequest(host, request, reply);
  });
}

function logRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  const route = routeOf(request);
  const elapsedMs = performance.now() - request.startedAt;
  const { method } = request;
  const { statusCode: status, writableFinished } = reply.raw;
  host.metrics.requestDone(method, route, status, elapsedMs);
  const line = { method, route, status, elapsedMs: Math.round(elapsedMs * 10) / 10 };
  const message = writableFinished ? 'answered' : 'the client went away';
  if (quiet.has(route)) request.log.debug(line, message);
  else request.log.info(line, message);
}

function routeOf(request: FastifyRequest): string {
  if (request.is404) return 'none';
  const { url, config } = request.routeOptions;
  if ((config as { isStatic?: boolean }).isStatic === true) return 'static';
  return url ?? 'none';
}
