import type { Caller, Moment } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { KnownAt } from '../contract/moments.ts';
import type { Log } from '../log/log.ts';
import {
  bytesOfPast,
  type LateBase,
  type LostPast,
  type PastDatabase,
  rebuilt,
} from '../state/past-state.ts';
import type { DatabaseState } from '../state/state.ts';
import type { LiveState } from './live-state.ts';
import {
  type FoldedPast,
  PastCopies,
  type PastFolding,
  PastLost,
  tooLarge,
  pastGone,
} from './past-copies.ts';
import { type KnowledgeReader, PastReader, type PastReading, PastViews } from './past-reader.ts';
import { defaultLimits } from './read-limits.ts';

/** What the past is read from. */
export interface PastHost {
  readonly live: LiveState;
  readonly log: Pick<Log, 'retained'>;
  readonly scheduler: Scheduler;
  readonly onWarn: (message: string) => void;
  /** null: earlier knowledge is rebuilt on this thread. */
  readonly elsewhere: PastElsewhere | null;
}

/** A question about earlier knowledge, for another thread. */
export interface PastQuestion {
  /** Name of the operation, and its input. */
  readonly reading: string;
  readonly input: unknown;
  /** The instant of valid time. */
  readonly time: number;
  readonly timeoutMs: number;
  /** When it came, as `performance.now()`. */
  readonly startedAt: number;
}

/** Takes the next bytes of an answer, and resolves when others may follow. */
export type SendBytes = (bytes: Uint8Array) => Promise<void>;

/** A copy on another thread. */
export interface PastThere extends FoldedPast {
  /**
   * The answer, `JsonText` if it is long; before it `send` gets what the answer streams. Rejects with what the question was refused
   * with, or with PastLost.
   */
  ask(caller: Caller, question: PastQuestion, send: SendBytes | null): Promise<unknown>;
}

/** Rebuilds earlier knowledge on other threads. */
export interface PastElsewhere extends PastFolding<PastThere> {
  /** False: there is no thread, or it cannot read the log. */
  readonly isPossible: boolean;
}

/** How often a question begins again since its thread ended by itself. */
const maxStarts = 3;

/** A copy on this thread. */
interface PastHere extends FoldedPast {
  readonly database: DatabaseState;
}

/**
 * Picks what a question about a moment reads, and keeps it while it is asked.
 *
 * Valid time over the latest knowledge is read in place: rows whose validity ended are still there, and a reader's time
 * decides which it sees (MVCC). Earlier knowledge is read from a copy of the database, rebuilt from the retained log on
 * another thread, which answers the questions about it, or on this one. A question about the past leaves nothing behind:
 * no uses, no known conclusions.
 */
export class PastKnowledge {
  readonly #host: PastHost;
  readonly #views: PastViews;
  readonly #copies: PastCopies<PastHere>;
  readonly #elsewhere: PastCopies<PastThere> | null;
  /** How often something was erased from the past. */
  #erasures = 0;

