import { compareText } from '../base/text-order.ts';
import { lostAmong } from './dependents.ts';
import { EngineError } from '../base/errors.ts';
import { Tuples } from '../store/tuples.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import { mostChangesTold, type Origin } from './publish-changes.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { type Candidates, tupleAt } from '../datalog/model/known-conclusions.ts';
import { sees } from '../datalog/model/reader.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Batch, Claim } from '../datalog/maintain/withdrawals.ts';

/**
 * Upkeep in the background: one tenant's shared tables are made true again after changes, and what these took away is
 * told.
 *
 * There is at most one run at a time. It begins after the turn of the change, takes in all that has come until then,
 * and rests as long as it worked before it begins again: questions and writes come first, and a question that needs
 * the tables earlier has them made true at once. Everything lost is told once, by the newest change that was taken in;
 * what a retraction reports itself is left to it.
 */
export interface BackgroundHost {
  /** A reader of the tenant's present state. */
  readonly pin: () => PinnedReader;
  /** Tells of conclusions withdrawn, sorted; null: more than can be told. */
  readonly tell: (atoms: readonly string[] | null, origin: Origin) => void;
  /** All that had changed was taken in, and told as far as there was something to tell. */
  readonly settled: () => void;
  /** Told of an error that no caller hears of: a bug. */
  readonly onBug: (error: unknown) => void;
}

/** Looking at rows in doubt is bounded as a question is that names no limits. */
const limits = { timeoutMs: 10_000, maxDerivations: 10_000_000 };
/** How long a run rests, in milliseconds. */
const leastRestMs = 1;
const longestRestMs = 1000;

export class BackgroundMaintenance {
  readonly #reasoner: Reasoner;
  readonly #host: BackgroundHost;
  readonly #ending = new AbortController();
  /** What made the changes that are still to be told of, by the version that each made; ascending. */
  #origins: { readonly version: number; readonly origin: Origin }[] = [];
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next run may begin, by `performance.now()`. */
  #restsUntil = 0;

  constructor(reasoner: Reasoner, host: BackgroundHost) {
    this.#reasoner = reasoner;
    this.#host = host;
    reasoner.onLeft = () => this.wake();
  }

  /** To be called in the turn of a change, when the reasoner was told of it. */
  changed(origin: Origin): void {
    this.#origins.push({ version: this.#reasoner.version, origin });
    if (this.#isIdle) this.#forgetOrigins();
    else this.wake();
  }

  /** Has a run begin soon. */
  wake(): void {
    if (this.#timer !== null || this.#running !== null || this.#ending.signal.aborted || this.#isIdle) return;
    const rest = Math.max(0, this.#restsUntil - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#begin();
    }, rest);
    // What is not told when the process ends is told to nobody.
    this.#timer.unref();
  }

  /** Ends the run that is under way; resolves when it has ended. */
  async close(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#reasoner.endMaintenance();
    await this.#running;
  }

  /** True where a run would find nothing to do. */
  get #isIdle(): boolean {
    const { isBehind, isInUse, withdrawals } = this.#reasoner;
    return !withdrawals.isReady && (!isBehind || isInUse);
  }

