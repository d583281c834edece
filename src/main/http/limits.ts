/**
 * What one client may use of the service: the table of limits, each with its reason.
 *
 * They apply to every server, with TLS or without (`connections.ts` sets those that Node enforces). They are fixed;
 * well-behaved clients never hit them. Milliseconds and bytes.
 */
export const limits = {
  /** Request line and headers together. Bounds addresses and query strings too. */
  headBytes: 16 * 1024,
  /** Header lines. The HTTP library would silently drop further ones, perhaps a tenant or a key. */
  headers: 256,
  /** From the opening of a connection, or the first byte of a request, to the end of its head. */
  headMs: 30_000,
  /** An open connection without a request. Longer than the usual 60 s of proxies, which then close first. */
  idleMs: 72_000,
  /** How often both of the above are checked. */
  lookMs: 5000,
  /** For a body that is read whole: time without a byte, and total time. */
  silentBodyMs: 60_000,
  wholeBodyMs: 300_000,
  /** For a streamed body: time without a byte. The producer of an import's lines may have to compute. */
  silentStreamMs: 120_000,
  /** All long bodies that are being read or processed: as many as fit beside the knowledge, at least two. */
  bodiesBytes: 256 * 1024 * 1024,
  /** Bodies up to this length are not counted: the number of connections bounds them. */
  shortBodyBytes: 64 * 1024,
  /** The rest of a refused body is read and discarded, so that the client sees the answer. */
  discardedBytes: 64 * 1024 * 1024,
  discardedMs: 10_000,
  /** An answer of which the client takes nothing for this long: it occupies memory, or pins the rows that it reads. */
  silentAnswerMs: 60_000,
  /**
   * A client that has closed its side may still be waiting for an answer, or be gone: then its question is cancelled.
   */
  halfClosedMs: 250,
  /**
   * Connections of a server; two servers, with TLS and without, stay below the 4096 files that a process may always
   * open.
   */
  connections: 2000,
  /** Pipelined requests on one connection: beyond this number it is not read any further ... */
  waitingRequests: 64,
  /**
   * ... and this many of those already read are kept: only a client that wants to exhaust memory sends more in one
   * piece.
   */
  maxWaitingRequests: 1024,
  /** Open event streams, in total and of one credential, else address, so that no client takes them all. */
  eventStreams: 1000,
  eventStreamsOfOne: 250,
} as const;

export type Limits = { readonly [Name in keyof typeof limits]: number };
