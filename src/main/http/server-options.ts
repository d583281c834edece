import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';

/** What every server in front of the application is made with; a missing Host is refused where it matters. */
export const serverOptions = { requireHostHeader: false };

/** What every server in front of the application gets after its making. */
export function prepareServer(server: Server | SecureServer): void {
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
}
