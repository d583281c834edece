/** Options of a call, besides its fields. */

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. A write may have happened all the same. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer is complete; for a stream, until its next piece. Absent: no limit. */
  timeoutMs?: number | undefined;
  /** 1 to 128 printable ASCII characters for the service's log; generated if missing. */
  requestId?: string | undefined;
}

/** Options of writes. */
export interface WriteOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Sent again with the same key within a day, the call takes effect only once. */
  idempotencyKey?: string | undefined;
}

/** The transaction of the call, by the id that `beginTransaction` returned. */
export interface InTransaction {
  transaction: string;
}

export interface IfMatch {
  /** The entity tag that the rule must have, or `*`; PreconditionFailed if it has another one. */
  ifMatch?: string | undefined;
}

/** Options of the stream of changes. */
export interface EventOptions extends CallOptions {
  /** The `eventId` after which to begin; absent: only new changes. */
  after?: string | undefined;
}

/**
 * A body of any length. Browsers send a stream only over HTTP/2: use a Blob there. A function gives a new stream each time that
 * the body is sent: unlike a stream alone, it can be sent again.
 */
export type Upload =
  | string
  | Uint8Array<ArrayBuffer>
  | Blob
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | (() => ReadableStream<Uint8Array<ArrayBuffer>> | Promise<ReadableStream<Uint8Array<ArrayBuffer>>>);
