import { type Caller, signalOf } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { JsonText } from '../base/json-text.ts';
import type { RelationCount } from '../datalog/maintain/reasoner.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { LiveState } from '../session/live-state.ts';
import { defaultLimits } from '../session/read-limits.ts';
import type { ConclusionsElsewhere, FactCopies, KnownAtoms, ReadContext } from '../session/read-context.ts';
import type { TenantState } from '../state/state.ts';
import { Tuples } from '../store/tuples.ts';
import { CopyFeed, isAtHand, type Reached, copyLimits } from './copy-feed.ts';
import { HeavyShapes } from './heavy-shapes.ts';
import { StartAttempts } from './start-attempts.ts';
import { AnswerLost, Pieces, type PieceTaker } from './pieces.ts';
import {
  type Ending,
  type PastThread,
  type PastThreadPool,
  PastThreads,
  type Waiting,
} from './past-threads.ts';
import type {
  FromReasoningThread,
  RemoteConclusions,
  RemoteTask,
  ThreadReply,
  ToReasoningThread,
} from './messages.ts';

/** A thread as its owner has it. After `terminate` it says nothing more. */
export interface ThreadLink {
  post(message: ToReasoningThread, transfer: readonly ArrayBuffer[]): void;
  terminate(): void;
}

/** Starts reasoning threads. */
export interface ThreadHost {
  /** How many there may be. */
  readonly count: number;
  /**
   * Milliseconds of processor time that a question has on the serving thread before it moves; 0: it moves at once, and waits for
   * its copy.
   */
  readonly afterMs: number;
  /** From so many on it stays: what it has done would be done again. */
  readonly untilMs: number;
  /** From so many on it begins on the thread too, once that has its facts: it may take until its limits. */
  readonly lateMs: number;
  /** Beside that it goes on here, unless another question does, until it has built so many bytes, */
  readonly bothBytes: number;
  /** or has had so many times the processor time that it had when it began there. */
  readonly bothTimes: number;
  /** Whether its threads can read the retained files of the log. */
  readonly readsLog: boolean;
  /** `ended`: it ended by itself, with what it failed of. */
  start(on: { message(message: FromReasoningThread): void; ended(error: unknown): void }): ThreadLink;
}

/** Numbers of the reasoning threads now. */
export interface ThreadFigures {
  /** How many there may be, and how many run: one starts when a question takes long. */
  readonly threads: number;
  readonly runningThreads: number;
  /** Questions that they answer, and questions that wait for a copy of their facts. */
  readonly questions: number;
  readonly waitingQuestions: number;
  readonly copies: number;
  /** Bytes of copies, and of what is derived from them. */
  readonly bytes: number;
  /** Number of conclusions in their answer tables. */
  readonly conclusions: number;
}

/** Of no threads. */
export const noFigures: ThreadFigures = {
  threads: 0,
  runningThreads: 0,
  questions: 0,
  waitingQuestions: 0,
  copies: 0,
  bytes: 0,
  conclusions: 0,
};

/** Totals since the start. */
export interface ThreadCounters {
  /** Questions that moved to a thread. */
  readonly movedQuestions: number;
  /** Threads that were replaced. */
  readonly replacedThreads: number;
}

/**
 * The caller waits so much longer than its time for a thread that does not answer, in milliseconds. Of the 250 that it may
 * wait the rest is for turns of this thread, and of the machine's other programs.
 */
const lateMs = 50;
/** After this time a thread that does not reply to a cancelled question is replaced. */
const replyWithinMs = 1000;
/** How often a question is begun again because its thread ended. */
const maxStarts = 3;
/** JSON up to this length is parsed at once: the answer is then like any other. */
const maxParsedBytes = 64 * 1024;
/** What earlier questions concluded has to be told within this time, in milliseconds. */
const toldWithinMs = 2000;

/** What a task needs of the copy. */
export interface Reach extends Reached {
  /** Those whose conclusions become known with the answer: it leaves them in tables that others use. */
  readonly goals: readonly string[];
}

/** What is posted for a task. */
interface Posted {
  readonly task: RemoteTask;
  /** See `RemoteQuestion`; absent: null. */
  readonly writes?: Uint8Array | null;
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  /** In the state that it sees, looked at again in each turn before it is posted; null: it cannot be answered there. */
  readonly reach: (now: ReadContext) => Reach | null;
  /** False: nothing is evicted for a copy of what it reaches. Absent: true. */
  readonly evicts?: boolean;
  /** True: nobody waits for it. Absent: false. */
  readonly isAhead?: boolean;
  /** Takes what the task streams; absent: it streams nothing. */
  readonly stream?: PieceTaker;
  /** Of a question that goes on here meanwhile. */
  readonly both?: Both | undefined;
}