  #begin(): void {
    const startedAt = performance.now();
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#host.onBug(error);
      })
      .finally(() => {
        this.#running = null;
        const now = performance.now();
        this.#restsUntil = now + Math.min(Math.max(now - startedAt, leastRestMs), longestRestMs);
        this.wake();
      });
  }

  async #run(): Promise<void> {
    const pacer = this.#reasoner.pacer({
      timeoutMs: Number.POSITIVE_INFINITY,
      maxDerivations: Number.POSITIVE_INFINITY,
      signal: this.#ending.signal,
    });
    const reader = this.#host.pin();
    await this.#reasoner.catchUp(reader, pacer);
    // After its end the tenant may have gone.
    this.#ending.signal.throwIfAborted();
    const lost = await this.#lookAtDoubtful();
    this.#ending.signal.throwIfAborted();
    await this.#tell(lost, pacer);
    this.#ending.signal.throwIfAborted();
    this.#host.settled();
  }

  /** Of the rows in doubt, those that hold no longer; null where too many may have gone. */
  async #lookAtDoubtful(): Promise<Candidates[] | null> {
    const { withdrawals } = this.#reasoner;
    const reader = this.#host.pin();
    if (withdrawals.isHeld || !this.#reasoner.isShared(reader)) return [];
    const candidates = withdrawals.takeDoubtful();
    if (candidates === null || candidates.length === 0) return candidates;
    try {
      const pacer = this.#reasoner.pacer({ ...limits, signal: this.#ending.signal });
      return await lostAmong(this.#reasoner, reader, candidates, pacer);
    } catch (error) {
      if (error instanceof EngineError) return null;
      throw error;
    }
  }

  async #tell(doubtful: Candidates[] | null, pacer: Pacer): Promise<void> {
    const { withdrawals, validThrough } = this.#reasoner;
    const { batches, claims } = withdrawals.take(validThrough);
    const isTooMuch = doubtful === null || batches.some(({ losses }) => losses === null);
    const found = [
      ...batches.map((batch) => ({ batch, lost: batch.losses?.candidates() ?? [] })),
      ...(doubtful ?? []).map((each) => ({
        batch: { from: -1, to: validThrough, losses: null },
        lost: [each],
      })),
    ].filter(({ lost }) => lost.length > 0);
    // In this turn, since a stored fact that has gone may be let go by the next write.
    const looked = found.map(({ batch, lost }) => ({
      batch,
      lost,
      stored: this.#storedThatWent(batch, lost),
    }));
    const told = isTooMuch ? null : await this.#atomsOf(looked, claims, pacer);
    this.#ending.signal.throwIfAborted();
    const origin = this.#originAt(validThrough);
    if (origin !== null && (told === null || told.length > 0)) this.#host.tell(told, origin);
    withdrawals.forgetThrough(validThrough);
    this.#forgetOrigins();
  }

  /** What is to be told, sorted; null where it is more than can be. */
  async #atomsOf(
    found: readonly { readonly batch: Batch; readonly lost: Candidates[]; readonly stored: Stored }[],
    claims: readonly Claim[],
    pacer: Pacer,
  ): Promise<string[] | null> {
    const { dictionary } = this.#reasoner.facts;
    const atoms = new Set<string>();
    for (const { batch, lost, stored } of found)
      for (const each of lost) {
        const tuple = new Int32Array(each.arity);
        for (let row = 0; row < each.count; row++) {
          if ((row & 0xff) === 0xff) await pacer.breathe();
          tupleAt(each.rows, row, tuple);
          if ((stored.get(each.relation)?.find(tuple) ?? -1) >= 0 || this.#reasoner.holds(each, tuple))
            continue;
          const args = Array.from(tuple, (id) => dictionary.text(id));
          const atom = renderAtom({ predicate: each.predicate, args, negated: each.negated });
          if (claims.some((claim) => claim.version > batch.from && claim.atoms.has(atom))) continue;
          atoms.add(atom);
          if (atoms.size > mostChangesTold) return null;
        }
      }
    return [...atoms].sort(compareText);
  }

  /** The stored facts that went with the batch, where the rows lost are of their relations: those are told as facts. */
  #storedThatWent({ from, to }: Batch, lost: readonly Candidates[]): Stored {
    const found: Stored = new Map(lost.map(({ relation, arity }) => [relation, new Tuples(arity)]));
    const reader = this.#host.pin();
    for (const number of this.#reasoner.withdrawals.changedBetween(from, to)) {
      const { relation, row } = this.#reasoner.facts.versionOf(number);
      const tuples = found.get(relationKey(relation.predicate, relation.arity, relation.negated));
      if (tuples === undefined || row < 0 || sees(reader, relation, row)) continue;
      tuples.insert(tupleAt(relation, row, new Int32Array(relation.arity)));
    }
    return found;
  }

  /** The newest change up to this version. */
  #originAt(version: number): Origin | null {
    return this.#origins.findLast((each) => each.version <= version)?.origin ?? null;
  }

  /** Forgets which changes were taken in and told of. The newest stays: a question may yet find that it took something. */
  #forgetOrigins(): void {
    const newest = this.#origins.findLastIndex(({ version }) => version <= this.#reasoner.validThrough);
    if (newest > 0) this.#origins = this.#origins.slice(newest);
  }
}

/** Tuples of stored facts by relation. */
type Stored = Map<string, Tuples>;