  constructor(host: PastHost) {
    this.#host = host;
    const { live, scheduler, elsewhere } = host;
    this.#views = new PastViews({
      memory: live.memory,
      programOf: (database) => live.programOf(database),
      pauseOf: () => scheduler.pauseOf(null, 'ask about the past'),
    });
    this.#copies = new PastCopies<PastHere>(host, this.#foldingHere());
    this.#elsewhere = elsewhere && new PastCopies<PastThere>(host, elsewhere);
  }

  /**
   * Drops all copies, since something was erased from the past; those that are being rebuilt begin again. Resolves when
   * no thread has one any more.
   */
  async forget(): Promise<void> {
    this.#erasures++;
    await Promise.all([this.#copies.forget(), this.#elsewhere?.forget()]);
  }

  /**
   * Reads the moment that the caller names. Rejects with ValidationException if it is in the future, with HistoryGone if
   * it is before the retained history, and with InferenceLimitExceeded if rebuilding it takes too long or too much memory.
   */
  async reading<Result>(
    caller: Caller,
    moment: Moment,
    timeoutMs: number,
    read: (knowledge: KnowledgeReader) => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly generation: number }> {
    const startedAt = performance.now();
    const { database, earlier } = this.#picked(caller, moment);
    if (earlier === null) {
      const time = moment.asOf ?? timeOfLatest(database, moment.asKnown);
      return resultOf(this.#inPlace(caller, database, { time, startedAt, moment }), read);
    }
    const wanted = { caller, database, at: earlier, timeoutMs, startedAt };
    return this.#copies.use(wanted, (copy) => {
      const time = timeIn(copy, caller, database, moment, earlier);
      const since = sinceOf(timeoutMs, startedAt);
      return resultOf(this.#ofCopy(caller, copy, { time, startedAt: since, moment }), read);
    });
  }

  /**
   * Answers the question on the thread that has, or rebuilds, the moment that the caller names; null: it is to be read
   * here. Rejects like `reading`, and with what the question is refused with. If the thread ends, another one answers, and leaves out
   * what `send` got of the same text; NotReady if the text is not the same any more.
   */
  async asking(
    caller: Caller,
    moment: Moment,
    timeoutMs: number,
    { reading, input }: Pick<PastQuestion, 'reading' | 'input'>,
    send: SendBytes | null = null,
  ): Promise<{ readonly result: unknown; readonly generation: number } | null> {
    const startedAt = performance.now();
    const text = send === null ? null : new ResumedText(send);
    for (let ends = 0; ; ) {
      const { database, earlier } = this.#picked(caller, moment);
      if (earlier === null || this.#elsewhere === null || this.#host.elsewhere?.isPossible !== true) {
        text?.refuseSent();
        return null;
      }
      try {
        const wanted = { caller, database, at: earlier, timeoutMs, startedAt };
        return await this.#elsewhere.use(wanted, async (copy) => {
          const time = timeIn(copy, caller, database, moment, earlier);
          const since = sinceOf(timeoutMs, startedAt);
          const limits = { ...defaultLimits, timeoutMs, startedAt: since };
          const question = { reading, input, time, timeoutMs, startedAt: since };
          if (text !== null) {
            const { generation } = copy;
            if (text.isNew) moment.onKnown?.(generation);
            // Its reader may be slow: it has no place of those for running questions.
            const from = text.from(`${generation} ${time} ${this.#erasures}`);
            return { result: await copy.ask(caller, question, from), generation };
          }
          const result = await this.#host.live.asQuestion(caller, limits, () =>
            copy.ask(caller, question, null),
          );
          // It may have been erased meanwhile.
          if (!copy.isThere) throw new PastLost(false);
          return { result, generation: copy.generation };
        });
      } catch (error) {
        if (!(error instanceof PastLost)) throw error;
        if (error.isByItself && ++ends >= maxStarts && this.#host.elsewhere.isPossible)
          throw endedOften(performance.now() - startedAt);
      }
    }
  }

  /** What the moment is read from; `earlier`: null is the latest knowledge. */
  #picked(
    caller: Caller,
    { asKnown }: Moment,
  ): { readonly database: DatabaseState; readonly earlier: KnownAt | null } {
    const { live } = this.#host;
    live.refuseClosed();
    const database = live.database(caller);
    if (asKnown !== null) this.#refuse(caller, database, asKnown);
    return {
      database,
      earlier: asKnown === null || isLatest(database, caller.tenant, asKnown) ? null : asKnown,
    };
  }

  #refuse(caller: Caller, database: DatabaseState, at: KnownAt): void {
    if (at.kind === 'instant') {
      if (at.time > this.#host.live.showTime())
        throw invalid(
          'asKnown',
          'is in the future: nothing is known of it yet; what will be true then is asOf',
        );
      return;
    }
    if (at.generation > database.lastGeneration)
      throw invalid(
        'asKnown',
        `there is no generation ${at.generation} yet: the last is ${database.lastGeneration}`,
      );
    const erased = erasedThrough(database, caller.tenant);
    if (at.generation < erased) throw pastGone(database, erased);
  }

  /** The latest knowledge at an instant of valid time. */
  #inPlace(caller: Caller, database: DatabaseState, asked: Asked): PastReader {
    const { live } = this.#host;
    return new PastReader({
      ...this.#readBy(database, asked),
      view: () => this.#views.viewOf(database, caller.tenant, asked.time),
      hold: () => {
        const { reasoner } = live.pin(caller, defaultLimits);
        reasoner.readers++;
        return () => {
          reasoner.readers--;
          live.compactSoon(caller);
        };
      },
    });
  }

  #ofCopy({ tenant }: Caller, { database }: PastHere, asked: Asked): PastReader {
    const view = this.#views.viewOf(database, tenant, asked.time);
    return new PastReader({ ...this.#readBy(database, asked), view: () => view, hold: () => () => {} });
  }

  #readBy(
    database: DatabaseState,
    { time, startedAt, moment: { onKnown } }: Asked,
  ): Omit<PastReading, 'view' | 'hold'> {
    const { live } = this.#host;
    return {
      database,
      time,
      startedAt,
      onKnown,
      asQuestion: (caller, limits, run) => live.asQuestion(caller, limits, run),
      refuseClosed: () => live.refuseClosed(),
      with: (caller, limits) => live.pin(caller, limits),
    };
  }

  #foldingHere(): PastFolding<PastHere> {
    const { live, scheduler } = this.#host;
    const check = (bytes: number): void => {
      live.refuseClosed();
      if (bytes > live.memory.limit) throw tooLarge(bytes);
    };
    return {
      fold: async (caller, retained, base, wanted) => {
        const limits = { pause: scheduler.pauseOf(caller, 'rebuild the past'), check };
        return this.#here(await rebuilt(retained, base, wanted, limits));
      },
      // What was rebuilt meanwhile is not used.
      abandon: async () => {},
    };
  }

  #here(past: PastDatabase | LateBase | LostPast): PastHere | LateBase | LostPast {
    if ('lateAt' in past || 'lostAfter' in past) return past;
    const { database, stamp, wall, nextStamp } = past;
    const { lastGeneration: generation } = database;
    const bytes = bytesOfPast(past);
    return {
      database,
      generation,
      stamp,
      wall,
      nextStamp,
      bytes,
      isThere: true,
      drop: async () => this.#views.drop(database),
    };
  }
}

