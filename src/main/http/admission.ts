/**
 * The first refusals of every request, in the order of the contract: NotReady, Origin and Host, the route.
 *
 * They run before a credential or a body is read, also for unknown and malformed addresses. A hook sets the headers of
 * every answer of the framework; code that writes to the raw response, such as a stream, sets them first.
 *
 * A browser sends the page's Origin: one that is neither the service's own nor allowed is refused, for reads and writes
 * alike. DNS rebinding, a name of a foreign page that resolves to an address of this service, shows in Host: on loopback
 * it must be a loopback name or an allowed one, and on other addresses, while authentication is off, one of these or an IP
 * address, which no page can rebind. Programs that send no Origin pass.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import type { HttpHost } from './host.ts';
import { sendProblem, setStandingHeaders } from './answers.ts';
import { forwardedFor, nodeHeader } from './node-requests.ts';
import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

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
  'X-At-Least',
  'X-Client',
  'X-Consistency',
  'X-Database',
  'X-Reason',
  'X-Request-ID',
  'X-Route',
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
  const { settings, needsCredential } = host;
  const policy = createOriginPolicy(settings.corsAllowedOrigins, settings.allowedHosts, needsCredential);
  const routes = new RouteMap();
  const admit = (request: FastifyRequest): void => {
    request.startedAt = performance.now();
    const phase = host.phase();
    if (phase !== 'ready' && !isAnsweredAlways(request.routeOptions.url ?? ''))
      throw new EngineError(
        // The node that passed it on waits for the next owner then: nothing of the request was done.
        host.nodes !== null && nodeHeader in request.headers ? 'NoOwner' : 'NotReady',
        phase === 'starting' ? 'the service is starting: try again soon' : 'the service is shutting down',
      );
    if (host.nodes !== null) request.forwarded = forwardedFor(request, host.nodes.secret, Date.now());
    // That node has looked where the request comes from.
    if (request.forwarded !== null) return;
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
      app.decorateRequest('showToken', null);
      app.decorateRequest('knownGeneration', null);
      app.decorateRequest('forwarded', null);
      app.decorateRequest('isDemandMet', false);
      app.decorateRequest('staleMs', null);
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

interface OriginPolicy {
  /** The CORS headers of the answer to this request, empty if it comes from no foreign page. Refuses with Forbidden. */
  admit(request: IncomingMessage): Readonly<Record<string, string>>;
}

/** The headers of an answer to the service's own pages and to programs: none. */
const sameOrigin: Readonly<Record<string, string>> = {};

const exposedHeaders =
  'X-Request-ID, X-API-Version, X-Token, X-Knowledge-Generation, X-Stale-Ms, Retry-After, ETag';

/** Creates the policy for the allowed origins and hosts, of a service whose authentication is on or off. */
export function createOriginPolicy(
  allowedOrigins: readonly string[],
  allowedHosts: readonly string[],
  needsCredential: boolean,
): OriginPolicy {
  const allowsAll = allowedOrigins.includes('*');
  const origins = new Set(allowedOrigins);
  const hosts = new Set(allowedHosts);
  const requireHost = (host: string, onLoopback: boolean): void => {
    const name = nameOf(host);
    if (isLoopbackName(name) || hosts.has(host) || hosts.has(name)) return;
    if (!onLoopback && (needsCredential || isAddress(name))) return;
    throw new EngineError(
      'Forbidden',
      onLoopback
        ? 'the Host header names another host: call localhost, or add the name to ALLOWED_HOSTS'
        : 'without authentication the service answers only to its IP addresses and to the names in ALLOWED_HOSTS: call an address, add the name of the Host header to ALLOWED_HOSTS, or set API_KEY or AUTH_ENABLED=true',
    );
  };
  // The last admitted pair of address and host without an Origin: most calls repeat it.
  let admitted: { readonly host: string | undefined; readonly localAddress: string | undefined } | null =
    null;
  return {
    admit(request) {
      const { localAddress } = request.socket;
      const { host: named, origin: from } = request.headers;
      if (from === undefined && admitted?.host === named && admitted?.localAddress === localAddress)
        return sameOrigin;
      const host = (named ?? '').toLowerCase();
      const onLoopback = isLoopbackAddress(localAddress ?? '');
      requireHost(host, onLoopback);
      if (from === undefined) {
        admitted = { host: named, localAddress };
        return sameOrigin;
      }
      const origin = from.toLowerCase();
      if (isOwn(origin, host, onLoopback, request.socket)) return sameOrigin;
      if (allowsAll)
        return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders };
      if (!origins.has(origin))
        throw new EngineError(
          'Forbidden',
          'this Origin may not call the service; CORS_ALLOWED_ORIGINS lists those that may',
        );
      return {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': exposedHeaders,
      };
    },
  };
}

/**
 * The service's own origin is the address of the call, scheme included, and over loopback every loopback name of this
 * port.
 */
function isOwn(origin: string, host: string, onLoopback: boolean, socket: Socket): boolean {
  const isSecure = socket instanceof TLSSocket;
  const scheme = isSecure ? 'https://' : 'http://';
  if (host !== '' && origin === `${scheme}${host}`) return true;
  if (!onLoopback || !origin.startsWith(scheme)) return false;
  const authority = origin.slice(scheme.length);
  return isLoopbackName(nameOf(authority)) && portOf(authority, isSecure) === socket.localPort;
}

/** Whether the address is in 127.0.0.0/8 or ::1, also written as IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./i.test(address);
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Whether the host of an authority is an IP address, IPv6 in brackets. */
function isAddress(name: string): boolean {
  return isIPv4(name) || (/^\[.*\]$/.test(name) && isIPv6(name.slice(1, -1)));
}

/** The host of `host:port`; an IPv6 address keeps its brackets. */
function nameOf(authority: string): string {
  return authority.replace(/:\d*$/, '');
}

function portOf(authority: string, isSecure: boolean): number {
  const port = /:(\d+)$/.exec(authority)?.[1];
  if (port !== undefined) return Number(port);
  return isSecure ? 443 : 80;
}
