import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { discardRest } from './body.ts';
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
  reply.raw.on('close', () => {
    host.metrics.requestsInFlight(-1);
    logRequest(host, request, reply);
    // Answered before it was read to the end: the rest may not keep the connection busy for ever.
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
  // A request whose address cannot be read has met no hook, and has none of what they add.
  const known: string | null | undefined = request.route;
  if (typeof known === 'string') return known;
  if (request.is404) return 'none';
  const { url, config } = request.routeOptions;
  if ((config as { isStatic?: boolean }).isStatic === true) return 'static';
  return url ?? 'none';
}
