/**
 * Reads that can move to a reasoning thread.
 *
 * Such a read begins here. If it takes long, or reads of its shape did, it begins again on the thread, where the task of
 * its name does the same over the copy. The facts that it used are noted here. It waits for no copy of many facts:
 * without one it goes on here while what it reaches is copied. If it takes very long, it begins there too, and for a while the
 * first answer counts (`Both`). Of several of a tenant at once one goes on here; the others wait.
 */
import { CancellationSource, type Caller, eitherOf } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { JsonText } from '../base/json-text.ts';
import { parseLongJson } from '../base/long-json.ts';
import { HandOver } from '../datalog/tables/evaluation.ts';
import type { RemoteReads, RemoteTask } from '../reasoning/messages.ts';
import type { Tallies } from '../datalog/model/program.ts';
import type { Both, MovedAnswer, Reach, ReasoningThreads } from '../reasoning/reasoning-threads.ts';
import type { ReadLimits } from '../session/read-limits.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { FactRow } from '../store/fact-store.ts';
import { encodedWrites } from '../write/posted-writes.ts';
import type { ViewedWrites } from '../write/transaction-view.ts';
import type { ReadingEngine } from './engine-context.ts';

/** A read of this kind, here and elsewhere. */
export interface Movable<Kind extends keyof RemoteReads, Result> {
  readonly kind: Kind;
  readonly input: RemoteReads[Kind];
  /** Equal for reads that take about as long. */
  readonly shape: string;
  /** The relations whose conclusions it needs; null: any. */
  readonly about: readonly string[] | null;
  /** What it needs of the copy; see `Posted`. */
  readonly reach: (now: ReadContext) => Reach | null;
  /** Reads it here, and notes the facts that it used. `plain`: without the writes of its transaction. */
  readonly here: (context: ReadContext, plain: ReadContext) => Promise<Result>;
  /** Of a question in a transaction: its writes, over which it is read. Absent: it is in none. */
  readonly writes?: ViewedWrites;
}

/** A read whose long answers are text. */
export interface MovableRead<Kind extends keyof RemoteReads, Result> extends Movable<Kind, Result> {
  /** What is done with a short answer of the thread; the facts that it used are noted already. */
  readonly taken?: (answer: Result, moved: MovedAnswer) => Result | Promise<Result>;
  /** What is done with a long one. */
  readonly takenText?: (text: JsonText, moved: MovedAnswer) => JsonText;
}

/** A read that needs the whole tenant, and whose answer is needed here. */
export interface MovableRanking<Kind extends keyof RemoteReads, Answer, Result>
  extends Movable<Kind, Result> {
  /** What the answer of the thread comes to. */
  readonly taken: (answer: Answer, moved: MovedAnswer) => Promise<Result>;
}

/** A copy of the whole tenant is worth it for reads that take so many times as long as those for which less is copied. */
const rankingFactor = 10;

/** Reads here or on a reasoning thread, which writes a long answer as text. */
export function hereOrThere<Kind extends keyof RemoteReads, Result>(
  engine: ReadingEngine,
  caller: Caller,
  limits: ReadLimits,
  read: MovableRead<Kind, Result>,
): Promise<Result | JsonText> {
  const { taken, takenText } = read;
  return begun<Kind, Result | JsonText>(engine, caller, limits, read, 1, async (moved) => {
    const { value } = moved;
    if (value instanceof JsonText) return takenText?.(value, moved) ?? value;
    const answer = value as Result;
    return taken?.(answer, moved) ?? answer;
  });
}

/** Reads here or on a reasoning thread, which writes a long answer as text. */
export function rankedAsText<Kind extends keyof RemoteReads, Result>(
  engine: ReadingEngine,
  caller: Caller,
  limits: ReadLimits,
  read: Movable<Kind, Result>,
): Promise<Result | JsonText> {
  return begun<Kind, Result | JsonText>(
    engine,
    caller,
    limits,
    read,
    rankingFactor,
    async ({ value }) => value as Result | JsonText,
  );
}

/** Reads here or on a reasoning thread, whose answer is parsed in slices. */
export function rankedHereOrThere<Kind extends keyof RemoteReads, Answer, Result>(
  engine: ReadingEngine,
  caller: Caller,
  limits: ReadLimits,
  read: MovableRanking<Kind, Answer, Result>,
): Promise<Result> {
  return begun(engine, caller, limits, read, rankingFactor, async (moved) =>
    read.taken((await objectOf(moved.value, moved.context.pacer)) as Answer, moved),
  );
}

