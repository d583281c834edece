/**
 * Bodies and answers of any length: what an import receives and answers, and what an export sends.
 *
 * Neither side runs ahead of the other: a chunk is read when the previous one has been processed, and an answer is
 * produced when the connection accepts it. A refusal before the first byte is a problem; after it, lines end with one
 * that says so, and a file breaks off, so that no client takes a part for the whole.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { CheckedInput, Streaming } from '../base/dispatch.ts';
import type { Upload } from '../base/streams.ts';
import type { Task } from './activity.ts';
import { setStandingHeaders } from './admission.ts';
import { ClientGone, discardRest } from './body.ts';
import { drained } from './drained.ts';
import type { HttpHost } from './host.ts';
import { limits } from './limits.ts';
import { problemOf, told } from './problem.ts';

export const linesType = 'application/x-ndjson; charset=utf-8';

/** A body as a stream. `signal` ends the wait for more. */
export function uploadOf(request: FastifyRequest, type: string, signal: AbortSignal): Upload {
  return { type, chunks: chunksOf(request.raw, signal), once: null };
}

async function* chunksOf(request: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let wake = (): void => {};
  const events = ['readable', 'end', 'close', 'error'] as const;
  const onEvent = (): void => wake();
  for (const event of events) request.on(event, onEvent);
  signal.addEventListener('abort', onEvent);
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk = request.read() as Uint8Array | null;
      if (chunk !== null) yield chunk;
      else if (request.readableEnded) return;
      else if (request.destroyed) throw new ClientGone('the body broke off');
      else {
        let isSilent = false;
        const timer = setTimeout(() => {
          isSilent = true;
          wake();
        }, limits.silentStreamMs);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(timer);
        if (isSilent) throw new EngineError('ValidationException', 'the body stopped coming');
      }
    }
  } finally {
    for (const event of events) request.off(event, onEvent);
    signal.removeEventListener('abort', onEvent);
  }
}

/** Answers with the lines. `insteadOf` replaces an error. */
export async function sendLines(
  lines: AsyncIterable<unknown>,
  task: Task,
  request: FastifyRequest,
  reply: FastifyReply,
  insteadOf: (error: unknown) => unknown,
): Promise<FastifyReply> {
  const iterator = lines[Symbol.asyncIterator]();
  let next = await iterator.next();
  reply.hijack();
  const { raw } = reply;
  setStandingHeaders(request, reply);
  raw.writeHead(200, { 'content-type': linesType, 'x-accel-buffering': 'no' });
  try {
    while (next.done !== true) {
      const line = next;
      next = await iterator.next();
      // Waiting here would deadlock with a client that sends its whole body before it reads.
      if (next.done === true || !raw.writableNeedDrain) raw.write(`${JSON.stringify(line.value)}\n`);
    }
  } catch (error) {
    const thrown = insteadOf(error);
    if (!(thrown instanceof ClientGone)) {
      const problem = problemOf(told(thrown, request), request.id);
      raw.write(`${JSON.stringify({ error: problem })}\n`);
    }
    if (!request.raw.complete) discardRest(request.raw);
  }
  raw.end();
  if (raw.writableNeedDrain) await drained(raw, task);
  return reply;
}

/** Sends what the operation produces while it is produced, and reports at the end what a file left out. */
export async function sendFile(
  host: HttpHost,
  name: Streaming<'file'>,
  caller: Caller,
  input: CheckedInput,
  task: Task,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const download = await host.dispatcher.file(name, caller, input);
  const headers = {
    'content-type': download.type,
    ...(download.fileName === null
      ? {}
      : { 'content-disposition': `attachment; filename="${download.fileName}"` }),
    ...(download.bytes === null ? {} : { 'content-length': download.bytes }),
  };
  if (request.method === 'HEAD') return reply.headers(headers).send();
  const { raw } = reply;
  // Only a chunked body has trailers, HTTP/1.0 has none, and an answer that is not a file leaves nothing out.
  const hasTrailer =
    request.raw.httpVersion !== '1.0' && download.bytes === null && download.fileName !== null;
  const trailer = hasTrailer ? { trailer: 'X-Omitted' } : {};
  const begin = (): void => {
    if (raw.headersSent) return;
    reply.hijack();
    setStandingHeaders(request, reply);
    raw.writeHead(200, { ...headers, ...trailer });
  };
  try {
    const { omitted } = await download.run(async (part) => {
      begin();
      if (!raw.write(part)) await drained(raw, task);
      if (task.aborted) throw new ClientGone('the client went away');
    });
    begin();
    if (omitted !== null) raw.addTrailers({ 'X-Omitted': String(omitted) });
    raw.end();
  } catch (error) {
    if (!raw.headersSent) throw error;
    if (!task.aborted) told(error, request);
    raw.destroy();
  }
  return reply;
}