/** A text that is sent from its beginning again, without what was sent of it. */
class ResumedText {
  readonly #send: SendBytes;
  #sent = 0;
  /** Of what it is the text. */
  #of: string | null = null;

  constructor(send: SendBytes) {
    this.#send = send;
  }

  /** Nothing of it was sent. */
  get isNew(): boolean {
    return this.#sent === 0;
  }

  /** Sends the same text from its beginning. */
  from(of: string): SendBytes {
    if (of !== this.#of) this.refuseSent();
    this.#of = of;
    let left = this.#sent;
    return async (bytes) => {
      const rest = bytes.subarray(Math.min(left, bytes.length));
      left -= bytes.length - rest.length;
      if (rest.length === 0) return;
      await this.#send(rest);
      this.#sent += rest.length;
    };
  }

  refuseSent(): void {
    if (this.#sent > 0)
      throw new EngineError('NotReady', 'the past was rewritten while it was sent: begin again');
  }
}

/** What a reader is made for. */
interface Asked {
  readonly time: number;
  readonly startedAt: number;
  readonly moment: Moment;
}

async function resultOf<Result>(
  reader: PastReader,
  read: (knowledge: KnowledgeReader) => Promise<Result>,
): Promise<{ readonly result: Result; readonly generation: number }> {
  const result = await read(reader);
  return { result, generation: reader.generation };
}

/** When the time of a question begins: rebuilding counts, unless the caller gave no time. */
function sinceOf(timeoutMs: number, startedAt: number): number {
  return Number.isFinite(timeoutMs) ? startedAt : performance.now();
}

/** The instant of valid time at which a copy is read. Throws HistoryGone if its generation was erased. */
function timeIn(
  { generation, wall }: FoldedPast,
  { tenant }: Caller,
  database: DatabaseState,
  { asOf }: Moment,
  at: KnownAt,
): number {
  const erased = erasedThrough(database, tenant);
  if (generation < erased) throw pastGone(database, erased);
  return asOf ?? (at.kind === 'instant' ? at.time : wall);
}

function timeOfLatest({ stamped }: DatabaseState, at: KnownAt | null): number {
  return at?.kind === 'instant' ? at.time : (stamped?.wall ?? 0);
}

/** True if the moment has the last generation of the database, and the tenant's readers see that. */
function isLatest(database: DatabaseState, tenant: string, at: KnownAt): boolean {
  const { stamped, lastGeneration } = database;
  if (at.kind === 'generation')
    return at.generation === lastGeneration && database.generationOf(tenant) === lastGeneration;
  return stamped === null || at.time >= stamped.time;
}

/** The generation before which nothing of the tenant's past is left. */
function erasedThrough(database: DatabaseState, tenant: string): number {
  const forgotten = database.tenants.get(tenant)?.facts.forgottenThrough ?? database.forgottenThrough(tenant);
  return Math.max(database.firstGeneration, database.clearedIn, forgotten);
}

function endedOften(elapsedMs: number): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    'the thread that answered the question ended several times',
    { limit: 'memory', elapsedMs: Math.round(elapsedMs) },
  );
}
