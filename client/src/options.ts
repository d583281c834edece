/** What can be said of a call beside its fields. */

/** Of every call. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. A write may have happened all the same. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer is there; of a stream, until its next piece. Absent: as long as it takes. */
  timeoutMs?: number | undefined;
  /** 1 to 128 printable ASCII characters that stand in the service's log; made up where missing. */
  requestId?: string | undefined;
}

/** Of what changes something. */
export interface WriteOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters: sent again within a day, the same call has its effect once. */
  idempotencyKey?: string | undefined;
}

/** The transaction that the call is part of, by the id that `beginTransaction` answered. */
export interface InTransaction {
  transaction: string;
}

export interface IfMatch {
  /** The entity tag of the rule as it has to be, or `*`; PreconditionFailed where it is another by now. */
  ifMatch?: string | undefined;
}

/** Of the stream of changes. */
export interface EventOptions extends CallOptions {
  /** The `eventId` after which to begin; absent: with what happens from now on. */
  after?: string | undefined;
}

/** What is sent as a body of any length. Browsers send a stream over HTTP/2 alone: there, give a Blob. */
export type Upload = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array<ArrayBuffer>>;
