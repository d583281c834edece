/**
 * What one client may use of the service: the table of limits, the rate limit, and what is running for clients.
 *
 * Calls end with an answer, streams last. The number of streams is bounded, in total and per owner, so that no client
 * takes them from others. At shutdown streams end at once; calls get time to finish before they are cancelled.
 */
import { type Cancellation, CancellationSource, EngineError } from '../../engine/index.ts';

/**
 * Each limit with its reason, in milliseconds and bytes. They apply to every server, with TLS or without
 * (`connections.ts` sets those that Node enforces). They are fixed; well-behaved clients never hit them.
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
   * Answers that clients have not taken, over all connections: as much as long bodies may have. Beyond it the clients
   * that took nothing for longest are cut off; how often that is looked at.
   */
  unreadBytes: 256 * 1024 * 1024,
  unreadLookMs: 250,
  /**
   * A client that has closed its side may still be waiting for an answer, or be gone: then its question is cancelled.
   */
  halfClosedMs: 250,
  /**
   * Connections of a server; two servers, with TLS and without, stay below the 4096 files that a process may always
   * open.
   */
  connections: 2000,
  /** Connections that wait to be accepted: beyond this number clients of a burst would try again after a second. */
  waitingConnections: 4096,
  /**
   * Of them, those of one address, an IPv6 network counting as one: at most this many that are idle, or have sent only
   * a part of a request; beyond it the ones that were silent for longest are closed ...
   */
  quietOfOne: 256,
  /** ... and this many with those that wait for an answer or read a stream: so one address never takes them all. */
  connectionsOfOne: 1500,
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

/** One call or stream. Cancelled when its client has disconnected or the service can wait no longer. */
export interface Task extends Cancellation {
  /** True if the service aborted it, not the client. */
  readonly isCutOff: boolean;
  cancel(): void;
  done(): void;
}

/** Counts and bounds what is running, and ends it at shutdown. */
export class Activity {
  readonly #calls = new Set<RunningTask>();
  readonly #streams = new Set<RunningTask>();
  /** Open streams by owner. */
  readonly #owned = new Map<string, number>();
  #whenIdle: (() => void) | null = null;
  #started = 0;

  /** Number of running calls. */
  get running(): number {
    return this.#calls.size;
  }

  /** Number of calls so far. */
  get started(): number {
    return this.#started;
  }

  startCall(): Task {
    this.#started++;
    return this.#start(this.#calls);
  }

  /** `owner` is a credential or an address. Refuses with RateLimited. */
  startStream(owner: string): Task {
    const owned = this.#owned.get(owner) ?? 0;
    if (this.#streams.size >= limits.eventStreams) throw tooMany(this.#streams.size, 'of all clients');
    if (owned >= limits.eventStreamsOfOne) throw tooMany(owned, 'of this credential or address');
    this.#owned.set(owner, owned + 1);
    return this.#start(this.#streams, () => {
      const left = (this.#owned.get(owner) ?? 1) - 1;
      if (left === 0) this.#owned.delete(owner);
      else this.#owned.set(owner, left);
    });
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.cutOff();
  }

  cancelCalls(): void {
    for (const call of this.#calls) call.cutOff();
  }

  /** Resolves when no call is running, or after `limitMs`; true if all have finished. */
  async idle(limitMs: number): Promise<boolean> {
    if (this.#calls.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
    this.#whenIdle = null;
    return this.#calls.size === 0;
  }

  #start(tasks: Set<RunningTask>, onDone: () => void = () => {}): Task {
    const task = new RunningTask(() => {
      if (!tasks.delete(task)) return;
      onDone();
      if (this.#calls.size === 0) this.#whenIdle?.();
    });
    tasks.add(task);
    return task;
  }
}

class RunningTask extends CancellationSource implements Task {
  readonly #onDone: () => void;
  isCutOff = false;

  constructor(onDone: () => void) {
    super();
    this.#onDone = onDone;
  }

  cutOff(): void {
    this.isCutOff = true;
    this.cancel();
  }

  done(): void {
    this.#onDone();
  }
}

function tooMany(count: number, whose: string): EngineError {
  const message = `${count} streams ${whose} are open: close some, or try again in 5 s`;
  return new EngineError('RateLimited', message, { retryAfterSeconds: 5 });
}

interface RateLimit {
  /** Takes a token of `client`, or refuses with RateLimited and the seconds until there is one. */
  take(client: string): void;
  /** Refuses like `take` a client that has no token, and takes none. */
  require(client: string): void;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was computed, in milliseconds of the clock. */
  at: number;
}

const maxBuckets = 100_000;
/** Buckets checked with each call. */
const lookedAt = 4;

/**
 * Creates a rate limit: a token bucket for each credential, else address. `now` returns milliseconds.
 *
 * A bucket has a minute's worth and refills evenly, so a client may come in bursts but not for long. Full buckets carry
 * no information and are dropped, a few with each call; there are never more than `most`, and the least recently used
 * one goes first. An IPv6 address counts by its network, since one client has all addresses of it.
 */
export function createRateLimit(perMinute: number, now: () => number, most = maxBuckets): RateLimit {
  const perMs = perMinute / 60_000;
  /** Least recently used first. */
  const buckets = new Map<string, Bucket>();
  const level = (bucket: Bucket, at: number): number =>
    Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMs);
  /** The bucket's level, refused if it has no token. */
  const required = (client: string, at: number): number => {
    const bucket = buckets.get(client);
    const tokens = bucket === undefined ? perMinute : level(bucket, at);
    if (tokens >= 1) return tokens;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perMs / 1000));
    const message = `more than ${perMinute} requests a minute: try again in ${retryAfterSeconds} s`;
    throw new EngineError('RateLimited', message, { retryAfterSeconds });
  };
  return {
    require: (client) => void required(client, now()),
    take(client) {
      const at = now();
      let left = lookedAt;
      for (const [name, bucket] of buckets) {
        if (left-- === 0 || (buckets.size < most && level(bucket, at) < perMinute)) break;
        if (name !== client) buckets.delete(name);
      }
      const tokens = required(client, at);
      buckets.delete(client);
      buckets.set(client, { tokens: tokens - 1, at });
    },
  };
}
