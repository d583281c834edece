/**
 * Requests to a server of this process, without a socket: both sides read and write as they do over the network.
 */
import { type IncomingHttpHeaders, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { duplexPair } from 'node:stream';

export interface MemoryAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Resolves when the whole answer has come. Rejects where the server closes the connection instead. */
export function postInMemory(
  server: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): Promise<MemoryAnswer> {
  const sent = JSON.stringify(body);
  const [mine, theirs] = duplexPair();
  server.emit('connection', theirs);
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'POST',
      path,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(sent),
        'x-tenant-id': 'default',
        ...headers,
      },
      createConnection: () => mine,
    });
    asked.on('error', reject).on('response', (answer) => {
      text(answer).then(() => {
        mine.destroy();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
      }, reject);
    });
    asked.end(sent);
  });
}
