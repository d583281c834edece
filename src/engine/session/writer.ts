import type { Caller } from '../base/caller.ts';
import type { ReadContext } from './read-context.ts';
import type { LiveState } from './live-state.ts';
import type { Report } from '../state/report.ts';
import type { DecidedWrite, Write } from '../commit/commit-pipeline.ts';
import type { WriteAdmission } from '../commit/write-admission.ts';
import type { QuestionQuotas } from './question-quotas.ts';
import type { ConstraintCheck } from './constraint-check.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import { present } from '../base/assert.ts';
import type { Slices } from '../base/slices.ts';

/** No limits, for work that must cover the whole state. */
export const unlimited = {
  timeoutMs: Number.POSITIVE_INFINITY,
  maxDerivations: Number.POSITIVE_INFINITY,
};

/**
 * Reads the pinned state in slices during an exclusive commit: what it excludes does not change until this one has
 * ended. A client that disconnects does not cancel the write.
 */
export function inExclusiveCommit<Result>(
  { live }: Writer,
  caller: Caller,
  look: (context: ReadContext) => Promise<Result>,
): Promise<Result> {
  return live.reading(withoutCancellation(caller), unlimited, look);
}

/**
 * Decides a write of the tenant's facts and its answer in an exclusive commit, at the logical time; `write` null: there is nothing to write. A
 * repeated request gets the recorded answer.
 */
export async function decideAndWrite<Answer extends object>(
  writer: Writer,
  caller: Caller,
  kind: 'decayed' | 'consolidated' | 'restored',
  decide: (context: ReadContext, logical: number) => Promise<Decision<Answer>>,
): Promise<Answer & { generation: number }> {
  const decided: { answer: Answer | null } = { answer: null };
  const operation = (logical: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const { answer, write } = await decide(context, logical);
      decided.answer = answer;
      return write;
    });
  const { outcome, isRepeated } = await writer.write({ caller, operation, isOfTenant: true });
  const { generation } = outcome.kind === 'nothing' ? outcome : outcomeAs(outcome, kind);
  const answer = isRepeated ? (outcomeAs(outcome, kind).answer as Answer | null) : decided.answer;
  return { ...present(answer, 'the decision has an answer'), generation };
}

/** A write and its answer. */
export interface Decision<Answer> {
  readonly answer: Answer;
  readonly write: DecidedWrite | null;
}

/** The caller with a signal that never aborts. */
export function withoutCancellation(caller: Caller): Caller {
  return { ...caller, signal: new AbortController().signal };
}

/** What an operation that writes needs: the live state and the commit pipeline. */
export interface Writer {
  readonly live: LiveState;
  /** Commits a write; resolves once it is durable and applied. */
  readonly write: (write: Write) => Promise<Report>;
  /** Refuses what `write` would refuse from every caller: the engine is closed, or a follower. */
  refuseWrites(): void;
  /** For how long facts that a `ttl` ended are kept for questions about the past, in milliseconds: as the history is. */
  readonly historyMs: number;
  /**
   * Refuses what `write` would refuse now for its effect: with QuotaExceeded what adds more than may be stored, with
   * ConstraintViolated what violates a constraint. For dry runs.
   */
  readonly refuseUnfit: (caller: Caller, operation: Operation) => Promise<void>;
  readonly admission: Pick<WriteAdmission, 'fitting' | 'refusals' | 'use'>;
  readonly constraints: Pick<ConstraintCheck, 'mayRefuse' | 'ofImport' | 'ofSupposed' | 'refuseAdded'>;
  readonly questions: QuestionQuotas;
  /** The outcome of the first request with the caller's idempotency key, if it wrote something; else null. */
  earlierOutcome(caller: Caller): Outcome | null;
  /** The slices of one operation of the caller. */
  slices(caller: Caller): Slices;
  /** A new, unguessable id for a session or an import. */
  readonly newId: () => string;
  /** One for a transaction. With a shared log it says in which epoch the transaction began. */
  readonly newTransactionId: () => string;
  /** True if a transaction with this id can have been lost with the node that it began at. */
  readonly isOfEarlierOwner: (id: string) => boolean;
}