/** A question that moves. `shape`: see `shapeOfQuestion`; null: what it weighs is known before. */
export interface MovedQuestion extends Posted {
  readonly shape: string | null;
}

/** What the thread's answer counts as if the question goes on here meanwhile. */
export interface Both {
  /** How often rules had fired when it began there: what they fire here from then on is not counted again. */
  readonly firedBefore: ReadonlyMap<string, number>;
  /** Called in the turn in which the answer comes; false: the question was answered here. */
  claim(): boolean;
}

/** `value`: an answer, `JsonText` if it is long. `used`: numbers of facts, some perhaps gone. `context`: what it saw. */
export interface MovedAnswer {
  readonly value: unknown;
  readonly used: Int32Array;
  readonly context: ReadContext;
}

type Reply = Extract<ThreadReply, { readonly kind: 'answer' }>;

/** A question on a thread. `pieces`: of its answer, if it streams one. */
interface Asked {
  readonly settle: (reply: ThreadReply | Ending) => void;
  readonly pieces: Pieces | null;
}

/** What a task was posted with, in one turn with the check that nothing is missing. */
interface Sent {
  readonly thread: Thread;
  readonly feed: CopyFeed;
  readonly now: ReadContext;
  readonly reached: Reached;
  readonly reply: Promise<ThreadReply | Ending>;
  readonly pieces: Pieces | null;
}

/** What a task came to. `hasBegun`: some of its answer was taken. */
interface Replied extends Pick<Sent, 'now'> {
  readonly reply: ThreadReply | Ending;
  readonly hasBegun: boolean;
}

interface Thread extends PastThread {
  readonly link: ThreadLink;
  readonly feeds: Map<TenantState, CopyFeed>;
  readonly asked: Map<number, Asked>;
  /** Questions that nobody waits for, which it has to reply to. */
  readonly givenUp: Map<number, ReturnType<typeof setTimeout>>;
  /** It has said something. */
  isThere: boolean;
}

/** What the reasoning threads need of the engines whose questions they answer. */
export interface ReasoningThreadsParts {
  /** The knowledge of the database with this name, or of any if there is none. */
  readonly liveOf: (database: string) => LiveState;
  readonly host: ThreadHost;
  readonly memory: MemoryBudget;
  readonly onBug: (error: unknown) => void;
  readonly onWarn: (message: string) => void;
}

/**
 * The threads to which heavy questions move, and the copies of facts that they have.
 *
 * A tenant's copy is on one thread. A question is posted with the generation and the time that it sees, after everything
 * that was published before, so it sees what was answered before it came. What the answer used and concluded comes back
 * with it, since uses, events and dependents stay here. A thread that ends is replaced, and its questions begin again.
 */
export class ReasoningThreads implements FactCopies {
  /** Copies of the past on these threads. */
  readonly past: PastThreads;
  readonly #parts: ReasoningThreadsParts;
  readonly #threads: (Thread | null)[];
  readonly #heavy = new HeavyShapes();
  #nextCopy = 1;
  #nextQuestion = 1;
  /** Questions that wait for their copies. */
  #waiting = 0;
  /** Tenants of which something is copied ahead. */
  readonly #ahead = new Set<TenantState>();
  /** Tenants of which a question goes on here for want of a copy. */
  readonly #staying = new Set<TenantState>();
  /** A question goes on here and on a thread: the processor has no room for more. */
  #isAnyBoth = false;
  readonly #starts: StartAttempts;
  #isClosed = false;
  readonly #counters = { movedQuestions: 0, replacedThreads: 0 };

