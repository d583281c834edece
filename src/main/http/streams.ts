/**
 * Bodies and answers of any length: what an import receives and answers, what an export sends, and the changes of a
 * tenant (`GET /events`).
 *
 * Neither side runs ahead of the other: a chunk is read when the previous one has been processed, and an answer is
 * produced when the connection accepts it. A refusal before the first byte is a problem; after it, lines end with one
 * that says so, and a file breaks off, so that no client takes a part for the whole.
 *
 * The engine bounds the queue of a slow subscriber to changes and reports a loss with a `reset`. This module closes a
 * connection that accepts nothing at all for a while, and one whose credential is no longer valid. Regular comments
 * keep proxies from closing an idle stream.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, type Change, EngineError, type Pause, serving } from '../../engine/index.ts';
import type { CheckedInput, Streaming } from '../base/dispatch.ts';
import { networkOf } from '../base/network.ts';
import type { Upload } from '../base/streams.ts';
import { type Activity, limits, type Task } from './limits.ts';
import { ClientGone, discardRest } from './body.ts';
import type { HttpHost } from './host.ts';
import { problemOf, setStandingHeaders, told } from './answers.ts';
import { callerFor, peerOf, type TargetSpace } from './caller.ts';

export const linesType = 'application/x-ndjson; charset=utf-8';

/** A body as a stream. `signal` ends the wait for more; what arrives is passed on after `resume`. */
export function uploadOf(request: FastifyRequest, type: string, signal: AbortSignal, resume: Pause): Upload {
  return { type, bytes: lengthOf(request.raw), chunks: chunksOf(request.raw, signal, resume), once: null };
}

function lengthOf({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

async function* chunksOf(
  request: IncomingMessage,
  signal: AbortSignal,
  resume: Pause,
): AsyncGenerator<Uint8Array> {
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
        await resume();
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
    const resume = serving.resumeOf(caller, name);
    const { omitted } = await download.run(async (part) => {
      begin();
      if (!raw.write(part)) {
        await drained(raw, task);
        await resume();
      }
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

const heartbeatMs = 15_000;
/** Milliseconds between two checks of the credential. */
const lookMs = 250;

/** Sends the changes until either side ends the stream. */
export async function streamEvents(
  host: HttpHost,
  activity: Activity,
  place: TargetSpace,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
  if (request.method === 'HEAD') return reply.headers(headers).send();
  const lastEventId = request.headers['last-event-id'];
  const task = activity.startStream(request.identity?.credential ?? networkOf(peerOf(request) ?? ''));
  const caller = callerFor(request, place, task);
  let changes: AsyncIterable<Change>;
  try {
    changes = host.dispatcher.stream(
      'events',
      caller,
      typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : null,
    );
  } catch (error) {
    task.done();
    throw error;
  }
  reply.hijack();
  const { raw } = reply;
  raw.on('close', () => {
    task.cancel();
  });
  setStandingHeaders(request, reply);
  raw.writeHead(200, headers);
  raw.write('retry: 2000\n\n');
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(':\n\n');
  }, heartbeatMs);
  const watch = setInterval(() => {
    if (!host.holds(caller)) task.cancel();
  }, lookMs);
  host.metrics.eventSubscribers(1);
  try {
    for await (const change of changes) {
      // Between two checks, too, a caller without the right gets nothing.
      if (!host.holds(caller)) break;
      if (!raw.write(frameOf(change))) await drained(raw, task);
      if (task.aborted) break;
    }
  } catch (error) {
    if (!task.aborted) request.log.error({ err: error }, 'a bug: the stream of changes failed');
  } finally {
    clearInterval(heartbeat);
    clearInterval(watch);
    host.metrics.eventSubscribers(-1);
    task.done();
    raw.end();
  }
  return reply;
}

function frameOf(change: Change): string {
  return `id: ${change.id}\nevent: ${change.kind}\ndata: ${JSON.stringify(change.data)}\n\n`;
}

/** Resolves when the connection accepts more, or when the stream is over; cuts off a stuck connection. */
function drained(raw: ServerResponse, task: Task): Promise<void> {
  if (task.aborted) return Promise.resolve();
  const signal = task.toSignal();
  return new Promise((resolve) => {
    const timer = setTimeout(() => raw.destroy(), limits.silentAnswerMs);
    const finish = (): void => {
      clearTimeout(timer);
      raw.off('drain', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    raw.on('drain', finish);
    signal.addEventListener('abort', finish);
  });
}
