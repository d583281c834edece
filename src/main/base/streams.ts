/** What operations take and give that is too long to be held: the two sides know each other by these shapes alone. */

import type { Idempotency } from '../../engine/index.ts';

/** A body that is read as it comes. */
export interface Upload {
  /** The media type, in lower case, without parameters. */
  readonly type: string;
  /** Once. Throws where the client goes away before the end. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The idempotency key of the request, with the digest that is known when all was read; null: it has none. */
  readonly once: (() => Idempotency) | null;
}

/** An answer that is made while it is sent. */
export interface Download {
  readonly type: string;
  /** As what a client stores it; null: it is read at once. */
  readonly fileName: string | null;
  /** Its length, where that is known before it is made; else null. */
  readonly bytes: number | null;
  /** Makes it, once. The next part is made when `send` has resolved; what `send` throws ends it. */
  run(send: (part: string | Uint8Array) => Promise<void>): Promise<Sent>;
}

/** What is known of a download only at its end. */
export interface Sent {
  /** How many facts and rules the format could not hold; null: it holds whatever there is. */
  readonly omitted: number | null;
}
