import { type Caller, signalOf } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { JsonText } from '../base/json-text.ts';
import type { RetainedBase, RetainedLog } from '../log/retained.ts';
import { RetainedFileGone } from '../log/retained.ts';
import { StartupError } from '../log/startup-error.ts';
import { PastLost } from '../session/past-copies.ts';
import type { PastElsewhere, PastQuestion, PastThere, SendBytes } from '../session/past-knowledge.ts';
import type { LateBase, LostPast, WantedPast } from '../state/past-state.ts';
import { Pieces } from './pieces.ts';
import type { AskPast, FoldedThere, FoldPast, PastCaller, PastMessage, ThreadReply } from './messages.ts';

/** How the reasoning thread that was asked ended before it replied: by itself, or since it was replaced. */
export type Ending = 'ended' | 'replaced';

/** A thread as its copies of the past need it. */
export interface PastThread {
  /** Its copies of the past, which are lost with it. */
  readonly pasts: Set<PastOnThread>;
  /** Posts a message in this turn; resolves with the reply, after `pieces` were taken. Rejects as `waiting` says. */
  exchange(
    make: (id: number) => PastMessage,
    waiting: Waiting,
    pieces?: Pieces | null,
  ): Promise<ThreadReply | Ending>;
}

/**
 * How long a reply is waited for. When the signal aborts, and after `waitMs`, the thread is told to cancel what it was asked;
 * then the wait ends with an AbortError, or with what `late` makes. Without `late` the thread is replaced instead.
 */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly late: (() => Error) | null;
}

/** The threads that can rebuild the past. */
export interface PastThreadPool {
  /** False: no thread starts here, or threads cannot read the log. */
  readonly isPossible: boolean;
  /** The one with the least to do. */
  thread(): PastThread;
  /** Bytes that one copy may take. */
  readonly maxBytes: number;
  /** Called with each question. */
  readonly asked: () => void;
}

/** After this time a thread that was asked to drop a copy is replaced, in milliseconds. */
const dropWithinMs = 1000;

/** Rebuilds earlier knowledge on reasoning threads, which read the retained files themselves. */
export class PastThreads implements PastElsewhere {
  readonly #pool: PastThreadPool;
  /** What is being rebuilt. */
  readonly #folding = new Set<PastOnThread>();
  #nextPast = 1;

  constructor(pool: PastThreadPool) {
    this.#pool = pool;
  }

  get isPossible(): boolean {
    return this.#pool.isPossible;
  }

  async fold(
    { database, tenant }: Caller,
    retained: RetainedLog,
    base: RetainedBase,
    wanted: WantedPast,
  ): Promise<PastThere | LateBase | LostPast> {
    const past = new PastOnThread(this.#pool.thread(), this.#nextPast++, this.#pool.asked);
    const range = retained.rangeFrom(base);
    this.#folding.add(past);
    try {
      return await past.fold({
        ...wanted,
        owner: { database, tenant },
        range,
        maxBytes: this.#pool.maxBytes,
      });
    } finally {
      this.#folding.delete(past);
    }
  }

  async abandon(): Promise<void> {
    await Promise.all(Array.from(this.#folding, (past) => past.drop()));
  }
}

/** A copy on one of the threads. */
export class PastOnThread implements PastThere {
  readonly #thread: PastThread;
  readonly #number: number;
  readonly #asked: () => void;
  generation = 0;
  stamp = 0;
  wall = 0;
  nextStamp = Number.POSITIVE_INFINITY;
  /** Of the copy and of what is derived from it, as the thread last said. */
  bytes = 0;
  isThere = true;

  constructor(thread: PastThread, number: number, asked: () => void) {
    this.#thread = thread;
    this.#number = number;
    this.#asked = asked;
    thread.pasts.add(this);
  }

  /** Rebuilds it. Rejects like `PastFolding.fold`; it is gone then. */
  async fold(wanted: Omit<FoldPast, 'kind' | 'id' | 'past'>): Promise<PastThere | LateBase | LostPast> {
    try {
      const make = (id: number): FoldPast => ({ kind: 'foldPast', id, past: this.#number, ...wanted });
      const folded = this.#valueOf(await this.#thread.exchange(make, forever)) as FoldedThere;
      if ('generation' in folded) {
        const { nextStamp, ...rest } = folded;
        return Object.assign(this, { ...rest, nextStamp: nextStamp ?? Number.POSITIVE_INFINITY });
      }
      this.#leave();
      if ('gone' in folded) throw new RetainedFileGone(folded.gone);
      if ('unreadable' in folded) throw new StartupError(folded.unreadable);
      return folded;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  async ask(
    caller: Caller,
    { reading, input, time, timeoutMs, startedAt }: PastQuestion,
    send: SendBytes | null,
  ): Promise<unknown> {
    if (!this.isThere) throw new PastLost(false);
    this.#asked();
    const named = namedOf(caller);
    const asked = { past: this.#number, reading, input, time, timeoutMs };
    const askedAt = performance.timeOrigin + startedAt;
    const make = (id: number): AskPast => ({ kind: 'askPast', id, caller: named, askedAt, ...asked });
    const waitMs = timeoutMs - (performance.now() - startedAt);
    const late = (): Error =>
      new EngineError(
        'InferenceLimitExceeded',
        `the question took longer than ${timeoutMs} ms; ask something narrower, bind an argument, or raise timeoutMs`,
        { limit: 'timeoutMs', elapsedMs: Math.round(performance.now() - startedAt) },
      );
    const pieces = send === null ? null : new Pieces({ begun: () => {}, take: send });
    const reply = await this.#thread.exchange(make, { signal: signalOf(caller), waitMs, late }, pieces);
    // What is being taken is taken whole, before anything else may follow it.
    await pieces?.taken();
    return this.#valueOf(reply, maxParsedBytes);
  }

  async drop(): Promise<void> {
    if (!this.isThere) return;
    this.#leave();
    const make = (id: number) => ({ kind: 'dropPast', id, past: this.#number }) as const;
    await this.#thread.exchange(make, { ...forever, waitMs: dropWithinMs });
  }

  /** The thread has ended. */
  lost(): void {
    this.isThere = false;
  }

  #leave(): void {
    this.isThere = false;
    this.#thread.pasts.delete(this);
  }

  /** The value of the answer, a text of more than so many bytes as it is. Throws what it was refused with. */
  #valueOf(reply: ThreadReply | Ending, maxBytes = Number.POSITIVE_INFINITY): unknown {
    if (typeof reply === 'string') throw new PastLost(reply === 'ended');
    switch (reply.kind) {
      case 'refused':
        throw new EngineError(reply.code, reply.message, reply.members);
      case 'failed':
        throw new Error(`a reasoning thread failed: ${reply.stack}`);
      case 'cancelled':
        // The thread does not have it any more, or was told to drop it.
        void this.drop();
        throw new PastLost(false);
      case 'answer': {
        this.bytes = reply.bytes;
        const text = new JsonText(reply.parts);
        return text.bytes > maxBytes ? text : text.value();
      }
    }
  }
}

/** JSON up to this length is parsed at once: the answer is then like any other. */
const maxParsedBytes = 64 * 1024;

/** Until the thread replies or ends. */
const forever: Waiting = {
  signal: new AbortController().signal,
  waitMs: Number.POSITIVE_INFINITY,
  late: null,
};

function namedOf(caller: Caller): PastCaller {
  const {
    signal: _signal,
    moment: _moment,
    onKnown: _onKnown,
    idempotency: _key,
    ifMatch: _match,
    ...named
  } = caller;
  return named;
}