async function begun<Kind extends keyof RemoteReads, Result>(
  { live, threads, transactions }: ReadingEngine,
  caller: Caller,
  limits: ReadLimits,
  { kind, input, shape, about, reach, here, writes }: Movable<Kind, Result>,
  factor: number,
  take: (moved: MovedAnswer) => Promise<Result>,
): Promise<Result> {
  // Begun again or not, it has its time once.
  const startedAt = limits.startedAt ?? performance.now();
  const reading = (limited: ReadLimits, read: Movable<Kind, Result>['here']): Promise<Result> =>
    caller.transaction === null
      ? live.reading(caller, limited, (context) => read(context, context), about)
      : transactions.reading(caller, limited, read);
  const stay = (): Promise<Result> => reading({ ...limits, startedAt }, here);
  if (threads === null || (caller.transaction !== null && writes === undefined)) return stay();
  const { timeoutMs, maxDerivations } = limits;
  // The kind goes with its input, which the type of a union cannot say.
  const task = { kind, input } as RemoteTask;
  const question = { task, timeoutMs, maxDerivations, reach, shape, evicts: factor === 1 };
  const there = async (asking: Caller, both?: Both): Promise<Elsewhere<Result>> =>
    live.reading(asking, { ...limits, startedAt }, async (context) => {
      const posted = writes === undefined ? null : await encodedWrites(writes, context.pacer);
      const moved = await threads.ask(asking, context, { ...question, writes: posted, both });
      if (moved === null) return null;
      await live.noteUses(moved.context, usedBy(moved));
      return { answer: await take(moved) };
    });
  const { afterMs } = threads.host;
  if (afterMs > 0 && !(threads.isHeavy(caller, shape) && threads.isAtHand(caller, reach))) {
    const race = new Race(caller, there);
    const staying = new Staying(threads, caller, { shape, reach, factor, race });
    const handOver = {
      afterMs,
      isDue: (workedMs: number, bytes: number) => staying.isDue(workedMs, bytes),
      claim: () => race.claim(),
    };
    const begin = (context: ReadContext, plain: ReadContext): Promise<Result> => {
      staying.begin(plain, live.talliesOf(context.database));
      return here(context, plain);
    };
    try {
      const answer = await reading({ ...limits, startedAt, handOver }, begin);
      if (race.claim()) return answer;
    } catch (error) {
      if (!(error instanceof HandOver) && !race.mayAnswerInstead(error) && race.claim()) throw error;
      threads.noteHeavy(caller, shape);
    } finally {
      staying.end();
    }
    const answered = await (race.answer ?? there(caller));
    return answered === null ? stay() : answered.answer;
  }
  const answered = await there(caller);
  return answered === null ? stay() : answered.answer;
}

/** Whether a read that has begun here goes on, or begins again on the thread. */
class Staying {
  /** Of the read; null: it has not begun. */
  #context: ReadContext | null = null;
  #tallies: Tallies = new Map();
  readonly #threads: ReasoningThreads;
  readonly #caller: Caller;
  readonly #read: StayingRead;
  /** It has done too much to do it again, and there is a copy for those after it, or it is being made. */
  #isSettled = false;
  /** Ends that it is the read of the tenant that stays without a copy; null: it is not. */
  #leave: (() => void) | null = null;
  /** How often rules had fired when it was known to take long; null: it was not. */
  #firedBefore: ReadonlyMap<string, number> | null = null;
  /** Until it has had so long it goes on here beside the thread. */
  #bothUntilMs = 0;
  /** Another one stays: this one waits for the copy on the thread, so that not all of many are worked out here. */
  #isSecond = false;

  constructor(threads: ReasoningThreads, caller: Caller, read: StayingRead) {
    this.#threads = threads;
    this.#caller = caller;
    this.#read = read;
  }

  /** Call it with the context in which the read begins here, and the tallies of its database. */
  begin(context: ReadContext, tallies: Tallies): void {
    this.#context = context;
    this.#tallies = tallies;
  }

