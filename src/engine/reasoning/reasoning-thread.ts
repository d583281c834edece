import { present } from '../base/assert.ts';
import type { Pause } from '../base/slices.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { aggregateFacts } from '../read/aggregate-facts.ts';
import { bodyOf, inferWithPlan, type InferenceContext } from '../read/ask.ts';
import { explain, trace } from '../read/explain.ts';
import { exportFactText, type SendPart } from '../read/export-text.ts';
import { planOf } from '../read/plan.ts';
import { queryFacts } from '../read/query.ts';
import { whatIf } from '../read/what-if.ts';
import { recall } from '../memory/recall.ts';
import { search } from '../search/search.ts';
import { ListingCache } from '../session/caches.ts';
import type { ReadContext } from '../session/read-context.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { recallFor } from '../window/recall-query.ts';
import { contextWindow } from '../window/window.ts';
import type { RetainedLog, RetainedRange } from '../log/retained.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { QuestionHeap } from '../store/memory-meter.ts';
import { decodedWrites } from '../write/posted-writes.ts';
import { TransactionView } from '../write/transaction-view.ts';
import { replyOf } from './thread-replies.ts';
import { type CopyMessage, CopiedTenant } from './copied-tenant.ts';
import { Credits } from './pieces.ts';
import { CopiedPasts, type PastReadings } from './copied-pasts.ts';
import {
  type FromReasoningThread,
  maxPiecesUnderWay,
  type Post,
  type RemoteInputs,
  type RemoteQuestion,
  type RemoteTask,
  type ToReasoningThread,
} from './messages.ts';

/** What a reasoning thread needs of its process. */
export interface ReasoningThreadParts {
  readonly scheduler: Scheduler;
  /** Bytes for derived tables, and those of one question. */
  readonly memoryBytes: number;
  readonly questionBytes: number;
  /** The thread's own heap, which questions look at while they grow: one that fills it ends the thread. null: they do not. */
  readonly heap: QuestionHeap | null;
  readonly post: Post<FromReasoningThread>;
  /** The JSON of a value, in pieces. */
  readonly write: (value: unknown, pause: Pause) => AsyncIterable<string>;
  /** Opens what is retained of the log; null: the thread cannot read it. */
  readonly retained: ((range: RetainedRange) => Promise<RetainedLog>) | null;
  /** The operations that can be asked about the past. */
  readonly readings: PastReadings;
}

/** A question that was not replied to yet. */
interface Running {
  readonly ending: AbortController;
  readonly copied: CopiedTenant;
  /** Pieces of its answer that it may post. */
  readonly credits: Credits;
  /** False while the copy takes in what was posted before it. */
  hasBegun: boolean;
}

/** A copy, and the end of what is being taken into it. */
interface Held {
  readonly copied: CopiedTenant;
  readonly owner: { readonly database: string; readonly tenant: string };
  taken: Promise<void>;
}

/**
 * The reasoning thread's end: copies of tenants' facts, and the questions that are asked of them.
 *
 * Messages of one copy take effect in the order in which they come; a question sees all that came before it. Every
 * question gets one reply.
 */
export class ReasoningThread {
  readonly #parts: ReasoningThreadParts;
  readonly #memory: MemoryBudget;
  readonly #held = new Map<number, Held>();
  readonly #running = new Map<number, Running>();
  readonly #pasts: CopiedPasts;

  constructor(parts: ReasoningThreadParts) {
    this.#parts = parts;
    this.#memory = new MemoryBudget(parts.memoryBytes, parts.questionBytes, parts.heap);
    this.#pasts = new CopiedPasts(parts, this.#memory);
    parts.post({ kind: 'started' }, []);
  }

