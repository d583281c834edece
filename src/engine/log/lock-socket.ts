/**
 * Local sockets as the lock uses them: one that answers every caller with a line of text and hangs up, and the call
 * that asks whether somebody is there. Paths here are short enough for the system.
 */
import { connect, createServer, type Server } from 'node:net';
import { systemErrorCode } from './backend.ts';

/** What is behind the name of a socket: nothing, a socket whose process has ended, or a live process. */
export type SocketReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'dead' }
  /** `text` is '' where it did not answer in time: stopped, or busy. */
  | { readonly kind: 'alive'; readonly text: string };

const ANSWER_TIMEOUT_MS = 1000;

/** Listens at `path`, and tells every caller `answer()`. Does not keep the process alive. */
export function listenAt(path: string, answer: () => string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      // A caller that hangs up early has its answer, or wants none: it is no concern of the holder.
      socket.on('error', () => socket.destroy());
      socket.end(answer());
    });
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.unref();
      resolve(server);
    });
  });
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Finds out who is at `path`. Where that cannot be known (no right to connect), somebody is. */
export function askSocket(path: string): Promise<SocketReading> {
  return new Promise((resolve) => {
    let text = '';
    let failure = '';
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS);
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', (error) => {
      failure = systemErrorCode(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (failure === 'ENOENT') resolve({ kind: 'absent' });
      else if (failure === 'ECONNREFUSED' || failure === 'ENOTSOCK') resolve({ kind: 'dead' });
      else resolve({ kind: 'alive', text });
    });
  });
}