  /**
   * Asked at the end of a slice, with the time that it has had, in milliseconds, and the bytes that it has built; true: it ends here,
   * and goes on there.
   */
  isDue(workedMs: number, bytes: number): boolean {
    const { afterMs, untilMs, lateMs, bothBytes } = this.#threads.host;
    const context = this.#context;
    if (context === null || (this.#isSettled && workedMs < lateMs)) return false;
    const { race } = this.#read;
    if (race.isClaimedHere) return false;
    if (race.answer !== null) return race.isOver || bytes > bothBytes || workedMs >= this.#bothUntilMs;
    const isAtHand = this.#threads.isAtHand(this.#caller, this.#read.reach);
    if (workedMs >= lateMs && isAtHand) return !this.#goesOnInBoth(workedMs);
    if (this.#isSecondNow(context, isAtHand)) return this.#threads.isThere(this.#caller);
    if (workedMs < untilMs) return isAtHand;
    if (workedMs >= afterMs * this.#read.factor) this.#settle(context, isAtHand);
    return false;
  }

  /** Call it when the read has ended here. */
  end(): void {
    this.#leave?.();
  }

  #noteFired(): ReadonlyMap<string, number> {
    return (this.#firedBefore ??= new Map([...this.#tallies].map(([rule, { fired }]) => [rule, fired])));
  }

  /** Begins it there too; false: it is not to go on here. */
  #goesOnInBoth(workedMs: number): boolean {
    const leave = this.#isSecond ? null : this.#threads.both();
    if (leave === null) return false;
    this.#bothUntilMs = workedMs * this.#threads.host.bothTimes;
    this.#read.race.begin(this.#noteFired(), leave);
    return true;
  }

  #isSecondNow({ tenant }: ReadContext, isAtHand: boolean): boolean {
    if (this.#read.factor > 1 || this.#leave !== null) return false;
    if (!isAtHand) this.#leave = this.#threads.stay(tenant);
    this.#isSecond = this.#leave === null && (this.#isSecond || !isAtHand);
    return this.#isSecond;
  }

  #settle(context: ReadContext, isAtHand: boolean): void {
    const { shape, reach, factor } = this.#read;
    this.#threads.noteHeavy(this.#caller, shape);
    this.#noteFired();
    this.#isSettled =
      isAtHand || this.#threads.copyAhead(this.#caller, context, { reach, evicts: factor === 1 });
  }
}

/** `factor`: after how many times as long as others a copy of what it reaches is worth it. */
interface StayingRead extends Pick<Movable<keyof RemoteReads, unknown>, 'shape' | 'reach'> {
  readonly factor: number;
  readonly race: Race<unknown>;
}

/** null: it cannot be answered there. */
type Elsewhere<Result> = { readonly answer: Result } | null;

/**
 * A read on the thread while it goes on here. Whichever claims it first answers; only then are uses, conclusions and firings of
 * the thread noted. A refusal of the thread waits for what it comes to here.
 */
class Race<Result> {
  readonly #caller: Caller;
  readonly #there: (caller: Caller, both: Both) => Promise<Elsewhere<Result>>;
  readonly #ending = new CancellationSource();
  #winner: 'here' | 'there' | null = null;
  /** It is answered, or has failed. */
  isOver = false;
  /** What it comes to there; null: it is not there. */
  answer: Promise<Elsewhere<Result>> | null = null;

  constructor(caller: Caller, there: (caller: Caller, both: Both) => Promise<Elsewhere<Result>>) {
    this.#caller = caller;
    this.#there = there;
  }

  /** `left` is called when it has ended there. */
  begin(firedBefore: ReadonlyMap<string, number>, left: () => void): void {
    const claim = (): boolean => (this.#winner ??= 'there') === 'there' && (this.isOver = true);
    const signal = eitherOf(this.#caller.signal, this.#ending);
    this.answer = this.#there({ ...this.#caller, signal }, { firedBefore, claim });
    this.answer
      .then(
        (elsewhere) => {
          if (elsewhere === null) this.answer = null;
        },
        (error: unknown) => {
          this.isOver ||= !isLimit(error);
        },
      )
      .finally(left);
  }

  get isClaimedHere(): boolean {
    return this.#winner === 'here';
  }

  /** Makes the answer from here count; false: that of the thread does. */
  claim(): boolean {
    this.#winner ??= 'here';
    if (this.#winner === 'here') this.#ending.cancel();
    return this.#winner === 'here';
  }

  /** True if this refusal here does not say that the thread will refuse it too: its memory is another. */
  mayAnswerInstead(error: unknown): boolean {
    if (this.answer === null || this.isClaimedHere) return false;
    return isLimit(error) && error.members['limit'] === 'memory';
  }
}

function isLimit(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'InferenceLimitExceeded';
}

/** Answers nest less deep. */
const maxAnswerDepth = 64;

/** The value of an answer, in slices if it is text. */
export async function objectOf(value: unknown, pacer: ReadContext['pacer']): Promise<unknown> {
  if (!(value instanceof JsonText)) return value;
  const whole = value.whole();
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const reading = await parseLongJson(bytes, maxAnswerDepth, () => pacer.breathe());
  return 'value' in reading ? reading.value : value.value();
}

/** The facts that the answer used, but for those that are gone. */
export function* usedBy({ used, context: { tenant } }: MovedAnswer): Generator<FactRow> {
  for (const number of used) {
    const fact = tenant.facts.versionOf(number);
    if (fact.row >= 0) yield fact;
  }
}
