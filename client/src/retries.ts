/**
 * What makes a call outlast a node: the key under which a write takes effect once, the token by which a read is no older
 * than what the client has seen, and repetition until a node answers.
 *
 * A call is repeated only if that is safe: a read, or a write with an `Idempotency-Key`, whose body can be sent again. It is
 * repeated only for what passes: no answer, no node that has the log, or an outcome that nobody knows yet.
 */
import { CorollaryError, isObject } from './failure.ts';
import type { Operation } from './operation.ts';
import { type AnyOptions, type Connection, newRequestId, type Parts } from './request.ts';

/** What a client knows of the service beside its address. */
export interface Outlasting {
  /** Addresses of nodes; the next one is asked if one does not answer. */
  readonly origins: readonly string[];
  /** Milliseconds after which a call that fails is not repeated any more. */
  readonly retryMs: number;
}

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/** The options of the call, with a key if it is a write that can have one. */
export function withKey({ kind, role }: Operation, options: AnyOptions): AnyOptions {
  const isKeyed = kind === 'write' && role !== 'public';
  return isKeyed && options.idempotencyKey === undefined
    ? { ...options, idempotencyKey: newRequestId('key') }
    : options;
}

/**
 * Makes the call, again and again if that is safe, at one node after the other. Rejects with the last failure, at the
 * latest after `retryMs`, or after the caller's `timeoutMs`.
 */
export async function outlast<Result>(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions,
  { origins, retryMs }: Outlasting,
  attempt: (connection: Connection, options: AnyOptions) => Promise<Result>,
): Promise<Result> {
  const { timeoutMs } = options;
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const limitMs = Math.min(retryMs, timeoutMs ?? retryMs);
  for (let tries = 0; ; tries++) {
    // Of a stream it is the time for each piece.
    const isLimited = timeoutMs !== undefined && operation.stream === undefined;
    const left = isLimited ? { timeoutMs: Math.max(1, timeoutMs - elapsed()) } : {};
    try {
      return await attempt({ ...connection, origin: originOf(connection, origins) }, { ...options, ...left });
    } catch (failure) {
      const why = failure instanceof CorollaryError ? passing(failure, connection) : null;
      if (why === null || !isRepeatable(operation, parts, options)) throw failure;
      const { retryAfterSeconds } = failure as CorollaryError;
      const rounds = Math.floor(tries / origins.length);
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(rounds, 10));
      // What a node says of itself does not hold for the next one, until all were asked.
      const isElsewhere = why === 'node' && (tries + 1) % origins.length !== 0;
      const ms = why === 'token' || isElsewhere ? 0 : Math.max((retryAfterSeconds ?? 0) * 1000, pauseMs);
      if (elapsed() + ms > limitMs) throw failure;
      if (why === 'node' && connection.seen !== undefined) connection.seen.node++;
      await pause(ms, options.signal);
    }
  }
}

/** A line that says how far an import is. */
interface Progress {
  readonly processed: number;
  readonly asserted: number;
}

/**
 * The lines of an upload's answer, over as many attempts as it takes: one that breaks off is made again from its beginning, if
 * its body can be sent again, unless nothing new has come for `retryMs`. Progress that earlier attempts had told already
 * is left out; the last line counts what the last attempt did. Throws the last failure, with what was stored.
 */
export async function* outlastLines(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions,
  { retryMs }: Outlasting,
  attempt: (options: AnyOptions) => AsyncIterable<unknown>,
): AsyncGenerator<unknown, void, undefined> {
  let told: Progress = { processed: 0, asserted: 0 };
  let at = performance.now();
  for (;;) {
    let isBegun = false;
    const onOpen = (): void => {
      isBegun = true;
      options.onOpen?.();
    };
    try {
      for await (const line of attempt({ ...options, onOpen })) {
        if (isProgress(line)) {
          if (line.processed <= told.processed) continue;
          told = { processed: line.processed, asserted: Math.max(told.asserted, line.asserted) };
          at = performance.now();
        }
        yield line;
      }
      return;
    } catch (failure) {
      // What got no answer was made again already.
      if (!(failure instanceof CorollaryError) || !isBegun) throw failure;
      const isPassing = passing(failure, connection) !== null;
      const { signal } = options;
      const isOver = performance.now() - at + FIRST_PAUSE_MS > retryMs || signal?.aborted === true;
      if (!isPassing || isOver || !isRepeatable(operation, parts, options)) throw brokenOff(failure, told);
      if (connection.seen !== undefined) connection.seen.node++;
      await pause(FIRST_PAUSE_MS, signal);
    }
  }
}

function isProgress(line: unknown): line is Progress {
  return isObject(line) && typeof line['processed'] === 'number' && typeof line['asserted'] === 'number';
}

/** The failure of an import of which a part is stored. */
function brokenOff(failure: CorollaryError, { processed, asserted }: Progress): CorollaryError {
  const { code, status, requestId, problem, retryAfterSeconds, detail } = failure;
  return new CorollaryError(
    {
      code,
      status,
      requestId,
      ...(problem === null ? {} : { problem }),
      retryAfter: retryAfterSeconds === null ? null : String(retryAfterSeconds),
      detail:
        `The import broke off. At least ${processed} of its lines were processed and ${asserted} facts stored; they stay. ` +
        `Send it again from the beginning: what is stored already counts as unchanged. ${detail}`,
    },
    failure,
  );
}

function originOf({ origin, seen }: Connection, origins: readonly string[]): string {
  return origins[(seen?.node ?? 0) % origins.length] ?? origin;
}

/** Whether what failed may succeed later (`node`: also at once, elsewhere), or without the token; null: neither. */
function passing(failure: CorollaryError, { seen }: Connection): 'later' | 'node' | 'token' | null {
  const { code, status, errors, retryAfterSeconds } = failure;
  switch (code) {
    case 'HistoryChanged':
      // The caller is told, since what was seen is gone; what comes next is read without the token.
      if (seen !== undefined) seen.token = null;
      return null;
    case 'ValidationException':
      // The database was deleted and created again.
      if (seen === undefined || seen.token === null || !errors.some(({ path }) => path === 'X-At-Least'))
        return null;
      seen.token = null;
      return 'token';
    case 'Conflict':
      // The first request with the key is still running.
      return retryAfterSeconds === null ? null : 'later';
    case 'Unreachable':
    case 'NoOwner':
    case 'NotReady':
    case 'OutcomeUnknown':
      return 'node';
    case 'Unreadable':
      // A proxy in front of the nodes.
      return status === 502 || status === 503 || status === 504 ? 'node' : null;
    default:
      return null;
  }
}

function isRepeatable({ kind }: Operation, { upload }: Parts, { idempotencyKey }: AnyOptions): boolean {
  if (upload?.source instanceof ReadableStream) return false;
  return kind === 'read' || idempotencyKey !== undefined;
}

/** Resolves after so many milliseconds; rejects with the reason of the signal if that comes before. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
