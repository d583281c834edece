import type { Caller } from '../base/caller.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { type Pause, Slices } from '../base/slices.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { Pacer, refuseGone } from '../datalog/tables/evaluation.ts';
import { RetainedFileGone, type RetainedLog, type RetainedRange } from '../log/retained.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { StartupError } from '../log/startup-error.ts';
import { tooLarge } from '../session/past-copies.ts';
import { type KnowledgeReader, PastReader, PastViews } from '../session/past-reader.ts';
import { bytesOfPast, type PastDatabase, rebuilt } from '../state/past-state.ts';
import type { DatabaseState } from '../state/state.ts';
import type { SendPart } from '../read/export-text.ts';
import {
  type AskPast,
  type FoldedThere,
  type FoldPast,
  type FromReasoningThread,
  maxPiecesUnderWay,
  type PastMessage,
  type Post,
} from './messages.ts';
import { Credits } from './pieces.ts';
import { replyOf } from './thread-replies.ts';

/** An operation that can be asked about the past, over a reader of it. `send`: takes what it streams. */
export type PastReadingOf = (
  engine: { readonly live: KnowledgeReader; readonly slices: (of: Caller) => Slices },
  caller: Caller,
  input: unknown,
  send: SendPart,
) => Promise<unknown>;

/** The operations by name. */
export type PastReadings = Readonly<Record<string, PastReadingOf>>;

/** What copies of the past need of their thread. */
interface PastParts {
  readonly scheduler: Scheduler;
  readonly post: Post<FromReasoningThread>;
  /** The JSON of a value, in pieces. */
  readonly write: (value: unknown, pause: Pause) => AsyncIterable<string>;
  /** Opens what is retained of the log; null: the thread cannot read it. */
  readonly retained: ((range: RetainedRange) => Promise<RetainedLog>) | null;
  readonly readings: PastReadings;
}

/** A fold or a question under way. */
interface Running {
  readonly past: number;
  readonly ending: AbortController;
  /** Pieces of its answer that it may post. */
  readonly credits: Credits;
}

/**
 * Copies of databases as they were: rebuilt from the retained files of the log, which this thread reads itself, and
 * asked by the operations that read the present. Every message gets one reply; a question about a copy that is not
 * there any more is `cancelled`.
 */
export class CopiedPasts {
  readonly #parts: PastParts;
  readonly #memory: MemoryBudget;
  readonly #views: PastViews;
  readonly #pasts = new Map<number, PastDatabase>();
  readonly #programs = new WeakMap<DatabaseState, Program>();
  readonly #running = new Map<number, Running>();

