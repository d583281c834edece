/** Writes a web Response to a Node connection as a stream. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * Writes the whole response, as fast as the client reads; nothing has been written before. If the client disconnects,
 * cancels the body at once, so that its producer notices.
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
      // The producer of the body has failed: there is nobody left to report to.
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
