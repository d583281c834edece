/**
 * Reads that can move to a reasoning thread.
 *
 * Such a read begins here. If it takes long, or reads of its shape did, it begins again on the thread, where the task of
 * its name does the same over the copy. What ranks or shows by salience stays, since uses are noted here.
 */
import type { Caller } from '../base/caller.ts';
import { JsonText } from '../base/json-text.ts';
import { HandOver, type HandOverLimit } from '../datalog/tables/evaluation.ts';
import type { RemoteReads, RemoteTask } from '../reasoning/messages.ts';
import type { MovedAnswer, Reach } from '../reasoning/reasoning-threads.ts';
import type { ReadLimits } from '../session/read-limits.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { ReadingEngine } from './engine-context.ts';

/** A read of this kind, here and elsewhere. */
export interface MovableRead<Kind extends keyof RemoteReads, Result> {
  readonly kind: Kind;
  readonly input: RemoteReads[Kind];
  /** Equal for reads that take about as long. */
  readonly shape: string;
  /** The relations whose conclusions it needs; null: any. */
  readonly about: readonly string[] | null;
  /** What it needs of the copy; see `Posted`. */
  readonly reach: (now: ReadContext) => Reach | null;
  /** Reads it here, and notes the facts that it used. */
  readonly here: (context: ReadContext) => Promise<Result>;
  /** What is done with a short answer of the thread; the facts that it used are noted already. */
  readonly taken?: (answer: Result, moved: MovedAnswer) => Result;
  /** What is done with a long one. */
  readonly takenText?: (text: JsonText, moved: MovedAnswer) => JsonText;
}

/** Reads here or on a reasoning thread, which writes a long answer as text. */
export async function hereOrThere<Kind extends keyof RemoteReads, Result>(
  { live, threads }: ReadingEngine,
  caller: Caller,
  limits: ReadLimits,
  read: MovableRead<Kind, Result>,
): Promise<Result | JsonText> {
  const { kind, input, shape, about, reach, here, taken, takenText } = read;
  // Begun again or not, it has its time once.
  const startedAt = limits.startedAt ?? performance.now();
  const stay = (handOver?: HandOverLimit): Promise<Result> =>
    live.reading(caller, { ...limits, startedAt, handOver }, here, about);
  if (threads === null || caller.transaction !== null) return stay();
  if (!threads.isHeavy(caller, shape)) {
    try {
      return await stay({ afterMs: threads.afterMs, isPossible: () => threads.isThere(caller) });
    } catch (error) {
      if (!(error instanceof HandOver)) throw error;
      threads.noteHeavy(caller, shape);
    }
  }
  const { timeoutMs, maxDerivations } = limits;
  // The kind goes with its input, which the type of a union cannot say.
  const task = { kind, input } as RemoteTask;
  const elsewhere = await live.reading(caller, { ...limits, startedAt }, async (context) => {
    const moved = await threads.ask(caller, context, { task, timeoutMs, maxDerivations, reach, shape });
    if (moved === null) return null;
    await live.noteUses(moved.context, usedBy(moved));
    const { value } = moved;
    if (value instanceof JsonText) return { answer: takenText?.(value, moved) ?? value };
    const answer = value as Result;
    return { answer: taken?.(answer, moved) ?? answer };
  });
  return elsewhere === null ? stay() : elsewhere.answer;
}

/** The facts that the answer used, but for those that are gone. */
export function* usedBy({ used, context: { tenant } }: MovedAnswer): Generator<FactRow> {
  for (const number of used) {
    const fact = tenant.facts.versionOf(number);
    if (fact.row >= 0) yield fact;
  }
}
