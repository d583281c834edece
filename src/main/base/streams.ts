/** Inputs and outputs of operations that are too long to hold in memory: both sides share only these types. */

import type { Idempotency } from '../../engine/index.ts';

/** A body that is read as it arrives. */
export interface Upload {
  /** The media type, in lower case, without parameters. */
  readonly type: string;
  /** Its length in bytes, if the client said it in advance; else null. */
  readonly bytes: number | null;
  /** To be read once. Throws if the client disconnects before the end. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * The idempotency key of the request, with its digest, which is known once everything has been read; null: no key.
   */
  readonly once: (() => Idempotency) | null;
}

/** An answer that is produced while it is sent. */
export interface Download {
  readonly type: string;
  /** The name under which a client stores it; null: the client reads it directly. */
  readonly fileName: string | null;
  /** Its length if known in advance, else null. */
  readonly bytes: number | null;
  /** Produces it, once. Produces the next part when `send` has resolved; an error of `send` ends it. */
  run(send: (part: string | Uint8Array) => Promise<void>): Promise<DownloadEnd>;
}

/** What is known of a download only at its end. */
export interface DownloadEnd {
  /** How many facts and rules the format could not represent; null: it represents everything. */
  readonly omitted: number | null;
}
