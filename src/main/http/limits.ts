/**
 * What one client may take of the service: the table of limits, each with its reason.
 *
 * They hold for every server that takes connections, with TLS or without (`connections.ts` sets what Node can see to),
 * and none is for a user to set: whoever stays within HTTP's good manners never meets one. Milliseconds and bytes.
 */
export const limits = {
  /** Request line and headers together. Bounds addresses and query strings too. */
  headBytes: 16 * 1024,
  /** Header lines. More would be left out in silence by the HTTP library, a tenant or a key perhaps. */
  headers: 256,
  /** From a connection's opening, or a request's first byte, to the end of its head: who says nothing is cut off. */
  headMs: 30_000,
  /** An open connection without a request. Longer than the usual 60 s of proxies, which then close first. */
  idleMs: 72_000,
  /** How often connections are looked at for both. */
  lookMs: 5000,
  /** A body that is read whole: no byte for so long, and all in all. */
  silentBodyMs: 60_000,
  wholeBodyMs: 300_000,
  /** A body that is streamed: no byte for so long. What makes the lines of an import may have to think. */
  silentStreamMs: 120_000,
  /** All long bodies that are being read or worked on: as many as fit beside the knowledge, and two at least. */
  bodiesBytes: 256 * 1024 * 1024,
  /** Bodies up to here are not counted: what they take is bounded by the number of connections. */
  shortBodyBytes: 64 * 1024,
  /** What follows a refused body is read and thrown away, so that the client gets to see the answer. */
  discardedBytes: 64 * 1024 * 1024,
  discardedMs: 10_000,
  /** An answer of which the client takes nothing for so long: it holds memory, or the rows that it reads. */
  silentAnswerMs: 60_000,
  /** A client that has closed its side may still be waiting for an answer, or have gone: then its question ends. */
  halfClosedMs: 250,
  /** Connections of a server; of two, with TLS and without, below the 4096 files that a process may always open. */
  connections: 2000,
  /** Requests that came on one connection while another one is worked on: then it is read no further ... */
  waitingRequests: 64,
  /** ... and of what was read already so many are kept: more come in one piece only from who wants to take memory. */
  mostWaitingRequests: 1024,
  /** Open streams of changes, and those of one credential, else address: nobody takes them all. */
  eventStreams: 1000,
  eventStreamsOfOne: 250,
} as const;

export type Limits = { readonly [Name in keyof typeof limits]: number };