  /** Takes the next message. Throws nothing: what fails is the reply to a question. */
  readonly take = (message: ToReasoningThread): void => {
    switch (message.kind) {
      case 'open': {
        const { database, tenant } = message;
        const copied = new CopiedTenant(message, this.#parts.scheduler, this.#memory, fail);
        this.#held.set(message.copy, { copied, owner: { database, tenant }, taken: Promise.resolve() });
        return;
      }
      case 'drop':
        this.#held.get(message.copy)?.copied.reasoner.retire();
        this.#held.delete(message.copy);
        return;
      case 'ask':
        this.#ask(message);
        return;
      case 'foldPast':
      case 'askPast':
      case 'dropPast':
        this.#pasts.take(message);
        return;
      case 'cancel':
        this.#cancel(message.id);
        this.#pasts.cancel(message.id);
        return;
      case 'taken':
        this.#running.get(message.id)?.credits.give();
        this.#pasts.taken(message.id);
        return;
      default:
        this.#takeIn(message);
    }
  };

  #takeIn(message: CopyMessage): void {
    const held = this.#held.get(message.copy);
    if (held === undefined) return;
    held.taken = held.taken.then(() => held.copied.take(message));
    // An error ends the thread, with all its copies: this one would answer wrongly.
    held.taken.catch(fail);
  }

