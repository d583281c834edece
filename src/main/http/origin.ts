/**
 * Decides which web pages and host names may reach the service.
 *
 * A browser sends the page's Origin: one that is neither the service's own nor allowed is refused, for reads and writes
 * alike. DNS rebinding, a name that resolves to a loopback address, shows in Host: a connection that arrives on
 * loopback must carry a loopback name or an allowed one. Programs that send no Origin pass.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { EngineError } from '../../engine/index.ts';

export interface OriginPolicy {
  /** The CORS headers of the answer to this request, empty if it comes from no foreign page. Refuses with Forbidden. */
  admit(request: IncomingMessage): Readonly<Record<string, string>>;
}

/** The headers of an answer to the service's own pages and to programs: none. */
export const sameOrigin: Readonly<Record<string, string>> = {};

const exposedHeaders = 'X-Request-ID, X-API-Version, Retry-After, ETag';

/** Creates the policy for the allowed origins and hosts. */
export function createOriginPolicy(
  allowedOrigins: readonly string[],
  allowedHosts: readonly string[],
): OriginPolicy {
  const allowsAll = allowedOrigins.includes('*');
  const origins = new Set(allowedOrigins);
  const hosts = new Set(allowedHosts);
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
      if (onLoopback && !isLoopbackName(nameOf(host)) && !hosts.has(host) && !hosts.has(nameOf(host)))
        throw new EngineError(
          'Forbidden',
          'the Host header names another host; ALLOWED_HOSTS lists the names allowed beside loopback',
        );
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

/** The host of `host:port`; an IPv6 address keeps its brackets. */
function nameOf(authority: string): string {
  return authority.replace(/:\d*$/, '');
}

function portOf(authority: string, isSecure: boolean): number {
  const port = /:(\d+)$/.exec(authority)?.[1];
  if (port !== undefined) return Number(port);
  return isSecure ? 443 : 80;
}
