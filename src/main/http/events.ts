/**
 * `GET /events`: the changes of a tenant as server-sent events.
 *
 * The engine bounds the queue of a slow subscriber and reports a loss with a `reset`. This module closes a connection
 * that accepts nothing at all for a while, and one whose credential is no longer valid. Regular comments keep proxies
 * from closing an idle stream.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Change } from '../../engine/index.ts';
import type { Activity } from './activity.ts';
import { setStandingHeaders } from './admission.ts';
import { callerFor, peerOf, type TargetSpace } from './caller.ts';
import { drained } from './drained.ts';
import type { HttpHost } from './host.ts';

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
  const task = activity.startStream(request.identity?.credential ?? peerOf(request) ?? '');
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
    if (!task.aborted) request.log.error({ err: error }, 'a bug: the stream of changes failed inside');
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
