/** An answer of the web's kind, written to a connection of Node's as it comes. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * Writes it whole, on a response to which nothing was written yet, no faster than it is read. Where the client goes away
 * the body is given up at once, so that whoever writes it knows.
 */
export async function writeResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  if (reader === undefined || response.destroyed) {
    await reader?.cancel();
    response.end();
    return;
  }
  response.flushHeaders();
  const gone = new AbortController();
  const giveUp = (): void => {
    gone.abort();
    reader.cancel().catch(() => {
      // Whoever wrote the body has failed: nobody is left to tell.
    });
  };
  response.once('close', giveUp);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || gone.signal.aborted) break;
    if (!response.write(value)) await drained(response, gone.signal);
  }
  response.off('close', giveUp);
  response.end();
}

async function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  await once(response, 'drain', { signal: gone }).catch((error: unknown) => {
    if (!gone.aborted) throw error;
  });
}
