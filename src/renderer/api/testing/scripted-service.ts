import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import type { ApiEndpoint } from '../client.ts';

const servers: Server[] = [];

/** Answers one request. */
type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/**
 * Starts a service on a free port that answers as a test says, for responses that a real one rarely gives. It ends
 * with its test.
 */
export async function scriptedService(handler: Handler): Promise<ApiEndpoint> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => handler(request, response, body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, database: 'db', tenant: 'acme', key: 'secret' };
}

/** Stops the services after each test; call once per test file. */
export function endScriptedServices(): void {
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
}