  #ask(message: RemoteQuestion): void {
    const held = present(this.#held.get(message.copy) ?? null, 'a question is about a copy that is there');
    const { copied } = held;
    const ending = new AbortController();
    const { signal } = ending;
    const credits = new Credits(maxPiecesUnderWay, signal);
    const running: Running = { ending, copied, credits, hasBegun: false };
    this.#running.set(message.id, running);
    // Its reader is pinned in its turn: what comes after the question must not be seen.
    const pinned = held.taken.then(() => {
      if (signal.aborted) return null;
      running.hasBegun = true;
      copied.reasoner.readers++;
      return copied.readerAt(message.generation, message.time);
    });
    held.taken = pinned.then(() => undefined);
    void pinned
      .then((reader) => (reader === null ? undefined : this.#answer(message, held, reader, running)))
      .finally(() => this.#running.delete(message.id));
  }

  /** One that waits for its copy replies at once: what the copy takes in may take longer than its owner waits for a reply. */
  #cancel(id: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.ending.abort();
    if (running.hasBegun) return;
    this.#running.delete(id);
    this.#parts.post({ kind: 'cancelled', ...saidOf(id, running.copied) }, []);
  }

  async #answer(
    { id, task, writes, goals, timeoutMs, maxDerivations, askedAt, lightMs }: RemoteQuestion,
    { copied, owner }: Held,
    reader: PinnedReader,
    { ending: { signal }, credits }: Running,
  ): Promise<void> {
    const { scheduler, post, write } = this.#parts;
    const { reasoner, tenant, database } = copied;
    const startedAt = askedAt - performance.timeOrigin;
    const pacer = reasoner.pacer({ timeoutMs, maxDerivations, startedAt, signal });
    const send: SendPart = async (part) => {
      const bytes = typeof part === 'string' ? encoder.encode(part) : part;
      await credits.take();
      scheduler.enter(task.kind, owner);
      post({ kind: 'piece', id, bytes }, [bytes.buffer as ArrayBuffer]);
    };
    scheduler.enter('ask', owner);
    try {
      const plain = { database, tenant, reasoner, reader, pacer };
      const context = writes === null ? plain : await within(plain, writes);
      const { value, used } = await workOf(task)({ copied, context, send }, task.input);
      const known = copied.goalsOf(goals, reader);
      const conclusions = known.length === 0 ? [] : copied.conclusions(known, reader);
      // Tables of earlier questions may be what made it fast; one that rests on none is always as fast.
      const isAfresh = pacer.derivations > 0 || goals.length === 0;
      const weight = pacer.workedMs >= lightMs ? 'heavy' : isAfresh ? 'light' : 'unknown';
      const parts: Uint8Array[] = [];
      for await (const piece of write(value, scheduler.pauseOf(owner, 'write an answer'))) {
        pacer.look();
        parts.push(encoder.encode(piece));
      }
      const facts = Int32Array.from(used, ({ relation, row }) => relation.number[row] as number);
      const transfer = [facts, ...parts].map(({ buffer }) => buffer as ArrayBuffer);
      post(
        { kind: 'answer', ...saidOf(id, copied), parts, used: facts, goals: known, conclusions, weight },
        transfer,
      );
    } catch (error) {
      post({ ...saidOf(id, copied), ...replyOf(pacer.withElapsed(error), signal) }, []);
    } finally {
      reasoner.readers--;
      copied.settle();
    }
  }
}

/** What a task came to, with the stored facts that it used. */
interface Worked {
  readonly value: unknown;
  readonly used: Iterable<FactRow>;
}

/** What a task is done with. */
interface Working {
  readonly copied: CopiedTenant;
  readonly context: InferenceContext;
  /** Sends the next piece of a streamed answer. */
  readonly send: SendPart;
}

type Work<Input> = (working: Working, input: Input) => Promise<Worked>;

/** What uses no fact. */
async function plain(value: Promise<unknown>): Promise<Worked> {
  return { value: await value, used: [] };
}

/** How each task is done: as the serving thread does it, but over the copy. */
const works: { readonly [Kind in keyof RemoteInputs]: Work<RemoteInputs[Kind]> } = {
  async ask({ context }, input) {
    const { answer, used } = await inferWithPlan(context, input, bodyOf(input));
    return { value: answer, used };
  },
  async explain({ context }, input) {
    const { explanation, used } = await explain(context, input);
    return { value: explanation, used: new Set(used) };
  },
  aggregate: ({ context }, input) => plain(aggregateFacts(context, input)),
  async query({ context }, input) {
    const { result, facts } = await queryFacts(context, input);
    return { value: result, used: facts };
  },
  whatIf: ({ context }, input) => plain(whatIf(context, input)),
  plan: ({ context }, input) => plain(planOf(context, input, bodyOf(input))),
  trace: ({ context }, input) => plain(trace(context, input, bodyOf(input))),
  window: ({ context }, { input, windowId, leftOut }) =>
    plain(contextWindow(ranking(context), input, () => windowId, leftOut)),
  recall: ({ context }, input) =>
    plain(
      input.query === null
        ? recall(ranking(context), input)
        : recallFor(ranking(context), input, input.query),
    ),
  search: ({ context }, input) => plain(search(ranking(context), input)),
  exportFacts: ({ context, send }, input) => plain(exportFactText(context, input, send)),
  takenIn: () => plain(Promise.resolve(null)),
  async dependents({ copied, context: { reasoner, reader, pacer } }, { fact: number }) {
    const { facts } = copied.tenant;
    const fact = number < facts.numbers.count ? facts.versionOf(number) : null;
    const isCopied = fact !== null && fact.row >= 0;
    return plain(isCopied ? reasoner.provedWith(fact, reader, pacer) : Promise.resolve([]));
  },
  counts: ({ context: { reasoner, reader, pacer } }, { view }) =>
    plain(reasoner.conclusionCounts(reader, pacer, view)),
  mentions: ({ copied, context: { reader, pacer } }, input) => plain(copied.mentions(input, reader, pacer)),
};

/** For reads that rank: nothing is compared by meaning here, and what other threads concluded is not asked. */
function ranking(context: InferenceContext): ReadContext {
  return { ...context, listings: new ListingCache(0), meaning: null, tokens: shippedTokens, elsewhere: null };
}

/** The context over the writes of a transaction. Call it in the turn in which the reader was pinned. */
async function within(context: InferenceContext, writes: Uint8Array): Promise<InferenceContext> {
  const ranked = ranking(context);
  const view = await TransactionView.over(ranked, false, decodedWrites(writes));
  return view.contextFor(ranked);
}

/** The work of this kind of task; its input is that of the task, which the type of a table cannot say. */
function workOf({ kind }: RemoteTask): Work<unknown> {
  return works[kind] as Work<unknown>;
}

/** What every reply says. */
function saidOf(
  id: number,
  copied: CopiedTenant,
): { id: number; bytes: number; derived: number; fired: [string, number][] } {
  return { id, bytes: copied.bytes, derived: copied.reasoner.conclusions, fired: copied.fired() };
}

const encoder = new TextEncoder();

/** A bug outside of questions: the thread ends, and its owner starts another. */
function fail(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