  constructor(parts: PastParts, memory: MemoryBudget) {
    this.#parts = parts;
    this.#memory = memory;
    this.#views = new PastViews({
      memory,
      programOf: (database) => this.#programOf(database),
      pauseOf: (owner) => parts.scheduler.pauseOf(owner),
    });
  }

  /** Takes the next message. Throws nothing: what fails is the reply. */
  take(message: PastMessage): void {
    if (message.kind === 'dropPast') {
      this.#drop(message.past);
      this.#parts.post({ kind: 'cancelled', ...this.#said(message.id, message.past) }, []);
      return;
    }
    const { id, past } = message;
    const ending = new AbortController();
    const { signal } = ending;
    const credits = new Credits(maxPiecesUnderWay, signal);
    this.#running.set(id, { past, ending, credits });
    const reply =
      message.kind === 'foldPast' ? this.#fold(message, signal) : this.#ask(message, signal, credits);
    void reply
      .then(
        (parts) =>
          this.#parts.post(
            {
              kind: 'answer',
              ...this.#said(id, past),
              parts,
              used: new Int32Array(),
              goals: [],
              conclusions: [],
              weight: 'unknown',
            },
            parts.map(({ buffer }) => buffer as ArrayBuffer),
          ),
        (error: unknown) => this.#parts.post({ ...this.#said(id, past), ...replyOf(error, signal) }, []),
      )
      .finally(() => this.#running.delete(id));
  }

  /** Ends the question, if it is one of these. */
  cancel(id: number): void {
    this.#running.get(id)?.ending.abort();
  }

  /** A piece of this answer was taken, if it is one of these. */
  taken(id: number): void {
    this.#running.get(id)?.credits.give();
  }

  #drop(past: number): void {
    for (const { past: of, ending } of this.#running.values()) if (of === past) ending.abort();
    const known = this.#pasts.get(past);
    this.#pasts.delete(past);
    if (known !== undefined) this.#views.drop(known.database);
  }

  async #fold(message: FoldPast, signal: AbortSignal): Promise<Uint8Array[]> {
    return [encoder.encode(JSON.stringify(await this.#folded(message, signal)))];
  }

  async #folded(
    { past, owner, range, maxBytes, ...wanted }: FoldPast,
    signal: AbortSignal,
  ): Promise<FoldedThere> {
    const { retained: open, scheduler } = this.#parts;
    if (open === null) throw new Error('this thread cannot read the log');
    const check = (bytes: number): void => {
      refuseGone(signal);
      if (bytes > maxBytes) throw tooLarge(bytes);
    };
    try {
      const retained = await open(range);
      const [base] = retained.bases;
      if (base === undefined) throw new Error('a range has a base');
      const limits = { pause: scheduler.pauseOf(owner, 'rebuild the past'), check };
      const folded = await rebuilt(retained, base, wanted, limits);
      if ('lateAt' in folded || 'lostAfter' in folded) return folded;
      refuseGone(signal);
      this.#pasts.set(past, folded);
      const { database, stamp, wall, nextStamp } = folded;
      const { lastGeneration: generation } = database;
      return { generation, stamp, wall, nextStamp: Number.isFinite(nextStamp) ? nextStamp : null };
    } catch (error) {
      if (error instanceof RetainedFileGone) return { gone: error.message };
      if (error instanceof StartupError) return { unreadable: error.message };
      throw error;
    }
  }

  async #ask(message: AskPast, signal: AbortSignal, credits: Credits): Promise<Uint8Array[]> {
    const { id, past, reading: name, input, caller: named, time, timeoutMs, askedAt } = message;
    const { scheduler, readings, write, post } = this.#parts;
    const known = this.#pasts.get(past);
    const reading = readings[name];
    if (known === undefined) throw gone();
    if (reading === undefined) throw new Error(`there is no reading ${name}`);
    const caller: Caller = { ...named, idempotency: null, signal };
    const startedAt = askedAt - performance.timeOrigin;
    const { database } = known;
    const { tenant } = caller;
    scheduler.enter('ask', caller);
    const live = new PastReader({
      database,
      time,
      startedAt,
      onKnown: undefined,
      view: () => this.#views.viewOf(database, tenant, time),
      hold: () => () => {},
      // It has a place for running questions on the serving thread.
      asQuestion: (_, limits, run) => run(limits),
      refuseClosed: () => refuseGone(signal),
      with: (_, { maxDerivations, timeoutMs: ownMs, startedAt: since, patienceMs }, { reasoner }) => ({
        pacer: reasoner.pacer({ timeoutMs: ownMs, maxDerivations, startedAt: since, patienceMs, signal }),
        meaning: null,
        tokens: shippedTokens,
      }),
    });
    const slices = (of: Caller): Slices => new Slices(scheduler.pauseOf(of));
    const send: SendPart = async (part) => {
      const bytes = typeof part === 'string' ? encoder.encode(part) : part;
      await credits.take();
      scheduler.enter(name, caller);
      post({ kind: 'piece', id, bytes }, [bytes.buffer as ArrayBuffer]);
    };
    const value = await reading({ live, slices }, caller, input, send);
    const limits = { timeoutMs, maxDerivations: Number.POSITIVE_INFINITY, startedAt, signal };
    const pacer = new Pacer({ ...limits, memory: this.#memory }, scheduler.pauseOf(caller));
    const parts: Uint8Array[] = [];
    for await (const piece of write(value, scheduler.pauseOf(caller, 'write an answer'))) {
      pacer.look();
      parts.push(encoder.encode(piece));
    }
    refuseGone(signal);
    return parts;
  }

  #programOf(database: DatabaseState): Program {
    let program = this.#programs.get(database);
    if (program === undefined) this.#programs.set(database, (program = new Program(database.rules.all())));
    return program;
  }

  #said(id: number, past: number): { id: number; bytes: number; derived: number; fired: [] } {
    const known = this.#pasts.get(past);
    const bytes = known === undefined ? 0 : bytesOfPast(known) + this.#views.bytesOf(known.database);
    return { id, bytes, derived: 0, fired: [] };
  }
}

const encoder = new TextEncoder();

/** What is not there any more cannot answer: the question begins again elsewhere. */
function gone(): Error {
  return new DOMException('the copy of the past is gone', 'AbortError');
}
