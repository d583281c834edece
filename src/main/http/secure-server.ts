/**
 * HTTPS for the application: its own server, which passes requests to the same routes.
 *
 * It has the limits of the plain server, so that both ports behave alike. A connection that never completes a TLS
 * handshake (a plain request, a scan, a client that rejects the certificate) is closed without a warning to the
 * operator. A new certificate applies to new connections; open ones go on.
 */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { serverOptions } from './connections.ts';
import { limits } from './limits.ts';

/** Milliseconds for the TLS handshake. */
const handshakeTimeoutMs = 10_000;

/**
 * All of TLS 1.3, and the cipher suites of TLS 1.2 with forward secrecy and authenticated encryption; nothing older.
 */
const protocol = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
} as const;

/** Private key and certificates, as PEM. */
export interface CertificateSecrets {
  readonly key: string;
  readonly cert: string;
}

export interface SecureServer {
  /** Rejects with the system's error if the port cannot be opened. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Applies to new connections. */
  replaceCertificate(secrets: CertificateSecrets): void;
  /** Accepts no more connections and ends the idle ones; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Cuts all connections, including those before the end of their handshake. */
  cut(): void;
}

/** `prepare` gets the server before it listens, as for the plain one. */
export function createSecureServer(
  secrets: CertificateSecrets,
  app: FastifyInstance,
  log: FastifyBaseLogger,
  prepare: (server: Server) => void,
): SecureServer {
  const server = createServer(
    {
      ...serverOptions,
      ...protocol,
      ...secrets,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: handshakeTimeoutMs,
    },
    (request, response) => app.routing(request, response),
  );
  prepare(server);
  dropFailedHandshakes(server, log);
  const sockets = trackSockets(server);
  return {
    async listen(host, port) {
      server.listen({ host, port, backlog: limits.waitingConnections });
      await once(server, 'listening');
      return server.address() as AddressInfo;
    },
    replaceCertificate: (next) => server.setSecureContext({ ...protocol, ...next }),
    close: () =>
      new Promise((resolve) => {
        // The only possible error is that it does not listen, for example because its port was taken.
        server.close(() => resolve());
      }),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Runs before Node's own listener, which would answer the failure in HTTP. */
function dropFailedHandshakes(server: Server, log: FastifyBaseLogger): void {
  server.prependListener('tlsClientError', (error: Error & { code?: string }, socket: TLSSocket) => {
    log.debug({ code: error.code ?? 'unknown' }, 'a TLS handshake failed');
    socket.destroy();
  });
}

function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}