  constructor(parts: ReasoningThreadsParts) {
    this.#parts = parts;
    this.#starts = new StartAttempts(parts.onWarn);
    this.#threads = Array.from({ length: parts.host.count }, () => null);
    this.past = new PastThreads(this.#pastPool());
  }

  figures(): ThreadFigures {
    const figures = { ...noFigures, threads: this.#threads.length, waitingQuestions: this.#waiting };
    for (const thread of this.#threads) {
      if (thread === null) continue;
      if (thread.isThere) figures.runningThreads++;
      figures.questions += thread.asked.size;
      figures.copies += thread.feeds.size + thread.pasts.size;
      for (const { bytes } of thread.pasts) figures.bytes += bytes;
      for (const { bytes, derived } of thread.feeds.values()) {
        figures.bytes += bytes;
        figures.conclusions += derived;
      }
    }
    return figures;
  }

  counters(): ThreadCounters {
    return this.#counters;
  }

  /** When questions move, by what they have had here. */
  get host(): Omit<ThreadHost, 'count' | 'readsLog' | 'start'> {
    return this.#parts.host;
  }

  /**
   * True if the tenant's thread is there. If there is none, one is started: threads cost processor time and memory, so
   * there is none before a question takes long, and a question waits for none.
   */
  isThere(caller: Caller): boolean {
    const tenant = this.#tenantOf(caller);
    if (tenant === undefined || this.#starts.arePaused || this.#isClosed) return false;
    return this.#threadAt(this.#placeOf(tenant)).isThere;
  }

  /** True if the question goes to a thread at once, since others of its shape took too long here. */
  isHeavy(caller: Caller, shape: string): boolean {
    if (this.host.afterMs === 0) return true;
    const tenant = this.#tenantOf(caller);
    return tenant !== undefined && this.#heavy.has(tenant, shape) && this.isThere(caller);
  }

  noteHeavy(caller: Caller, shape: string): void {
    const tenant = this.#tenantOf(caller);
    if (tenant !== undefined) this.#heavy.add(tenant, shape);
  }

  /** True if the tenant's thread is there, and has all but a few of the facts that the question reaches. */
  isAtHand(caller: Caller, reach: Posted['reach']): boolean {
    const tenant = this.#tenantOf(caller);
    if (tenant === undefined || !this.isThere(caller)) return false;
    const reached = reach(this.#parts.liveOf(caller.database).pin(caller, defaultLimits));
    return reached !== null && isAtHand(this.#feedOf(tenant), tenant, reached);
  }

  #feedOf(tenant: TenantState): CopyFeed | null {
    for (const thread of this.#threads) {
      const feed = thread?.feeds.get(tenant);
      if (feed !== undefined) return feed;
    }
    return null;
  }

  /** Lets a question of the tenant go on here without a copy until the returned function is called; null: another one does. */
  stay(tenant: TenantState): (() => void) | null {
    if (this.#staying.has(tenant)) return null;
    this.#staying.add(tenant);
    return () => this.#staying.delete(tenant);
  }

  /** Lets a question go on here and on a thread until the returned function is called; null: another one does. */
  both(): (() => void) | null {
    if (this.#isAnyBoth) return null;
    this.#isAnyBoth = true;
    return () => (this.#isAnyBoth = false);
  }

  /**
   * Begins to copy what the question reaches, for those after it, in few turns while questions of the tenant run here. False:
   * something of the tenant is being copied in this way already.
   */
  copyAhead(
    caller: Caller,
    context: ReadContext,
    question: Pick<MovedQuestion, 'reach' | 'evicts'>,
  ): boolean {
    const { tenant } = context;
    if (this.#ahead.has(tenant)) return false;
    if (this.#isClosed || this.#starts.arePaused) return true;
    this.#ahead.add(tenant);
    this.#copyAhead(caller, context, question)
      .catch((error: unknown) => {
        // The service ends, or the database is gone.
        if (!(error instanceof EngineError)) this.#parts.onBug(error);
      })
      .finally(() => this.#ahead.delete(tenant));
    return true;
  }

  async #copyAhead(
    { database, tenant }: Caller,
    context: ReadContext,
    { reach, evicts = true }: Pick<MovedQuestion, 'reach' | 'evicts'>,
  ): Promise<void> {
    const { reasoner } = context;
    const pacer = reasoner.pacer(copyLimits, async () => this.#feedOf(context.tenant)?.leaveTurns(reasoner));
    const task = { kind: 'takenIn', input: null } as const;
    const { timeoutMs, maxDerivations, signal } = copyLimits;
    const posted = { task, timeoutMs, maxDerivations, reach, evicts, isAhead: true };
    // In a turn without the question's slice: what it reaches may be thousands of relations.
    await pacer.rest();
    await this.#asked({ database, tenant, signal }, { ...context, pacer }, posted);
  }

  #tenantOf({ database, tenant }: Caller): TenantState | undefined {
    return this.#parts.liveOf(database).databaseNamed(database)?.tenants.get(tenant);
  }

  changed(tenant: TenantState, facts: readonly number[]): void {
    for (const thread of this.#threads)
      if (thread?.feeds.get(tenant)?.changed(facts) === false) this.#drop(thread, tenant);
  }

  forget(tenant: TenantState): void {
    for (const thread of this.#threads) if (thread !== null) this.#drop(thread, tenant);
  }

  #drop({ feeds }: Thread, tenant: TenantState): void {
    const feed = feeds.get(tenant);
    if (feed === undefined) return;
    feeds.delete(tenant);
    this.#parts.memory.forget(feed);
    feed.drop();
  }

  /**
   * Answers the question on the tenant's thread; null: it cannot be asked there. The context is that of a running read.
   * Small answers are objects, and long ones text. Rejects with AnswerLost if it was streamed in part.
   */
  async ask(caller: Caller, context: ReadContext, question: MovedQuestion): Promise<MovedAnswer | null> {
    if (context.database.tenants.get(caller.tenant) !== context.tenant || this.#starts.arePaused) return null;
    if (question.both === undefined) this.#counters.movedQuestions++;
    for (let ends = 0; ends < maxStarts; ) {
      const replied = await this.#asked(caller, context, question);
      if (replied === null) return null;
      const { reply, now } = replied;
      if (typeof reply === 'string') {
        if (replied.hasBegun) throw new AnswerLost();
        if (this.#starts.arePaused) return null;
        if (reply === 'ended') ends++;
        continue;
      }
      if (reply.kind === 'answer' && question.both !== undefined) {
        if (!question.both.claim()) throw new DOMException('it was answered here', 'AbortError');
        this.#counters.movedQuestions++;
      }
      const taken = await this.#taken(reply, now);
      if (question.shape !== null) this.#heavy.weighed(context.tenant, question.shape, taken.weight);
      return { ...taken, context: now };
    }
    // What streams its answer needs little memory here.
    if (question.stream !== undefined) return null;
    throw context.pacer.exceeded('memory', 'the thread that answered the question ended several times');
  }

  /** Posts the task when the copy has what it needs, and takes the reply; null: it cannot be posted. */
  async #asked(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    context: ReadContext,
    posted: Posted,
  ): Promise<Replied | null> {
    const waits = posted.isAhead === true ? 0 : 1;
    this.#waiting += waits;
    const sent = await this.#sent(caller, context, posted).finally(() => (this.#waiting -= waits));
    if (sent === null) return null;
    const { thread, feed, now, pieces } = sent;
    try {
      const reply = await sent.reply;
      if (typeof reply !== 'string') this.#noteReply(feed, thread, reply, now, posted.both);
      if (typeof reply !== 'string' && reply.kind === 'answer') feed.noteTaken(sent.reached);
      // What is being taken is taken whole, before anything else may follow it.
      else await pieces?.taken();
      return { reply, now, hasBegun: pieces?.hasBegun === true };
    } finally {
      feed.users--;
      // Made for exports alone, it is of use to nobody until the next one.
      if (!feed.isAsked && feed.users === 0 && thread.feeds.get(now.tenant) === feed)
        this.#drop(thread, now.tenant);
    }
  }

  conclusionsOf(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    tenant: TenantState,
  ): ConclusionsElsewhere | null {
    if (!this.#threads.some((thread) => thread?.feeds.has(tenant))) return null;
    const told = async <Told>(context: ReadContext, task: RemoteTask): Promise<readonly Told[]> =>
      ((await this.#told(caller, context, task)) as readonly Told[] | null) ?? [];
    return {
      dependentsOf: async (context, { relation, row }) =>
        told<string>(context, { kind: 'dependents', input: { fact: relation.number[row] as number } }),
      counts: async (context, view) => told<RelationCount>(context, { kind: 'counts', input: { view } }),
      mentions: async (context, view, names) =>
        told<KnownAtoms>(context, { kind: 'mentions', input: { view, names } }),
    };
  }

  /** What earlier questions concluded on the tenant's thread; null: it does not say in time, or of this state. */
  async #told(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    context: ReadContext,
    task: RemoteTask,
  ): Promise<unknown> {
    const { tenant, reader } = context;
    if (context.database.tenants.get(caller.tenant) !== tenant || reader.overlay !== null) return null;
    const pacer = context.pacer.within(toldWithinMs);
    const limits = { timeoutMs: toldWithinMs, maxDerivations: context.pacer.limits.maxDerivations };
    try {
      const reach = (): Reach => ({ goals: [], relations: [] });
      const replied = await this.#asked(caller, { ...context, pacer }, { task, ...limits, reach });
      if (replied === null) return null;
      const { reply, now } = replied;
      if (typeof reply === 'string') return null;
      if (reply.kind !== 'answer') throw errorOf(reply);
      return now.reader.version === reader.version ? new JsonText(reply.parts).value() : null;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'InferenceLimitExceeded') return null;
      throw error;
    }
  }

  /**
   * Posts the task with a reader of this turn, as soon as the copy is up to date: between that check and the message
   * nothing else runs, so no copy is evicted that a question is about. The caller ends the use of the feed.
   */
  async #sent(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    context: ReadContext,
    posted: Posted,
  ): Promise<Sent | null> {
    const { liveOf, memory } = this.#parts;
    const live = liveOf(caller.database);
    for (;;) {
      live.refuseClosed();
      context.pacer.look();
      const now = { ...live.pin(caller, context.pacer.limits), pacer: context.pacer };
      // Another tenant of this name may have come meanwhile, or threads may have ended while the copy was posted.
      if (now.tenant !== context.tenant || this.#starts.arePaused) return null;
      const reached = posted.reach(now);
      if (reached === null) return null;
      const { goals, relations } = reached;
      const { thread, feed } = this.#homeOf(caller, now);
      if (feed.isOvergrown) {
        this.#drop(thread, now.tenant);
        continue;
      }
      if (feed.isCurrent(reached, now.database)) {
        feed.users++;
        feed.isAsked ||= posted.stream === undefined;
        posted.stream?.begun(now);
        const replied = this.#reply(thread, feed, caller, now, { ...posted, goals });
        return { thread, feed, now, reached, ...replied };
      }
      const more = feed.bytesOf(relations);
      memory.use(feed, feed.bytes);
      feed.users++;
      try {
        if (posted.evicts === false && memory.heldBytes + more > memory.limit) return null;
        if (!memory.fits(feed.bytes + more, feed)) return null;
        feed.bytes += more;
        await (posted.isAhead === true ? feed.follow(reached, now) : feed.followNow(reached, now));
      } finally {
        feed.users--;
      }
    }
  }

  #pastPool(): PastThreadPool {
    const isPossible = (): boolean => {
      const { readsLog, afterMs, count } = this.#parts.host;
      return readsLog && count > 0 && Number.isFinite(afterMs) && !this.#isClosed && !this.#starts.arePaused;
    };
    return {
      get isPossible() {
        return isPossible();
      },
      maxBytes: this.#parts.memory.limit,
      thread: () => this.#threadAt(this.#placeOf(null)),
      asked: () => this.#counters.movedQuestions++,
    };
  }

  /**
   * The number of the thread with the tenant's copy, else of the one with the fewest questions and copies. null: no tenant's.
   */
  #placeOf(tenant: TenantState | null): number {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [at, thread] of this.#threads.entries()) {
      if (tenant !== null && thread?.feeds.has(tenant) === true) return at;
      const load = thread === null ? 0 : thread.asked.size * 1000 + thread.feeds.size + thread.pasts.size;
      if (load < least) [best, least] = [at, load];
    }
    return best;
  }

  /** The tenant's thread, with its copy. */
  #homeOf(
    { database, tenant: name }: Pick<Caller, 'database' | 'tenant'>,
    { tenant }: ReadContext,
  ): { thread: Thread; feed: CopyFeed } {
    const thread = this.#threadAt(this.#placeOf(tenant));
    const known = thread.feeds.get(tenant);
    if (known !== undefined) return { thread, feed: known };
    const number = this.#nextCopy++;
    const feed = new CopyFeed(
      number,
      name,
      tenant,
      (message, transfer) => thread.link.post(message, transfer),
      () => thread.feeds.delete(tenant),
    );
    thread.feeds.set(tenant, feed);
    thread.link.post({ kind: 'open', copy: number, database, tenant: name }, []);
    return { thread, feed };
  }

  #threadAt(at: number): Thread {
    const known = this.#threads[at] ?? null;
    if (known !== null) return known;
    const thread: Thread = {
      link: this.#parts.host.start({
        message: (message) => this.#took(thread, message),
        ended: (error) =>
          this.#replace(thread, 'ended', 'ended and was replaced; its questions begin again', String(error)),
      }),
      feeds: new Map(),
      asked: new Map(),
      givenUp: new Map(),
      pasts: new Set(),
      isThere: false,
      exchange: (make, waiting, pieces) => this.#exchange(thread, make, waiting, pieces),
    };
    this.#threads[at] = thread;
    return thread;
  }

  #took(thread: Thread, message: FromReasoningThread): void {
    if (!thread.isThere) this.#starts.succeeded();
    thread.isThere = true;
    if (message.kind === 'started') return;
    const { id } = message;
    if (message.kind === 'piece') {
      thread.asked.get(id)?.pieces?.add(message.bytes);
      return;
    }
    clearTimeout(thread.givenUp.get(id));
    thread.givenUp.delete(id);
    thread.asked.get(id)?.settle(message);
  }

  /**
   * Ends the thread. Its copies are gone, and its questions begin again on another one, started when needed. Threads that
   * never said anything are only told of when no more are started for a while.
   */
  #replace(thread: Thread, ending: Ending, what: string, why: string): void {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return;
    if (thread.isThere) this.#parts.onWarn(`A reasoning thread ${what}: ${why}.`);
    else this.#starts.failed(why);
    this.#threads[at] = null;
    this.#counters.replacedThreads++;
    this.#end(thread, ending);
  }

  #end({ link, feeds, asked, givenUp, pasts }: Thread, ending: Ending): void {
    link.terminate();
    for (const timer of givenUp.values()) clearTimeout(timer);
    for (const feed of feeds.values()) {
      feed.lost();
      this.#parts.memory.forget(feed);
    }
    for (const past of pasts) past.lost();
    for (const { settle } of asked.values()) settle(ending);
  }

  /** Posts the question in this turn, and waits for the reply, the end of its time, or its caller's end. */
  #reply(
    thread: Thread,
    { number: copy }: CopyFeed,
    caller: Pick<Caller, 'signal'>,
    now: ReadContext,
    {
      task,
      writes = null,
      goals,
      timeoutMs,
      maxDerivations,
      stream,
    }: Omit<Posted, 'reach'> & { readonly goals: readonly string[] },
  ): Pick<Sent, 'reply' | 'pieces'> {
    const { pacer } = now;
    const { generation, time } = now.reader;
    const askedAt = performance.timeOrigin + pacer.startedAt;
    const lightMs = this.host.afterMs;
    const limits = { timeoutMs, maxDerivations };
    const asked = { copy, generation, time, task, writes, goals, askedAt, lightMs, ...limits };
    const pieces = stream === undefined ? null : new Pieces(stream);
    const waiting = {
      signal: signalOf(caller),
      waitMs: Math.max(0, timeoutMs - pacer.elapsedMs),
      late: () => pacer.exceeded('timeoutMs', `the question took longer than ${timeoutMs} ms`),
    };
    const reply = this.#exchange(thread, (id) => ({ kind: 'ask', id, ...asked }), waiting, pieces);
    return { reply, pieces };
  }

  /** See `PastThread.exchange`; `pieces`: of the answer, if it is streamed. */
  #exchange(
    thread: Thread,
    make: (id: number) => ToReasoningThread,
    { signal, waitMs, late }: Waiting,
    pieces: Pieces | null = null,
  ): Promise<ThreadReply | Ending> {
    const id = this.#nextQuestion++;
    let hasReplied = false;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
        thread.asked.delete(id);
      };
      const giveUp = (error: unknown): void => {
        leave();
        pieces?.end();
        if (!hasReplied) this.#giveUp(thread, id);
        reject(error);
      };
      const gone = (): void => giveUp(new DOMException('the client has gone', 'AbortError'));
      const timer = setTimeout(
        () => (late === null ? this.#unresponsive(thread) : giveUp(late())),
        Math.min(maxTimerMs, Math.max(0, waitMs) + lateMs),
      );
      const settle = (reply: ThreadReply | Ending): void => {
        if (pieces === null || typeof reply === 'string') {
          leave();
          pieces?.end();
          resolve(reply);
          return;
        }
        // Nothing is wanted of the thread any more; the caller may go while the last pieces are taken.
        hasReplied = true;
        thread.asked.delete(id);
        void pieces.taken().then(() => {
          leave();
          resolve(reply);
        });
      };
      signal.addEventListener('abort', gone);
      thread.asked.set(id, { settle, pieces });
      pieces?.start(() => thread.link.post({ kind: 'taken', id }, []), giveUp);
      thread.link.post(make(id), []);
      if (signal.aborted) gone();
    });
  }

  /** Cancels a question; the thread is replaced unless it replies. */
  #giveUp(thread: Thread, id: number): void {
    thread.link.post({ kind: 'cancel', id }, []);
    const timer = setTimeout(() => this.#unresponsive(thread), replyWithinMs);
    timer.unref();
    thread.givenUp.set(id, timer);
  }

  #unresponsive(thread: Thread): void {
    const why = `it did not end a question within ${replyWithinMs} ms`;
    this.#replace(thread, 'replaced', 'was replaced', why);
  }

  #noteReply(
    feed: CopyFeed,
    thread: Thread,
    { bytes, derived, fired }: ThreadReply,
    { database }: ReadContext,
    both: Both | undefined,
  ): void {
    const { liveOf, memory } = this.#parts;
    const live = liveOf(database.name);
    if (!feed.isDropped && thread.feeds.get(feed.tenant) === feed) {
      feed.bytes = bytes;
      feed.derived = derived;
      memory.use(feed, bytes);
      memory.fits(bytes, feed);
    }
    // Tallies of a database that is gone would be kept for good.
    if (live.databaseNamed(database.name) !== database) return;
    const tallies = live.talliesOf(database);
    for (const [rule, count] of fired) {
      const tally = tallies.get(rule);
      if (tally === undefined) tallies.set(rule, { fired: count });
      else tally.fired = Math.max(tally.fired, count + (both?.firedBefore.get(rule) ?? tally.fired));
    }
  }

  /** The answer of a reply, with what it rests on; throws what was refused. */
  async #taken(
    reply: ThreadReply,
    now: ReadContext,
  ): Promise<{ value: unknown; used: Int32Array; weight: Reply['weight'] }> {
    if (reply.kind !== 'answer') throw errorOf(reply);
    // Rows that tables here have too are known from now on, as if the question had been asked here.
    if (now.reasoner.program === now.reader.program) now.reasoner.noteAsked(reply.goals);
    await this.#takeConclusions(reply.conclusions, now);
    const { parts, used, weight } = reply;
    const text = new JsonText(parts);
    return { value: text.bytes > maxParsedBytes ? text : text.value(), used, weight };
  }

  /** Makes the conclusions known here, as those of a question in tables of its own. */
  async #takeConclusions(
    all: readonly RemoteConclusions[],
    { reasoner, reader, pacer }: ReadContext,
  ): Promise<void> {
    for (const { columns, count, texts, ...of } of all) {
      if (reasoner.program !== reader.program) return;
      if (columns === null) {
        reasoner.addKnown(of, null, reader);
        continue;
      }
      const rows = new Tuples(of.arity);
      const tuple = new Int32Array(of.arity);
      const { dictionary } = reasoner.facts;
      const ids = texts.map((text) => dictionary.intern(text));
      for (let row = 0; row < count; row++) {
        for (const [position, column] of columns.entries()) {
          const id = column[row] as number;
          tuple[position] = id < 0 ? (ids[-1 - id] as number) : id;
        }
        if (!reasoner.hasDerived(of, tuple)) rows.insert(tuple);
        if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) await pacer.breathe();
      }
      reasoner.addKnown(of, rows, reader);
    }
    if (reasoner.withdrawals.isPending) reasoner.onLeft();
  }

  /** Ends all threads; their questions are refused, and no thread starts any more. */
  close(): void {
    this.#isClosed = true;
    for (const [at, thread] of this.#threads.entries()) {
      this.#threads[at] = null;
      if (thread !== null) this.#end(thread, 'replaced');
    }
  }
}

const rowsBetweenBreaths = 1024;
/** A longer timer would overflow and fire at once. */
const maxTimerMs = 2 ** 31 - 1;

function errorOf(reply: Exclude<ThreadReply, Reply>): Error {
  switch (reply.kind) {
    case 'refused':
      return new EngineError(reply.code, reply.message, reply.members);
    case 'failed':
      return new Error(`a reasoning thread failed: ${reply.stack}`);
    case 'cancelled':
      return new DOMException('the client has gone', 'AbortError');
  }
}
