/**
 * Streamed answers as async iterables: bytes, lines of JSON, changes.
 *
 * The call is made by `start` when iteration begins, and ended when it ends, in any way. A stream that breaks off throws, so that
 * a part is never taken for the whole. Reconnecting is left to the caller, who knows what it has seen.
 */
import { errorOfAnswer, CorollaryError, isObject } from './failure.ts';
import type { Operation } from './operation.ts';
import { type AnyOptions, begin, type Connection, type Parts } from './request.ts';
import { createServerSentEventReader } from './server-sent-events.ts';
import type { Change, ChangeEvent, ChangeKind } from './types.ts';

/** The pieces of an answer in order, of any size. */
export async function* bytesOf(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions,
  start: typeof begin = begin,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { response, extend, end, failureOf } = await start(connection, operation, parts, options);
  const reader = response.body?.getReader();
  try {
    options.onOpen?.();
    for (;;) {
      extend();
      const piece = await reader?.read();
      if (piece === undefined || piece.done) return;
      // The caller's own time with a piece does not count against the limit.
      end();
      yield piece.value;
    }
  } catch (cause) {
    throw failureOf(cause);
  } finally {
    end();
    // The rest is unread; if the stream has failed, there is none.
    await reader?.cancel().catch(() => undefined);
  }
}

/**
 * The lines of an answer, parsed. Throws the error that a line reports, and if the last line does not complete the
 * answer.
 */
export async function* linesOf(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions,
  start: typeof begin = begin,
): AsyncGenerator<unknown, void, undefined> {
  const requestId = options.requestId ?? '';
  const decoder = new TextDecoder();
  let rest = '';
  let isDone = false;
  for await (const bytes of bytesOf(connection, operation, parts, options, start)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const value = JSON.parse(line) as unknown;
      if (isObject(value) && isObject(value['error'])) {
        const { status } = value['error'];
        throw errorOfAnswer(typeof status === 'number' ? status : 500, value['error'], requestId);
      }
      isDone = isObject(value) && value['done'] === true;
      yield value;
    }
  }
  if (!isDone)
    throw new CorollaryError({
      code: 'Unreachable',
      status: null,
      detail: 'The connection ended before the work did. What was stored before stays stored.',
      requestId,
    });
}

/** The changes of a stream, in batches as they arrived. Ends when the service ends it. */
export async function* changesOf(
  connection: Connection,
  operation: Operation,
  options: AnyOptions,
  start: typeof begin = begin,
): AsyncGenerator<ChangeEvent[], void, undefined> {
  const decoder = new TextDecoder();
  const reader = createServerSentEventReader();
  for await (const bytes of bytesOf(connection, operation, {}, options, start)) {
    const events = reader.push(decoder.decode(bytes, { stream: true }));
    if (events.length > 0)
      yield events.map(({ id, kind, data }) => ({
        ...(JSON.parse(data) as Change),
        kind: kind as ChangeKind,
        eventId: id,
      }));
  }
}
